"""``--sandbox``: a sandbox for as long as a command runs, or a line that says why there is none.

A ladder's bots are confined unless its operator says ``--no-sandbox``; elsewhere one asks for it.
"""

import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from arena.cli.errors import Misuse
from arena.cli.places import temporary_folder
from arena.ladder.processes.sandbox import Sandbox, SandboxError, prepare, refuse_shown
from arena.referee.bridge import MAX_SOCKET_PATH


@contextmanager
def confining(
    is_wanted: bool, *, is_ladder: bool = False, unseen: Sequence[Path] = ()
) -> Iterator[Sandbox | None]:
    """A sandbox that was tried, in a folder of its own; None where none is wanted. What is `unseen`
    no bot may see.

    Raises Misuse where it does not work here: then nothing is played, and nothing built.
    """
    if not is_wanted:
        yield None
        return
    folder = temporary_folder()
    try:
        try:
            refuse_shown(unseen)
            sandbox = _prepared(folder)
        except SandboxError as error:
            if not is_ladder:
                raise Misuse(f"--sandbox: {error}") from error
            raise Misuse(
                f"a ladder's bots are confined, but {error}; --no-sandbox runs them without it, "
                "as you"
            ) from error
        yield sandbox
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def for_builds(
    is_wanted: bool, *, is_ladder: bool = False, unseen: Sequence[Path] = ()
) -> Callable[[], AbstractContextManager[Sandbox | None]] | None:
    """What makes the sandbox of a build, for `environments`: builds are confined where bots are."""
    if not is_wanted:
        return None
    return functools.partial(confining, True, is_ladder=is_ladder, unseen=unseen)


def _prepared(folder: Path) -> Sandbox:
    sandbox = prepare(folder, python=sys.executable)
    length_bytes = len(os.fsencode(sandbox.listen.removeprefix("unix:")))
    if length_bytes > MAX_SOCKET_PATH:
        raise SandboxError(
            f"the path of a socket in {tempfile.gettempdir()} is too long; set TMPDIR to a "
            "shorter one"
        )
    return sandbox
