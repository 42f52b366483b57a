"""Logs: one line each, the match on every line that is about one, and nothing unless asked for."""

import json
import logging
from pathlib import Path

import pytest
import trio

from arena import logs
from arena.logs import Format

log = logging.getLogger("arena.of.a.test")


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def test_a_line_of_text_has_time_level_match_message_and_fields(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logs.written(Format.TEXT, file=file), logs.about("local/5f/a~b"):
        log.info("game over", extra={"room": 1, "cause": "no answer", "seat": None})
    [line] = lines(file)
    when, rest = line.split(" ", 1)
    assert rest == 'INFO local/5f/a~b game over room=1 cause="no answer"'
    assert len(when) == len("2026-03-21T12:00:00.000Z")
    assert when.endswith("Z")


def test_a_line_of_json_is_an_object(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logs.written(Format.JSON, file=file), logs.about("local/5f/a~b"):
        log.warning("game %s", "over", extra={"room": 1, "bot": "رستم"})
    [line] = lines(file)
    said = json.loads(line)
    assert said.pop("time").endswith("Z")
    assert said == {
        "level": "WARNING",
        "logger": "arena.of.a.test",
        "match": "local/5f/a~b",
        "message": "game over",
        "room": 1,
        "bot": "رستم",
    }


@pytest.mark.parametrize("kind", Format)
def test_what_a_bot_says_neither_ends_a_line_nor_acts_on_a_terminal(
    kind: Format, tmp_path: Path
) -> None:
    file = tmp_path / "log"
    with logs.written(kind, file=file):
        log.info("it said", extra={"text": "a\nb\x1b[2J\u202e \x85\u2028c"})
    [line] = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert line.isprintable()


@pytest.mark.parametrize("kind", Format)
def test_a_fault_has_its_traceback(kind: Format, tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logs.written(kind, file=file):
        try:
            raise ValueError("no such seat")
        except ValueError:
            log.exception("a table failed")
    assert "ValueError: no such seat" in file.read_text(encoding="utf-8")


async def test_tasks_of_a_match_are_about_it_and_others_are_not(tmp_path: Path) -> None:
    file = tmp_path / "log"

    async def play(match: str) -> None:
        with logs.about(match):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(say, "playing")
            log.info("over")

    async def say(text: str) -> None:
        await trio.lowlevel.checkpoint()
        log.info(text)

    with logs.written(Format.JSON, file=file):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(play, "one")
            nursery.start_soon(play, "two")
        log.info("nothing")
    said = [json.loads(line) for line in lines(file)]
    assert sorted((one["match"], one["message"]) for one in said) == [
        ("", "nothing"),
        ("one", "over"),
        ("one", "playing"),
        ("two", "over"),
        ("two", "playing"),
    ]


@pytest.mark.parametrize(("level", "count"), [(logging.INFO, 2), (logging.DEBUG, 3)])
def test_the_arenas_lines_are_written_from_a_level_on_and_libraries_warnings(
    level: int, count: int, tmp_path: Path
) -> None:
    file = tmp_path / "log"
    with logs.written(Format.TEXT, level=level, file=file):
        log.debug("more")
        log.info("something")
        logging.getLogger("asyncio").info("chatter")
        logging.getLogger("asyncio").warning("slow")
    assert len(lines(file)) == count


def test_afterwards_logging_is_as_it_was(tmp_path: Path) -> None:
    root, own = logging.getLogger(), logging.getLogger("arena")
    before = root.level, own.level, list(root.handlers)
    with logs.written(Format.TEXT, level=logging.DEBUG, file=tmp_path / "log"):
        assert own.level == logging.DEBUG
    assert (root.level, own.level, list(root.handlers)) == before


def test_a_log_goes_on_at_the_end_of_its_file_or_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log"
    for _ in range(2):
        with logs.written(Format.TEXT, file=file):
            log.info("once more")
    assert len(lines(file)) == 2
    with logs.written(Format.TEXT):
        log.info("on the terminal")
    assert capsys.readouterr().err.count("on the terminal") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("kind", Format)
def test_a_file_that_cannot_be_written_is_told_once_and_ends_nothing(
    kind: Format, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    with logs.written(kind, file=Path("/dev/full"), tell=told.append):
        for _ in range(2000):  # more than a buffer holds
            log.info("game over", extra={"cause": "x" * 50})
    assert told == [
        "the log /dev/full cannot be written: No space left on device; play goes on without it"
    ]
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_file_that_fails_only_when_it_is_closed_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(logging.FileHandler, "flush", lambda _: None)
    with logs.written(Format.TEXT, file=Path("/dev/full"), tell=told.append):
        log.info("game over")
    assert len(told) == 1
