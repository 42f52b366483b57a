"""`arena crosstable` as it is read."""

import csv
import io
import json

import pytest

from arena.ladder.ladder import Ladder
from arena.ladder.settings import Settings
from tests.arena.ladder.ratings.leagues import played_ladder


@pytest.fixture
def club(tmp_path):
    names = ["ada", "bob", "علی", "dan", "eve"]
    return played_ladder(tmp_path / "club", names, length=2, cycles=3, unrated=["eve"])


def test_a_table_has_the_bots_by_rank_and_says_what_a_cell_is(run, club):
    ran = run("crosstable", club)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("club: 4p-boards-2, 4 bots by rank\n")
    rows = [line.split() for line in ran.out.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert "eve" not in ran.out
    for place, row in enumerate(rows):
        cells = row[3:]
        assert cells[place] == "·"
        for other, cell in enumerate(cells):
            if other != place:
                won, drawn, lost = map(int, cell.split("-"))
                assert won + drawn + lost == 3
                assert rows[other][3 + place] == f"{lost}-{drawn}-{won}"
    assert "Matches won-drawn-lost by the bot of the row" in ran.out
    assert "The best" not in ran.out


def test_bots_of_one_owner_are_marked_and_it_is_said_why(run, tmp_path):
    names, owners = ["ada", "bob", "dan"], {"ada": "o", "dan": "O"}
    folder = played_ladder(tmp_path / "club", names, cycles=1, owners=owners)
    ran = run("crosstable", folder)
    lines = [line.split() for line in ran.out.splitlines() if line[:1].isdigit()]
    rows = {name: cells for _, name, _, *cells in lines}
    assert [rows[name].count("=") for name in names] == [1, 0, 1]
    assert "= are of one owner: what they play against each other moves no rating" in ran.out
    answer = json.loads(run("crosstable", folder, "--json").out)
    assert {row["bot"]: row["sisters"] for row in answer["rows"]} == {
        "ada": ["dan"],
        "bob": [],
        "dan": ["ada"],
    }


def test_where_all_have_owners_of_their_own_nothing_is_said_of_owners(run, club):
    assert "one owner" not in run("crosstable", club).out


def test_on_a_narrow_terminal_the_best_are_shown_and_it_is_said(run, club, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    ran = run("crosstable", club)
    lines = ran.out.splitlines()
    shown = [line for line in lines if line[:1].isdigit()]
    assert 2 <= len(shown) < 4
    assert all(len(line) <= 31 for line in shown)  # a mark of direction takes no place
    assert f"The best {len(shown)} of 4; --top 4 shows all" in ran.out
    wide = run("crosstable", club, "--top", 4).out.splitlines()
    assert sum(line[:1].isdigit() and len(line.split()) == 7 for line in wide) == 4


def test_json_has_every_pair_from_both_sides(run, club):
    answer = json.loads(run("crosstable", club, "--json").out)
    assert (answer["ladder"], answer["scale"], answer["bots"]) == ("club", "4p-boards-2", 4)
    assert [row["rank"] for row in answer["rows"]] == [1, 2, 3, 4]
    cells = {(row["bot"], one["bot"]): one for row in answer["rows"] for one in row["against"]}
    assert len(cells) == 12
    for (bot, other), one in cells.items():
        mirror = cells[other, bot]
        assert one["matches"]["won"] == mirror["matches"]["lost"]
        assert one["points"] == -mirror["points"]
        assert one["z"] == pytest.approx(-mirror["z"])
        assert one["score"] + mirror["score"] == 3
        assert one["is_odd"] is (abs(one["z"]) > 4)
    top = json.loads(run("crosstable", club, "--top", 2, "--json").out)
    assert [len(row["against"]) for row in top["rows"]] == [1, 1]
    assert top["bots"] == 4


def test_csv_has_a_line_a_pair(run, club):
    rows = list(csv.DictReader(io.StringIO(run("crosstable", club, "--csv").out)))
    assert len(rows) == 12
    answer = json.loads(run("crosstable", club, "--json").out)
    first = answer["rows"][0]
    assert (rows[0]["bot"], rows[0]["opponent"]) == (first["bot"], first["against"][0]["bot"])
    assert float(rows[0]["z"]) == first["against"][0]["z"]
    assert int(rows[0]["boards_drawn"]) == first["against"][0]["boards"]["drawn"]
    top = list(csv.DictReader(io.StringIO(run("crosstable", club, "--csv", "--top", 2).out)))
    assert [row["rank"] for row in top] == ["1", "2"]
    assert run("crosstable", club, "--csv", "--json").status == 2


def test_a_pair_that_goes_against_the_ratings_is_marked_and_told(run, club, monkeypatch):
    monkeypatch.setattr("arena.ladder.ratings.crosstable.ODD", 0.0)
    ran = run("crosstable", club)
    assert "! goes against the ratings of both, |z| over 0:\n" in ran.out
    told = ran.out.partition("|z| over")[2].splitlines()[1:]
    assert 1 <= len(told) <= 6  # each pair once
    for line in told:
        assert " of 3 matches, expected " in line
        assert " z +" in line
    assert "!" in ran.out.splitlines()[4]
    monkeypatch.setattr("arena.cli.crosstable.TOLD", 1)
    last = run("crosstable", club).out.splitlines()[-2:]
    assert " z +" in last[0]
    assert last[1] == f"  and {len(told) - 1} more: --json and --csv have every z"


def test_a_ladder_that_nobody_has_played_says_so(run, tmp_path):
    Ladder.init(tmp_path / "new", Settings.of("new")).close()
    ran = run("crosstable", tmp_path / "new")
    assert (ran.status, ran.out.splitlines()[1:]) == (
        0,
        ["No match that moves ratings is played yet"],
    )
    assert json.loads(run("crosstable", tmp_path / "new", "--json").out)["rows"] == []
    ran = run("crosstable", tmp_path)
    assert ran.status == 1
    assert "has no ladder.toml" in ran.err


def test_with_three_at_a_table_it_says_how_a_match_counts(run, tmp_path):
    folder = played_ladder(tmp_path / "threes", ["ada", "bob", "cyd"], players=3, length=1)
    assert "counts once against each of the others" in run("crosstable", folder).out
