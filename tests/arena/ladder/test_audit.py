"""A ladder that is checked: every loss and every change is told with its place."""

import shutil
from pathlib import Path

import pytest

from arena.ladder.audit import check
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending
from tests.arena.ladder.conftest import sql


async def test_a_sound_ladder_has_no_problems(played: Ladder) -> None:
    assert check(played) == []


async def test_every_loss_and_every_change_is_told_with_its_place(
    played: Ladder, folder: Path
) -> None:
    records = sorted((folder / "records").glob("ev1/*/*.gz"))
    names = ["bob~cyd.json.gz", "ada~bob.json.gz", "ada~cyd.json.gz"]
    assert [path.name for path in records] == names
    records[0].unlink()
    records[1].write_bytes(records[1].read_bytes()[:-20])
    bot = folder / "bots" / played.store.bots()[0].digest / "bot.py"
    bot.chmod(0o644)
    bot.write_text("other")
    said = [str(problem) for problem in check(played)]
    assert len(said) == 3
    assert "is not as it was entered" in said[0]
    assert said[1] == f"{records[0]}: is missing; restore it from a backup"
    assert said[2].startswith(f"{records[1]}: is damaged (")


async def test_a_record_of_another_match_is_not_taken_for_this_one(
    played: Ladder, folder: Path
) -> None:
    one, other, _ = sorted((folder / "records").glob("ev1/*/*.gz"))
    shutil.copy(one, other)
    [problem] = check(played)
    assert str(problem).startswith(f"{other}: is not the record that the result of ev1/r2/")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE results SET boards = '[[9,0]]' WHERE match = :match",
        "DELETE FROM results WHERE match = :match",
    ],
)
async def test_a_result_that_is_not_its_records_is_found(played: Ladder, change: str) -> None:
    match = "ev1/r2/ada~bob"
    sql(played, change, match=match)
    said = str(check(played)[0])
    assert "\n" not in said
    assert f"holds a result of {match} that is not its record's: board 1 is kept as " in said


async def test_every_result_that_is_damaged_is_told_and_what_else_there_is(
    played: Ladder, folder: Path
) -> None:
    change = "UPDATE results SET boards = :boards WHERE match = :match"
    for match, boards in ("ev1/r1/bob~cyd", "[[1"), ("ev1/r3/ada~cyd", "[[1,2,3]]"):
        sql(played, change, match=match, boards=boards)
    (record,) = (folder / "records/ev1/r2").iterdir()
    record.unlink()
    database, remedy = played.store.where, "restore it from a backup"
    assert [str(problem) for problem in check(played)] == [
        f"{database}: holds a result of ev1/r1/bob~cyd that is damaged; {remedy}",
        f"{database}: holds a result of ev1/r3/ada~cyd that is damaged; {remedy}",
        f"{record}: is missing; {remedy}",
    ]
    with pytest.raises(LadderError, match="a board of 'ev1/r1/bob~cyd' without points for each"):
        played.store.results()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            "UPDATE pairs SET won = won + 1 WHERE round = 2",
            "comparisons of bots that do not follow",
        ),
        ("DELETE FROM pairs WHERE round = 2", "comparisons of bots that do not follow"),
        ("UPDATE ratings SET elo = elo + 1 WHERE round = 1", "Elo ratings that do not follow"),
        ("DELETE FROM ratings WHERE round = 1", "Elo ratings that do not follow"),
        ("UPDATE ratings SET elo = elo + 1 WHERE round = 3", "Elo ratings that do not follow"),
        (
            "UPDATE entrants SET forfeits = 7 WHERE place = 2",
            "forfeits are kept as 0-7, and are 0-0",
        ),
    ],
)
async def test_what_does_not_follow_from_the_results_is_found(
    played: Ladder, change: str, what: str
) -> None:
    sql(played, change)
    assert what in str(check(played)[0])


async def test_a_result_of_a_match_that_its_record_voids_is_found(
    ladder: Ladder, bot_folder
) -> None:
    for name in ("ada", "bob"):
        ladder.add(bot_folder(name))
    faults = {("ev1/r1/ada~bob", 1): (Ending.HOST_FAULT, None)}
    await play_event(ladder, InProcessRunner(faults=faults), schedule=RoundRobin())
    assert check(ladder) == []
    sql(ladder, "UPDATE attempts SET voided_by = NULL WHERE number = 1")
    said = str(check(ladder)[0])
    assert "holds a result of ev1/r1/ada~bob that is not its record's: by its record it is" in said


async def test_ratings_that_do_not_follow_from_the_results_are_found(played: Ladder) -> None:
    sql(played, "UPDATE ratings SET elo = elo + 1e-9 WHERE round = 3")
    [problem] = check(played)
    assert "holds Elo ratings that do not follow from its results" in str(problem)


async def test_a_bot_that_stays_at_home_has_no_files_to_look_for(played: Ladder) -> None:
    bot = played.add_remote("rostam", owner="maryam", version="1.5")
    assert bot.remote
    assert check(played) == []
