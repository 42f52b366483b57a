"""Bots against each other in one process, without gRPC: for an author's own tests and quick trials.

The rules, the views and what a seat may know are those of the referee; there are no clocks and no
processes. A bot that does something illegal raises here, in the author's face. For a result to be
believed use ``arena match``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from hokm.actions import Action
from hokm.bot import Asked, Bot, decide_many
from hokm.cards import Card, Seat
from hokm.deck import board_seed, mix, secret_from_text, shuffled
from hokm.events import Event, HandEnded, HandStarted
from hokm.notation import hand_events, parse_hand
from hokm.outcome import Outcome
from hokm.rules.deal import Deal
from hokm.rules.game import Board, Game, Race, SeedOf
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of
from hokm.view import View

MakeBot = Callable[[], Bot]
"""What makes a fresh bot for each game: a Bot class, usually."""


def play(game: Game, bots: Sequence[Bot]) -> Outcome:
    """Play a fresh game to its end, ``bots[seat]`` at each seat.

    Raises :class:`~hokm.errors.IllegalAction` at the first illegal action, TypeError for what is no
    action.
    """
    [outcome] = play_many([(game, bots)])
    return outcome


def play_many(games: Iterable[tuple[Game, Sequence[Bot]]]) -> list[Outcome]:
    """Play fresh games at once, each with its bots by seat; the outcomes in the same order.

    Bots of one class are asked together, by :meth:`~hokm.bot.Bot.decide_many`. Raises as
    :func:`play`.
    """
    tables = [_Table(number, game, bots=bots) for number, (game, bots) in enumerate(games)]
    while asked := [table.ask() for table in tables if not table.game.is_over]:
        for kind in dict.fromkeys(type(one.bot) for one in asked):
            together = [one for one in asked if type(one.bot) is kind]
            for one, action in decide_many(kind, together):
                tables[one.game].act(one.view.seat, action)
    return [table.outcome for table in tables]


class _Table:
    """A game, and at each seat a bot with its view."""

    def __init__(self, number: int, game: Game, *, bots: Sequence[Bot]) -> None:
        if len(bots) != game.variant.seats:
            raise ValueError(f"this table has {game.variant.seats} seats, not {len(bots)}")
        self.game = game
        self._seats = [
            Asked(number, bot, View(game.rules, Seat(seat))) for seat, bot in enumerate(bots)
        ]
        for seat in self._seats:
            seat.bot.game_started(seat.view)
        self._show(game.start())

    def ask(self) -> Asked:
        assert self.game.to_act is not None
        asked = self._seats[self.game.to_act]
        asked.view.ask(self.game.legal_actions())
        return asked

    def act(self, seat: Seat, action: Action) -> None:
        self._show(self.game.act(seat, action))
        if self.game.is_over:
            for one in self._seats:
                one.bot.game_ended(one.view, self.outcome)

    @property
    def outcome(self) -> Outcome:
        assert self.game.outcome is not None
        return self.game.outcome

    def _show(self, events: Sequence[Event]) -> None:
        for event in events:
            for one in self._seats:
                one.view.apply(event.seen_by(one.view.seat))
                if isinstance(event, HandEnded):
                    one.bot.hand_ended(one.view, event.result)


def play_board(
    bots: Sequence[Bot], rules: Rules, deck: Sequence[Card], *, number: int = 1
) -> Outcome:
    """Play one board, ``bots[seat]`` at each seat; see :func:`play`."""
    return play(Board(rules, deck, number=number), bots)


def play_race(bots: Sequence[Bot], rules: Rules, seed_of: SeedOf) -> Outcome:
    """Play one race to the target, ``bots[seat]`` at each seat, and that after a draw of partners;
    see :func:`play`.
    """
    return play(Race(rules, seed_of), bots)


def seeds(text: str, *, name: str = "testing") -> SeedOf:
    """Seeds of boards or hands 1, 2, … from a text, always the same ones for the same text."""
    mixed = mix(secret_from_text(text), b"")
    return lambda number: board_seed(mixed, name, number)


def view_of(text: str, *, plays: int | None = None) -> View:
    """The view of the seat that is to act where the text of a hand ends, asked for its action: for
    a test of one position.

    ``text`` is what ``arena replay --text`` prints (see :mod:`hokm.notation`); of a hand that went
    on, the first ``plays`` cards are taken as played. The view is of that hand alone: there is no
    score and nothing is known of hands before it. Raises ValueError where nobody is to act there,
    and what :func:`hokm.notation.parse_hand` and :func:`hokm.notation.hand_events` do.
    """
    rules, hand = parse_hand(text)
    if plays is not None:
        if not 0 <= plays <= len(hand.plays):
            raise ValueError(f"plays={plays}: {len(hand.plays)} cards are played in this text")
        hand = replace(hand, plays=hand.plays[:plays])
    events = list(hand_events(rules, hand))
    deal = Deal(rules, hand.deck, hakem=hand.hakem)
    for event in events:
        if not isinstance(event, HandStarted | HandEnded):
            deal.apply(event)
    if deal.to_act is None:
        raise ValueError("this hand is over: leave cards away at its end, or say plays=")
    view = View(rules, deal.to_act)
    for event in events:
        view.apply(event.seen_by(view.seat))
    view.ask(deal.legal_actions())
    return view


def duel(
    first: MakeBot, second: MakeBot, *, players: int = 4, boards: int = 100, seed: str = "1"
) -> list[int]:
    """Play duplicate boards of two bots with four or two seats; the points of ``first`` less
    ``second``'s, a board each.

    Every board is played twice, once from each side, so luck of the cards falls out of the
    difference (-5 to 5). As many games are played at once as both classes take (``concurrent``).

    >>> from hokm.bot import Bot
    >>> class Lowest(Bot):
    ...     def play(self, view):
    ...         return view.playable[0]
    >>> duel(Lowest, Lowest, boards=3)
    [0, 0, 0]
    """
    rules = Rules.of(players, play=Play.BOARDS)
    variant = variant_of(rules)
    if variant.sides != 2:
        raise ValueError(f"a duel is for two sides, and {players} players make {variant.sides}")
    seed_of = seeds(seed)

    def seated(number: int, makers: tuple[MakeBot, MakeBot]) -> tuple[Game, list[Bot]]:
        deck = shuffled(variant.pack, seed_of(number))
        return Board(rules, deck, number=number), [makers[side]() for side in variant.side_of]

    games = (
        seated(number, makers)
        for number in range(1, boards + 1)
        for makers in ((first, second), (second, first))
    )
    at_once: int = min(getattr(make, "concurrent", 1) for make in (first, second))
    points: list[int] = []
    while outcomes := play_many(islice(games, at_once)):
        points += [outcome.points[0] - outcome.points[1] for outcome in outcomes]
    return [home - away for home, away in zip(points[::2], points[1::2], strict=True)]
