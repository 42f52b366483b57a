"""A bot with other values: the same bot but for its version and its defaults."""

import errno
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from arena.ladder.bots.bundle import bundle_digest
from arena.ladder.bots.entrants import Entrant, program_digest
from arena.ladder.errors import LadderError
from arena.tuning.variant import parameter_line, write_variant


def test_it_is_the_same_bot_but_for_its_version_and_its_values(mine: Entrant, tmp_path: Path):
    made = write_variant(mine, {"chance": 0.125, "depth": 5.0}, into=tmp_path / "best")
    assert {one.name: one.default for one in made.parameters} == {"chance": 0.125, "depth": 5}
    assert [(one.low, one.high, one.is_integer) for one in made.parameters] == [
        (0, 1, False),
        (1, 8, True),
    ]
    assert (made.name, made.owner, made.version) == ("mine", "ada", "1.0-tuned")
    assert (made.command, made.limits, made.variants) == (mine.command, mine.limits, mine.variants)
    assert made.variables == {"HOKM_PARAMETERS": '{"chance": 0.125, "depth": 5}'}
    files = {path.name for path in made.folder.iterdir()}
    assert files == {"bot.toml", "bot.py", "run.sh"}
    assert (made.folder / "run.sh").stat().st_mode & 0o100
    assert program_digest(made) != program_digest(mine)


def test_what_is_not_named_stays_and_the_bot_it_is_made_of_too(mine: Entrant, tmp_path: Path):
    made = write_variant(mine, {"chance": 0.25}, into=tmp_path / "best")
    assert {one.name: one.default for one in made.parameters} == {"chance": 0.25, "depth": 3}
    assert bundle_digest(mine.folder) == mine.digest


def test_made_again_it_is_the_same_and_a_tuned_bot_is_tuned_once(mine: Entrant, tmp_path: Path):
    values = {"chance": 0.25, "depth": 4.0}
    first = write_variant(mine, values, into=tmp_path / "best")
    assert write_variant(mine, values, into=tmp_path / "best").digest == first.digest
    assert write_variant(first, values, into=tmp_path / "again").version == "1.0-tuned"


def test_a_line_for_the_manifest_is_toml(mine: Entrant):
    lines = [parameter_line(one, one.high) for one in mine.parameters]
    assert lines[0] == "chance = { default = 1.0, low = 0.0, high = 1.0 }"
    assert lines[1] == "depth = { default = 8, low = 1, high = 8, integer = true }"
    assert tomllib.loads("\n".join(lines))["depth"]["integer"] is True


def test_where_it_does_not_fit_its_folder_is_named(mine: Entrant, tmp_path: Path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(LadderError, match=r"best: cannot be written \(No space left on device\)"):
        write_variant(mine, {"chance": 0.25}, into=tmp_path / "best")
