"""The notes of running bots, of which a folder may hold anything by the time they are read: nothing
is killed on the strength of what is no note.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.ladder.processes import strays
from arena.ladder.processes.strays import sweep
from tests.fuzz.mutations import VALUES, examples, mangled

NOTE: dict[str, Any] = {
    "pid": 2**31 - 2,
    "birth": "a boot 1",
    "fingerprint": "0" * 64,
    "owner_pid": 2**31 - 3,
    "owner_birth": "a boot 1",
}
NUMBERS = st.sampled_from([-1, 0, 1, os.getpid(), 2**31, 2**63, 10**30, True, "self", "1/../self"])


@pytest.fixture(autouse=True)
def killed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Whom it would have killed."""
    killed: list[tuple[int, int]] = []
    for kill in ("kill", "killpg"):
        monkeypatch.setattr(os, kill, lambda pid, how: killed.append((pid, how)))
    monkeypatch.setattr(strays, "_processes", lambda: iter(()))
    return killed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("running")


def changed(note: dict[str, Any], key: str, value: object) -> bytes:
    return json.dumps({**note, key: value}).encode()


@examples(200)
@given(
    st.one_of(
        st.builds(changed, st.just(NOTE), st.sampled_from([*NOTE, "more"]), NUMBERS | VALUES),
        mangled(st.just(json.dumps(NOTE).encode())),
        VALUES.map(json.dumps).map(str.encode),
        st.binary(max_size=40),
    )
)
@example(b"[" * 3000)
@example(b"{" + b" " * 100_000 + b"}")
@example(json.dumps({**NOTE, "pid": os.getpid(), "birth": None}).encode())
@example(json.dumps({**NOTE, "owner_pid": "\0"}).encode())
@example(json.dumps({**NOTE, "pid": 0, "birth": None}).encode())
def test_any_note_is_one_or_is_removed(folder: Path, data: bytes) -> None:
    file = folder / "1.json"
    file.write_bytes(data)
    assert sweep(folder) == []
    assert not file.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "1.json"
    match kind:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to("1.json")
    assert sweep(tmp_path) == []
