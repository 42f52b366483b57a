"""`arena head2head` as it is read."""

import json

import pytest

from arena.cli import head2head
from arena.ladder.ratings.head_to_head import Met, Series
from hokm.records import Format
from tests.arena.ladder.ratings.leagues import played_ladder


@pytest.fixture
def club(tmp_path):
    return played_ladder(tmp_path / "club", ["ada", "bob", "علی"], length=2, cycles=3)


def lines(out):
    """What is said by its name."""
    return {line.split("  ")[0]: line for line in out.splitlines() if "  " in line}


def test_it_says_all_that_the_boards_of_two_say(run, club):
    ran = run("head2head", "ada", "bob", "--ladder", club)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("ada against bob: 3 matches\n")
    told = lines(ran.out)
    assert {"matches", "boards", "points/board", "Elo", "nElo", "LOS", "residual"} <= set(told)
    assert "Elo on the scale board-sign" in ran.out
    assert "of 3 rated matches, where the ratings of all expect " in told["residual"]
    found = [file.relative_to(club / "records") for file in club.rglob("ada~bob.json.gz")]
    assert len(found) == 3
    assert all(f"\n{str(file).removesuffix('.json.gz')} " in ran.out for file in found)
    assert f"records       {club / 'records'}\n" in ran.out


def test_json_has_the_figures_unrounded_and_every_match(run, club):
    answer = json.loads(run("head2head", "bob", "ada", "--ladder", club, "--json").out)
    assert (answer["first"], answer["second"], answer["scale"]) == ("bob", "ada", "board-sign")
    boards = [d for played in answer["played"] for d in played["boards"]]
    assert len(boards) == 6
    assert answer["boards"] == {
        "won": sum(d > 0 for d in boards),
        "drawn": boards.count(0),
        "lost": sum(d < 0 for d in boards),
    }
    assert answer["differences"] == {str(d): boards.count(d) for d in set(boards)}
    assert answer["points_per_board"] == pytest.approx(sum(boards) / 6)
    assert sum(answer["matches"].values()) == 3
    assert answer["residual"]["matches"] == 3
    assert set(answer["elo"]) == set(answer["nelo"]) == {"value", "error"}


def test_records_will_do_without_a_ladder(run, club):
    by_ladder = json.loads(run("head2head", "ada", "علی", "--ladder", club, "--json").out)
    records = club / "records"
    by_records = json.loads(run("head2head", "ada", "علی", "--records", records, "--json").out)
    assert by_records["residual"] is None
    for key in ("matches", "boards", "differences", "elo", "nelo", "los"):
        assert by_records[key] == by_ladder[key]
    ran = run("head2head", "ada", "علی", "--records", records)
    assert "residual" not in ran.out


def test_a_damaged_record_is_said_and_left_out(run, club):
    file = next((club / "records").rglob("ada~bob.json.gz"))
    file.write_bytes(b"torn")
    ran = run("head2head", "ada", "bob", "--records", club / "records")
    assert ran.status == 1
    assert ran.out.startswith("ada against bob: 2 matches\n")
    assert ran.err.startswith(f"error: {file}: ")
    assert ran.err.endswith("; it is left out\n")


def test_the_ladder_is_the_current_folder_unless_one_says_otherwise(run, club, monkeypatch):
    monkeypatch.chdir(club)
    assert "ada against bob: 3 matches" in run("head2head", "ada", "bob").out


def test_without_a_ladder_here_it_says_how_to_name_one(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run("head2head", "ada", "bob")
    told = "error: there is no ladder in this folder; give --ladder DIR, or --records PATH\n"
    assert (ran.status, ran.err) == (2, told)
    assert run("bot", "history", "ada").err == f"{told.partition(',')[0]}\n"


def test_two_who_never_met_have_nothing_to_say(run, club):
    ran = run("head2head", "ada", "eve", "--records", club / "records")
    assert (ran.status, ran.out) == (0, "ada against eve: 0 matches\n")
    answer = json.loads(run("head2head", "ada", "eve", "--records", club, "--json").out)
    assert answer["played"] == []
    assert answer["elo"] == {"value": None, "error": None}


def test_races_are_counted_in_pairs(run, tmp_path):
    folder = played_ladder(
        tmp_path / "races", ["ada", "bob"], play=Format.CLASSIC, length=1, cycles=2
    )
    ran = run("head2head", "ada", "bob", "--ladder", folder)
    assert "Elo on the scale race-pair" in ran.out
    assert {"pairs", "Elo"} <= set(lines(ran.out))
    assert "points/" not in ran.out
    answer = json.loads(run("head2head", "ada", "bob", "--ladder", folder, "--json").out)
    assert (answer["points_per_board"], answer["format"]) == (None, "classic")


def test_names_that_cannot_be_meant_are_said(run, club):
    ran = run("head2head", "ada", "ada", "--ladder", club)
    assert ran.status == 2
    ran = run("head2head", "ada", "bobb", "--ladder", club)
    assert (ran.status, ran.err) == (
        1,
        "error: bobb: is not entered here; did you mean bob?\n",
    )


def test_an_even_score_is_no_minus_zero():
    series = Series("ada", "bob", Format.BOARDS, (Met("m", (1, -1), "m.json"),))
    assert json.dumps(head2head._json(series)["elo"]).startswith('{"value": 0.0')
