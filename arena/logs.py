"""Logs of what the arena does, for whoever runs it: by the standard library, one id for each match.

A line is a message and fields (``extra``), and carries the id of the match it is about, wherever in
the program it comes from: the id is a context variable, which tasks inherit. Nothing is set up on
import, so a program that asks for neither a log nor :func:`errors_shown` has Python's default,
warnings on stderr.

What a bot must not know is not in a log either: no card, no ticket, no token, no seed.
"""

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from typing import Final

_match: ContextVar[str] = ContextVar("match", default="")

_RESERVED: Final = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "match"}
"""What every record has; the rest is its fields."""


class Format(Enum):
    """How a line of a log looks."""

    TEXT = "text"
    """For people: time, level, match, message, ``field=value``."""
    JSON = "json"
    """For programs: one object a line."""


@contextmanager
def about(match: str) -> Iterator[None]:
    """Whatever is logged while this is open, by this task or one it starts, is about that match."""
    token = _match.set(match)
    try:
        yield
    finally:
        _match.reset(token)


def _on_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")


@contextmanager
def written(
    kind: Format,
    *,
    level: int = logging.INFO,
    file: Path | None = None,
    tell: Callable[[str], None] = _on_stderr,
) -> Iterator[None]:
    """Write logs while this is open: to the end of a file, or to stderr.

    The arena's own are written from ``level`` on, those of libraries from WARNING on. A file that
    fails later, on a full disk say, ends nothing: ``tell`` gets a line for a person, once.

    Raises:
        OSError: where the file cannot be opened.
        ImportError: for JSON without python-json-logger, which is in the extra ``server``.
    """
    formatter = _Text() if kind is Format.TEXT else _json_formatter()
    formatter.converter = time.gmtime
    formatter.default_time_format = "%Y-%m-%dT%H:%M:%S"
    formatter.default_msec_format = "%s.%03dZ"
    handler: logging.Handler
    if file is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        handler = _File(file, tell)
    handler.addFilter(_with_match)
    handler.setFormatter(formatter)
    root, own = logging.getLogger(), logging.getLogger("arena")
    levels = root.level, own.level
    root.setLevel(logging.WARNING)
    own.setLevel(level)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        own.setLevel(levels[1])
        handler.close()


@contextmanager
def errors_shown() -> Iterator[None]:
    """Without a log: show on stderr what is at fault here, with its traceback, and no more. What
    is only a bot's fault is told in another way.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.ERROR)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    own = logging.getLogger("arena")
    own.addHandler(handler)
    try:
        yield
    finally:
        own.removeHandler(handler)


class _File(logging.FileHandler):
    """A log in a file, without which play goes on."""

    def __init__(self, file: Path, tell: Callable[[str], None]) -> None:
        super().__init__(file, encoding="utf-8", errors="backslashreplace")
        self._tell = tell
        self._has_told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # as logging has it
        """Called with what `emit` could not do."""
        error = sys.exception()
        if isinstance(error, OSError):
            self._failed(error)
        else:
            super().handleError(record)

    def close(self) -> None:
        """What is still in the buffer fails once more."""
        try:
            super().close()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        if not self._has_told:
            self._has_told = True
            self._tell(
                f"the log {self.baseFilename} cannot be written: {error.strerror}; play goes on "
                "without it"
            )


def _with_match(record: logging.LogRecord) -> bool:
    record.match = _match.get()
    return True


class _Text(logging.Formatter):
    """``2026-03-21T12:00:00.000Z INFO local/5f0e/a~b game over room=1 game=3``."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(match)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # as logging has it
        """The line without a traceback."""
        line = record.asctime, record.levelname, record.__dict__["match"], record.message
        fields = (f"{name}={_shown(value)}" for name, value in _fields(record))
        return " ".join(filter(None, (*line, *fields)))


def _fields(record: logging.LogRecord) -> Iterator[tuple[str, object]]:
    for name, value in vars(record).items():
        if name not in _RESERVED and value is not None:
            yield name, value


def _shown(value: object) -> str:
    """A value without spaces, or in quotes; nothing in it acts on a terminal or ends the line."""
    text = str(value)
    if text.isprintable() and text and " " not in text and '"' not in text:
        return text
    return json.dumps(text)


def _json_formatter() -> logging.Formatter:
    # The package is small, has no dependencies, and leaves logging as it is: what logs need not
    # know of it. structlog would want to be called in logging's place.
    from pythonjsonlogger.json import JsonFormatter

    return JsonFormatter(
        "%(asctime)s %(levelname)s %(name)s %(match)s %(message)s",
        rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
    )
