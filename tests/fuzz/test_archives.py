"""Archives of whatever content: a bot is unpacked, or refused in one line, in bounded memory and
room, and nothing is written anywhere else.
"""

import io
import stat
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.ladder.bots.archive import LARGEST_BYTES, unpack
from arena.ladder.bots.bundle import BotError, bundle, bundle_digest
from tests.fuzz.mutations import check_bounded, examples, mangled

MANIFEST = b"""\
schema = 1
name = "greedy"
owner = "maryam"
version = "1.0"
command = ["python", "bot.py"]
protocol = 1
variants = [4]
"""
FILE, FOLDER, LINK = stat.S_IFREG | 0o644, stat.S_IFDIR | 0o755, stat.S_IFLNK | 0o777
MOST_MEMORY_BYTES = 40 * 2**20
"""A listing as long as is read makes some 23,000 small objects of it."""

Entry = tuple[str, bytes, int]

BOT: tuple[Entry, ...] = (("bot.py", b"", FILE), ("bot.toml", MANIFEST, FILE))


def zipped(entries: Sequence[Entry], *, kind: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, content, mode in entries:
            info = zipfile.ZipInfo(name or "x")
            info.filename, info.create_system, info.external_attr = name, 3, mode << 16
            packed.writestr(info, content, compress_type=kind)
    return stream.getvalue()


VALID = [
    zipped(BOT),
    zipped(BOT, kind=zipfile.ZIP_DEFLATED),
    zipped([("lib/", b"", FOLDER), ("lib/پ.txt", b"x" * 300, FILE), *BOT]),
]
NAMES = st.one_of(
    st.sampled_from(
        ["bot.toml", "BOT.TOML", "bot.py/x", "lib/", "../x", "/x", "a/../../x", ".git", "x.log"]
    ),
    st.sampled_from(
        ["a" * 300, "a/" * 90 + "b", "e\u0301", "\u00e9", "\u202e", "a\\b", "", "/", "."]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
ENTRIES = st.tuples(
    NAMES, st.binary(max_size=20), st.sampled_from([FILE, FILE | 0o111, FOLDER, LINK, 0, 0o777])
)
MADE = st.builds(
    zipped,
    st.lists(ENTRIES, max_size=4).map(lambda more: [*BOT, *more]),
    kind=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]),
)
END = struct.Struct("<4s4H2LH")


def ended(data: bytes, count: int, listing_bytes: int, place: int, comment_bytes: int) -> bytes:
    """An archive with another end, which says where its listing is and how long."""
    end = (b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, listing_bytes, place, comment_bytes)
    return data[:-22] + END.pack(*end)


ENDS = st.builds(
    ended,
    st.sampled_from(VALID),
    st.sampled_from([0, 1, 2, 3, 2000, 65535]),
    st.sampled_from([0, 1, 46, 100, 2**20, 2**32 - 1]),
    st.sampled_from([0, 1, 22, 100, 2**31, 2**32 - 1]),
    st.sampled_from([0, 0, 0, 1, 65535]),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archives")


def tried(place: Path, data: bytes) -> None:
    """Unpack it, or have it refused; nothing else is there afterwards."""
    file, home = place / "bot.zip", place / "there"
    file.write_bytes(data)
    try:
        bot = unpack(file, home / "bot")
    except BotError as error:
        check_bounded(error)
        assert not list(home.iterdir())
    else:
        assert sum(one.source.stat().st_size for one in bundle(bot.folder)) <= LARGEST_BYTES
        assert bundle_digest(bot.folder) == bot.digest
        assert not any(one.is_symlink() for one in home.rglob("*"))
        assert list(home.iterdir()) == [home / "bot"]
        for one in sorted(home.rglob("*"), reverse=True):
            one.rmdir() if one.is_dir() else one.unlink()
    assert {one.name for one in place.iterdir()} <= {"bot.zip", "there"}


@pytest.mark.parametrize("data", VALID)
def test_what_is_changed_here_is_valid_before(place: Path, data: bytes) -> None:
    (place / "bot.zip").write_bytes(data)
    assert unpack(place / "bot.zip", place / "valid" / str(len(data))).name == "greedy"
    for one in sorted((place / "valid").rglob("*"), reverse=True):
        one.rmdir() if one.is_dir() else one.unlink()
    (place / "valid").rmdir()


@examples(150)
@given(st.one_of(mangled(st.sampled_from(VALID)), MADE, ENDS, st.binary(max_size=60)))
@example(b"")
@example(b"PK\5\6" + bytes(18))
@example(VALID[0] + VALID[1])
@example(b"#!/bin/sh\n" + VALID[0])
def test_any_archive_is_a_bot_or_a_bot_error(place: Path, data: bytes) -> None:
    tried(place, data)


def overlapping(count: int) -> bytes:
    """A listing that names one long file again and again, which is how a zip bursts best."""
    content = bytes(2**20)
    data = zipped([("kernel", content, FILE)], kind=zipfile.ZIP_DEFLATED)
    start = data.index(b"PK\1\2")
    line = data[start:-22]
    lines = b"".join(line.replace(b"kernel", f"{number:06}".encode()) for number in range(count))
    return data[:start] + lines + END.pack(b"PK\5\6", 0, 0, count, count, len(lines), start, 0)


@pytest.mark.parametrize(
    "data",
    [
        zipped([*BOT, ("zeros", bytes(60 * 2**20), FILE)], kind=zipfile.ZIP_DEFLATED),
        zipped([*BOT, ("zeros", bytes(40 * 2**20), FILE)], kind=zipfile.ZIP_DEFLATED),
        overlapping(1900),
        overlapping(40),
        zipped([*BOT, *((f"{number}", b"", FILE) for number in range(20_000))]),
        bytes(2**20) + END.pack(b"PK\5\6", 0, 0, 65535, 65535, 2**20, 0, 0),
        b"PK\1\2".ljust(46, b"\0") * 22_000 + END.pack(b"PK\5\6", 0, 0, 1, 1, 22_000 * 46, 0, 0),
        bytes(53 * 2**20),
    ],
    ids=["large", "zeros", "overlap", "few", "many", "listing", "nameless", "long"],
)
def test_what_would_burst_is_refused_in_bounded_memory(place: Path, data: bytes) -> None:
    tracemalloc.start()
    try:
        tried(place, data)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < MOST_MEMORY_BYTES
    assert not (place / "there" / "bot").exists()
