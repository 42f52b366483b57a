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


OF_KINDS = "is not one of 'round-robin', 'gauntlet', 'swiss', 'knock-out', 'adaptive'"
OF_FORMATS = "is not one of 'boards', 'classic'"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("ladder run x --schedule swis", f"'swis' {OF_KINDS}; did you mean swiss?"),
        ("ladder init x --format cards", f"'cards' {OF_FORMATS}; did you mean boards?"),
        ("ladder init x --format zzz", f"'zzz' {OF_FORMATS}"),
        ("duel a b --boards x", "it is a whole number"),
        ("duel a b --tick x", "it is a number"),
        ("duel a b --boards 0", "it is at least 1"),
        ("match a b --boards 10001", "it is at most 10000"),
    ],
)
def test_a_value_that_the_parser_refuses_is_one_plain_line(run, words, told):
    *command, _, _ = words.replace(" x --", " --").replace(" a b --", " --").split()
    option = words.split()[-2]
    ran = run(*words.split())
    assert (ran.status, ran.out) == (2, "")
    place = f"arena {' '.join(command)} --help"
    assert ran.err == f"error: Invalid value for '{option}': {told} (see {place})\n"


def test_what_the_parser_refuses_without_a_place_is_an_error_too(run):
    ran = run("sprt", "a", "b", "--bounds", "3")
    assert (ran.status, ran.err) == (2, "error: Option '--bounds' requires 2 arguments\n")


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("announce", "arena ladder announce"),
        ("check", "arena ladder check or arena bot check"),
    ],
)
def test_a_command_of_a_group_is_found_from_the_top(run, word, told):
    ran = run(word, "x")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"error: No such command '{word}'; did you mean {told}? (see arena --help)\n"


def test_a_word_that_is_no_command_is_a_misuse(run):
    ran = run("mach")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "error: No such command 'mach'. Did you mean 'match'? (see arena --help)\n"
