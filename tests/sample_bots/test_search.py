"""The bot `search`: what it plays on with, what it holds to be likely, and how long it thinks."""

import importlib
import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from types import ModuleType

import pytest

from arena.ladder.bots.entrants import SAMPLES
from hokm import Bot, Card, Rules, Seat, Suit, Trump, View
from hokm.cards import CARDS, card_set, cards_text
from hokm.deck import shuffled
from hokm.outcome import HandResult
from hokm.rules.options import Play
from hokm.rules.position import Position
from hokm.rules.variants import variant_of
from hokm.solver import is_available
from hokm.testing import play_board, seeds, view_of
from hokm.view import ClockView
from tests.hokm.positions import deck_of, rules

FOLDER = SAMPLES / "search"
FILES = ("bot", "draws", "playout", "worlds")


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules of the folder, which import one another by name as where the bot runs."""
    before = {name: sys.modules.pop(name, None) for name in FILES}
    monkeypatch.syspath_prepend(str(FOLDER))
    yield {name: importlib.import_module(name) for name in FILES}
    for name, module in before.items():
        del sys.modules[name]
        if module is not None:
            sys.modules[name] = module


@pytest.fixture
def search(modules: dict[str, ModuleType]) -> type[Bot]:
    """The bot; it looks at few deals, and the same ones again."""
    kind: type[Bot] = modules["bot"].Search
    kind.samples = 24  # type: ignore[attr-defined]
    return kind


@pytest.fixture
def house() -> type[Bot]:
    kind: type[Bot] = runpy.run_path(str(SAMPLES / "house" / "bot.py"))["House"]
    return kind


def at(
    table: Rules, hands: dict[int, str], *, trump: str = "", plays: str = "", stock: str = ""
) -> View:
    """What the seat sees that is to act, seat 0 being hakem."""
    lines = [
        f"hokm {table.players} hakem 0",
        f"deck {cards_text(deck_of(table, hands, stock=stock))}",
        *([f"trump {trump}"] if trump else []),
        *([f"plays {plays}"] if plays else []),
    ]
    return view_of("\n".join(lines))


def card(text: str) -> Card:
    return Card.parse(text)


# -- playing on


@pytest.mark.parametrize("modes", ["suit", "suit,sar,nar,tak_nar"])
@pytest.mark.parametrize("players", [4, 3, 2])
def test_hands_are_played_on_as_house_plays_them(
    players: int, modes: str, house: type[Bot], modules: dict[str, ModuleType]
) -> None:
    """Card for card, whatever was played before: it is house that plays, or any card at random."""
    hand_of, rng, compared = seen_as_hand(modules), Random(1), Counter[bool]()

    class Watched(house):  # type: ignore[misc,valid-type]
        def declare(self, view: View) -> Trump:
            return Trump(rng.choice([*range(4), *view.rules.modes]))

        def play(self, view: View) -> Card:
            advised: Card = super().play(view)
            hand, strong = hand_of(view)
            compared[hand.advised() == strong(advised.bit)] += len(view.playable) > 1
            return advised if rng.random() < 0.7 else rng.choice(view.playable)

    table = rules(players, modes=modes)
    for number in range(1, 13):
        deck = shuffled(variant_of(table).pack, seeds("advice")(number))
        play_board([Watched() for _ in range(players)], table, deck, number=number)
    assert compared[True] > 100
    assert not compared[False]


def seen_as_hand(modules):
    """What makes of a view the hand that is played on, the cards of others left away."""
    playout = modules["playout"]

    def hand_of(view: View):
        strong = lambda cards: modules["worlds"].by_strength(cards, view.trump)  # noqa: E731
        tricks = [*(trick.plays for trick in view.tricks), view.trick]
        plays = [(play.seat, strong(play.card.bit)) for plays in tricks for play in plays]
        hands = [0] * view.variant.seats
        hands[view.seat] = strong(view.hand_set)
        for seat, bit in plays:
            hands[seat] |= bit
        pack = (1 << 52) - 1
        if view.rules.removed_two is not None:
            pack ^= 1 << 13 * view.rules.removed_two
        packs = [strong(pack)] * view.variant.seats
        packs[view.seat] &= ~strong(card_set(view.discarded))
        table = playout.Table(view.variant.side_of, view.trump_suit)
        hand = playout.Hand(table, hands, packs=packs, turn=view.hakem)
        for _, bit in plays:
            hand.play(bit)
        return hand, strong

    return hand_of


@pytest.mark.parametrize("players", [4, 3, 2])
def test_a_hand_that_is_played_on_ends_as_the_rules_say(
    players: int, modules: dict[str, ModuleType]
) -> None:
    playout, table, rng = modules["playout"], rules(players), Random(2)
    variant = variant_of(table)
    for _ in range(60):
        deck = list(variant.pack)
        rng.shuffle(deck)
        size = 17 if players == 3 else 13
        hands = [card_set(deck[seat * size : seat * size + size]) for seat in range(players)]
        position = Position(variant, hands, hakem=Seat(0), trump=Trump.HEARTS)
        seats = playout.Table(variant.side_of, Suit.HEARTS)
        hand = playout.Hand(seats, hands, packs=[(1 << 52) - 1] * 4, turn=0)
        line = hand.copy()
        while not position.is_over:
            bit = line.advised()
            assert bit & position.playable_set
            line.play(bit)
            position.play(CARDS[bit.bit_length() - 1])
            assert tuple(line.won) == position.tricks_won
        assert position.result is not None
        assert hand.play_out() == position.result.winner
        assert tuple(hand.won) == position.tricks_won


# -- what is likely


def test_a_hakem_is_taken_to_hold_what_it_named(modules: dict[str, ModuleType]) -> None:
    view = at(rules(4), {0: "AC 2H 3H 4D 5S", 1: "KC"}, trump="H", plays="AC")
    worlds = modules["worlds"].Worlds(view, Random(3), doubt=1)
    pool = [worlds.draw() for _ in range(400)]
    as_dealt = [(hand, 1.0) for hand, _ in pool]
    assert mean_held(pool, Suit.HEARTS) > mean_held(as_dealt, Suit.HEARTS) + 0.7


def mean_held(pool, suit: Suit) -> float:
    """How many cards of a suit seat 0 holds, on average over the pool."""
    total = sum(plausible for _, plausible in pool)
    held = [plausible * (hand.hands[0] & suit.cards).bit_count() for hand, plausible in pool]
    return float(sum(held) / total)


def test_how_likely_a_suit_is_named_is_what_trying_shows(modules: dict[str, ModuleType]) -> None:
    lengths, rng, times = [5, 4, 3, 1], Random(4), 4000
    cards = [suit for suit, length in enumerate(lengths) for _ in range(length)]
    named = [0.0] * 4
    for _ in range(times):
        five = Counter(rng.sample(cards, 5))
        longest = max(five.values())
        for suit, length in five.items():
            if length == longest:
                named[suit] += 1 / list(five.values()).count(longest)
    for suit in range(4):
        others = tuple(sorted(lengths[:suit] + lengths[suit + 1 :]))
        chance = modules["worlds"].named(lengths[suit], others) - 0.01
        assert chance == pytest.approx(named[suit] / times, abs=0.025)


def test_deals_are_kept_in_proportion_to_how_plausible_they_are(
    modules: dict[str, ModuleType],
) -> None:
    pool = [("never", 0.0), ("seldom", 1.0), ("often", 3.0)]
    taken = dict(modules["worlds"].kept(pool, 40, Random(5)))
    assert taken == {"seldom": 10, "often": 30}


def test_a_seat_is_taken_to_lack_what_it_would_have_played(modules: dict[str, ModuleType]) -> None:
    """The last seat gave a low card to a trick that any higher one had taken."""
    hands = {0: "KH 3S 4S", 1: "2H 5S 6S", 2: "4H 7S 8S", 3: "3H 9S TS"}
    view = at(rules(4), hands, trump="S", plays="KH 2H 4H 3H")
    assert view.seat == 0
    ace = card("AH").bit
    doubting, sure = (
        sum(plausible for hand, plausible in pool if hand.hands[3] & ace) / sum(p for _, p in pool)
        for doubt in (1, 0.1)
        for pool in [
            [worlds.draw() for _ in range(300)]
            for worlds in [modules["worlds"].Worlds(view, Random(6), doubt=doubt)]
        ]
    )
    assert sure < doubting / 2


# -- choosing


def test_it_names_the_suit_it_holds(search: type[Bot]) -> None:
    assert search().declare(at(rules(4), {0: "AS KS QS 2D 3C"})) == Suit.SPADES
    assert search().declare(at(rules(2), {0: "AD KD QD 2S 3C"})) == Suit.DIAMONDS


def test_it_keeps_trumps_and_lays_away_what_is_low(search: type[Bot]) -> None:
    hands = {0: "AS KS 2H 3D 4C", 1: "AH KH QH AD KD"}
    assert set(search().discard(at(rules(2), hands, trump="S"), 3)) == {
        card("2H"),
        card("3D"),
        card("4C"),
    }


def test_the_same_deals_make_the_same_play(search: type[Bot]) -> None:
    table = rules(4)
    search.samples = 4  # type: ignore[attr-defined]
    deck = shuffled(variant_of(table).pack, seeds("again")(1))
    played: list[list[Card]] = []

    class Noting(search):  # type: ignore[misc,valid-type]
        def hand_ended(self, view: View, result: HandResult) -> None:
            played.append([play.card for trick in view.tricks for play in trick.plays])

    for _ in range(2):
        play_board([Noting() for _ in range(4)], table, deck, number=1)
    assert len(played) == 8
    assert all(cards == played[0] for cards in played)


def test_a_forced_card_takes_no_thought(
    search: type[Bot], modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(modules["bot"], "Worlds")
    hands = {0: "KH", 1: "2H C:23456789TJQK"}
    assert search().play(at(rules(4), hands, trump="S", plays="KH")) == card("2H")


def test_it_sees_what_house_does_not(search: type[Bot], house: type[Bot]) -> None:
    """It needs all three tricks that are left. Its hearts are high, and both opponents have none: a
    heart that is led is trumped, unless the king of trumps comes first.
    """
    view = view_of(LATE)
    assert house().play(view) == card("TH")
    assert search().play(view) == card("KS")


LATE = """
hokm 4 hakem 3
deck 3S QS AS AD 5D 2S QC QH 4H 8D 5C 7H JC 6D 5S 2D KH 4S 6S 4C KC AC 6C 2H TC 4D
TH 8H JS 9C 6H 8C 7S QD 8S 5H 7C 2C TS TD 9D KS 9S 3H 3D KD 7D 3C JD 9H AH JH
trump S
plays AS 2S 5S 4S / AD 4D 3D 2D / KC TC 3C 4C / AC QC 5C 6S / KH 2H 3H 6H / AH 3S 4H 7H
5D 8D KD JD / 6D QD TD 9D / 5H TS 8H 7D / 2C 9S 8C 9H
"""


# -- thinking no longer than it may


class Watch:
    """A clock of which every look costs time."""

    def __init__(self, *, thread_seconds: float, wall_seconds: float) -> None:
        self.thread, self.wall = 0.0, 0.0
        self._costs = thread_seconds, wall_seconds

    def thread_time(self) -> float:
        self._tick()
        return self.thread

    def monotonic(self) -> float:
        self._tick()
        return self.wall

    def _tick(self) -> None:
        self.thread += self._costs[0]
        self.wall += self._costs[1]


@pytest.mark.parametrize(
    ("watch", "clock"),
    [
        (Watch(thread_seconds=0.002, wall_seconds=0.002), None),
        (Watch(thread_seconds=0.002, wall_seconds=0.01), ClockView(1.0, 30.0)),
        (Watch(thread_seconds=0.0001, wall_seconds=0.002), ClockView(0.15, 0.0)),
        (Watch(thread_seconds=0.0001, wall_seconds=0.002), ClockView(0.0, 2.0)),
    ],
)
def test_it_thinks_no_longer_than_it_was_told_and_its_clock_has(
    watch: Watch,
    clock: ClockView | None,
    search: type[Bot],
    modules: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(modules["bot"], "time", watch)
    search.samples = None  # type: ignore[attr-defined]
    hands = {0: "KH 3S 4S AC QC 5C TC 7D AD JD", 1: "2H JH 5S 6S"}
    for view in (at(rules(4), hands), at(rules(4), hands, trump="S")):
        view.ask(view.legal, clock)
        thread, wall = watch.thread, watch.wall
        if view.trump is None:
            search().declare(view)
        else:
            search().play(view)
        assert 0.15 < (watch.thread - thread) / 0.2 < 1.2 or clock is not None
        assert watch.thread - thread < 0.25
        if clock is not None:
            assert watch.wall - wall < 0.5 * clock.move_seconds + clock.bank_seconds / 14 + 0.1


def test_without_the_solver_it_says_so_once_and_plays_on(
    search: type[Bot],
    modules: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(modules["bot"], "is_available", lambda: False)
    monkeypatch.delattr(modules["bot"], "card_tricks")
    table = rules(4)
    search.samples = 4  # type: ignore[attr-defined]
    deck = shuffled(variant_of(table).pack, seeds("missing")(1))
    play_board([search() for _ in range(4)], table, deck, number=1)
    assert capsys.readouterr().err.count("hokm-sdk[solver]") == 1


@pytest.mark.skipif(not is_available(), reason="the extra `solver` is not installed")
def test_the_solver_is_not_asked_while_a_kot_may_still_be_had(
    search: type[Bot], modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lowest(Bot):
        def play(self, view: View) -> Card:
            return view.playable[0]

    asked: set[tuple[int, ...]] = set()
    solved = modules["bot"].Stakes.solved

    def noting(stakes, hand, view):
        asked.add(view.tricks_won)
        return solved(stakes, hand, view)

    monkeypatch.setattr(modules["bot"].Stakes, "solved", noting)
    search.samples = 2  # type: ignore[attr-defined]
    table = rules(4)
    for number in range(1, 9):
        deck = shuffled(variant_of(table).pack, seeds("kot")(number))
        play_board([search(), Lowest(), search(), Lowest()], table, deck, number=number)
    assert asked
    assert all(min(won) > 0 for won in asked)


@pytest.mark.parametrize("limit", ["--milliseconds=0", "--milliseconds=nan", "--samples=0"])
def test_it_wants_time_or_a_deal(
    modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["bot.py", limit])
    with pytest.raises(SystemExit, match="2"):
        modules["bot"].main()


def test_in_a_race_points_beyond_the_target_are_worth_nothing(
    modules: dict[str, ModuleType],
) -> None:
    view = View(Rules.of(4, play=Play.RACE), Seat(0))
    stakes = {}
    for score in (0, 6):
        view.scores = (score, 0)
        stakes[score] = modules["bot"].Stakes(view, Trump.SPADES)
    trick = 0.1 * 3.5
    assert stakes[0]._worth(0, [7, 0]) == pytest.approx(2 + trick)
    assert stakes[6]._worth(0, [7, 0]) == pytest.approx(1 + trick)
    assert stakes[6]._worth(1, [0, 7]) == pytest.approx(-3 - trick)


@pytest.mark.parametrize("name", FILES)
def test_the_quicker_one_is_a_copy(name: str) -> None:
    # A bot is its folder, so the files cannot be shared: they are frozen with the folder.
    original, copy = (SAMPLES / bot / f"{name}.py" for bot in ("search", "search-20"))
    assert copy.read_bytes() == original.read_bytes(), (
        "the copy lags behind; renew it: cp sample_bots/search/*.py sample_bots/search-20/"
    )
