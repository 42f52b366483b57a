"""What makes a bot the bot it is: the digest of its folder, and what stays out of it."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from arena.ladder.bots.bundle import BotError, BundleFile, bundle, bundle_digest


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o644)
    return folder


def entry(path: str, content: bytes, *, runs: bool = False) -> bytes:
    """Return what one file adds to the digest, written out from the definition."""
    name = path.encode()
    return b"".join(
        (
            len(name).to_bytes(4, "big"),
            name,
            b"\1" if runs else b"\0",
            len(content).to_bytes(8, "big"),
            content,
        )
    )


def test_the_digest_covers_path_run_bit_and_content_of_every_file(tmp_path: Path) -> None:
    write(tmp_path, {"bot.toml": b"x", "run": b"#!/bin/sh\n", "lib/empty": b""})
    (tmp_path / "run").chmod(0o755)
    expected = hashlib.sha256(
        entry("bot.toml", b"x") + entry("lib/empty", b"") + entry("run", b"#!/bin/sh\n", runs=True)
    )
    assert bundle_digest(tmp_path) == expected.hexdigest()


def test_a_known_folder_has_a_known_digest(tmp_path: Path) -> None:
    r"""The value is printf '\0\0\0\10bot.toml\0\0\0\0\0\0\0\0\1x' | sha256sum."""
    write(tmp_path, {"bot.toml": b"x"})
    assert (
        bundle_digest(tmp_path)
        == "5f13040f6bad479aef81e186cc7e2c3c35c3110dc89b22d0a0ad74bf5764b759"
    )


def test_files_are_sorted_by_the_bytes_of_their_whole_paths(tmp_path: Path) -> None:
    names = ["a/b", "a-b", "a.b", "B", "é", "z", "پ"]
    write(tmp_path, dict.fromkeys(names, b""))
    assert [file.path for file in bundle(tmp_path)] == ["B", "a-b", "a.b", "a/b", "z", "é", "پ"]


def test_a_file_larger_than_one_read_is_covered_whole(tmp_path: Path) -> None:
    content = bytes(range(256)) * 8192  # 2 MiB
    write(tmp_path, {"model.bin": content})
    assert bundle_digest(tmp_path) == hashlib.sha256(entry("model.bin", content)).hexdigest()


@pytest.mark.parametrize(
    "left_behind",
    [
        "__pycache__/bot.cpython-311.pyc",
        "lib/__pycache__/x.pyc",
        ".git/HEAD",
        ".env",
        "lib/.swp",
        "bot.log",
        "logs/1.log",
    ],
)
def test_what_running_and_editing_leave_behind_makes_no_other_bot(
    tmp_path: Path, left_behind: str
) -> None:
    write(tmp_path, {"bot.toml": b"x"})
    before = bundle_digest(tmp_path)
    write(tmp_path, {left_behind: b"y"})
    assert bundle_digest(tmp_path) == before


@pytest.mark.parametrize("added", ["log", "bot.logs", "x.log/kept", "pycache/x", "a.pyc"])
def test_any_other_file_makes_another_bot(tmp_path: Path, added: str) -> None:
    write(tmp_path, {"bot.toml": b"x"})
    before = bundle_digest(tmp_path)
    write(tmp_path, {added: b""})
    assert bundle_digest(tmp_path) != before


def test_moving_bytes_between_path_and_content_makes_another_bot(tmp_path: Path) -> None:
    one = write(tmp_path / "one", {"ab": b"c"})
    other = write(tmp_path / "other", {"a": b"bc"})
    assert bundle_digest(one) != bundle_digest(other)


def test_dates_and_other_permissions_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, {"bot.toml": b"x"})
    before = bundle_digest(tmp_path)
    os.utime(tmp_path / "bot.toml", (0, 0))
    (tmp_path / "bot.toml").chmod(0o600)
    assert bundle_digest(tmp_path) == before


def test_a_symbolic_link_is_refused_because_its_target_is_not_in_the_bundle(tmp_path: Path) -> None:
    (tmp_path / "secret").symlink_to("/etc/hostname")
    with pytest.raises(BotError, match=r"secret: is a symbolic link; put the file itself there"):
        bundle_digest(tmp_path)


def test_a_hidden_link_such_as_those_of_npm_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / ".bin").mkdir(parents=True)
    (tmp_path / "node_modules" / ".bin" / "tool").symlink_to("../tool.js")
    assert bundle(tmp_path) == []


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        with pytest.raises(BotError, match="neither a file nor a folder"):
            bundle(tmp_path)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"notes": b"x"})
    fstat = os.fstat

    def fstat_then_grow(descriptor: int) -> os.stat_result:
        result = fstat(descriptor)
        with (tmp_path / "notes").open("ab") as stream:
            stream.write(b"more")
        return result

    monkeypatch.setattr(os, "fstat", fstat_then_grow)
    with pytest.raises(BotError, match=r"notes: changed while it was read; .*name it \*\.log"):
        bundle_digest(tmp_path)


def test_a_file_that_is_removed_before_it_is_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = BundleFile(tmp_path / "gone", path="gone", runs=False)
    monkeypatch.setattr("arena.ladder.bots.bundle.bundle", lambda folder: [gone])
    with pytest.raises(BotError, match=r"gone: cannot be read \(No such file or directory\)"):
        bundle_digest(tmp_path)


def test_a_folder_the_system_will_not_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"gone: cannot be read \(No such file or directory\)"):
        bundle(tmp_path / "gone")
