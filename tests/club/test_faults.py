"""What is made of what the curious bot wrote: that it learned nothing is believed of evidence."""

from pathlib import Path

import pytest

from tests.club.story import Seen, faults_of

LOOKED = "NOT read /home PermissionError\nLOOKED\n"


def test_one_that_looked_to_the_end_and_got_nothing_is_no_fault() -> None:
    assert faults_of(Seen(curious_logs=["NOT read /home PermissionError\n", LOOKED])) == []


@pytest.mark.parametrize("logs", [[], ["NOT read /home PermissionError\n"], [""]])
def test_that_nothing_was_learned_takes_a_log_that_says_so(logs: list[str]) -> None:
    (fault,) = faults_of(Seen(curious_logs=logs))
    assert f"none of {len(logs)} logs" in fault


def test_what_it_got_and_what_it_wrote_is_named() -> None:
    seen = Seen(curious_logs=[LOOKED, "GOT tokens ['TOKEN']\n" + LOOKED], written=[Path("/a/x")])
    assert faults_of(seen) == ["dozd GOT tokens ['TOKEN']", "dozd wrote /a/x"]


def test_where_nothing_is_confined_it_is_asked_only_what_was_left() -> None:
    assert faults_of(Seen(unconfined="no namespaces")) == []
    assert faults_of(Seen(unconfined="no namespaces", left=[7]))
