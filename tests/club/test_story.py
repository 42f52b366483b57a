"""A club's ladder from its first day on, with everything in it: what its story comes to."""

import sys
from pathlib import Path

import pytest

from arena.ladder.processes.sandbox import SandboxError, prepare
from tests.club.story import RATED_MATCHES, Seen, tell


def _may_confine(folder: Path) -> bool:
    folder.mkdir()
    try:
        prepare(folder, python=sys.executable)
    except SandboxError as error:
        print(f"without a sandbox, since it does not work here: {error}")  # noqa: T201 - why
        return False
    return True


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> bool:
    return _may_confine(tmp_path_factory.mktemp("sandbox") / "tried")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, confined: bool) -> Seen:
    return tell(tmp_path_factory.mktemp("c"), say=print, confined=confined)


pytestmark = pytest.mark.timeout(900)


def test_the_good_ones_of_three_owners_are_rated(seen: Seen) -> None:
    good = {"sib", "gerdu", "dozd", "tut", "anar", "noghl"} - set(seen.without)
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


def test_the_curious_one_plays_and_learns_nothing(seen: Seen, confined: bool) -> None:
    if not confined:
        pytest.skip("there is no sandbox here, and without one it may read what its operator may")
    assert any("LOOKED" in log for log in seen.curious_logs)
    assert not [line for log in seen.curious_logs for line in log.splitlines() if "GOT " in line]
    assert seen.written == []


def test_logs_are_their_owners(seen: Seen) -> None:
    assert seen.others_logs
    assert 0 not in seen.others_logs


def test_nothing_is_left_behind(seen: Seen) -> None:
    assert seen.left == []
