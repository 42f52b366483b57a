"""Decided matches by pages: the last first, and nothing of what is still to be played."""

from arena.ladder.facts import Attempt, Event, Match, State
from arena.ladder.ladder import Ladder
from hokm.outcome import Ending
from tests.arena.ladder.conftest import MakeBotFolder


async def test_pages_go_back_through_all_that_was_played(played: Ladder) -> None:
    listing, results = played.store.listing, played.store.results()
    first = listing.page(most=2)
    rest = listing.page(most=2, before=(first[-1].round, first[-1].place))
    assert [one.id for one in (*first, *rest)] == [one.match for one in reversed(results)]
    assert [one.totals for one in (*first, *rest)] == [one.totals for one in reversed(results)]
    assert first[0].entrants == results[-1].entrants
    assert {(one.event, one.because) for one in first} == {(1, None)}
    assert listing.page(most=2, before=(1, 1)) == ()


async def test_a_page_of_one_bot_has_its_matches_alone(played: Ladder) -> None:
    found = played.store.listing.page(most=10, of=[1])
    assert len(found) == 2
    assert all(1 in one.entrants for one in found)


def test_a_match_that_is_not_decided_is_not_there(
    ladder: Ladder, bot_folder: MakeBotFolder
) -> None:
    for name in ("ada", "bob"):
        ladder.add(bot_folder(name))
    event = Event(1, schedule='{"kind": "round-robin", "cycles": 1}', commitment=bytes(32))
    ladder.store.begin_event(event)
    match = Match("ev1/r1/ada~bob", 1, 1, (1, 2))
    ladder.store.add_cycle(event, 1, [match])
    listing = ladder.store.listing
    # As after a fault of the host: it was tried, and is to be played again.
    attempt = Attempt(match.id, 1, Ending.HOST_FAULT, "rain", "ev1/r1/ada~bob.json.gz", "00" * 32)
    ladder.store.void_attempt(match, attempt, void_because=None)
    assert ladder.store.stages(event)[0].fixtures[0].state is State.SCHEDULED
    assert listing.page(most=9) == () == listing.attempts(match.id)
    assert listing.match(match.id) is None
    assert listing.attempts(match.id) == ()
    ladder.store.void(match, because="rain")
    found = listing.match(match.id)
    assert found is not None
    assert (found.totals, found.because) == (None, "rain")


async def test_attempts_name_their_records(played: Ladder) -> None:
    match = played.store.listing.page(most=1)[0]
    (kept,) = played.store.listing.attempts(match.id)
    assert kept.number == 1
    assert (played.records_folder / kept.record).is_file()
    assert played.store.listing.attempts("ev1/r1/no~body") == ()
