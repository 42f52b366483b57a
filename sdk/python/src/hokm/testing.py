"""Bots against each other in one process, without gRPC: for an author's own tests and quick trials.

The rules, the views and what a seat may know are those of the referee; there are no clocks and no
processes. A bot that does something illegal raises here, in the author's face. For a result to be
believed use ``arena match``.
"""

from collections.abc import Callable, Sequence

from hokm.bot import Bot, decide
from hokm.cards import Card, Seat
from hokm.deck import board_seed, mix, secret_from_text, shuffled
from hokm.events import Event, HandEnded
from hokm.outcome import Outcome
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
    seats = game.variant.seats
    if len(bots) != seats:
        raise ValueError(f"this table has {seats} seats, not {len(bots)}")
    views = [View(game.rules, Seat(seat)) for seat in range(seats)]
    for bot, view in zip(bots, views, strict=True):
        bot.game_started(view)
    _show(game.start(), bots, views)
    while (seat := game.to_act) is not None:
        views[seat].ask(game.legal_actions())
        _show(game.act(seat, decide(bots[seat], views[seat])), bots, views)
    outcome = game.outcome
    assert outcome is not None
    for bot, view in zip(bots, views, strict=True):
        bot.game_ended(view, outcome)
    return outcome


def _show(events: Sequence[Event], bots: Sequence[Bot], views: Sequence[View]) -> None:
    for event in events:
        for bot, view in zip(bots, views, strict=True):
            view.apply(event.seen_by(view.seat))
            if isinstance(event, HandEnded):
                bot.hand_ended(view, event.result)


def play_board(
    bots: Sequence[Bot], rules: Rules, deck: Sequence[Card], *, number: int = 1
) -> Outcome:
    """Play one board, ``bots[seat]`` at each seat; see :func:`play`."""
    return play(Board(rules, deck, number=number), bots)


def play_race(bots: Sequence[Bot], rules: Rules, seed_of: SeedOf) -> Outcome:
    """Play one race to the target, ``bots[seat]`` at each seat; see :func:`play`."""
    return play(Race(rules, seed_of), bots)


def seeds(text: str, *, name: str = "testing") -> SeedOf:
    """Seeds of boards or hands 1, 2, … from a text, always the same ones for the same text."""
    mixed = mix(secret_from_text(text), b"")
    return lambda number: board_seed(mixed, name, number)


def duel(
    first: MakeBot, second: MakeBot, *, players: int = 4, boards: int = 100, seed: str = "1"
) -> list[int]:
    """Play duplicate boards of two bots with four or two seats; the points of ``first`` less
    ``second``'s, a board each.

    Every board is played twice, once from each side, so luck of the cards falls out of the
    difference (-5 to 5).

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
    differences: list[int] = []
    for number in range(1, boards + 1):
        deck = shuffled(variant.pack, seed_of(number))
        difference = 0
        for home, makers in ((0, (first, second)), (1, (second, first))):
            bots = [makers[side]() for side in variant.side_of]
            points = play_board(bots, rules, deck, number=number).points
            difference += points[home] - points[1 - home]
        differences.append(difference)
    return differences
