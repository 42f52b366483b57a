"""No seat is told anything that another deal of the hidden cards would make different (rulebook 6).

For every phase of every table: a hand is stopped, the cards that a seat cannot see are replaced by
others that are consistent with what it has seen, and all that the seat was sent must be the same.
That the test has teeth is tested too: each way to leak that is tried here makes it fail.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from random import Random

import pytest

import hokm.rules.phases
from hokm.actions import CUTS, Action
from hokm.cards import Card, Seat, Trump
from hokm.errors import IllegalAction, Reason
from hokm.events import (
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    DrawChosen,
    Event,
    PacketDealt,
    TrumpDeclared,
)
from hokm.rules.deal import Deal
from hokm.rules.draw import opening
from hokm.rules.game import Board, Game
from hokm.rules.options import Play, Rules
from tests.hokm.permute import StackedRace, Story, other_story
from tests.hokm.positions import go_on
from tests.hokm.random_play import ONE_HAND_OPTIONS, any_action, random_story, seeds

HANDS = 8
"""Hands played at each table. Every leak tried below shows in less."""

RACE_OPTIONS: Mapping[int, Mapping[str, tuple[str, ...]]] = {
    4: {
        "pause_after": ("hakem", "first_round", "right_opponent"),
        "cut": ("off", "on"),
        "teams": ("fixed", "second_ace"),
    },
    3: {"pause_after": ("first_round", "hakem")},
    2: {"draw_choice_public": ("on", "off")},
}
"""What makes a difference before a hand of a race, or might: every mode is allowed besides."""


def every(choices: Mapping[int, Mapping[str, tuple[str, ...]]], play: Play) -> Iterator[Rules]:
    for players, options in choices.items():
        for texts in product(*options.values()):
            chosen = {"modes": "suit,sar,nar,tak_nar", **dict(zip(options, texts, strict=True))}
            yield Rules.of(players, play=play, options=chosen)


TABLES = [*every(ONE_HAND_OPTIONS, Play.BOARDS), *every(RACE_OPTIONS, Play.RACE)]
CUTTING = [table for table in TABLES if table.cut]


def name_of(table: Rules) -> str:
    choices = ONE_HAND_OPTIONS if table.play is Play.BOARDS else RACE_OPTIONS
    options = table.options()
    names = [options[name] for name in choices[table.players]]
    return "-".join([str(table.players), table.play.value, *names])


@dataclass(frozen=True, slots=True)
class Told:
    """All that reaches a seat: the events as it sees them, what it may do, and how each action it
    might try now would be answered.
    """

    events: tuple[Event, ...]
    legal: tuple[Action, ...]
    answers: tuple[str, ...]


def told(story: Story, seat: Seat, tries: Sequence[Action]) -> Told:
    game = game_of(story)
    events = [*game.start(), *go_on(game, story.actions)]
    return Told(
        tuple(event.seen_by(seat) for event in events),
        game.legal_actions() if game.to_act == seat else (),
        tuple(answer(game.deal, seat, action) for action in tries),
    )


def game_of(story: Story) -> Game:
    """A board, or a race whose draw gives the story its hakem, and its first hand."""
    if story.rules.play is Play.BOARDS:
        return Board(story.rules, story.deck, number=story.hakem + 1)
    draws = map(seeds, count())
    seed_of = next(draw for draw in draws if opening(story.rules, draw(0)).hakem == story.hakem)
    return StackedRace(story.rules, seed_of, {1: story.deck})


def answer(deal: Deal, seat: Seat, action: Action) -> str:
    try:
        deal.check(seat, action)
    except IllegalAction as error:
        return str(error)
    return "legal"


def stops(story: Story, rng: Random) -> Iterator[Story]:
    """The story stopped once in every phase, at a random point of it, and at its end."""
    deal = story.begin()
    deal.start()
    by_phase: dict[int, list[int]] = {}
    for number, action in enumerate(story.actions):
        by_phase.setdefault(deal.phase_number, []).append(number)
        assert deal.to_act is not None
        deal.act(deal.to_act, action)
    for points in by_phase.values():
        yield story.until(rng.choice(points))
    yield story


def assert_nothing_leaks(tables: Sequence[Rules], *, seed: int) -> None:
    for table, _ in product(tables, range(HANDS)):
        rng = Random(seed)
        for story in stops(random_story(table, rng), rng):
            tries = any_action(story.replay()[0])
            for seat in map(Seat, range(table.players)):
                other = other_story(story, seat, rng)
                same = told(story, seat, tries) == told(other, seat, tries)
                assert same, f"seat {seat} of {story} is told something else in {other}"
        seed += 1


@pytest.mark.rule("6")
@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_what_a_seat_is_told_is_the_same_with_other_hidden_cards(table: Rules) -> None:
    assert_nothing_leaks([table], seed=0)


# -- the test of the test


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_the_other_story_has_other_cards_wherever_some_are_hidden(table: Rules) -> None:
    rng = Random(6)
    differing = set()
    for _ in range(10):
        whole = random_story(table, rng)
        for story in stops(whole, rng):
            for seat in map(Seat, range(table.players)):
                other = other_story(story, seat, rng)
                deal, _ = story.replay()
                other_deal, _ = other.replay()
                differing.add((deal.phase_number, deal.deck != other_deal.deck))
                assert deal.trick == other_deal.trick
                assert deal.taken == other_deal.taken
                assert deal.hands[seat] == other_deal.hands[seat]
    phases = {phase for phase, _ in differing}
    assert {(phase, True) for phase in phases} <= differing
    assert len(phases) == 1 + sum(
        not isinstance(phase, hokm.rules.phases.Packets) for phase in deal.variant.phases
    )


def whole(event: Event, seat: Seat) -> Event:
    """As if everybody saw everything."""
    return event


def packet_with_its_lowest_card(event: PacketDealt, seat: Seat) -> Event:
    return event if seat == event.seat or not event.cards else replace(event, cards=event.cards[:1])


def packet_to_the_next_seat(event: PacketDealt, seat: Seat) -> Event:
    return event if seat in (event.seat, event.seat + 1) else replace(event, cards=None)


def discard_by_its_first_card(event: CardsDiscarded, seat: Seat) -> Event:
    return event if seat == event.seat or not event.cards else replace(event, cards=event.cards[:1])


def second_card_of_a_draw(event: DrawChosen, seat: Seat) -> Event:
    return event if seat == event.seat else replace(event, choice=None)


def choice_that_is_not_public(event: DrawChosen, seat: Seat) -> Event:
    return event if seat == event.seat else replace(event, second=None)


def stock_by_the_suit_on_top(event: CardOffered, seat: Seat) -> Event:
    if seat == event.seat or event.card is None:
        return event
    return replace(event, card=None, stock=event.stock + event.card.suit)


LEAKS: list[tuple[type[Event], Callable[..., Event], int]] = [
    (PacketDealt, whole, 4),
    (PacketDealt, whole, 3),
    (PacketDealt, whole, 2),
    (PacketDealt, packet_with_its_lowest_card, 4),
    (PacketDealt, packet_to_the_next_seat, 4),
    (CardsDiscarded, whole, 2),
    (CardsDiscarded, discard_by_its_first_card, 2),
    (CardOffered, whole, 2),
    (CardOffered, stock_by_the_suit_on_top, 2),
    (DrawChosen, whole, 2),
    (DrawChosen, second_card_of_a_draw, 2),
    (DrawChosen, choice_that_is_not_public, 2),
]


@pytest.mark.rule("6")
@pytest.mark.parametrize(("kind", "leak", "players"), LEAKS)
def test_a_view_that_leaks_is_caught(
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Event],
    leak: Callable[..., Event],
    players: int,
) -> None:
    monkeypatch.setattr(kind, "seen_by", leak)
    with pytest.raises(AssertionError, match="is told something else"):
        assert_nothing_leaks([table for table in TABLES if table.players == players], seed=1)


@pytest.mark.rule("6")
def test_a_leak_after_a_cut_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PacketDealt, "seen_by", packet_with_its_lowest_card)
    for table in CUTTING:
        with pytest.raises(AssertionError, match="is told something else"):
            assert_nothing_leaks([table], seed=1)


@pytest.mark.rule("6")
def test_a_cut_that_feels_the_cards_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def legal(phase: hokm.rules.phases.Cut, deal: Deal) -> tuple[Action, ...]:
        return CUTS[: 51 - deal.deck[0].suit]

    monkeypatch.setattr(hokm.rules.phases.Cut, "legal", legal)
    with pytest.raises(AssertionError, match="is told something else"):
        assert_nothing_leaks(CUTTING[:1], seed=1)


def test_every_private_event_has_a_leak_that_is_caught() -> None:
    private = {kind.__name__ for kind in Event.__subclasses__() if kind.__module__ == "hokm.events"}
    assert {kind.__name__ for kind, _, _ in LEAKS} == private - {"PublicEvent"}


@pytest.mark.rule("7")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_refusal_that_says_where_a_card_lies_is_caught(
    monkeypatch: pytest.MonkeyPatch, players: int
) -> None:
    def telling(deal: Deal, seat: Seat, card: Card) -> None:
        if not deal.hands[seat] & card.bit:
            others = [other for other in range(deal.seats) if deal.hands[other] & card.bit]
            raise IllegalAction(Reason.NOT_IN_HAND, detail=f"{card} is with {others}", clause="1.4")

    monkeypatch.setattr(hokm.rules.phases, "_refuse_unless_held", telling)
    with pytest.raises(AssertionError, match="is told something else"):
        assert_nothing_leaks([table for table in TABLES if table.players == players], seed=1)


# -- events that do not say who sees them


def test_an_event_that_does_not_say_what_a_seat_sees_of_it_cannot_be_made() -> None:
    @dataclass(frozen=True, slots=True)
    class CardDropped(Event):
        card: Card

    with pytest.raises(TypeError, match="seen_by"):
        CardDropped(Card(5))  # type: ignore[abstract]


@pytest.mark.parametrize("seat", range(4))
def test_a_public_event_is_seen_as_it_is(seat: int) -> None:
    for event in (TrumpDeclared(Seat(1), Trump.NAR), CardPlayed(Seat(2), Card(7))):
        assert event.seen_by(Seat(seat)) is event
