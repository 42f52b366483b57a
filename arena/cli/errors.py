"""What can go wrong, as one line and an exit status: the one place that says which is which.

An error that stands here was foreseen and says itself what is wrong, where, and what to do. Any
other is a fault of ours and keeps its traceback.
"""

import difflib
import errno
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import typer

from arena.groups import leaves
from arena.wording import printable

FAILED = 1
USAGE = 2
UNDECIDED = 3
"""Of ``arena bot check``: the arena failed, or its machine; nothing is known of the bot."""
INTERRUPTED = 130
"""As a shell has it: 128 and the number of SIGINT."""


_ROOM = "; make room there, then run the command again"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EROFS: "; make it writable, then run the command again",
    errno.EIO: "; mend the disk, then run the command again",
}
"""What to do where a file is told and the rest does not say it."""


class Misuse(Exception):
    """A command line that cannot be meant: what is wrong with it, and what would do."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a command ends that did not do what was asked."""

    status: int
    text: str


def failure_of(error: BaseException) -> Failure | None:
    """What to say about an error, None if nobody foresaw it."""
    if isinstance(error, BaseExceptionGroup):
        # Of several things that failed at once; if one was not foreseen, all are shown.
        failures = [failure_of(leaf) for leaf in leaves(error)]
        told = [failure for failure in failures if failure is not None]
        return max(told, key=lambda failure: failure.status) if told == failures else None
    status = _status_of(error)
    return None if status is None else Failure(status, _text_of(error))


def _status_of(error: BaseException) -> int | None:
    # Imported where something has gone wrong already: then 0.1 s is no matter.
    from arena.ladder.bots.bundle import BotError
    from arena.ladder.errors import LadderError
    from arena.ladder.matches.boards import PlanError
    from arena.ladder.processes.launcher import LaunchError
    from arena.ladder.ratings.luck import LuckError
    from arena.service.errors import ServerError, ServiceError
    from hokm.errors import NotationError, RulesError
    from hokm.records import RecordError, ReplayError

    match error:
        case typer.TyperException():
            return error.exit_code
        case Misuse() | PlanError() | RulesError():
            return USAGE
        case BotError() | LadderError() | LaunchError() | OSError():
            return FAILED
        case ServerError() | ServiceError():
            return FAILED
        case NotationError() | RecordError() | ReplayError() | LuckError():
            return FAILED
        case KeyboardInterrupt():
            return INTERRUPTED
        case _:
            return None


def _text_of(error: BaseException) -> str:
    from arena.ladder.bots.environments import NotPreparedError

    match error:
        case typer.TyperException():
            context = getattr(error, "ctx", None)
            message = error.format_message()
            if message.startswith("Usage: "):
                return message  # no arguments at all: the message is the help
            message = printable(_in_plain_words(message.rstrip(".")))
            if context is None:
                return f"error: {message}"
            message += _elsewhere(message, getattr(context.command, "commands", {}))
            return f"error: {message} (see {context.command_path} --help)"
        case KeyboardInterrupt():
            return "interrupted"
        case NotPreparedError():
            return "\n".join([f"error: {printable(str(error))}", *_quoted(error.output)])
        case OSError() if error.filename is not None:
            where = printable(os.fsdecode(error.filename))
            return f"error: {where}: {error.strerror}{_REMEDIES.get(error.errno or 0, '')}"
        case OSError() if error.errno in _REMEDIES:
            # Whatever writes a file names it; what is left are the results.
            return f"error: standard output: {error.strerror}{_REMEDIES[error.errno]}"
        case _:
            return f"error: {printable(str(error))}"


_PLAIN = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "it is a whole number",
    "Input should be a valid number, unable to parse string as a number": "it is a number",
    "Input should be greater than or equal to": "it is at least",
    "Input should be less than or equal to": "it is at most",
    "Input should be ": "it is ",
}
"""What typer makes of values that are none, and how we say it."""


def _in_plain_words(message: str) -> str:
    for theirs, ours in _PLAIN.items():
        message = message.replace(theirs, ours)
    word, is_choice, choices = message.rpartition(" is not one of ")
    if is_choice:
        given = word.rpartition(": ")[2].strip("'")
        near = difflib.get_close_matches(given, re.findall(r"'([^']*)'", choices), n=1)
        message += f"; did you mean {near[0]}?" if near else ""
    return message


def _elsewhere(message: str, groups: Mapping[str, object]) -> str:
    """Where a command is that was looked for among those at the top: in which group."""
    found = re.match(r"No such command '([^']*)'", message)
    if found is None:
        return ""
    places = [
        f"arena {group} {found[1]}"
        for group, its in groups.items()
        if found[1] in getattr(its, "commands", {})
    ]
    return f"; did you mean {' or '.join(places)}?" if places else ""


def _quoted(output: str) -> Iterator[str]:
    for line in output.splitlines():
        yield f"  | {printable(line.expandtabs())}"
