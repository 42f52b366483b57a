"""A bot with other values of its parameters, as a folder of its own.

The manifest is written anew: what it said, in plain TOML, without its comments. This module knows
the manifest as a document and nothing of what the values do.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from arena.ladder.bots.bundle import bundle
from arena.ladder.bots.entrants import (
    MANIFEST,
    NAME_CHARACTERS,
    Entrant,
    Parameter,
    load_bot,
    manifest_document,
)
from arena.ladder.files import unwritable

_MARK = "-tuned"


def write_variant(entrant: Entrant, values: Mapping[str, float], *, into: Path) -> Entrant:
    """Make the folder `into`, anew if it is there, of the bot with those defaults; the bot.

    Its version says that it was tuned. Raises LadderError where it cannot be written.
    """
    document = dict(manifest_document(entrant.folder))
    version = entrant.version.removesuffix(_MARK)[: NAME_CHARACTERS - len(_MARK)] + _MARK
    document["version"] = version
    document["parameters"] = {
        one.name: parameter_document(one, values.get(one.name, one.default))
        for one in entrant.parameters
    }
    try:
        shutil.rmtree(into, ignore_errors=True)
        for file in bundle(entrant.folder):
            copy = into / file.path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.source, copy)
            copy.chmod(0o755 if file.runs else 0o644)
        (into / MANIFEST).write_text("".join(_toml(document)), encoding="utf-8")
    except OSError as error:
        raise unwritable(error, into) from error
    return load_bot(into)


def parameter_document(parameter: Parameter, default: float) -> dict[str, object]:
    """A parameter as a manifest has it, with another default."""
    numbers = {"default": default, "low": parameter.low, "high": parameter.high}
    if not parameter.is_integer:
        return dict(numbers)
    return {**{key: int(number) for key, number in numbers.items()}, "integer": True}


def parameter_line(parameter: Parameter, default: float) -> str:
    """The same as a line of TOML."""
    return f"{parameter.name} = {_inline(parameter_document(parameter, default))}"


def _toml(document: Mapping[str, object]) -> Iterator[str]:
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    for key, value in document.items():
        if key not in tables:
            yield f"{key} = {_inline(value)}\n"
    for key, table in tables.items():
        yield f"\n[{key}]\n"
        yield from (f"{name} = {_inline(value)}\n" for name, value in table.items())


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    # A text of JSON is one of TOML, but for DEL, which TOML wants escaped; a label has none.
    return json.dumps(value, ensure_ascii=False)
