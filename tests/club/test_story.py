"""A club's ladder from its first day on, with everything in it: what its story comes to."""

import pytest

from tests.club.story import CURIOUS, RATED_MATCHES, Seen, faults_of, tell, why_unconfined


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    unconfined = why_unconfined(tmp_path_factory.mktemp("sandbox") / "tried")
    return tell(tmp_path_factory.mktemp("c"), say=print, unconfined=unconfined)


pytestmark = pytest.mark.timeout(900)


def test_the_good_ones_of_three_owners_are_rated(seen: Seen) -> None:
    good = {"sib", "gerdu", CURIOUS, "tut", "anar", "noghl"} - set(seen.without)
    good -= {CURIOUS} if seen.unconfined else set()
    assert set(seen.standings) == good
    assert all(seen.standings[name]["matches_played"] >= RATED_MATCHES for name in good)
    for name, why in seen.without.items():
        print(f"{name} was left out: {why}")  # noqa: T201 - why


def test_the_broken_ones_never_play_and_their_reports_say_why(seen: Seen) -> None:
    for name in ("ghalat", "natamam"):
        assert seen.submissions[name]["state"] == "refused"
        assert not any(name in match for match in seen.matches)
    assert "SyntaxError" in seen.reports["natamam"]
    assert "arena bot check" in seen.reports["natamam"]
    assert "NOT_IN_HAND" in seen.reports["ghalat"]


def test_no_match_is_lost_with_a_server_that_is_killed_and_none_counts_twice(seen: Seen) -> None:
    assert set(seen.matches_before_kill) <= set(seen.matches)
    assert len(seen.matches) == len(set(seen.matches))
    assert seen.ladder_holds
    assert seen.events_hold


def test_the_curious_one_plays_and_learns_nothing(seen: Seen) -> None:
    if seen.unconfined:
        why = "without a sandbox it may read what its operator may"
        pytest.skip(f"{why}, and there is none: {seen.unconfined}")
    assert seen.submissions[CURIOUS]["state"] == "accepted"
    assert faults_of(seen) == []


def test_the_curious_one_is_refused_where_nothing_confines_it(seen: Seen) -> None:
    if not seen.unconfined:
        pytest.skip("it is confined here")
    assert seen.submissions[CURIOUS]["state"] == "refused"
    assert "exit code 3" in seen.reports[CURIOUS]
    assert not any(CURIOUS in match for match in seen.matches)


def test_logs_are_their_owners(seen: Seen) -> None:
    assert seen.others_logs
    assert 0 not in seen.others_logs


def test_nothing_is_left_behind(seen: Seen) -> None:
    assert seen.left == []
