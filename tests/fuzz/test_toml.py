"""A manifest and a ladder's settings of whatever content: read, or refused in one line."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.ladder.bots.entrants import BotError, load_bot
from arena.ladder.errors import LadderError
from arena.ladder.settings import Settings, parse_settings, read_settings
from hokm.records import Format
from hokm.session import ClockRules
from tests.fuzz.mutations import check_bounded, examples, mangled

MANIFEST: dict[str, Any] = {
    "schema": 1,
    "name": "greedy",
    "owner": "maryam",
    "version": "1.0",
    "command": ["python", "bot.py"],
    "language": "Python",
    "protocol": 1,
    "variants": [2, 3, 4],
    "concurrent": 1,
    "build": {"command": ["make"]},
    "limits": {"memory_mib": 512, "processes": 4},
}
LADDERS = [
    Settings.of("casual", players=players, format=kind, clock=ClockRules(0.5, 0.0)).toml()
    for players, kind in [
        (2, Format.BOARDS),
        (3, Format.BOARDS),
        (4, Format.BOARDS),
        (4, Format.CLASSIC),
    ]
]

KEYS = st.one_of(st.sampled_from([*MANIFEST, "memory_mib", "nam", ""]), st.text(max_size=4))
# Texts of TOML have no half surrogate pairs; what the parser makes of those is a test of its own.
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.sampled_from(
        ["", "\0", "..", ".", "/", "./bot.py", "../bot.toml", "sub/../bot.py", "bot.py/x"]
    ),
    st.sampled_from(
        ["\u202e", "\u200c", "n" * 41, "x" * 5000, "a/" * 3000, "-c", "e\u0301", "circle"]
    ),
)
SCALARS = st.one_of(
    TEXTS,
    st.integers(-2, 5),
    st.sampled_from([2**31, 2**63 - 1, -(2**63), 2**63]),
    st.booleans(),
    st.floats(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=5,
)


def toml(value: object) -> str:
    """A value as TOML has it, tables inline."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():  # JSON writes what is beyond 16 bits as pairs, which are none of TOML's
            return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return (
                f"{{{', '.join(f'{toml(key)} = {toml(inner)}' for key, inner in value.items())}}}"
            )
        case _:
            return repr(value)


@st.composite
def manifests(draw: st.DrawFn) -> bytes:
    """A manifest with some keys changed, gone or new."""
    values = copy.deepcopy(MANIFEST)
    for _ in range(draw(st.integers(1, 3))):
        key = draw(KEYS)
        if draw(st.booleans()):
            values.pop(key, None)
        else:
            values[key] = draw(VALUES)
    return "\n".join(f"{toml(key)} = {toml(value)}" for key, value in values.items()).encode()


@st.composite
def ladder_texts(draw: st.DrawFn) -> bytes:
    """The settings of a ladder with one line's value changed, or a line more."""
    lines = draw(st.sampled_from(LADDERS)).splitlines()
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        key = lines[at].partition(" = ")[0]
        change = f"{key} = {toml(draw(VALUES))}"
        lines[at : at + draw(st.integers(0, 1))] = [change]
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bot")
    (folder / "bot.py").touch()
    return folder


VALID_MANIFEST = "\n".join(f"{key} = {toml(value)}" for key, value in MANIFEST.items()).encode()


def test_what_is_changed_here_is_valid_before(folder: Path) -> None:
    (folder / "bot.toml").write_bytes(VALID_MANIFEST)
    assert load_bot(folder).limits.processes == 4


@examples(150)
@given(st.one_of(manifests(), mangled(st.just(VALID_MANIFEST)), st.binary(max_size=60)))
@example(b"a = 1979-13-40")
@example(b"[[[a]]]")
@example(b"a = '\xed\xa0\x80'")
@example(b'a = "\\ud800"')
@example(b"a" * 16384)
@example(b"[" * 16384)
@example(b"a = " + b"{a = " * 3000)
def test_any_manifest_is_a_bot_or_a_bot_error(folder: Path, data: bytes) -> None:
    (folder / "bot.toml").write_bytes(data)
    try:
        load_bot(folder)
    except BotError as error:
        check_bounded(error)


@examples(150)
@given(st.one_of(ladder_texts(), mangled(st.sampled_from([text.encode() for text in LADDERS]))))
@example(b"")
def test_any_settings_are_a_ladders_or_a_ladder_error(folder: Path, data: bytes) -> None:
    file = folder / "ladder.toml"
    file.write_bytes(data)
    try:
        settings = read_settings(file)
    except LadderError as error:
        check_bounded(error)
    else:
        assert parse_settings(settings.toml(), where=file) == settings
