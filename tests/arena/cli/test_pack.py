"""`arena bot pack` and `unpack`, and archives wherever a BOT is asked for."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from arena.ladder.bots.bundle import bundle_digest


@pytest.fixture(autouse=True)
def _own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_what_is_packed_is_told_and_lies_by_its_digest(run, make_bot, tmp_path):
    folder = make_bot("sara")
    ran = run("bot", "pack", folder)
    digest = bundle_digest(folder)
    file = tmp_path / "data/hokm-arena/bundles" / f"{digest}.zip"
    assert (ran.status, ran.err) == (0, "")
    size = sum(one.stat().st_size for one in folder.iterdir())
    assert ran.out == f"sara 1.0 (sara): 2 files, {size} bytes\ndigest  {digest}\nfile    {file}\n"
    assert file.is_file()


@pytest.mark.parametrize(
    ("out", "file"),
    [("sara.zip", "sara.zip"), ("there", "there/{digest}.zip"), ("new/a.ZIP", "new/a.ZIP")],
)
def test_it_can_be_put_elsewhere(run, make_bot, tmp_path, out, file):
    folder = make_bot("sara")
    answer = json.loads(run("bot", "pack", folder, "--out", tmp_path / out, "--json").out)
    assert answer["file"] == str(tmp_path / file.format(digest=bundle_digest(folder)))
    assert Path(answer["file"]).is_file()
    assert (answer["name"], answer["digest"]) == ("sara", bundle_digest(folder))
    assert answer["bytes"] == sum(one.stat().st_size for one in folder.iterdir())


def test_what_is_unpacked_lies_by_its_digest_or_where_it_is_said(run, make_bot, tmp_path):
    folder = make_bot("sara")
    file = json.loads(run("bot", "pack", folder, "--json").out)["file"]
    digest = bundle_digest(folder)
    ran = run("bot", "unpack", file)
    home = tmp_path / "data/hokm-arena/bundles" / digest
    assert (ran.status, ran.out) == (0, f"sara 1.0 (sara)\ndigest  {digest}\nfolder  {home}\n")
    assert run("bot", "unpack", file, "--into", tmp_path / "mine", "--digest", digest).status == 0
    assert bundle_digest(home) == bundle_digest(tmp_path / "mine") == digest


def test_another_bot_than_was_asked_for_is_refused(run, make_bot, tmp_path):
    file = json.loads(run("bot", "pack", make_bot("sara"), "--json").out)["file"]
    ran = run("bot", "unpack", file, "--into", tmp_path / "mine", "--digest", "0" * 64)
    assert (ran.status, ran.out) == (1, "")
    assert "holds another bot" in ran.err
    assert not (tmp_path / "mine").exists()
    ran = run("bot", "unpack", file, "--digest", "sara")
    assert (ran.status, "--digest 'sara' is not 64 hex digits" in ran.err) == (2, True)


def test_a_match_takes_archives_and_leaves_nothing_of_them(run, runner, make_bot, tmp_path):
    file = tmp_path / "sara.zip"
    run("bot", "pack", make_bot("sara"), "--out", file)
    ran = run("match", file, make_bot("omid"), "--boards", 1, "--json")
    assert ran.status == 0
    assert [bot["name"] for bot in json.loads(ran.out)["entrants"]] == ["sara", "omid"]
    assert not list(tmp_path.glob("hokm-arena-*"))


def test_nothing_is_left_of_an_archive_if_the_command_fails(run, runner, make_bot, tmp_path):
    file = tmp_path / "sara.zip"
    run("bot", "pack", make_bot("sara"), "--out", file)
    assert run("match", file, "nobody", "--boards", 1).status == 2
    assert not list(tmp_path.glob("hokm-arena-*"))


def test_a_ladder_takes_an_archive_as_the_bot_that_it_is(run, make_bot, tmp_path):
    folder, file = make_bot("sara"), tmp_path / "sara.zip"
    run("bot", "pack", folder, "--out", file)
    run("ladder", "init", tmp_path / "club")
    assert run("ladder", "add", tmp_path / "club", file).out == "sara 1.0 (sara): new\n"
    assert run("ladder", "add", tmp_path / "club", folder).out == "sara 1.0 (sara): already in\n"
    assert (tmp_path / "club/bots" / bundle_digest(folder)).is_dir()


def test_a_changed_byte_is_another_version_and_both_can_be_played(run, runner, make_bot, tmp_path):
    folder = make_bot("sara")
    first = json.loads(run("bot", "pack", folder, "--json").out)["file"]
    (folder / "bot.py").write_text("# better\n")
    second = json.loads(run("bot", "pack", folder, "--json").out)["file"]
    assert Path(first).is_file()
    assert first != second
    assert run("match", first, second, "--boards", 1).status == 0


def test_what_is_no_archive_is_one_line(run, make_bot, tmp_path):
    (tmp_path / "bot.zip").write_text("no")
    ran = run("match", tmp_path / "bot.zip", make_bot("omid"))
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith(f"error: {tmp_path}/bot.zip: is no zip")


def test_a_folder_named_like_an_archive_is_a_folder(run, runner, make_bot):
    folder = make_bot("sara")
    folder = folder.rename(folder.with_name("sara.zip"))
    assert run("match", folder, make_bot("omid"), "--boards", 1).status == 0


def test_an_experiment_takes_archives_and_goes_on_with_the_folder(
    run, runner, make_bot, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    a, b, file = make_bot("a"), make_bot("b"), tmp_path / "a.zip"
    run("bot", "pack", a, "--out", file)
    first = run("duel", file, b, "--boards", 2, "--json")
    again = run("duel", a, b, "--boards", 2, "--json")
    assert (first.status, again.status) == (0, 0)
    assert json.loads(first.out)["commitment"] == json.loads(again.out)["commitment"]


def test_a_bot_that_is_too_large_is_told_what_makes_it_so(run, make_bot, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.ladder.bots.archive.LARGEST_BYTES", 2**20)
    folder = make_bot("sara")
    (folder / "model.bin").write_bytes(bytes(2**21))
    ran = run("bot", "pack", folder)
    assert (ran.status, ran.out) == (1, "")
    assert "The largest: model.bin 2.0 MiB" in ran.err


def test_an_archive_by_another_tool_does_as_well(run, runner, make_bot, tmp_path):
    made = shutil.make_archive(str(tmp_path / "sara"), "zip", make_bot("sara"))
    assert zipfile.is_zipfile(made)
    assert run("match", made, make_bot("omid"), "--boards", 1).status == 0
