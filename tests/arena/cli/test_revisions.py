"""A BOT as it was at a revision of its repository: named where a bot is, told apart, removed."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


@pytest.fixture
def mine(make_bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot with two revisions, and what it is now."""
    folder: Path = make_bot("mine")
    monkeypatch.chdir(folder.parent)
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "Begin")):
        subprocess.run(["git", *words], check=True)
    (folder / "bot.py").write_text("# another\n")
    subprocess.run(["git", *who, "commit", "-qam", "Better"], check=True)
    (folder / "bot.py").write_text("# a third\n")
    return folder


def test_a_bot_meets_what_it_was(run, runner, mine):
    ran = run("match", mine, "mine@HEAD~1", "--boards", 2)
    assert ran.status == 0
    assert ran.out.splitlines()[0] == "mine against mine@HEAD~1: 4 players, 2 boards"
    assert "mine@HEAD~1 is commit" in ran.err
    now, before = runner.played[0].entrants
    assert now.digest != before.digest
    assert (now.name, before.name) == ("mine", "mine")
    assert not before.folder.exists()
    assert not list(Path(tempfile.gettempdir()).glob(f"{before.folder.parent.name}*"))


def test_two_revisions_are_told_apart_and_the_commit_is_in_the_report(run, runner, mine):
    ran = run("duel", "mine@HEAD", "mine@HEAD~1", "--boards", 2, "--out", "it", "--json")
    commits = subprocess.run(
        ["git", "rev-list", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.split()
    assert [bot["revision"] for bot in json.loads(ran.out)["entrants"]] == [
        {"asked": "HEAD", "commit": commits[0]},
        {"asked": "HEAD~1", "commit": commits[1]},
    ]
    again = run("duel", "mine@HEAD", "mine@HEAD~1", "--boards", 2, "--out", "it")
    assert again.out.startswith("mine@HEAD against mine@HEAD~1: ")
    assert "what is not committed of bot.py" in again.err


def test_what_is_new_is_tested_against_what_is_committed(run, runner, mine):
    ran = run("sprt", "mine", "mine@HEAD", "--cap", 4, "--batch", 4, "--out", "it")
    assert ran.status == 0
    assert ran.out.startswith("mine against mine@HEAD: ")


def test_a_folder_whose_name_has_the_mark_is_that_folder(run, runner, mine):
    shutil.copytree(mine, "mine@HEAD")
    ran = run("match", "mine@HEAD", "mine", "--boards", 2)
    assert ran.out.startswith("mine #1 against mine #2: ")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("mine@v9", "mine@v9: there is no such revision"),
        ("none@HEAD", "none@HEAD: there was no such folder"),
        ("/@HEAD", "/@HEAD: is in no git repository"),
        ("@HEAD", "is neither a folder nor a bundled bot"),
    ],
)
def test_a_revision_that_is_none_is_a_misuse(run, runner, mine, word, said):
    ran = run("match", word, "mine")
    assert ran.status == 2
    assert said in ran.err
    assert runner.played == []


def test_a_bot_of_the_past_can_be_packed(run, mine, tmp_path):
    ran = run("bot", "pack", "mine@HEAD~1", "--out", tmp_path / "old.zip")
    assert ran.status == 0
    assert (tmp_path / "old.zip").exists()
