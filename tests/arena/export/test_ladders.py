"""The tables of a ladder are its standings and its Elo by round."""

from pathlib import Path

import pytest

from arena.export.ladders import ladder_rows, rated_matches
from arena.export.schema import Bot, Rating
from arena.ladder.ladder import Ladder
from arena.ladder.ratings import evidence
from tests.arena.ladder.ratings.leagues import played_ladder


@pytest.fixture
def ladder(tmp_path: Path):
    folder = played_ladder(tmp_path / "club", ["ada", "bob", "cyd", "dan"], unrated=["dan"])
    with Ladder.open(folder) as opened:
        opened.withdraw("cyd")
        yield opened


def test_bots_are_as_in_the_standings(ladder: Ladder) -> None:
    rows = [row for row in ladder_rows(ladder, {Bot}) if isinstance(row, Bot)]
    standings = {row.name: row for row in ladder.standings().rows}
    assert [row.bot for row in rows] == list(standings)
    for row in rows:
        one = standings[row.bot]
        assert (row.rank, row.elo, row.mle, row.mle_error_95) == (
            one.rank,
            one.elo,
            one.mle,
            one.bar,
        )
        assert (row.matches_won, row.matches_drawn, row.matches_lost) == (
            one.matches_won,
            one.matches_drawn,
            one.matches_lost,
        )
        assert (row.boards_won, row.boards_lost) == (one.boards_won, one.boards_lost)
        assert one.ranks is None or (row.rank_best, row.rank_worst) == one.ranks
        assert row.owner == f"o-{row.bot}"
    by_name = {row.bot: row for row in rows}
    assert (by_name["dan"].is_rated, by_name["dan"].rank, by_name["dan"].elo) == (False, None, None)
    assert by_name["cyd"].inactive_because == "withdrawn"


def test_ratings_end_where_the_standings_are(ladder: Ladder) -> None:
    rows = [row for row in ladder_rows(ladder, {Rating}) if isinstance(row, Rating)]
    last = {row.bot: row for row in rows}
    assert sorted(last) == ["ada", "bob", "cyd"]
    for row in ladder.standings().rows:
        if row.elo is not None:
            assert last[row.name].elo == pytest.approx(row.elo, abs=1e-9)
            assert last[row.name].matches == row.matches
    assert [row.round for row in rows if row.bot == "ada"] == sorted(
        {row.round for row in rows if row.bot == "ada"}
    )


def test_nothing_is_told_that_is_not_asked_for(ladder: Ladder) -> None:
    assert list(ladder_rows(ladder, set())) == []
    assert {type(row) for row in ladder_rows(ladder, {Rating})} == {Rating}


def test_what_moves_ratings_is_what_the_results_say(tmp_path: Path) -> None:
    names = ["ada", "bob", "cyd", "dan"]
    for players, owners in ((4, {}), (4, {"ada": "o", "cyd": "o"}), (3, {})):
        folder = tmp_path / f"{players}-{len(owners)}"
        played_ladder(folder, names, players=players, owners=owners, unrated=["dan"])
        with Ladder.open(folder) as ladder:
            store = ladder.store
            due = evidence.rated_matches(store.bots(), store.results(), settings=ladder.settings)
            assert list(rated_matches(ladder)) == due
            assert due
