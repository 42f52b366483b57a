"""Every test that the page of the sandbox names is there, and none of its probes is left out."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")


def names_in(*names: str) -> set[str]:
    sources = [(ROOT / "tests/sandbox" / name).read_text(encoding="utf-8") for name in names]
    return set(re.findall(r"^(?:async )?def (test_\w+)\(", "".join(sources), re.M))


def test_every_probe_of_the_page_is_a_test() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) >= 25
    assert named <= names_in("test_probes.py", "test_builds.py", "test_matches.py")


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    from arena.ladder.bots import environments
    from arena.ladder.processes import sandbox

    limits = PAGE[PAGE.index("## Limits") : PAGE.index("## What is not")]
    for number in (
        f"{sandbox.DEFAULT_MEMORY_MIB} MiB",
        f"{sandbox.MOST_MEMORY_MIB} MiB",
        f"{sandbox.FILE_MIB} MiB each",
        f"else {sandbox.DEFAULT_PROCESSES} | {sandbox.MOST_PROCESSES} |",
        f"{sandbox.OPEN_FILES} |",
        f"{environments.BUILD_MIB // 1024} GiB and {environments.BUILD_FILES:,} files",
        f"the last {environments.LEAST_FREE_MIB} MiB",
        f"1 GiB, {sandbox.BUILD_OPEN_FILES}",
    ):
        assert number in limits, number
