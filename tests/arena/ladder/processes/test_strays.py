"""What a killed arena left is found and ended; what only looks like it is left alone."""

import errno
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.ladder.processes import strays
from arena.ladder.processes.strays import birth_of, note, sweep

TICKET = "fedcba9876543210" * 4

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start shell scripts that lead a group and hold their standard output till they end."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        script: str, *, ticket: str = TICKET, program: tuple[str, ...] = ("sh", "-c")
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            (*program, script),
            env={"PATH": os.environ["PATH"], "HOKM_TICKET": ticket},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # To the end of its output: what still dies of its group would be found by the next test.
        process.communicate(timeout=60)


def orphan(file: Path, **changed: object) -> None:
    """Make a note say that the arena which wrote it is no more."""
    stray = json.loads(file.read_text())
    file.write_text(json.dumps(stray | {"owner_birth": "long ago"} | changed))


def output_to_the_end(process: subprocess.Popen[bytes]) -> bytes:
    """Return what is left of the output; it ends when no process holds it."""
    assert process.stdout is not None
    return process.stdout.read()


def is_at_its_end(process: subprocess.Popen[bytes]) -> bool:
    """Whether no process holds the output any more."""
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], 0.05)[0])


def sweep_all(folder: Path, *, ticket: str) -> None:
    """End what a test has left on purpose."""
    orphan(note(folder, ticket=ticket))
    sweep(folder)


def is_alive(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None


def test_a_group_whose_arena_is_no_more_is_killed_whole(tmp_path: Path, start: Start) -> None:
    process = start("sleep 1000 & sleep 1000")
    orphan(note(tmp_path, ticket=TICKET, pid=process.pid))
    (swept,) = sweep(tmp_path)
    assert swept.pid == process.pid
    assert output_to_the_end(process) == b""
    assert process.wait() == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_the_groups_of_an_arena_that_runs_are_left_alone(tmp_path: Path, start: Start) -> None:
    process = start("sleep 1000")
    file = note(tmp_path, ticket=TICKET, pid=process.pid)
    assert sweep(tmp_path) == []
    assert is_alive(process)
    assert list(tmp_path.iterdir()) == [file]


def test_an_id_that_another_process_has_now_is_not_killed(tmp_path: Path, start: Start) -> None:
    process = start("sleep 1000", ticket="another")
    orphan(note(tmp_path, ticket=TICKET, pid=process.pid), birth="before")
    assert sweep(tmp_path) == []
    assert is_alive(process)
    assert list(tmp_path.iterdir()) == []


# The leader says that its child is there and is then gone, reaped, while the child lives on.
LEADER_GONE = "(echo; exec sleep 1000) & exit"


needs_environments = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="no environment in /proc here"
)


@needs_environments
@pytest.mark.parametrize("ticket", [TICKET, "another"])
def test_children_without_a_leader_are_known_by_their_ticket(
    tmp_path: Path, start: Start, ticket: str
) -> None:
    process = start(LEADER_GONE, ticket=ticket)
    orphan(note(tmp_path, ticket=TICKET, pid=process.pid))
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    process.wait()
    swept = sweep(tmp_path)
    if ticket == TICKET:
        assert [stray.pid for stray in swept] == [process.pid]
        assert output_to_the_end(process) == b""
    else:
        assert swept == []
        os.killpg(process.pid, 0)  # raises if the group has gone
    assert list(tmp_path.iterdir()) == []


# Said by the last of them to come; all of them hold the output.
FAR = {
    "in a session of its own": "setsid sh -c 'echo; exec sleep 1000' & exit",
    "with a child that has cleared its environment": (
        "setsid sh -c 'setsid env -i sh -c \"echo; exec /bin/sleep 1000\" & wait' & exit"
    ),
}


@needs_environments
@pytest.mark.parametrize("ticket", [TICKET, "another"])
@pytest.mark.parametrize("where", FAR)
def test_those_who_left_the_group_are_known_by_their_ticket_and_their_children_by_them(
    tmp_path: Path, start: Start, where: str, ticket: str
) -> None:
    process = start(FAR[where], ticket=ticket)
    orphan(note(tmp_path, ticket=TICKET, pid=process.pid))
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    process.wait()
    swept = sweep(tmp_path)
    if ticket == TICKET:
        assert [stray.pid for stray in swept] == [process.pid]
        assert output_to_the_end(process) == b""
    else:
        assert swept == []
        assert not is_at_its_end(process)
        sweep_all(tmp_path, ticket=ticket)
        assert output_to_the_end(process) == b""


@needs_environments
def test_a_kill_between_the_first_note_and_the_start_of_the_bot_is_swept_too(
    tmp_path: Path, start: Start
) -> None:
    orphan(note(tmp_path, ticket=TICKET))
    process = start("sleep 1000")
    while not Path(f"/proc/{process.pid}/environ").read_bytes():
        pass  # Popen returns a moment before the new program has its environment
    assert [stray.pid for stray in sweep(tmp_path)] == [None]
    assert process.wait() == -signal.SIGKILL


def test_a_note_that_was_being_written_goes_with_its_arena(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    mine = tmp_path / f"0123456789abcdef.{os.getpid()}.draft"
    for file in (mine, tmp_path / f"0123456789abcdef.{ended.pid}.draft"):
        file.write_text("{")
    assert sweep(tmp_path) == []
    assert list(tmp_path.iterdir()) == [mine]


def test_a_note_that_cannot_be_written_is_named_and_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: Path, *_: object, **__: object) -> None:
        file.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left") as caught:
        note(tmp_path, ticket=TICKET)
    assert str(caught.value.filename).startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_group_that_has_gone_leaves_only_a_note_to_remove(tmp_path: Path, start: Start) -> None:
    process = start("exit")
    orphan(note(tmp_path, ticket=TICKET, pid=process.pid))
    process.wait()
    assert sweep(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": 1}'])
def test_what_is_no_note_kills_nothing_and_is_removed(tmp_path: Path, text: str) -> None:
    (tmp_path / "1.json").write_text(text)
    assert sweep(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_has_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep(tmp_path / "none") == []


def test_a_note_does_not_give_the_ticket_away(tmp_path: Path) -> None:
    file = note(tmp_path, ticket=TICKET, pid=os.getpid())
    assert TICKET not in file.read_text()


def test_a_process_has_one_birth_which_is_not_that_of_another(start: Start) -> None:
    assert birth_of(os.getpid()) == birth_of(os.getpid()) != birth_of(1)
    process = start("exit")
    born = birth_of(process.pid)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert birth_of(process.pid) == born is not None  # ended, not reaped
    process.wait()
    assert birth_of(process.pid) is None


def test_a_program_s_name_cannot_forge_its_birth(tmp_path: Path, start: Start) -> None:
    fake = tmp_path / "x) S 1 1 1"  # as a reader sees it who takes the first ) for the name's end
    fake.symlink_to("/bin/sleep")
    started = [start("sleep 1000"), start("1000", program=(str(fake),)), start("sleep 1000")]
    births = [birth_of(process.pid) for process in started]
    ticks = [int(str(birth).split()[1]) for birth in births]
    assert ticks == sorted(ticks)
    assert ticks[0] > 0


def test_where_there_is_no_proc_ps_tells_the_birth(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(strays, "_PROC", tmp_path)
    process = start("sleep 1000")
    born = birth_of(process.pid)
    assert born == birth_of(process.pid)
    assert born is not None
    assert len(born.split()) == 5  # such as Mon Nov 30 02:34:56 2026
    process.kill()
    process.wait()
    assert birth_of(process.pid) is None
