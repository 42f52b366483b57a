"""`arena match` on a network, with real processes on both sides: bots that somebody else starts.

They are started as the page says, by a shell that reads the file with their ticket.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from hokm.records import load
from tests.arena.referee.certificates import OPENSSL, Authority, a_certificate, authority

if os.name != "posix":
    pytest.skip("the arena runs bots on POSIX systems", allow_module_level=True)

FIRST_LEGAL = """
from hokm import Bot, Card, View, run

class FirstLegal(Bot):
    version = "7.1"

    def play(self, view: View) -> Card:
        return view.playable[0]

run(FirstLegal)
"""

THINKS_FOR_EVER = """
import signal
from hokm import Bot, Card, View, run

class Thinking(Bot):
    def play(self, view: View) -> Card:
        print("playing", flush=True)
        signal.pause()
        return view.playable[0]

run(Thinking)
"""

TAKES_THE_FOLDER_ALONG = """
import os, shutil
from hokm import Bot, Card, View, run

class Vandal(Bot):
    def play(self, view: View) -> Card:
        shutil.rmtree(os.environ["FOLDER"])
        if os.environ["LEAVES"] == "a file":
            open(os.environ["FOLDER"], "w").close()
        os._exit(3)

run(Vandal)
"""

Process = subprocess.Popen[str]
Begin = Callable[..., Process]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a command line of the arena, or another command with `bot=`; ends all of them."""
    begun: list[Process] = []
    own = {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": str(tmp_path)}

    def begin(*words: object, bot: list[str] | None = None, **variables: str) -> Process:
        process = subprocess.Popen(
            bot or [sys.executable, "-m", "arena", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | own | variables,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def seats(process: Process, count: int) -> list[Path]:
    """The files that are told for so many seats."""
    files: list[Path] = []
    while len(files) < count:
        line = stderr_of(process).readline()
        assert line, "it ended before it told them"
        if line.startswith("remote:") and line.endswith(".env\n"):
            files.append(Path(line.rstrip().partition(": ")[2]))
    return files


def stderr_of(process: Process) -> IO[str]:
    assert process.stderr is not None
    return process.stderr


def come(begin: Begin, program: Path, seat: Path, **variables: str) -> Process:
    """Start a bot as its author would."""
    script = 'set -a; . "$1"; set +a; exec "$2" "$3"'
    words = ["sh", "-c", script, "sh", str(seat), sys.executable, str(program)]
    return begin(bot=words, **variables)


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    program = tmp_path / "bot.py"
    program.write_text(FIRST_LEGAL)
    return program


def variable(file: Path, name: str) -> str:
    lines = dict(line.split("=", 1) for line in file.read_text().splitlines())
    return lines[name]


def test_a_remote_bot_plays_a_match_over_mutual_tls_and_no_ticket_is_told(
    begin: Begin, bot: Path, tmp_path: Path
) -> None:
    arenas, bots = Authority(authority(), tmp_path), tmp_path / "bots"
    bots.mkdir()
    clients = Authority(authority("clients"), bots)
    (cert, key), (own, own_key) = arenas.issue("arena", "localhost"), clients.issue("m", "maryam")
    record, log = tmp_path / "match.json", tmp_path / "arena.log"
    process = begin(
        *("match", "remote:rostam", "random", "--players", 2, "--boards", 2, "--json"),
        *("--listen", "127.0.0.1:0", "--advertise", "localhost"),
        *("--tls-cert", cert, "--tls-key", key, "--client-ca", clients.roots),
        *("--tickets", tmp_path / "tickets", "--record", record, "--logs", tmp_path / "logs"),
        *("--log-file", log, "--log-format", "json", "--log-level", "debug"),
        GRPC_VERBOSITY="DEBUG",
    )
    files = seats(process, 2)
    tickets = [variable(file, "HOKM_TICKET") for file in files]
    identity = {"HOKM_TLS_CERT": str(own), "HOKM_TLS_KEY": str(own_key)}
    came = [come(begin, bot, file, GRPC_VERBOSITY="DEBUG", **identity) for file in files]
    out, err = process.communicate()
    assert process.returncode == 0, err
    said = [one.communicate() for one in came]
    assert [one.returncode for one in came] == [0, 0], said

    answer = json.loads(out)
    assert answer["endings"] == {"COMPLETED": 4}
    entrant = load(record).entrants[0]
    assert (entrant.name, entrant.owner, entrant.version) == ("rostam", "remote", "7.1")
    verified = begin("verify", record)
    verified.communicate()
    assert verified.returncode == 0

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    about = [line for line in lines if line["match"]]
    assert {line["match"] for line in about} == {answer["match"]}
    messages = [line["message"] for line in about]
    assert (messages[0], messages[-1]) == ("match began", "match ended")
    assert (about[-1]["complete"], about[-1]["ending"]) == (True, None)
    assert messages.count("game over") == 4
    assert messages.count("bot said hello") == 4
    assert {line["message"] for line in lines} > {"serving", "stream opened", "stream ended"}

    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    everything = b"\n".join([out.encode(), err.encode(), *written])
    everything += repr(said).encode()
    assert len(written) > 8
    assert b"match began" in everything
    assert not any(ticket.encode() in everything for ticket in tickets)


def test_a_bot_without_the_certificate_that_is_asked_for_does_not_take_its_seat(
    begin: Begin, bot: Path, tmp_path: Path
) -> None:
    arenas = Authority(authority(), tmp_path)
    cert, key = arenas.issue("arena", "localhost")
    process = begin(
        *("match", "remote:rostam", "random", "--players", 2, "--boards", 1, "--json"),
        *("--listen", "127.0.0.1:0", "--advertise", "localhost", "--hello-time", 2),
        *("--tls-cert", cert, "--tls-key", key, "--client-ca", arenas.roots),
    )
    one, two = (come(begin, bot, file) for file in seats(process, 2))
    out, err = process.communicate()
    assert process.returncode == 1
    assert json.loads(out)["spoilt"] == "NEVER_STARTED"
    assert "nobody came with the ticket in rostam-" in err
    assert "\nbot failed\n" not in err, "a line of the log, which nobody asked for"
    assert "Handshake failed" not in err, "gRPC's own words, for each who is turned away"
    for came in (one, two):
        came.kill()


def test_a_bot_comes_in_with_the_certificate_that_the_page_makes(
    begin: Begin, bot: Path, tmp_path: Path
) -> None:
    cert, key = a_certificate(OPENSSL, tmp_path)
    process = begin(
        *("match", "remote:rostam", "random", "--players", 2, "--boards", 1, "--json"),
        *("--listen", "127.0.0.1:0", "--advertise", "localhost"),
        *("--tls-cert", cert, "--tls-key", key),
    )
    came = [come(begin, bot, file) for file in seats(process, 2)]
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["endings"] == {"COMPLETED": 2}
    for one in came:
        one.communicate()
    assert [one.wait() for one in came] == [0, 0]


def test_health_says_when_no_more_matches_are_accepted_while_games_go_on(
    begin: Begin, tmp_path: Path
) -> None:
    program, log = tmp_path / "bot.py", tmp_path / "arena.log"
    program.write_text(THINKS_FOR_EVER)
    process = begin(
        *("match", "remote:a", "remote:b", "--players", 2, "--boards", 1, "--bank", 3000),
        *("--log-file", log, "--log-format", "json"),
        *("--listen", "127.0.0.1:0", "--concurrency", 1, "--json"),
    )
    files = seats(process, 2)
    address = variable(files[0], "HOKM_ADDRESS")
    came = [come(begin, program, file) for file in files]
    # One of the two has been asked for a card once the other has named trump: it hangs there.
    playing = next_line_of_any(came)
    assert playing == "playing\n"
    assert health(address) == health_pb2.HealthCheckResponse.SERVING
    process.send_signal(signal.SIGTERM)
    stopping = "stopping: the games under way have 60 s"
    assert any(line.startswith(stopping) for line in stderr_of(process))
    while health(address) == health_pb2.HealthCheckResponse.SERVING:
        pass
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    assert err.endswith("stopping at once\n")
    assert process.returncode == 1
    assert json.loads(out)["endings"] == {"STOPPED": 2}
    said = [json.loads(line) for line in log.read_text().splitlines()]
    [stopping_] = [line for line in said if line["message"] == "stopping"]
    assert (stopping_["signal"], stopping_["drain_seconds"]) == ("SIGTERM", 60.0)
    [ended] = [line for line in said if line["message"] == "match ended"]
    assert (ended["complete"], ended["ending"]) == (False, "STOPPED")


def health(address: str) -> int:
    with grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return int(stub.Check(health_pb2.HealthCheckRequest(), timeout=10).status)


def next_line_of_any(processes: list[Process]) -> str:
    streams = [one.stdout for one in processes if one.stdout is not None]
    ready, _, _ = select.select(streams, [], [], 60)
    assert ready, "nobody plays"
    return str(ready[0].readline())


@pytest.mark.parametrize(
    ("leaves", "endings"),
    [("nothing", {"COMPLETED": 3, "CRASH": 1}), ("a file", {"COMPLETED": 2, "CRASH": 2})],
)
def test_a_folder_of_tickets_that_is_lost_ends_no_match(
    begin: Begin, bot: Path, tmp_path: Path, leaves: str, endings: dict[str, int]
) -> None:
    vandal, folder, record = tmp_path / "vandal.py", tmp_path / "tickets", tmp_path / "match.json"
    vandal.write_text(TAKES_THE_FOLDER_ALONG)
    process = begin(
        *("match", "remote:rostam", "random", "--players", 2, "--boards", 2, "--json"),
        *("--listen", "127.0.0.1:0", "--tickets", folder, "--record", record, "--resume", 0),
    )
    in_room = {("-room2-" in file.name): file for file in seats(process, 2)}
    come(begin, bot, in_room[True])
    assert stderr_of(process).readline().endswith(": is here\n")
    come(begin, vandal, in_room[False], FOLDER=str(folder), LEAVES=leaves)
    assert stderr_of(process).readline().endswith(": is here\n")
    if leaves == "nothing":
        come(begin, bot, *seats(process, 1))
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["endings"] == endings
    assert len(load(record).rooms) == 2
    assert (f"its ticket cannot be written: {folder}: File exists" in err) == (leaves == "a file")


def test_who_is_not_there_is_not_waited_for_when_the_match_is_stopped(
    begin: Begin, bot: Path
) -> None:
    process = begin(
        *("match", "remote:a", "random", "--players", 2, "--boards", 1, "--json"),
        *("--listen", "127.0.0.1:0", "--hello-time", 3000),
    )
    one, _ = seats(process, 2)
    came = come(begin, bot, one)
    assert stderr_of(process).readline().endswith(": is here\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert json.loads(out)["endings"]["STOPPED"] >= 1
    assert process.returncode == 1
    assert "NEVER_STARTED" not in out + err
    came.communicate()
