"""The sandbox where it works on this machine; where not, one test is skipped and says why."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.ladder.processes.sandbox import Sandbox, SandboxError, prepare


@pytest.fixture(scope="session")
def tried_sandbox() -> Iterator[Sandbox | SandboxError]:
    """In a folder of its own, since that of a test is too long for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="hokm-"))
    found: Sandbox | SandboxError
    try:
        found = prepare(folder, python=sys.executable)
    except SandboxError as error:
        found = error
    yield found
    shutil.rmtree(folder)


@pytest.fixture
def sandbox(tried_sandbox: Sandbox | SandboxError) -> Sandbox | None:
    """None where it does not work: then the zoo is seen without."""
    return None if isinstance(tried_sandbox, SandboxError) else tried_sandbox
