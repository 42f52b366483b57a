"""What can go wrong becomes one line and a status; what was not foreseen keeps its traceback."""

import errno

import pytest

from arena.cli import main
from arena.cli.errors import Failure, Misuse, failure_of
from arena.ladder.bots.bundle import BotError
from arena.ladder.errors import LadderError
from arena.ladder.matches.boards import PlanError
from arena.ladder.processes.launcher import LaunchError
from hokm.errors import IllegalAction, Reason, RulesError
from hokm.records import RecordError


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (Misuse("x"), Failure(2, "error: x")),
        (PlanError("x"), Failure(2, "error: x")),
        (RulesError("x"), Failure(2, "error: x")),
        (BotError("bot", "is bad", remedy="mend it"), Failure(1, "error: bot: is bad; mend it")),
        (LadderError("l", "is bad", remedy="mend it"), Failure(1, "error: l: is bad; mend it")),
        (LaunchError("x"), Failure(1, "error: x")),
        (RecordError("x"), Failure(1, "error: x")),
        (
            OSError(errno.ENOSPC, "No space left on device", "/disk/file"),
            Failure(
                1,
                "error: /disk/file: No space left on device; "
                "make room there, then run the command again",
            ),
        ),
        (
            OSError(errno.EIO, "Input/output error"),
            Failure(
                1,
                "error: standard output: Input/output error; "
                "mend the disk, then run the command again",
            ),
        ),
        (OSError("odd"), Failure(1, "error: odd")),
        (KeyboardInterrupt(), Failure(130, "interrupted")),
    ],
)
def test_what_was_foreseen_is_one_line(error, failure):
    assert failure_of(error) == failure


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), AssertionError(), IllegalAction(Reason.BAD_CUT, detail="", clause="1")],
)
def test_what_was_not_foreseen_is_not_hidden(error):
    assert failure_of(error) is None


def test_of_a_group_the_gravest_is_told_unless_one_was_not_foreseen():
    foreseen = [LaunchError("x"), BaseExceptionGroup("", [KeyboardInterrupt()])]
    assert failure_of(BaseExceptionGroup("", foreseen)) == Failure(130, "interrupted")
    assert failure_of(BaseExceptionGroup("", [*foreseen, ValueError()])) is None


def test_a_fault_of_ours_shows_its_traceback(monkeypatch, run, runner, make_bot):
    async def play(*arguments: object, **named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(runner, "play", play)
    with pytest.raises(BaseExceptionGroup, match="Exceptions from Trio nursery"):
        main(["match", str(make_bot("a")), str(make_bot("b"))])


def test_a_word_that_is_no_command_is_a_misuse(run):
    ran = run("mach")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "error: No such command 'mach'. Did you mean 'match'? (see arena --help)\n"
