"""Every member of the zoo plays, and what comes of it is what its description and the page say.

All are seen in one visit, several at once, since starting them takes most of the time.
"""

import sys
from functools import partial

import pytest
import trio

from hokm.actions import Draw
from tests.zoo import bot
from tests.zoo.keeper import Sighting, Visit, visit, wrong_with
from tests.zoo.members import BY_NAME, MEMBERS
from tests.zoo.page import PAGE, row, rows_of

pytestmark = [
    pytest.mark.timeout(400),  # the first test waits for all of them
    pytest.mark.skipif(sys.platform != "linux", reason="what is left is looked for in /proc"),
]


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    return trio.run(partial(visit, tmp_path_factory.mktemp("zoo"), MEMBERS, at_once=4))


@pytest.fixture(scope="module")
def seen(visited: Visit) -> dict[str, Sighting]:
    return {sighting.member.name: sighting for sighting in visited.sightings}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_member_comes_to_the_end_it_should(seen: dict[str, Sighting], name: str) -> None:
    assert wrong_with(seen[name]) == []


def test_nothing_is_left_when_the_zoo_has_closed(visited: Visit) -> None:
    assert visited.left == ()


def test_of_two_draws_the_first_answer_counts_and_in_one_action_the_last_field(
    seen: dict[str, Sighting],
) -> None:
    for name, choice in (
        ("keeps-and-refuses-in-one-batch", Draw.KEEP),
        ("keeps-and-refuses-in-one-action", Draw.REFUSE),
    ):
        hakems = seen[name].record.rooms[0].games[0].hands[0].draws[::2]  # who draws first
        assert set(hakems) == {choice}


def test_a_ticket_is_good_for_one_stream(seen: dict[str, Sighting]) -> None:
    said = seen["uses-its-ticket-twice"].said
    assert said.count("the second stream ended with UNAUTHENTICATED") == 2


def test_the_page_says_what_was_seen() -> None:
    assert rows_of(PAGE.read_text(encoding="utf-8")) == [row(member) for member in MEMBERS]


def test_every_member_has_its_program_and_every_program_its_member() -> None:
    assert set(bot.zoo()) == set(BY_NAME)
