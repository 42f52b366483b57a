"""Revisions: the folder of a bot as it was at some point of its git repository.

`mybot@HEAD~3` is the folder `mybot` as it was three commits ago, so that an author can ask whether
what he has now is better than what he had. The files are written out as git would check them out;
neither the repository nor what lies in its folders is changed. This module runs git, and does not
know what is in a bot.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.ladder.bots.bundle import BotError, is_left_out
from arena.ladder.strict_toml import shortened

MARK: Final = "@"
"""Between the folder and the revision. Both may have it in them: `club@home/mybot@{upstream}`."""

_SHOWN_FILES: Final = 3
_SHORT_DIGITS: Final = 10
_SHOWN_LETTERS: Final = 72
"""Of a subject; custom has it that none is longer."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A point in the history of a repository.

    Args:
        asked: as it was asked for: `HEAD~3`, `v1`.
        commit: the full id of its commit, in hex.
        subject: the first line of what its author wrote.
    """

    asked: str
    commit: str
    subject: str

    @property
    def short(self) -> str:
        """The beginning of the commit's id."""
        return self.commit[:_SHORT_DIGITS]

    def json(self) -> dict[str, object]:
        """As reports have it."""
        return {"asked": self.asked, "commit": self.commit}


@dataclass(frozen=True, slots=True)
class Exported:
    """The folder of a bot as it was.

    Args:
        folder: where its files have been written.
        revision: when that was.
        changed: paths in the bot's folder that differ from the last commit, where that commit is
            the one that was asked for; else none.
        untracked: paths of the bot's files there that git does not know.
    """

    folder: Path
    revision: Revision
    changed: tuple[str, ...]
    untracked: tuple[str, ...]

    def __str__(self) -> str:
        lacks = []
        if self.changed:
            lacks.append(f"what is not committed of {_some(self.changed)}")
        if self.untracked:
            lacks.append(f"{_some(self.untracked)}, which git does not know")
        lack = f"; not in it: {'; '.join(lacks)}" if lacks else ""
        subject = self.revision.subject
        if len(subject) > _SHOWN_LETTERS:
            subject = f"{subject[:_SHOWN_LETTERS]}…"
        return f"is commit {self.revision.short} ({subject}){lack}"


def parted(text: str) -> tuple[str, str] | None:
    """Part `folder@revision`; None where there is no such mark.

    The folder is the shortest that is there; where none is, all up to the first mark.
    """
    marks = [place for place, letter in enumerate(text) if letter == MARK and place]
    if not marks:
        return None
    there = (mark for mark in marks if os.path.isdir(text[:mark]))
    mark = next(there, marks[0])
    return text[:mark], text[mark + 1 :]


def export(folder: Path, revision: str, *, into: Path) -> Exported:
    """Write the files of `folder` as they were at that revision of its repository to a folder of
    the same name in `into`, which is there, empty, and the caller's to remove.

    Raises:
        BotError: if there is no git, no repository, no such revision, or no such folder in it.
    """
    git = _Git(folder, shortened(f"{folder}{MARK}{revision}"))
    commit = git.commit(revision)
    git.check_out(commit, into=into)
    exported = into / f"{folder.resolve().name}{MARK}{revision}".replace("/", "-")
    (into / _CHECKED_OUT / git.path).rename(exported)
    is_last = commit == git.asked("rev-parse", "--verify", "HEAD^{commit}")
    return Exported(
        exported,
        Revision(revision, commit, subject=git.asked("log", "-1", "--format=%s", commit)),
        changed=git.changed() if is_last else (),
        untracked=git.untracked(),
    )


_CHECKED_OUT: Final = "tree"


class _Git:
    """The repository that a folder lies in; raises BotError about what is `whole`.

    Attributes:
        path: the folder's path in it, with "/" between the parts; empty for all of it.
    """

    def __init__(self, folder: Path, whole: str) -> None:
        self._whole = whole
        program = shutil.which("git")
        if program is None:
            remedy = "install git, or name a folder as it is"
            raise BotError(whole, "needs git, which is not there", remedy=remedy)
        self._program = program
        folder = folder.resolve()
        # A folder that has been removed since may still be asked for.
        self._at = next(place for place in (folder, *folder.parents) if place.is_dir())
        found = self._run("rev-parse", "--show-toplevel")
        if found.returncode != 0:
            problem = f"is in no git repository ({_first_line(found.stderr)})"
            remedy = "name a folder that is in one, or leave the revision out"
            raise BotError(whole, problem, remedy=remedy)
        self._at = Path(os.fsdecode(found.stdout).removesuffix("\n"))
        path = folder.relative_to(self._at.resolve()).as_posix()
        self.path = "" if path == "." else path

    def commit(self, revision: str) -> str:
        """The id of the commit that a revision is; it has the folder."""
        # No option of git ends so, and what is not one commit is refused by --verify.
        commit = self.asked("rev-parse", "--verify", f"{revision}^{{commit}}")
        if not commit:
            remedy = "git log and git tag show which there are"
            raise BotError(self._whole, "there is no such revision", remedy=remedy)
        if self.asked("cat-file", "-t", f"{commit}:{self.path}") != "tree":
            problem = f"there was no such folder at {commit[:_SHORT_DIGITS]}"
            raise BotError(self._whole, problem, remedy="name a revision that has it")
        return commit

    def check_out(self, commit: str, *, into: Path) -> None:
        """Write the folder's files below `into`, by way of an index of our own there."""
        index = {"GIT_INDEX_FILE": str(into / "index")}
        self._told("read-tree", commit, also=index)
        files = self._told("ls-files", "-z", "--", self.path or ".", also=index)
        prefix = f"--prefix={into / _CHECKED_OUT}/"
        self._told("checkout-index", "-q", "-z", "--stdin", prefix, also=index, given=files)

    def changed(self) -> tuple[str, ...]:
        """The bot's files that are not as they were at the last commit."""
        return self._of_bot("diff", "--name-only", "-z", "--no-renames", "HEAD")

    def untracked(self) -> tuple[str, ...]:
        """The bot's files that git does not know, those that it is told to ignore included."""
        return self._of_bot("ls-files", "-z", "--others")

    def _of_bot(self, *words: str) -> tuple[str, ...]:
        found = self._run(*words, "--", self.path or ".").stdout
        start = f"{self.path}/" if self.path else ""
        paths = (path.removeprefix(start) for path in os.fsdecode(found).split("\0") if path)
        return tuple(path for path in paths if not is_left_out(path))

    def asked(self, *words: str) -> str:
        """The line that git answers; empty where it has none to give."""
        done = self._run(*words)
        return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""

    def _told(self, *words: str, also: Mapping[str, str], given: bytes = b"") -> bytes:
        """Have git do something. Raises BotError where it does not."""
        done = self._run(*words, also=also, given=given)
        if done.returncode != 0:
            problem = f"git {words[0]} failed ({_first_line(done.stderr)})"
            raise BotError(self._whole, problem, remedy="mend that, or name another revision")
        return done.stdout

    def _run(
        self, *words: str, also: Mapping[str, str] | None = None, given: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        # A hook of git that starts the arena has variables that would lead git elsewhere.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        # A folder's name is no pattern of git's, whatever is in it.
        own = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1"}
        return subprocess.run(
            [self._program, "-C", str(self._at), *words],
            env={**kept, **own, **(also or {})},
            input=given,
            capture_output=True,
            check=False,
        )


def _first_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return shortened(lines[0].removeprefix("fatal: ")) if lines else "it does not say why"


def _some(paths: Sequence[str]) -> str:
    more = len(paths) - _SHOWN_FILES
    return ", ".join(paths[:_SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
