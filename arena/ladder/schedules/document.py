"""A schedule as a JSON object and as a line of text, and back: as an event keeps and publishes it.

    >>> to_text(RoundRobin(cycles=2))
    '{"cycles": 2, "kind": "round-robin"}'

A key that is left out has its default, so that what was written stays good when options are added.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Final, TypeAlias

from arena.ladder.schedules.adaptive import Adaptive
from arena.ladder.schedules.gauntlet import Gauntlet
from arena.ladder.schedules.knockout import KnockOut
from arena.ladder.schedules.round_robin import RoundRobin
from arena.ladder.schedules.swiss import Swiss
from hokm.errors import quoted

AnySchedule: TypeAlias = RoundRobin | Gauntlet | Swiss | KnockOut | Adaptive

Document: TypeAlias = dict[str, "str | bool | int | list[str] | None"]

KINDS: Final[Mapping[str, type[AnySchedule]]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knock-out": KnockOut,
    "adaptive": Adaptive,
}
"""By the names that an operator gives and a document has."""


def kind_of(schedule: AnySchedule) -> str:
    """The name of its kind."""
    return next(kind for kind, cls in KINDS.items() if isinstance(schedule, cls))


def to_document(schedule: AnySchedule) -> Document:
    """The kind and every option: numbers, truths, null, and names as a list of texts."""
    document: Document = {"kind": kind_of(schedule)}
    for option in fields(schedule):
        value: str | bool | int | tuple[str, ...] | None = getattr(schedule, option.name)
        document[option.name] = list(value) if isinstance(value, tuple) else value
    return document


def from_document(document: Mapping[str, object]) -> AnySchedule:
    """The schedule. Raises ValueError for what is none, saying what is wrong with it."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"{quoted(kind)} is no kind of schedule; there are {', '.join(KINDS)}")
    options = {key: value for key, value in document.items() if key != "kind"}
    known = {option.name: option.type for option in fields(KINDS[kind])}
    for key, value in options.items():
        if key not in known:
            raise ValueError(f"{quoted(key)} is no option of {kind}; there are {', '.join(known)}")
        if not _READ[known[key]](value):
            raise ValueError(f"{key} of {kind} cannot be {quoted(value)}")
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    try:
        return KINDS[kind](**values)  # type: ignore[arg-type]  # they were looked at above
    except TypeError:
        raise ValueError(f"{kind} lacks one of its options: {', '.join(known)}") from None


def to_text(schedule: AnySchedule) -> str:
    """Its document in one line, always the same."""
    return json.dumps(to_document(schedule), sort_keys=True, ensure_ascii=False)


def from_text(text: str) -> AnySchedule:
    """The schedule in such a line. Raises ValueError for what is none."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise ValueError(f"{quoted(text)} is no schedule")
    return from_document(document)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_READ: Final[Mapping[object, Callable[[object], bool]]] = {
    int: _is_whole,
    int | None: lambda value: value is None or _is_whole(value),
    bool: lambda value: isinstance(value, bool),
    tuple[str, ...]: _are_names,
}
