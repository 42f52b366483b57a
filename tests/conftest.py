"""What all tests share: repeatable property tests, and a check that no test leaves a process."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

# No deadline: time is virtual here and a slow machine is not a failure. CI draws the same examples
# each time, so that a red build is about the change in it; elsewhere a failure prints the blob that
# reproduces it.
hypothesis.settings.register_profile(
    "hokm", deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI"))
)
hypothesis.settings.load_profile("hokm")


def _children() -> set[int]:
    """Ids of this process's children, zombies included; empty where the system does not say."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for path in lists for pid in _text_of(path).split()}


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the thread ended between the listing and the reading
        return ""


@pytest.fixture(autouse=True)
def _no_process_left_behind() -> Iterator[None]:
    before = _children()
    yield
    left = _children() - before
    assert not left, f"the test left child processes behind: {sorted(left)}"


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Have a skip from within trio say why: pytest-trio passes it on without its reason."""
    try:
        return (yield)
    except pytest.skip.Exception as skipped:
        within = skipped.__context__
        while isinstance(within, BaseExceptionGroup):
            within = within.exceptions[0]
        raise (within if isinstance(within, pytest.skip.Exception) else skipped) from None


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(report: pytest.TestReport) -> None:
    """End the run at a worker that crashed: xdist would hand its files on, those that were done as
    well, to workers that then wait for ever.
    """
    pytest.exit(f"{report.longrepr}; its stacks are above", returncode=pytest.ExitCode.TESTS_FAILED)
