"""Entrants: which bots can be entered, and what their folders say about them.

A bot is a folder with a manifest, `bot.toml`, and whatever its command needs. This module reads and
judges; it starts nothing, copies nothing, and does not know which interpreter runs bots (its caller
does), which protocols the referee speaks, or whether a bot plays well. Every complaint is one line
for the bot's author: where, what, and what to do.

    schema = 1
    name = "greedy"
    owner = "maryam"
    version = "1.2"
    command = ["python", "bot.py"]   # "python": the interpreter the arena runs bots with
    language = "Python"              # optional, for people to read
    protocol = 1
    variants = [2, 3, 4]             # the numbers of players it can play with
    concurrent = 1                   # optional: how many boards one process of it takes at once

    [build]                          # optional: run once in a copy of the folder, which then runs
    command = ["make"]

    [limits]                         # optional: what it needs; what it gets is the operator's
    memory_mib = 512
    processes = 4

    [parameters]                     # optional: numbers that it is given in HOKM_PARAMETERS
    caution = { default = 0.5, low = 0.0, high = 1.0 }
    depth = { default = 3, low = 1, high = 8, integer = true }
"""

import difflib
import hashlib
import json
import math
import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.ladder.bots.bundle import BotError as BotError
from arena.ladder.bots.bundle import bundle_digest
from arena.ladder.bots.revisions import Revision
from arena.ladder.strict_toml import Table, parsed, read_text, shortened
from hokm.errors import quoted

MANIFEST: Final = "bot.toml"
SCHEMA: Final = 1
PLAYER_COUNTS: Final = (2, 3, 4)
NAME_CHARACTERS: Final = 40
SAMPLES: Final = Path(__file__).resolve().parents[3] / "sample_bots"
"""The bundled bots lie beside the package `arena`, in a checkout as in an installed wheel."""

PARAMETERS_VARIABLE: Final = "HOKM_PARAMETERS"
"""What a bot finds the values of its parameters in: an object of JSON, a number by each name."""

MOST_PARAMETERS: Final = 64

_PYTHON: Final = "python"
_UNSEEN_LETTERS: Final = "\u115f\u1160\u3164\uffa0"
"""The fillers of Hangul: Unicode has them among the letters, and nothing is to be seen of them."""

# Each key of a manifest with a line that would do, which the errors show.
_KEYS: Final = {
    "schema": f"schema = {SCHEMA}",
    "name": 'name = "greedy"',
    "owner": 'owner = "maryam"',
    "version": 'version = "1.0"',
    "command": 'command = ["python", "bot.py"]',
    "language": 'language = "Python"',
    "protocol": "protocol = 1",
    "variants": "variants = [4]",
    "concurrent": "concurrent = 1",
    "build": "[build]",
    "limits": "[limits]",
    "parameters": "[parameters]",
}
_A_PARAMETER: Final = "caution = { default = 0.5, low = 0.0, high = 1.0 }"
_LARGEST_INTEGER: Final = 2**53  # those of JSON, wherever it is read
_BUILD_KEYS: Final = {"command": 'command = ["make"]'}
_LIMIT_KEYS: Final = {"memory_mib": "memory_mib = 512", "processes": "processes = 4"}
_PARAMETER_KEYS: Final = {
    "default": "default = 0.5",
    "low": "low = 0.0",
    "high": "high = 1.0",
    "integer": "integer = true",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bot says it needs at most; None where it says nothing.

    Args:
        memory_mib: mebibytes of memory.
        processes: processes and threads together.
    """

    memory_mib: int | None = None
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a bot leaves open.

    Args:
        name: a word of ASCII letters, digits and "_".
        default: what the bot is given; `low` to `high` is what makes sense, both included.
        is_integer: whether it is a whole number.
    """

    name: str
    default: float
    low: float
    high: float
    is_integer: bool = False

    def near(self, value: float) -> float:
        """Return the nearest number that it may be."""
        value = min(max(value, self.low), self.high)
        return float(round(value)) if self.is_integer else value


@dataclass(frozen=True, slots=True)
class Environment:
    """What a bot runs in where it needs more than its files; see `arena.ladder.bots.environments`.

    Args:
        python: the interpreter that has what it requires; None for the one the arena runs bots
            with.
        home: the folder that was built of its files; None if they are run as they are.
    """

    python: Path | None = None
    home: Path | None = None


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that can be entered: its manifest, its folder, and the digest of what lies in it.

    Args:
        name: in NFC, see `checked_name`; so is `owner`.
        command: as in the manifest; `argv` is what to run. Empty for one that is not started here,
            see `arena.ladder.processes.remote`.
        language: for people to read; may be empty.
        protocol: the major version of the wire it speaks.
        variants: the numbers of players it can play with, ascending, out of `PLAYER_COUNTS`.
        concurrent: how many boards one process of it takes at once.
        folder: absolute; where its files are.
        digest: of the folder, 64 hex digits, see `bundle_digest`.
        build: the command that makes of its files what runs; empty if they run as they are.
        parameters: in the order of the manifest.
        environment: made for it, if it needs one; no part of its identity.
        revision: of which revision of a git repository its files are; None where they are those of
            a folder as it stands. No part of its identity either.
    """

    name: str
    owner: str
    version: str
    command: tuple[str, ...]
    language: str
    protocol: int
    variants: tuple[int, ...]
    concurrent: int
    limits: Limits
    folder: Path
    digest: str
    build: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    environment: Environment = Environment()
    revision: Revision | None = None

    @property
    def label(self) -> str:
        """What tables call it: two revisions of one bot have one name."""
        return self.name if self.revision is None else f"{self.name}@{self.revision.asked}"

    @property
    def home(self) -> Path:
        """The command's working directory."""
        return self.environment.home or self.folder

    @property
    def is_python(self) -> bool:
        """Whether the arena's interpreter for bots has a part in it."""
        return _PYTHON in (self.command[:1] + self.build[:1])

    @property
    def is_remote(self) -> bool:
        """Whether somebody starts it elsewhere, and it comes over the network."""
        return not self.command

    @property
    def variables(self) -> dict[str, str]:
        """What its process finds in its environment on its own account."""
        if not self.parameters:
            return {}
        values = {
            one.name: int(one.default) if one.is_integer else one.default for one in self.parameters
        }
        return {PARAMETERS_VARIABLE: json.dumps(values)}

    def argv(self, python: str) -> tuple[str, ...]:
        """Return the command to run in `home`; `python` is the interpreter that runs bots which
        have none of their own.
        """
        return self._run_by(python, self.command)

    def build_argv(self, python: str) -> tuple[str, ...]:
        """Return the command that builds it, to be run in a copy of `folder`; see `argv`."""
        return self._run_by(python, self.build)

    def _run_by(self, python: str, command: tuple[str, ...]) -> tuple[str, ...]:
        program, *arguments = command
        own = python if self.environment.python is None else str(self.environment.python)
        return (own if program == _PYTHON else program, *arguments)


def load_bot(folder: Path) -> Entrant:
    """Read the bot in `folder`.

    Raises:
        BotError: if it cannot be entered as it stands.
    """
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "there is no such folder"
        raise BotError(folder, problem, remedy=f"give the folder that holds {MANIFEST}")
    folder = folder.resolve()
    manifest = _manifest(folder)
    # Another schema may have other keys, so its number is read before anything else is judged.
    schema = manifest.whole("schema", least=1)
    if schema != SCHEMA:
        remedy = f"write {_KEYS['schema']}, or update the arena"
        manifest.refuse("schema", f"{schema} is not known to this arena", remedy=remedy)
    manifest.refuse_unknown(_KEYS)
    build = _build(manifest.table("build")) if "build" in manifest else ()
    return Entrant(
        name=_name(manifest, "name"),
        owner=_name(manifest, "owner"),
        version=_label(manifest, "version"),
        command=_command(manifest, folder, is_built=bool(build)),
        language=_label(manifest, "language") if "language" in manifest else "",
        protocol=manifest.whole("protocol", least=1),
        variants=_variants(manifest),
        concurrent=manifest.whole("concurrent", least=1) if "concurrent" in manifest else 1,
        limits=_limits(manifest.table("limits")) if "limits" in manifest else Limits(),
        folder=folder,
        digest=bundle_digest(folder),
        build=build,
        parameters=_parameters(manifest.table("parameters")) if "parameters" in manifest else (),
    )


def manifest_document(folder: Path) -> Mapping[str, object]:
    """Return what the manifest in `folder` says, as TOML has it.

    Raises:
        BotError: if it cannot be read.
    """
    return _parsed(folder / MANIFEST)


def check_built(home: Path) -> None:
    """See that a folder that was built of a bot has what its command names.

    Raises:
        BotError: if it has not.
    """
    if (home / MANIFEST).is_symlink():  # what it led to would be read, and in part told
        raise BotError(home / MANIFEST, "is a symbolic link", remedy="leave it as it was")
    _command(_manifest(home.resolve()), home.resolve(), is_built=False)


def _manifest(folder: Path) -> Table:
    file = folder / MANIFEST
    examples = _KEYS | _LIMIT_KEYS | _PARAMETER_KEYS
    return Table(
        file,
        _parsed(file),
        error=BotError,
        remedy=lambda key: f"write e.g. {examples.get(key, _A_PARAMETER)}",
    )


def program_digest(entrant: Entrant) -> str:
    """Return the identity of what a bot runs, 64 hex digits: its commands, the values of its
    parameters and all its files but the manifest. Two bots that differ in name, owner or version
    only have the same.

    Raises:
        BotError: as `bundle_digest`.
    """
    files = bundle_digest(entrant.folder, without=MANIFEST)
    build = [entrant.build] if entrant.build else []
    values = [entrant.variables] if entrant.variables else []
    told = json.dumps([*entrant.command, *build, *values, files])
    return hashlib.sha256(told.encode()).hexdigest()


def find_bot(text: str, *, samples: Path = SAMPLES) -> Path:
    """Return the folder a person means by `text`: a path, or the name of a bundled bot.

    A folder with a manifest comes before a bundled bot of the same name. Whether it is a good one
    is for `load_bot` to say.

    Raises:
        BotError: if there is neither a folder nor a bundled bot of that name.
    """
    folder = Path(text)
    names = sample_names(samples=samples)
    try:
        if (folder / MANIFEST).is_file():
            return folder
        if text in names:
            return samples / text
        if folder.exists():
            return folder
    except OSError as error:  # the system does not even look: a name too long
        problem = f"cannot be looked up ({error.strerror})"
        raise BotError(
            shortened(text), problem, remedy="give a folder, or a bundled bot"
        ) from error
    near = difflib.get_close_matches(text, names, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"bundled bots: {', '.join(names) or 'none'}"
    raise BotError(shortened(text), "is neither a folder nor a bundled bot", remedy=remedy)


def sample_names(*, samples: Path = SAMPLES) -> tuple[str, ...]:
    """Return the names of the bundled bots, sorted."""
    return tuple(sorted(manifest.parent.name for manifest in samples.glob(f"*/{MANIFEST}")))


def checked_name(text: str) -> str:
    """Return the name of a bot, owner or ladder in NFC.

    A name is 1 to 40 Unicode letters, digits, ".", "_" and "-", in any script. It begins with a
    letter, a digit or "_", so that it is never taken for an option, a hidden file or the folder
    above. Invisible characters, the joiners of Persian included, are refused: two names that look
    alike would be two bots.

    Raises:
        ValueError: saying which character is at fault, or what would have been right.
    """
    name = unicodedata.normalize("NFC", text)
    for character in name:
        kind = unicodedata.category(character)
        is_letter = kind.startswith("L") and character not in _UNSEEN_LETTERS
        if not (is_letter or kind == "Nd" or character in "._-"):
            raise ValueError(
                f"has {_described(character)} in it; take letters, digits, '.', '_', '-'"
            )
    if not 1 <= len(name) <= NAME_CHARACTERS:
        raise ValueError(f"has {len(name)} characters; a name has 1 to {NAME_CHARACTERS}")
    if name[0] in ".-":
        raise ValueError(f"begins with {name[0]!r}; begin with a letter, a digit or '_'")
    return name


def _parsed(file: Path) -> Mapping[str, object]:
    try:
        text = read_text(file, error=BotError, remedy="write the manifest there")
    except FileNotFoundError:
        remedy = "write one (the page on writing a bot shows how)"
        raise BotError(file.parent, f"has no {MANIFEST}", remedy=remedy) from None
    return parsed(text, where=file, error=BotError, remedy="mend that place")


def _limits(table: Table) -> Limits:
    table.refuse_unknown(_LIMIT_KEYS)
    return Limits(**{key: table.whole(key, least=1) for key in table.values})


def _parameters(table: Table) -> tuple[Parameter, ...]:
    if len(table.values) > MOST_PARAMETERS:
        name = list(table.values)[MOST_PARAMETERS]
        remedy = f"leave some out: {MOST_PARAMETERS} at most"
        table.refuse(name, "is one parameter too many", remedy=remedy)
    return tuple(_parameter(table, name) for name in table.values)


def _parameter(parameters: Table, name: str) -> Parameter:
    if not (name.isascii() and name.isidentifier() and len(name) <= NAME_CHARACTERS):
        remedy = f"write 1 to {NAME_CHARACTERS} of a-z, A-Z, 0-9 and _, a letter first"
        parameters.refuse(name, "is no name of a parameter", remedy=remedy)
    table = parameters.table(name)
    table.refuse_unknown(_PARAMETER_KEYS)
    is_integer = table.flag("integer") if "integer" in table else False
    low, high, default = (
        _number(table, key, is_integer=is_integer) for key in ("low", "high", "default")
    )
    if not low < high:
        table.refuse("high", f"{high:g} is not above low, {low:g}", remedy="swap them, say")
    if not math.isfinite(high - low):  # which is what steps are measured by
        table.refuse("high", f"{low:g} to {high:g} is too wide", remedy="bring them nearer")
    if not low <= default <= high:
        remedy = "mend one of the three"
        table.refuse("default", f"{default:g} is not from {low:g} to {high:g}", remedy=remedy)
    return Parameter(name, default, low, high, is_integer)


def _number(table: Table, key: str, *, is_integer: bool) -> float:
    value = table.number(key)
    if not math.isfinite(value):
        table.refuse(key, f"{value} is not a number that one can reach")
    if is_integer and not (value.is_integer() and abs(value) <= _LARGEST_INTEGER):
        table.refuse(key, f"{value:g} is not a whole number, as integer = true has it")
    return value


def _build(table: Table) -> tuple[str, ...]:
    table.refuse_unknown(_BUILD_KEYS)
    return _words(table)


def _words(table: Table) -> tuple[str, ...]:
    command = table.texts("command")
    if not command or not all(word and "\0" not in word for word in command):
        table.refuse("command", "is empty or has an empty word in it")
    return tuple(command)


def _command(manifest: Table, folder: Path, *, is_built: bool) -> tuple[str, ...]:
    command = _words(manifest)
    if is_built:  # its files may be made by then only
        return command
    try:
        _refuse_lost_files(manifest, folder, command)
    except OSError as error:  # the system does not even look: a name too long, a folder closed
        manifest.refuse("command", f"its file cannot be looked up ({error.strerror})")
    except RuntimeError:  # so Python 3.12 and older call links that lead round in a circle
        manifest.refuse("command", "its file is a link that leads back to itself")
    return command


def _refuse_lost_files(manifest: Table, folder: Path, command: tuple[str, ...]) -> None:
    program, *arguments = command
    if program == _PYTHON:
        if arguments and not arguments[0].startswith("-"):
            _file_inside(manifest, folder, path=arguments[0])
    elif "/" not in program:
        # A bare word is looked up on PATH, never in the working directory.
        if (folder / program).is_file():
            problem = f"{program} would be looked for on PATH, not in the bot's folder"
            manifest.refuse("command", problem, remedy=f"write ./{program}")
    elif not program.startswith("/"):
        file = _file_inside(manifest, folder, path=program)
        if not os.access(file, os.X_OK):
            manifest.refuse("command", f"{program} is not executable", remedy="chmod +x it")


def _file_inside(manifest: Table, folder: Path, *, path: str) -> Path:
    file = (folder / path).resolve()
    if not file.is_relative_to(folder):
        problem = f"{shortened(path)} is outside the bot's folder"
        manifest.refuse("command", problem, remedy="copy the file into the folder")
    if not file.is_file():
        problem = f"there is no file {shortened(path)} in the bot's folder"
        manifest.refuse("command", problem, remedy="add it, or mend the command")
    return file


def _variants(manifest: Table) -> tuple[int, ...]:
    counts = manifest.wholes("variants")
    if not counts or not set(counts) <= set(PLAYER_COUNTS):
        manifest.refuse(
            "variants", f"{quoted(counts)} is not a choice out of {list(PLAYER_COUNTS)}"
        )
    return tuple(sorted(set(counts)))


def _name(manifest: Table, key: str) -> str:
    text = manifest.text(key)
    try:
        return checked_name(text)
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        manifest.refuse(key, f"{quoted(text)} {problem}", remedy=remedy)


def _label(manifest: Table, key: str) -> str:
    """Return a text for people: 1 to 40 characters that can be seen."""
    text = manifest.text(key)
    if not (text.strip() and len(text) <= NAME_CHARACTERS and text.isprintable()):
        manifest.refuse(key, f"{quoted(text)} is not 1 to {NAME_CHARACTERS} visible characters")
    return text


def _described(character: str) -> str:
    shown = f"{character!r}, " if character.isprintable() else ""
    name = unicodedata.name(character, "a control character")
    return f"{shown}U+{ord(character):04X} {name}"
