"""The folder of one match: gone with it, kept where it was told of, and removed after a kill."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from arena.cli.places import keep, temporary_folder
from arena.ladder.processes import strays


@pytest.fixture
def ended() -> int:
    """The id of a process that is no more."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def of(pid: int, folder: Path) -> Path:
    """The same folder, had the process of that id made it."""
    _, _, owner = folder.name.partition("-arena-")
    other = folder.with_name(f"hokm-arena-{pid}-{owner.partition('-')[2]}")
    folder.rename(other)
    return other


def test_folders_of_arenas_that_are_no_more_are_removed(tmp_path: Path, ended: int) -> None:
    killed = of(ended, temporary_folder())
    (killed / "deep").mkdir()
    (killed / "deep" / "bot.log").write_text("x")
    another = of(1, temporary_folder())  # its id is another's now
    mine = temporary_folder()
    assert not killed.exists()
    assert not another.exists()
    assert mine.exists()


def test_folders_of_arenas_that_run_are_left_alone(tmp_path: Path) -> None:
    mine = temporary_folder()
    assert temporary_folder() != mine
    assert mine.exists()


def test_a_folder_that_somebody_was_told_of_is_kept(tmp_path: Path, ended: int) -> None:
    told = temporary_folder()
    keep(told)
    told = of(ended, told)
    temporary_folder()
    assert told.exists()


@pytest.mark.parametrize("name", ["hokm-arena-notes", "hokm-arena-{pid}", "hokm-arena-{pid}-0"])
def test_what_only_looks_like_one_is_left_alone(tmp_path: Path, ended: int, name: str) -> None:
    folder = tmp_path / name.format(pid=ended)
    folder.mkdir()
    temporary_folder()
    assert folder.exists()


def test_nothing_is_removed_by_a_link_or_for_another_user(
    tmp_path: Path, ended: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").touch()
    link = of(ended, temporary_folder())
    link.rmdir()
    link.symlink_to(target)
    anothers = of(ended, temporary_folder())
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: anothers.stat().st_uid + 1)
        temporary_folder()
    assert anothers.exists()
    temporary_folder()
    assert not anothers.exists()
    assert (target / "file").exists()


def test_processes_noted_in_one_are_ended_before_their_notes_are_gone(
    tmp_path: Path, ended: int
) -> None:
    folder = temporary_folder()
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    note = strays.note(folder / "running", ticket="0" * 64, pid=process.pid)
    note.write_text(json.dumps(json.loads(note.read_text()) | {"owner_birth": "long ago"}))
    of(ended, folder)
    temporary_folder()
    assert process.wait() == -signal.SIGKILL
