"""The standings on terminals of any width."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from arena.cli.table import print_standings
from arena.ladder.ratings.standings import Flag, Row, Standings
from arena.ladder.settings import Settings

ROW = Row(
    rank=1,
    ranks=(1, 2),
    name="house-10",
    owner="hokm-arena",
    version="1",
    elo=1531.4,
    mle=1587.2,
    bar=50.0,
    matches=40,
    matches_won=20,
    matches_drawn=10,
    matches_lost=10,
    boards_won=150,
    boards_drawn=310,
    boards_lost=120,
    points_per_board=0.52,
    los_next=0.9999,
    forfeits=0,
    flags=(Flag.NOT_CONNECTED,),
    note="",
)


def printed(*rows: Row, width: int, anchor: str | None = None) -> list[str]:
    standings = Standings(Settings("club", anchor=anchor), None, 1, 1, 0, rows)
    console = Console(file=StringIO(), width=width, color_system=None)
    with console.capture() as captured:
        print_standings(standings, console)
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [80, 84, 88, 90, 200])
def test_no_row_is_folded_however_many_boards_were_played(width):
    told = printed(ROW, replace(ROW, name="greedy", owner="علی"), width=width)
    head = next(place for place, line in enumerate(told) if line.startswith("# bot"))
    rows = told[head + 2 : told.index("", head)]
    assert [row.split()[1] for row in rows] == ["house-10", "greedy"]
    assert all("+150=310-120  +0.52 >99.9 % N" in row and cell_len(row) <= width for row in rows)


def test_an_owner_is_shortened_where_there_is_no_room_and_said_below_where_there_is_none():
    assert " hokm-arena " in next(line for line in printed(ROW, width=90) if "house" in line)
    assert " hokm-… " in next(line for line in printed(ROW, width=82) if "house" in line)
    told = printed(ROW, replace(ROW, name="greedy"), width=80)
    assert not any("owner" in line for line in told)
    assert "Of hokm-arena: house-10, greedy" in told
    assert not any(line.startswith("Of ") for line in printed(ROW, width=90))


def test_an_anchor_that_does_not_hold_the_scale_yet_is_said():
    assert "anchor sara is not entered yet" in printed(ROW, width=80, anchor="sara")
    assert "anchor house-10 has no rated match yet" in printed(ROW, width=80, anchor="house-10")
    assert not any(line.startswith("anchor") for line in printed(ROW, width=80))
