"""What holds in every hand, board and race, whatever is played (cases 48, 49 and 52 among it)."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings

from hokm.actions import DiscardCards
from hokm.cards import Card, Seat, cards_in
from hokm.deck import shuffled
from hokm.errors import IllegalAction
from hokm.events import CardPlayed, CardsDiscarded, DrawChosen, Event, HandEnded, HandStarted
from hokm.outcome import Ending, HandKind, Outcome
from hokm.rules.deal import Deal
from hokm.rules.game import Race
from hokm.rules.options import NextHakem, Play, Rules
from tests.hokm.random_play import SEEDS, any_action, random_game, random_story, tables


def everywhere(deal: Deal, events: list[Event]) -> list[Card]:
    """Every card that has left the deck: held, discarded or played."""
    placed = [card for cards in (*deal.hands, *deal.discarded) for card in cards_in(cards)]
    return placed + [event.card for event in events if isinstance(event, CardPlayed)]


@pytest.mark.rule("8.52")
@given(tables(), SEEDS)
def test_case_52_no_card_is_in_two_places_after_any_action(table: Rules, seed: int) -> None:
    story = random_story(table, Random(seed))
    deal = story.begin()
    events = deal.start()
    for action in story.actions:
        assert deal.to_act is not None
        events += deal.act(deal.to_act, action)
        placed = everywhere(deal, events)
        assert len(set(placed)) == len(placed)
        # Cards leave the deck from the top, and nothing else is ever in play.
        assert set(placed) == set(deal.deck[: len(placed)])
    assert len(everywhere(deal, events)) == len(deal.variant.pack)


@given(tables(), SEEDS)
def test_the_events_alone_make_an_equal_deal_at_every_point(table: Rules, seed: int) -> None:
    story = random_story(table, Random(seed))
    deal, copy = story.begin(), story.begin()
    events = deal.start()
    for action in story.actions:
        assert deal != copy
        for event in events:
            copy.apply(event)
        assert deal == copy
        assert deal.to_act is not None
        events = deal.act(deal.to_act, action)


@settings(max_examples=25)
@given(tables(), SEEDS)
def test_legality_asked_three_ways_agrees_and_a_refusal_changes_nothing(
    table: Rules, seed: int
) -> None:
    rng = Random(seed)
    story = random_story(table, rng)
    deal, untouched = story.begin(), story.begin()
    events = deal.start()
    for action in (*story.actions, None):
        for event in events:
            untouched.apply(event)
        listed = [_unordered(legal) for legal in deal.legal_actions()]
        assert len(listed) == len(set(listed))
        for seat in map(Seat, range(deal.seats)):
            legal = {_unordered(tried) for tried in any_action(deal) if deal.is_legal(seat, tried)}
            assert legal == (set(listed) if seat == deal.to_act else set())
            assert legal == {
                _unordered(tried) for tried in any_action(deal) if _passes(deal, seat, tried)
            }
            illegal = [tried for tried in any_action(deal) if _unordered(tried) not in legal]
            for tried in rng.sample(illegal, 5):
                with pytest.raises(IllegalAction):
                    deal.act(seat, tried)
        assert deal == untouched
        if action is not None:
            assert deal.to_act is not None
            events = deal.act(deal.to_act, action)
    assert deal.is_over


def _unordered(action: object) -> object:
    """The same for two discards of the same cards: legal actions list each once."""
    return frozenset(action.cards) if isinstance(action, DiscardCards) else action


def _passes(deal: Deal, seat: Seat, action: object) -> bool:
    try:
        deal.check(seat, action)  # type: ignore[arg-type]
    except IllegalAction:
        return False
    return True


@given(SEEDS)
def test_two_seats_see_27_and_25_cards_in_21_draws_before_the_first_lead(seed: int) -> None:
    table = Rules.of(2)
    deal, events = random_story(table, Random(seed)).replay()
    drawn = [event for event in events if isinstance(event, DrawChosen)]
    assert len(drawn) == 21
    discarded = [event.count for event in events if isinstance(event, CardsDiscarded)]
    assert discarded == [3, 2]
    hakem, other = deal.hakem, Seat(1 - deal.hakem)
    assert [len(cards_in(deal.discarded[seat])) for seat in (hakem, other)] == [14, 12]
    assert [event.seat for event in drawn] == [hakem, other] * 10 + [hakem]


@given(tables(Play.RACE), SEEDS)
def test_a_race_keeps_count_moves_the_hakem_and_ends_at_its_target(table: Rules, seed: int) -> None:
    events: list[Event] = []
    for game, happened in random_game(table, seed):
        assert isinstance(game, Race)
        events += happened
        dealt = shuffled(
            game.variant.pack, seed.to_bytes(16, "big") + game.hand_number.to_bytes(16, "big")
        )
        cut = game.deal.cut or 0
        assert game.deal.deck == (*dealt[cut:], *dealt[:cut])
    started = [event for event in events if isinstance(event, HandStarted)]
    ended = [event for event in events if isinstance(event, HandEnded)]
    assert len(started) == len(ended) == game.hand_number
    assert [event.number for event in started] == list(range(1, game.hand_number + 1))
    scores = (0,) * game.variant.sides
    target = table.target_points
    assert target is not None
    for start, end in zip(started, ended, strict=True):
        assert start.scores == scores
        assert max(scores) < target
        assert start.dealer == (start.hakem - 1) % table.players
        assert sorted(end.result.points)[:-1] == [0] * (len(scores) - 1)
        assert end.result.points[end.result.winner] == _worth(table, end.result.kind)
        scores = tuple(map(sum, zip(scores, end.result.points, strict=True)))
    for end, (before, after) in zip(ended, pairwise(started), strict=False):
        assert (end.next_hakem, end.next_dealer) == (after.hakem, after.dealer)
        assert after.hakem == _succeeds(table, before.hakem, int(end.result.winner))
    assert scores[ended[-1].result.winner] >= target
    assert ended[-1].next_hakem is None
    assert game.outcome == Outcome(Ending.COMPLETED, scores, ended[-1].result.winner)


def _worth(table: Rules, kind: HandKind) -> int:
    return {
        HandKind.WIN: table.points_win,
        HandKind.KOT: table.points_kot,
        HandKind.HAKEM_KOT: table.points_hakem_kot,
    }[kind]


def _succeeds(table: Rules, hakem: int, winner: int) -> int:
    """Rulebook 2.6, 3.8 and 4.6, said once more."""
    side = hakem % 2 if table.players == 4 else hakem
    if side == winner:
        return hakem
    if table.next_hakem is NextHakem.WINNER:
        return winner
    return (hakem + (1 if table.next_hakem is NextHakem.RIGHT else -1)) % table.players
