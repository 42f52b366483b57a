"""A bot's folder as it was: the files of a revision, what they lack, and what is said where there
are none."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.ladder.bots.bundle import BotError, bundle_digest
from arena.ladder.bots.revisions import export, parted

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a new repository, as somebody, whatever this machine's settings are."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "repository").mkdir()

    def git(*words: str) -> str:
        who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
        command = ["git", *who, "-C", str(tmp_path / "repository"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    return git


@pytest.fixture
def folder(tmp_path: Path, git: Git) -> Path:
    """A bot below the top of a repository that has three revisions of it, the first tagged."""
    folder = tmp_path / "repository" / "bots" / "mine"
    (folder / "parts").mkdir(parents=True)
    (folder / "bot.toml").write_text("first\n")
    (folder / "parts" / "run.sh").write_text("echo\n")
    (folder / "parts" / "run.sh").chmod(0o755)
    (folder.parent / "other").write_text("no part of it\n")
    git("add", "-A")
    git("commit", "-qm", "Begin")
    git("tag", "v1")
    (folder / "bot.toml").write_text("second\n")
    git("commit", "-qam", "Better: 10 % more\n\nAnd more.")
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "into").mkdir()
    return tmp_path / "into"


def test_its_files_are_as_they_were_and_it_is_the_same_bot(folder: Path, git: Git, into: Path):
    before = bundle_digest(folder)
    (folder / "bot.toml").write_text("third\n")
    exported = export(folder, "HEAD", into=into)
    assert exported.folder.parent == into
    assert bundle_digest(exported.folder) == before
    assert (exported.folder / "bot.toml").read_text() == "second\n"
    assert os.access(exported.folder / "parts" / "run.sh", os.X_OK)
    assert not (exported.folder.parent / "other").exists()
    assert (folder / "bot.toml").read_text() == "third\n"
    assert git("status", "--porcelain") == "M bots/mine/bot.toml"


@pytest.mark.parametrize("revision", ["v1", "HEAD~1", "HEAD^", "{commit}", "@~"])
def test_a_revision_is_whatever_git_takes_for_one(
    folder: Path, git: Git, into: Path, revision: str
):
    commit = git("rev-parse", "v1")
    exported = export(folder, revision.replace("{commit}", commit[:8]), into=into)
    assert (exported.folder / "bot.toml").read_text() == "first\n"
    assert exported.revision.commit == commit
    assert str(exported) == f"is commit {commit[:10]} (Begin)"


def test_a_long_subject_is_cut(folder: Path, git: Git, into: Path):
    git("commit", "-q", "--allow-empty", "-m", "a" * 72)
    assert f"({'a' * 72})" in str(export(folder, "HEAD", into=into))
    git("commit", "-q", "--allow-empty", "-m", "a" * 10_000)
    (into / "again").mkdir()
    assert f"({'a' * 72}…)" in str(export(folder, "HEAD", into=into / "again"))


def test_a_branch_with_a_slash_in_its_name_is_one_folder(folder: Path, git: Git, into: Path):
    git("branch", "try/this")
    assert export(folder, "try/this", into=into).folder == into / "mine@try-this"


def test_a_bot_may_be_all_of_its_repository(tmp_path: Path, git: Git, into: Path):
    top = tmp_path / "repository"
    (top / "bot.toml").write_text("whole\n")
    git("add", "-A")
    git("commit", "-qm", "All")
    (top / "notes").touch()
    exported = export(top, "HEAD", into=into)
    assert (exported.folder / "bot.toml").read_text() == "whole\n"
    assert exported.untracked == ("notes",)


def test_what_git_would_take_for_a_pattern_is_a_name(tmp_path: Path, git: Git, into: Path):
    for name in ("bot*", ":(top)bot"):
        (tmp_path / "repository" / name).mkdir()
        (tmp_path / "repository" / name / "bot.toml").write_text(name)
    git("add", "-A")
    git("commit", "-qm", "Odd names")
    (tmp_path / "repository" / "bots").mkdir()
    (tmp_path / "repository" / "bots" / "secret").write_text("another bot's\n")
    exported = export(tmp_path / "repository" / "bot*", "HEAD", into=into)
    assert exported.untracked == ()
    (into / "tree").rename(tmp_path / "first")
    exported = export(tmp_path / "repository" / ":(top)bot", "HEAD", into=into)
    assert (exported.folder / "bot.toml").read_text() == ":(top)bot"


def test_what_is_not_committed_is_said_of_the_last_commit_alone(folder: Path, git: Git, into: Path):
    (folder / "bot.toml").write_text("third\n")
    (folder / "weights.bin").touch()
    (folder / "seen.log").touch()  # is no part of a bot
    (folder.parent / ".gitignore").write_text("*.bin\n")
    last = export(folder, "HEAD", into=into)
    assert (last.changed, last.untracked) == (("bot.toml",), ("weights.bin",))
    assert str(last).endswith(
        " (Better: 10 % more); not in it: what is not committed of bot.toml; "
        "weights.bin, which git does not know"
    )
    shutil.rmtree(into)
    into.mkdir()
    first = export(folder, "v1", into=into)
    assert (first.changed, first.untracked) == ((), ("weights.bin",))


def test_many_files_are_not_all_named(folder: Path, into: Path):
    for number in range(5):
        (folder / f"{number}.dat").touch()
    assert "0.dat, 1.dat, 2.dat and 2 more" in str(export(folder, "HEAD", into=into))


def test_a_folder_that_is_gone_is_found_in_the_past(folder: Path, into: Path):
    shutil.rmtree(folder)
    assert (export(folder, "v1", into=into).folder / "bot.toml").read_text() == "first\n"


def test_what_git_is_told_to_leave_out_of_archives_is_in(folder: Path, git: Git, into: Path):
    (folder / ".gitattributes").write_text("*.toml export-ignore\n")
    git("add", "-A")
    git("commit", "-qm", "Leave out")
    assert (export(folder, "HEAD", into=into).folder / "bot.toml").exists()


def test_variables_of_a_hook_lead_nowhere_else(
    folder: Path, into: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert (export(folder, "v1", into=into).folder / "bot.toml").exists()


@pytest.mark.parametrize("revision", ["v9", "", "--all", "-x", "HEAD:bots", "v1 v2"])
def test_what_is_no_revision_is_refused(folder: Path, into: Path, revision: str):
    with pytest.raises(BotError, match=r"mine@.*: there is no such revision; git log"):
        export(folder, revision, into=into)


def test_a_folder_that_was_not_there_is_refused(folder: Path, git: Git, into: Path):
    late = folder.with_name("late")
    late.mkdir()
    (late / "bot.toml").touch()
    git("add", "-A")
    git("commit", "-qm", "Late")
    export(late, "HEAD", into=into)
    with pytest.raises(BotError, match="there was no such folder at"):
        export(late, "v1", into=into)


def test_a_file_is_no_folder(folder: Path, into: Path):
    with pytest.raises(BotError, match="there was no such folder at"):
        export(folder / "parts" / "run.sh", "HEAD", into=into)


def test_without_a_repository_it_says_so(tmp_path: Path, into: Path):
    (tmp_path / "plain").mkdir()
    with pytest.raises(BotError, match=r"plain@HEAD: is in no git repository .*leave the revision"):
        export(tmp_path / "plain", "HEAD", into=into)


def test_without_git_it_says_so(folder: Path, into: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BotError, match="needs git, which is not there; install git"):
        export(folder, "HEAD", into=into)


def test_a_mark_parts_folder_and_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("club@home/mine").mkdir(parents=True)
    assert parted("mine@HEAD~3") == ("mine", "HEAD~3")
    assert parted("club@home/mine@{1}") == ("club@home/mine", "{1}")
    assert parted("club@home/mine@HEAD@{1}") == ("club@home/mine", "HEAD@{1}")
    assert parted("mine@a@b") == ("mine", "a@b")
    assert parted("mine") is None
    assert parted("@HEAD") is None
