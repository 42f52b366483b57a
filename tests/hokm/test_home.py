"""A bot that stays at home, as a process of its own, against a ladder of a few lines.

What it starts for its seats is the same program: with a ticket it notes what it was started with,
and does as its test says.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

import grpc
import pytest

from hokm import Bot, Card, View, home
from hokm.seats import (
    FromHome,
    HomeAlive,
    HomeAnswer,
    HomeAnswerKind,
    HomeDraining,
    HomeHello,
    HomeWelcome,
    Partners,
    SeatOffer,
    SeatOver,
    TableWish,
    ToHome,
)
from hokm.wire import TOKEN_METADATA, decode_from_home, encode_to_home

GUARD_SECONDS: Final = 60.0
TOKEN: Final = "hokm_" + "s" * 43
WELCOME: Final = HomeWelcome(1, "arena of a test", "rostam")
TAKEN, REFUSED, FINISHED = HomeAnswerKind.TAKEN, HomeAnswerKind.REFUSED, HomeAnswerKind.FINISHED

PROGRAM = """
import json, os, sys, time
from pathlib import Path
from hokm import Bot, run, home

class Rostam(Bot):
    name = "rostam"
    version = "1.5"
    def play(self, view):
        return view.playable[0]

for constant in ("FIRST_RETRY_SECONDS", "NOT_NOW_SECONDS", "LONGEST_RETRY_SECONDS"):
    setattr(home, constant, 0.05)
home.FAREWELL_SECONDS = 0.5
if ticket := os.environ.get("HOKM_TICKET"):
    if not ticket.startswith("plain"):
        home.end_with_home()
    said = {name: text for name, text in os.environ.items() if name.startswith("HOKM_")}
    said |= {"pid": os.getpid(), "argv": sys.argv[1:], "group": os.getpgid(0)}
    part = Path(ticket + ".part")
    part.write_text(json.dumps(said))
    part.rename(ticket)
    if "waits" in ticket:
        time.sleep(60)
    sys.exit(7 if "fails" in ticket else 0)
run(Rostam, **json.loads(sys.argv[1]))
"""


class Conversation:
    """One call of a home, as the ladder sees it."""

    def __init__(self, method: str, token: str | None, requests: Iterator[bytes]) -> None:
        self.method = method
        self.token = token
        self._requests = requests
        self.outgoing: queue.Queue[ToHome | tuple[grpc.StatusCode, str] | None] = queue.Queue()

    def hear(self) -> FromHome | None:
        """What it says next but for being alive; None once the call is over."""
        try:
            for data in self._requests:
                if not isinstance(message := decode_from_home(data), HomeAlive):
                    return message
        except grpc.RpcError:
            pass
        return None

    def hello(self) -> HomeHello:
        hello = self.hear()
        assert isinstance(hello, HomeHello)
        return hello

    def welcomed(self) -> "Conversation":
        self.hello()
        self.say(WELCOME)
        return self

    def say(self, message: ToHome) -> None:
        self.outgoing.put(message)

    def offer(self, number: int, ticket: str) -> None:
        self.say(SeatOffer(number, ticket, 10.0))
        assert self.hear() == HomeAnswer(number, TAKEN)

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, details: str = "") -> None:
        self.outgoing.put((code, details))


class Ladder(grpc.GenericRpcHandler):
    """A ladder that keeps its calls for a test to take."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._calls: queue.Queue[Conversation] = queue.Queue()
        self._open: list[Conversation] = []
        self._server = grpc.server(pool, handlers=[self], options=[("grpc.so_reuseport", 0)])
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        metadata = {key: str(value) for key, value in details.invocation_metadata}
        method = details.method.rpartition("/")[2]

        def talk(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
            call = Conversation(method, metadata.get(TOKEN_METADATA), requests)
            context.add_callback(lambda: call.outgoing.put(None))
            self._open.append(call)
            self._calls.put(call)
            while not isinstance(message := call.outgoing.get(), tuple):
                if message is None:
                    return
                yield encode_to_home(message)
            code, text = message
            if code is not grpc.StatusCode.OK:
                context.abort(code, text)

        return grpc.stream_stream_rpc_method_handler(talk)

    def call(self) -> Conversation:
        return self._calls.get(timeout=GUARD_SECONDS)

    def has_no_call(self) -> bool:
        return self._calls.empty()

    def stop(self) -> None:
        for call in self._open:
            call.end()
        self._server.stop(0).wait()


@pytest.fixture
def ladder() -> Iterator[Ladder]:
    with ThreadPoolExecutor(8) as pool:
        made = Ladder(pool)
        yield made
        made.stop()


Process = subprocess.Popen[str]
Begin = Callable[..., Process]


@pytest.fixture
def begin(ladder: Ladder, tmp_path: Path) -> Iterator[Begin]:
    """Starts the program of a bot with these arguments of `run`; ends it, and what it started."""
    begun: list[Process] = []
    program = tmp_path / "rostam.py"
    program.write_text(PROGRAM)

    def begin(**arguments: object) -> Process:
        asked = {"server": f"127.0.0.1:{ladder.port}"} | arguments
        process = subprocess.Popen(
            [sys.executable, program.name, json.dumps(asked), "an argument"],
            cwd=tmp_path,
            env=os.environ | {"HOKM_ARENA_TOKEN": TOKEN},
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()
    for note in tmp_path.iterdir():
        if note.suffix != ".py":
            with suppress(ValueError, ProcessLookupError):
                os.kill(json.loads(note.read_text())["pid"], signal.SIGKILL)


def ended(process: Process) -> tuple[int, list[str]]:
    """Its exit status and its lines."""
    _, said = process.communicate(timeout=GUARD_SECONDS)
    return process.returncode, said.splitlines()


def note_of(seat: Path) -> dict[str, object]:
    until = time.monotonic() + GUARD_SECONDS
    while not seat.exists():
        assert time.monotonic() < until, "its process did not start"
        time.sleep(0.01)
    note: dict[str, object] = json.loads(seat.read_text())
    return note


def is_gone(pid: object) -> bool:
    until = time.monotonic() + GUARD_SECONDS
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_it_says_who_it_is_and_starts_itself_for_each_seat(
    ladder: Ladder, begin: Begin, tmp_path: Path
) -> None:
    process = begin(seats=2)
    call = ladder.call()
    assert (call.method, call.token) == ("OfferSeats", TOKEN)
    hello = call.hello()
    assert (hello.name, hello.version, hello.seats, hello.playing) == ("rostam", "1.5", 2, ())
    assert hello.table is None
    call.say(WELCOME)
    call.offer(11, "first")
    call.offer(12, "second")
    assert {call.hear(), call.hear()} == {HomeAnswer(11, FINISHED), HomeAnswer(12, FINISHED)}
    note = note_of(tmp_path / "first")
    assert note["HOKM_ADDRESS"] == f"127.0.0.1:{ladder.port}"
    assert note["HOKM_TICKET"] == "first"
    assert note["argv"] == [process.args[2], "an argument"]  # type: ignore[index]
    assert note["group"] == note["pid"] != os.getpgid(process.pid)
    assert "HOKM_ARENA_TOKEN" not in note
    assert "HOKM_TLS_CA" not in note
    process.send_signal(signal.SIGINT)
    assert call.hear() == HomeDraining()
    call.end()
    status, lines = ended(process)
    assert status == 0
    where = f"127.0.0.1:{ladder.port}"
    assert lines == [
        f"hokm: rostam 1.5 at {where}: there for rated matches, with 2 seats; Ctrl-C stops",
        "hokm: taking part in no more; nothing under way",
    ]


def test_the_first_ctrl_c_lets_what_is_played_be_finished(
    ladder: Ladder, begin: Begin, tmp_path: Path
) -> None:
    process = begin()
    call = ladder.call().welcomed()
    call.offer(1, "waits")
    pid = note_of(tmp_path / "waits")["pid"]
    process.send_signal(signal.SIGINT)
    assert call.hear() == HomeDraining()
    call.offer(2, "another room of the same match")
    assert call.hear() == HomeAnswer(2, FINISHED)
    assert process.poll() is None
    assert isinstance(pid, int)
    os.kill(pid, signal.SIGTERM)
    assert call.hear() == HomeAnswer(1, FINISHED)
    assert process.poll() is None, "another seat may come until the ladder ends it"
    call.end()
    status, lines = ended(process)
    assert status == 0
    assert lines[1:] == [
        "hokm: taking part in no more; 1 under way, played to the end: again ends it at once",
        "hokm: the process of a seat ended with signal 15",
    ]


def test_the_second_ctrl_c_ends_it_at_once(ladder: Ladder, begin: Begin, tmp_path: Path) -> None:
    process = begin()
    call = ladder.call().welcomed()
    call.offer(1, "waits")
    pid = note_of(tmp_path / "waits")["pid"]
    process.send_signal(signal.SIGINT)
    assert call.hear() == HomeDraining()
    process.send_signal(signal.SIGINT)
    status, lines = ended(process)
    assert (status, lines[-1]) == (130, "hokm: ended")
    assert is_gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they hear of it on standard input")
def test_nothing_is_left_of_a_home_that_is_killed(
    ladder: Ladder, begin: Begin, tmp_path: Path
) -> None:
    process = begin()
    call = ladder.call().welcomed()
    call.offer(1, "waits")
    pid = note_of(tmp_path / "waits")["pid"]
    process.kill()
    assert is_gone(pid)


def test_a_process_may_end_with_its_standard_input(tmp_path: Path) -> None:
    program = "import hokm.home, time; print(1, flush=True); hokm.home._end_with_stdin()"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    assert process.poll() is None
    process.communicate(timeout=GUARD_SECONDS)
    assert process.returncode == 1


def test_it_comes_back_for_ever_and_says_so_once(
    ladder: Ladder, begin: Begin, tmp_path: Path
) -> None:
    process = begin()
    call = ladder.call().welcomed()
    call.offer(5, "waits")
    call.end(grpc.StatusCode.UNAVAILABLE, "the arena is going away")
    for _ in range(3):
        ladder.call().end(grpc.StatusCode.UNAVAILABLE, "not yet")
    again = ladder.call()
    assert again.hello().playing == (5,)
    again.say(WELCOME)
    where = f"127.0.0.1:{ladder.port}"
    lost = "UNAVAILABLE: the arena is going away; trying on, as long as it takes"
    assert process.stderr is not None
    said = [process.stderr.readline() for _ in range(3)][1:]
    assert said == [
        f"hokm: {where} is not reached: {lost}\n",
        f"hokm: back as rostam 1.5 at {where}\n",
    ]
    process.send_signal(signal.SIGTERM)
    assert again.hear() == HomeDraining()
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 130


def test_a_ladder_that_is_not_there_yet_is_waited_for(begin: Begin) -> None:
    process = begin(server="127.0.0.1:1")
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("hokm: 127.0.0.1:1 is not reached: UNAVAILABLE")
    process.send_signal(signal.SIGINT)
    assert ended(process) == (0, ["hokm: taking part in no more; nothing under way"])


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.ALREADY_EXISTS,
    ],
)
def test_who_is_turned_away_stops_with_the_ladders_words(
    ladder: Ladder, begin: Begin, code: grpc.StatusCode
) -> None:
    process = begin()
    ladder.call().end(code, "this token is not known here; ask for another")
    assert ended(process) == (1, ["hokm: this token is not known here; ask for another"])
    assert ladder.has_no_call()


def test_who_is_turned_away_finishes_what_is_played(
    ladder: Ladder, begin: Begin, tmp_path: Path
) -> None:
    process = begin()
    call = ladder.call().welcomed()
    call.offer(1, "waits")
    pid = note_of(tmp_path / "waits")["pid"]
    call.end(grpc.StatusCode.ALREADY_EXISTS, "another process has taken its place")
    time.sleep(0.3)
    assert process.poll() is None
    assert isinstance(pid, int)
    os.kill(pid, signal.SIGTERM)
    status, lines = ended(process)
    assert status == 1
    assert lines[1] == "hokm: another process has taken its place"


def test_a_seat_that_is_over_is_cleared(ladder: Ladder, begin: Begin, tmp_path: Path) -> None:
    begin()
    call = ladder.call().welcomed()
    call.offer(1, "waits")
    pid = note_of(tmp_path / "waits")["pid"]
    call.say(SeatOver(1))
    assert call.hear() == HomeAnswer(1, FINISHED)
    assert is_gone(pid)


def test_more_than_was_offered_is_refused(ladder: Ladder, begin: Begin, tmp_path: Path) -> None:
    begin(seats=1)
    call = ladder.call().welcomed()
    call.offer(1, "waits one")
    call.offer(2, "waits two")  # the first may be about to end
    call.say(SeatOffer(3, "waits three", 10.0))
    assert call.hear() == HomeAnswer(3, REFUSED)


def test_at_casual_tables_it_sits_down_again_and_again(
    ladder: Ladder, begin: Begin, tmp_path: Path
) -> None:
    process = begin(casual=True, players=4, partners="second_ace", games=2, token="")
    for number in (1, 2):
        call = ladder.call()
        assert (call.method, call.token) == ("SitDown", None)
        hello = call.hello()
        assert (hello.seats, hello.table) == (1, TableWish(4, Partners.SECOND_ACE))
        call.say(WELCOME)
        call.offer(number, f"game{number}")
        assert call.hear() == HomeAnswer(number, FINISHED)
        call.end()
    status, lines = ended(process)
    assert status == 0
    assert lines == [
        f"hokm: rostam 1.5 at 127.0.0.1:{ladder.port}: a casual table is asked for; Ctrl-C stops"
    ]


def test_who_waits_for_a_table_leaves_at_once(ladder: Ladder, begin: Begin) -> None:
    process = begin(casual=True)
    call = ladder.call().welcomed()
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 0
    assert call.hear() is None


def test_no_token_is_in_what_it_says(ladder: Ladder, begin: Begin) -> None:
    process = begin()
    ladder.call().end(grpc.StatusCode.UNAUTHENTICATED, "no")
    assert TOKEN not in "\n".join(ended(process)[1])


# -- what may be asked for


class Lowest(Bot):
    def play(self, view: View) -> Card:
        return view.playable[0]


def asked(**arguments: object) -> home.Stay:
    every: dict[str, object] = {
        "server": "ladder.example:7117",
        "token": TOKEN,
        "seats": 4,
        "casual": False,
        "players": 4,
        "partners": "fixed",
        "games": None,
        "insecure": False,
    }
    return home.checked(**(every | arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"server": "ladder.example"}, "say HOST:PORT"),
        ({"server": "a\nb:7117"}, "say HOST:PORT"),
        ({"token": ""}, "HOKM_ARENA_TOKEN"),
        ({"token": "hokm_\n"}, "copy it whole"),
        ({"seats": 0}, "1 to 64"),
        ({"seats": 65}, "1 to 64"),
        ({"games": 3}, "casual games"),
        ({"casual": True, "games": 0}, "casual games"),
        ({"casual": True, "players": 5}, "2, 3 or 4"),
        ({"casual": True, "partners": "any"}, "'fixed' or 'second_ace'"),
        ({"casual": True, "partners": "second_ace", "players": 3}, "where four play"),
    ],
)
def test_what_cannot_be_is_a_usage_error(
    arguments: dict[str, object],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOKM_ARENA_TOKEN", raising=False)
    with pytest.raises(SystemExit) as end:
        asked(**arguments)
    assert end.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("server", "insecure", "is_secure"),
    [
        ("ladder.example:7117", False, True),
        ("ladder.example:7117", True, False),
        ("localhost:7117", False, False),
        ("127.8.0.1:7117", False, False),
        ("[::1]:7117", False, False),
        ("10.0.0.1:7117", False, True),
        ("[2001:db8::1]:7117", False, True),
    ],
)
def test_tls_is_spoken_with_all_but_this_machine(
    server: str, insecure: bool, is_secure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOKM_TLS_CA", raising=False)
    assert asked(server=server, insecure=insecure).is_secure is is_secure


def test_who_names_certificates_speaks_tls_with_this_machine_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOKM_TLS_CA", "/some/ca.pem")
    assert asked(server="localhost:7117").is_secure
    with pytest.raises(SystemExit):
        asked(server="localhost:7117", insecure=True)


def test_the_systems_certificates_are_a_file_with_certificates() -> None:
    assert b"-----BEGIN CERTIFICATE-----" in home._system_roots().read_bytes()
