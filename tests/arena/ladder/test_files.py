"""Files that are whole or not there."""

import stat
from pathlib import Path

import pytest

from arena.ladder.files import part_of, unwritable, write_part, write_whole


def test_a_file_is_written_with_its_mode_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    write_whole(file, b"one", mode=0o600)
    write_whole(file, b"two", mode=0o600)
    assert file.read_bytes() == b"two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_until_it_is_whole_the_old_one_is_there(tmp_path: Path) -> None:
    file = tmp_path / "ladder.toml"
    file.write_bytes(b"old")
    assert write_part(file, b"new", mode=0o644) == part_of(file)
    assert file.read_bytes() == b"old"
    assert part_of(file).read_bytes() == b"new"
    write_whole(file, b"newer", mode=0o644)  # over what a kill has left
    assert file.read_bytes() == b"newer"


def test_what_cannot_be_written_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        write_whole(tmp_path / "none" / "file", b"", mode=0o644)
    said = str(unwritable(caught.value, tmp_path / "none"))
    assert said.startswith(f"{tmp_path / 'none'}: cannot be written (No such file or directory); ")
