"""What surrounds the playing for whoever operates it: logs, figures, and how long a stop may take.

Nothing of it is there unless it was asked for, and what it needs is imported only then.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena import logs
from arena.cli.errors import Misuse
from arena.cli.interrupts import DRAIN_SECONDS
from arena.referee.meter import NO_METER, Meter
from arena.referee.serving import ServingError, host_and_port


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """What was asked for; None is nothing of the kind. ``log_file`` alone is a log of text."""

    metrics: str | None = None
    log_format: str | None = None
    log_file: Path | None = None
    log_level: str = "info"
    drain_seconds: float = DRAIN_SECONDS

    def __post_init__(self) -> None:
        if self.metrics is not None:
            try:
                host_and_port(self.metrics)
            except ServingError as error:
                raise Misuse(f"--metrics {error}") from error


@contextmanager
def operated(ask: Operating, *, say: Callable[[str], None]) -> Iterator[Meter]:
    """Write logs and answer for metrics while this is open; gives what is to be told.

    Raises Misuse where a package is missing, OSError for a file or an address.
    """
    with ExitStack() as stack:
        if ask.log_format is None and ask.log_file is None:
            stack.enter_context(logs.errors_shown())
        else:
            kind = logs.Format(ask.log_format or "text")
            level = logging.getLevelNamesMapping()[ask.log_level.upper()]
            with extra("--log-format json"):
                stack.enter_context(logs.written(kind, level=level, file=ask.log_file, tell=say))
        meter = NO_METER
        if ask.metrics is not None:
            with extra("--metrics"):
                from arena import metrics
            meter = figures = metrics.Figures()
            address = stack.enter_context(metrics.served(figures, ask.metrics))
            say(f"metrics: {address}")
        yield meter


@contextmanager
def extra(option: str, *, name: str = "server") -> Iterator[None]:
    """What an option needs is imported while this is open; what is missing is said in one line,
    with the extra that it comes with.
    """
    try:
        yield
    except ImportError as error:
        raise Misuse(
            f"{option} needs {error.name}; install what goes with it: "
            f"pip install 'hokm-arena[{name}]'"
        ) from error
