"""``--sandbox``: a sandbox for as long as a command runs, or a line that says why there is none."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.cli.errors import Misuse
from arena.cli.places import temporary_folder
from arena.ladder.processes.sandbox import Sandbox, SandboxError, prepare
from arena.referee.bridge import MAX_SOCKET_PATH


@contextmanager
def confining(is_wanted: bool) -> Iterator[Sandbox | None]:
    """A sandbox that was tried, in a folder of its own; None where none is asked for.

    Raises Misuse where it does not work here: then nothing is played.
    """
    if not is_wanted:
        yield None
        return
    folder = temporary_folder()
    try:
        yield _prepared(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepared(folder: Path) -> Sandbox:
    try:
        sandbox = prepare(folder, python=sys.executable)
    except SandboxError as error:
        raise Misuse(f"--sandbox: {error}") from error
    length_bytes = len(os.fsencode(sandbox.listen.removeprefix("unix:")))
    if length_bytes > MAX_SOCKET_PATH:
        raise Misuse(
            f"--sandbox: the path of a socket in {tempfile.gettempdir()} is too long; set TMPDIR "
            "to a shorter one"
        )
    return sandbox
