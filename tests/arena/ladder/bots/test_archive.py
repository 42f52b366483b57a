"""A bot as one file: the same bytes for the same bot, and nothing unpacked that is no bot."""

import io
import os
import random
import stat
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from arena.ladder.bots import archive
from arena.ladder.bots.archive import LARGEST_BYTES, MOST_FILES, named_digest, pack, unpack
from arena.ladder.bots.bundle import BotError, bundle_digest
from arena.ladder.bots.frozen import freeze

MANIFEST = """\
schema = 1
name = "greedy"
owner = "maryam"
version = "1.0"
command = ["./run"]
protocol = 1
variants = [4]
"""


def bot(folder: Path, files: dict[str, str] | None = None) -> Path:
    """A bot whose program is a file that runs, with more files beside it."""
    for path, text in {"bot.toml": MANIFEST, "run": "#!/bin/sh\n", **(files or {})}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755 if path == "run" else 0o644)
    return folder


def info_of(path: str, *, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


RUN = (info_of("run", mode=stat.S_IFREG | 0o755), b"#!/bin/sh\n")
TOML = (info_of("bot.toml"), MANIFEST.encode())


def zip_of(
    file: Path, *entries: tuple[zipfile.ZipInfo | str, bytes], deflated: bool = False
) -> Path:
    kind = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", kind) as packed:
        for info, content in entries:
            packed.writestr(info, content, compress_type=kind)
    return file


def complaint(file: Path) -> str:
    """What is said about an archive; nothing of it is left."""
    there = file.parent / "there"
    with pytest.raises(BotError) as caught:
        unpack(file, there / "bot")
    assert not list(there.iterdir())
    text = str(caught.value)
    assert text.startswith(str(file))
    assert "\n" not in text
    return text


# -- packing


def test_an_archive_a_folder_and_a_frozen_copy_have_one_identity(tmp_path: Path) -> None:
    folder = bot(tmp_path / "bot", {"lib/a.py": "a", "lib/ب.txt": "b"})
    packed = pack(folder, into=tmp_path / "out")
    unpacked = unpack(packed.file, tmp_path / "there" / "bot")
    freeze(unpacked, bots=tmp_path / "bots")
    digest = bundle_digest(folder)
    assert packed.entrant.digest == unpacked.digest == digest
    assert packed.file == tmp_path / "out" / f"{digest}.zip"
    assert bundle_digest(tmp_path / "bots" / digest) == digest
    assert (packed.files, packed.size_bytes) == (4, len(MANIFEST) + 10 + 2)


def stored_zip(*entries: tuple[bytes, int, bytes]) -> bytes:
    """A zip of files (path, mode, content), written out from the definition of the format."""
    files = listing = b""
    for path, mode, content in entries:
        size = len(content)
        # version 2.0, no flags, stored, 0 h on the first of January 1980, a name and nothing more
        common = struct.pack(
            "<5H3L2H", 20, 0, 0, 0, 33, zlib.crc32(content), size, size, len(path), 0
        )
        made_by, place = struct.pack("<BB", 20, 3), len(files)
        rest = struct.pack("<3H2L", 0, 0, 0, (stat.S_IFREG | mode) << 16, place)
        listing += b"PK\1\2" + made_by + common + rest + path
        files += b"PK\3\4" + common + path + content
    count = len(entries)
    end = struct.pack("<4H2LH", 0, 0, count, count, len(listing), len(files), 0)
    return files + listing + b"PK\5\6" + end


def test_the_bytes_are_the_same_on_any_day_and_machine(tmp_path: Path) -> None:
    folder = bot(tmp_path / "one", {"lib/a.py": "a" * 5000})
    first = pack(folder, into=tmp_path / "out").file.read_bytes()
    assert first == stored_zip(
        (b"bot.toml", 0o644, MANIFEST.encode()),
        (b"lib/a.py", 0o644, b"a" * 5000),
        (b"run", 0o755, b"#!/bin/sh\n"),
    )
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
        path.chmod(0o700 if path.is_dir() or path.name == "run" else 0o600)
    (folder / ".hidden").touch()
    (folder / "bot.log").touch()
    assert pack(folder, into=tmp_path / "out").file.read_bytes() == first


def test_files_are_stored_as_they_are_in_the_order_of_the_bundle(tmp_path: Path) -> None:
    packed = pack(bot(tmp_path / "bot", {"a/b": "x", "a-b": "y"}), into=tmp_path / "out")
    with zipfile.ZipFile(packed.file) as found:
        assert [info.filename for info in found.infolist()] == ["a-b", "a/b", "bot.toml", "run"]
        assert {info.compress_type for info in found.infolist()} == {zipfile.ZIP_STORED}
        assert {info.date_time for info in found.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_run_bit_comes_through(tmp_path: Path) -> None:
    packed = pack(bot(tmp_path / "bot", {"data": "x"}), into=tmp_path)
    folder = unpack(packed.file, tmp_path / "there").folder
    assert (folder / "run").stat().st_mode & 0o777 == 0o755
    assert (folder / "data").stat().st_mode & 0o777 == 0o644


def test_what_is_too_large_is_told_with_its_largest_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST_BYTES", 3 * 2**20)
    folder = bot(tmp_path / "bot", {"a": "x" * 2**20, "model": "x" * 2**21, "c": "x" * 2**19})
    with pytest.raises(BotError) as caught:
        pack(folder, into=tmp_path / "out")
    assert (
        "3.5 MiB of files; a bot has 3.0 MiB at most. The largest: model 2.0 MiB, a 1.0 MiB, c"
        in (str(caught.value))
    )
    assert not (tmp_path / "out").exists()


def test_too_many_files_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 3)
    folder = bot(tmp_path / "bot", {"a": "", "b": ""})
    with pytest.raises(BotError, match="has 4 files; a bot has 3 at most"):
        pack(folder, into=tmp_path)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (["Bot.py", "bot.py"], "differs from 'Bot.py' in capitals or accents only"),
        (["A/x", "a/y"], "differs from 'A' in capitals or accents only"),
        (["\u00e9", "e\u0301"], "in capitals or accents only"),
        (["a\\b"], "has a backslash or an invisible character"),
        (["a\nb"], "has a backslash or an invisible character"),
        (["a\u202eb"], "has a backslash or an invisible character"),
        (["a" * 201], "has a path of 201 bytes; the longest is 200"),
    ],
)
def test_names_that_not_every_machine_takes_are_refused(
    tmp_path: Path, files: list[str], problem: str
) -> None:
    folder = bot(tmp_path / "bot", dict.fromkeys(files, "x"))
    with pytest.raises(BotError, match=problem):
        pack(folder, into=tmp_path / "out")


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (MANIFEST.replace("./run", "./walk"), "there is no file ./walk in the bot's folder"),
        (MANIFEST + "comand = 1\n", "comand: is not a known key; did you mean command"),
    ],
)
def test_what_cannot_be_entered_is_not_packed(tmp_path: Path, broken: str, problem: str) -> None:
    folder = bot(tmp_path / "bot", {"bot.toml": broken})
    with pytest.raises(BotError, match=problem):
        pack(folder, into=tmp_path / "out")


def test_a_bot_that_changes_meanwhile_is_not_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bot(tmp_path / "bot", {"data": "one"})
    content = archive._content
    monkeypatch.setattr(
        archive, "_content", lambda source, **rest: content(source, **rest).replace(b"one", b"two")
    )
    with pytest.raises(BotError, match="changed while it was packed; stop what writes there"):
        pack(folder, into=tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_an_archive_does_not_go_into_the_bot_itself(tmp_path: Path) -> None:
    folder = bot(tmp_path / "bot")
    with pytest.raises(BotError, match="lies in the bot's own folder"):
        pack(folder, into=folder / "out")


# -- unpacking


def test_a_zip_by_another_tool_is_the_same_bot(tmp_path: Path) -> None:
    folder = bot(tmp_path / "bot", {"lib/a": "a"})
    other = zip_of(
        tmp_path / "other.zip",
        (info_of("lib/", mode=stat.S_IFDIR | 0o755), b""),
        (info_of("lib/a"), b"a"),
        RUN,
        TOML,
        deflated=True,
    )
    assert unpack(other, tmp_path / "there").digest == bundle_digest(folder)


def test_unpacking_again_is_harmless_and_never_over_other_files(tmp_path: Path) -> None:
    packed = pack(bot(tmp_path / "bot"), into=tmp_path)
    there = unpack(packed.file, tmp_path / "there").folder
    assert unpack(packed.file, there).digest == packed.entrant.digest
    (there / "notes").write_text("mine")
    with pytest.raises(BotError, match="there: is there already, with other files; name a folder"):
        unpack(packed.file, there)
    assert (there / "notes").read_text() == "mine"


def test_an_archive_that_is_named_by_a_digest_must_hold_that_bot(tmp_path: Path) -> None:
    packed = pack(bot(tmp_path / "bot"), into=tmp_path)
    assert named_digest(packed.file) == packed.entrant.digest
    assert named_digest(Path("greedy.zip")) is None
    wrong = packed.file.rename(tmp_path / f"{'0' * 64}.zip")
    assert "holds another bot, " in complaint(wrong)


def test_a_digest_that_is_known_must_be_its(tmp_path: Path) -> None:
    packed = pack(bot(tmp_path / "bot"), into=tmp_path, file=tmp_path / "greedy.zip")
    with pytest.raises(BotError, match=r"holds another bot, .*, in place of 000000000000…; get it"):
        unpack(packed.file, tmp_path / "there", digest="0" * 64)
    assert not (tmp_path / "there").exists()
    assert unpack(packed.file, tmp_path / "there", digest=packed.entrant.digest).name == "greedy"


LINK = stat.S_IFLNK | 0o777
PIPE = stat.S_IFIFO | 0o644


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (info_of("/etc/passwd"), "is not a path inside the bot's folder"),
        (info_of("../outside"), "is not a path inside the bot's folder"),
        (info_of("lib/../../outside"), "is not a path inside the bot's folder"),
        (info_of("lib//a"), "is not a path inside the bot's folder"),
        (info_of("./a"), "is not a path inside the bot's folder"),
        (info_of("..\\outside"), "has a backslash"),
        (info_of("a\x1b[2Jb"), "has a backslash or an invisible character"),
        (info_of("link", mode=LINK), "is a symbolic link; put the file itself there"),
        (info_of("pipe", mode=PIPE), "is neither a file nor a folder"),
        (info_of("dir/", mode=LINK), "is a symbolic link"),
        (info_of("bot.toml"), "'bot.toml': is there twice"),
        (info_of("BOT.toml"), "differs from 'bot.toml' in capitals"),
        (info_of("run/more"), "'run': is a file and a folder"),
        (info_of(".git/config"), r"is no part of a bot (hidden, __pycache__ or *.log)"),
        (info_of("lib/__pycache__/a.pyc"), "is no part of a bot"),
        (info_of("bot.log"), "is no part of a bot"),
        (info_of("../up/", mode=stat.S_IFDIR | 0o755), "is not a path inside the bot's folder"),
        (info_of("x" * 201), "has a path of 201 bytes"),
    ],
    ids=lambda value: value.filename[:20] if isinstance(value, zipfile.ZipInfo) else "",
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_no_bot_has_is_refused_before_anything_is_written(
    tmp_path: Path, entry: zipfile.ZipInfo, problem: str
) -> None:
    assert problem in complaint(zip_of(tmp_path / "bad.zip", RUN, TOML, (entry, b"")))


def test_a_name_must_be_said_to_be_utf8(tmp_path: Path) -> None:
    file = zip_of(tmp_path / "bad.zip", RUN, TOML, (info_of("\u00e9"), b""))
    data = bytearray(file.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.rindex(mark) + place + 1] &= ~0x08
    file.write_bytes(data)
    assert "has a name that is not said to be UTF-8; pack it with" in complaint(file)


def test_a_second_name_of_a_file_is_refused(tmp_path: Path) -> None:
    # From 3.12 on `zipfile` takes the name in this field for the file's.
    entry = info_of("innocent")
    second = struct.pack("<BL", 1, zlib.crc32(b"innocent")) + b"../../../outside"
    entry.extra = struct.pack("<HHBHH", 0xCAFE, 1, 0, 0x7075, len(second)) + second
    file = zip_of(tmp_path / "bad.zip", RUN, TOML, (entry, b"x"))
    assert "'innocent': has a second name" in complaint(file)


def test_a_folder_in_place_of_its_files_is_seen_through(tmp_path: Path) -> None:
    inside = zip_of(tmp_path / "bad.zip", (info_of("greedy/bot.toml"), MANIFEST.encode()))
    assert "has no bot.toml at its top, but greedy/bot.toml; pack it with" in complaint(inside)


def test_a_manifest_that_is_wrong_is_told_of_the_archive(tmp_path: Path) -> None:
    text = complaint(zip_of(tmp_path / "bad.zip", (info_of("bot.toml"), b"schema = 2")))
    assert text.startswith(f"{tmp_path}/bad.zip: bot.toml: schema: 2 is not known")
    assert "incoming" not in text


@pytest.mark.parametrize("kept_bytes", [0, 1, 21, 22, 100, -1, -23])
def test_what_is_cut_short_is_refused(tmp_path: Path, kept_bytes: int) -> None:
    whole = pack(bot(tmp_path / "bot"), into=tmp_path, file=tmp_path / "cut.zip").file
    whole.write_bytes(whole.read_bytes()[:kept_bytes])
    assert "; get it again, or pack it again" in complaint(whole)


def test_a_flipped_bit_is_seen(tmp_path: Path) -> None:
    whole = pack(bot(tmp_path / "bot"), into=tmp_path, file=tmp_path / "flipped.zip").file
    data = bytearray(whole.read_bytes())
    data[data.index(b"#!/bin/sh")] ^= 1
    whole.write_bytes(data)
    assert "'run': is damaged (Bad CRC-32" in complaint(whole)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("missing", "cannot be read (No such file or directory)"),
        ("folder", "is not a regular file"),
        ("pipe", "is not a regular file"),
    ],
)
def test_what_is_no_file_is_refused(tmp_path: Path, place: str, problem: str) -> None:
    file = tmp_path / "bot.zip"
    if place == "folder":
        file.mkdir()
    if place == "pipe":
        os.mkfifo(file)
    assert problem in complaint(file)


def test_what_would_burst_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    zeros = (info_of("zeros"), bytes(20 * 2**20))
    burst = zip_of(tmp_path / "burst.zip", RUN, TOML, zeros, deflated=True)
    assert burst.stat().st_size < 2**20
    assert "unpacks to more than 200 times its length" in complaint(burst)


def test_what_is_larger_than_a_bot_is_refused_by_what_it_says(tmp_path: Path) -> None:
    many = [(info_of(f"{number}"), bytes(2**20)) for number in range(51)]
    burst = zip_of(tmp_path / "burst.zip", RUN, TOML, *many, deflated=True)
    assert "has 51.0 MiB of files; a bot has 50.0 MiB at most" in complaint(burst)
    assert LARGEST_BYTES == 50 * 2**20


def test_a_file_that_says_less_than_it_holds_writes_no_more_than_it_says(tmp_path: Path) -> None:
    liar = zip_of(tmp_path / "liar.zip", RUN, TOML, (info_of("zeros"), bytes(2**20)), deflated=True)
    data = liar.read_bytes()
    true, told = struct.pack("<L", 2**20), struct.pack("<L", 10)
    liar.write_bytes(data.replace(true, told))
    assert "'zeros': is damaged" in complaint(liar)


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    many = [(info_of(f"{number}"), b"") for number in range(MOST_FILES)]
    text = complaint(zip_of(tmp_path / "many.zip", RUN, TOML, *many))
    assert f"has {MOST_FILES + 2} files; a bot has {MOST_FILES} at most" in text


def test_a_listing_of_a_million_files_is_not_even_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile, "ZipFile", None)  # which would make an object of each
    file = tmp_path / "listing.zip"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 2**21, 0, 0)
    file.write_bytes(bytes(2**21) + end)
    assert "has a listing of 2.0 MiB" in complaint(file)
    file.write_bytes(bytes(100) + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, 0, 0, 0))
    assert "has more than 2000 files in it" in complaint(file)
    locator = b"PK\6\7" + bytes(16)
    file.write_bytes(bytes(100) + locator + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 0, 0, 0))
    assert "has more than 2000 files in it" in complaint(file)


def test_encrypted_files_and_uncommon_compression_are_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        packed.writestr(*TOML, compress_type=zipfile.ZIP_LZMA)
    uncommon = tmp_path / "lzma.zip"
    uncommon.write_bytes(stream.getvalue())
    assert "'bot.toml': is compressed in an uncommon way" in complaint(uncommon)
    secret = zip_of(tmp_path / "secret.zip", RUN, TOML)
    data = bytearray(secret.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    secret.write_bytes(data)
    assert "is encrypted; pack it with" in complaint(secret)


def test_a_large_bot_of_chance_comes_through(tmp_path: Path) -> None:
    folder = bot(tmp_path / "bot")
    (folder / "model.bin").write_bytes(random.Random(1).randbytes(5 * 2**20))
    packed = pack(folder, into=tmp_path)
    assert unpack(packed.file, tmp_path / "there").digest == packed.entrant.digest
