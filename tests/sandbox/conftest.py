"""A sandbox that works here, or the reason why these tests are skipped."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.processes.sandbox import Sandbox, SandboxError, prepare


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured, whichever process has run it."""
    for report in terminalreporter.stats.get("passed", []):
        for name, text in report.user_properties:
            terminalreporter.write_line(f"{name}:\n{text}")


@pytest.fixture(scope="session")
def made_sandbox() -> Iterator[Sandbox]:
    """In a folder of its own, since that of a test is too long for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="hokm-"))
    try:
        yield prepare(folder, python=sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=["as it is", "as an ordinary user's"])
def sandbox(made_sandbox: Sandbox, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Where the tests are run by root, both that of root and the one that others get."""
    if request.param != "as it is" and os.geteuid() != 0:
        pytest.skip("an ordinary user's is the first")
    socket = made_sandbox.folder / "referee.sock"
    socket.touch()  # these tests have no referee
    yield made_sandbox if request.param == "as it is" else replace(made_sandbox, is_root=False)
    socket.unlink()
