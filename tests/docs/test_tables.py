"""The standings that pages show are in the form in which the program prints them now."""

import re
from io import StringIO

import pytest
from rich.console import Console

from arena.cli.table import print_standings
from arena.ladder.ratings.standings import Flag, Row, Standings
from arena.ladder.settings import Settings
from tests.docs.test_docs import blocks, headings

PAGES = ("README.md", "docs/run-a-ladder.md")
TITLE = re.compile(r"(\S+) \(\S+\): 4 players, boards, (\d+) boards a match\n")
RECORDS = re.compile(r"Records of the matches: (\S+); check them with arena verify \1")
"""What `arena ladder run` says after them."""

EVERY_FLAG = Row(
    rank=1,
    ranks=(1, 1),
    name="bot",
    owner="owner",
    version="1",
    elo=1500.0,
    mle=1500.0,
    bar=100.0,
    matches=1,
    matches_won=1,
    matches_drawn=0,
    matches_lost=0,
    boards_won=1,
    boards_drawn=0,
    boards_lost=0,
    points_per_board=1.0,
    los_next=None,
    forfeits=0,
    flags=tuple(Flag),
    note="",
)


def printed(name: str, length: int) -> str:
    """The standings of a ladder of boards, with one row, which has every mark."""
    standings = Standings(Settings(name, length=length), None, 1, 1, 0, (EVERY_FLAG,))
    console = Console(file=StringIO(), width=200, color_system=None)
    with console.capture() as captured:
        print_standings(standings, console)
    return captured.get()


@pytest.mark.parametrize("page", PAGES)
def test_standings_on_a_page_have_the_title_columns_and_notes_of_today(page: str) -> None:
    (block,) = [block for block in blocks(page, "text") if "\n# bot " in block]
    title, *paragraphs = block.split("\n\n")
    titled = TITLE.match(title)
    assert titled, f"the title is {title!r}"
    now = printed(titled[1], int(titled[2]))
    assert title.splitlines()[0] == now.splitlines()[0]
    assert headings(block) == headings(now)
    _, *notes = paragraphs
    for note in [line for paragraph in notes for line in paragraph.splitlines()]:
        assert note in now.splitlines() or RECORDS.fullmatch(note)
