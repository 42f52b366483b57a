"""Logs and figures around what is played: only where they were asked for, and gone afterwards."""

import json
import logging
import urllib.request
from pathlib import Path

import pytest

from arena.cli.errors import Misuse
from arena.cli.operating import Operating, operated
from arena.referee.meter import NO_METER
from tests.arena.cli.conftest import FakeRunner, RunCommand

log = logging.getLogger("arena.of.a.test")


def test_nothing_is_there_unless_it_is_asked_for() -> None:
    root, told = logging.getLogger(), list[str]()
    before = list(root.handlers)
    with operated(Operating(), say=told.append) as meter:
        assert meter is NO_METER
        assert root.handlers == before
    assert told == []


def test_without_a_log_faults_of_the_arena_are_shown_and_those_of_bots_are_not_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    handlers = list(logging.getLogger("arena").handlers)
    with operated(Operating(), say=print):
        log.warning("bot failed")
        try:
            raise ValueError("no such seat")
        except ValueError:
            log.exception("the table of game 1 failed")
    err = capsys.readouterr().err
    assert err.startswith("ERROR: the table of game 1 failed\nTraceback")
    assert err.endswith("ValueError: no such seat\n")
    assert logging.getLogger("arena").handlers == handlers


def test_with_a_log_a_fault_is_there_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log"
    with operated(Operating(log_file=file), say=print):
        log.error("the table of game 1 failed")
    assert "the table of game 1 failed" in file.read_text()
    assert capsys.readouterr().err == ""


def test_what_a_meter_is_told_is_answered_at_the_address_that_is_said() -> None:
    told: list[str] = []
    with operated(Operating(metrics="127.0.0.1:0"), say=told.append) as meter:
        meter.game_began()
        [line] = told
        with urllib.request.urlopen(line.removeprefix("metrics: "), timeout=10) as response:
            assert "hokm_games_under_way 1.0" in response.read().decode()


@pytest.mark.parametrize(
    ("level", "messages"), [("debug", ["some", "more"]), ("info", ["some"]), ("warning", [])]
)
def test_a_log_is_written_from_its_level_on(
    level: str, messages: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "log"
    ask = Operating(log_format="json", log_file=file, log_level=level)
    with operated(ask, say=print):
        log.info("some")
        log.debug("more")
    log.warning("too late")
    said = [json.loads(line)["message"] for line in file.read_text().splitlines()]
    assert said == messages


def test_a_file_alone_is_a_log_of_text(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with operated(Operating(log_file=file), say=print):
        log.info("some", extra={"room": 1})
    assert file.read_text().endswith("INFO some room=1\n")


def test_what_is_no_address_is_misuse() -> None:
    with pytest.raises(Misuse, match="--metrics '9117' is no HOST:PORT"):
        Operating(metrics="9117")


def test_the_environment_asks_for_a_log_too(
    run: RunCommand, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "log"
    monkeypatch.setenv("HOKM_ARENA_LOG_FILE", str(file))
    assert run("match", "greedy", "random", "--boards", "1").status == 0
    assert file.exists()


def test_a_log_that_cannot_be_written_is_one_line(
    run: RunCommand, runner: FakeRunner, tmp_path: Path
) -> None:
    file = tmp_path / "nowhere" / "log"
    ran = run("match", "greedy", "random", "--boards", "1", "--log-file", file)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"error: {file}: No such file or directory\n"
    assert not runner.played
