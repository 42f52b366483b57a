"""A bot's home: the process on its author's machine that says to a ladder that the bot is there.

It connects out, hears of seats, and starts for each of them the program that it is itself, with a
ticket in its environment: that process plays as any bot does (:mod:`hokm.client`). Here are the
waiting, the coming back, and the end of it all: a Ctrl-C lets what is played be finished, another
one ends it, and no process is left behind. It knows no cards and no games.
"""

import os
import random
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Final

import grpc

import hokm
from hokm.bot import Bot
from hokm.client import (
    ADDRESS_VARIABLE,
    TICKET_VARIABLE,
    TLS_CA_VARIABLE,
    channel_to,
    fail,
)
from hokm.seats import (
    ALIVE_SECONDS,
    MOST_SEATS_AT_ONCE,
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
from hokm.session import PROTOCOL
from hokm.wire import (
    OFFER_SEATS,
    SEAT_SERVICE,
    SIT_DOWN,
    TOKEN_METADATA,
    WireError,
    decode_to_home,
    encode_from_home,
)

TOKEN_VARIABLE: Final = "HOKM_ARENA_TOKEN"
"""Holds the token of the bot's owner, where the program does not say it. It is a secret."""
HOME_VARIABLE: Final = "HOKM_HOME"
"""The process id of the home, in the environment of what it starts."""

FIRST_RETRY_SECONDS: float = 1.0
LONGEST_RETRY_SECONDS: float = 60.0
"""Between two attempts to reach the ladder: the first, doubled each time, and the most; a part of
it, by chance, so that the homes of a ladder that was away do not all come at once.
"""
NOT_NOW_SECONDS: float = 60.0
"""The first, where the ladder said that it does not want the bot as things are."""
FAREWELL_SECONDS: float = 10.0
"""How long a process may take to end once its seat is over."""
WELCOME_SECONDS: float = 20.0
"""How long the ladder may take to say anything, before it is called again."""

_TURNED_AWAY: Final = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.UNIMPLEMENTED,
)
"""How a ladder ends a call that it would end the same way again."""

_UNSAID: Final = {
    grpc.StatusCode.UNIMPLEMENTED: "nobody there takes bots that stay at home",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """What was asked for, checked; made by :func:`checked`. ``table`` is None for rated matches,
    ``games`` how many casual ones are wanted, None for no end.
    """

    server: str
    token: str
    seats: int
    table: TableWish | None
    games: int | None
    is_secure: bool


def checked(
    *,
    server: str,
    token: str | None,
    seats: int,
    casual: bool,
    players: int,
    partners: str,
    games: int | None,
    insecure: bool,
) -> Stay:
    """What was asked for. Raises SystemExit, with a line on stderr, for what cannot be."""
    host = _host_of(server)
    token = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    if not (token.isascii() and token.isprintable()):
        fail("the token is no token of a ladder: copy it whole", status=2)
    if not token and not casual:
        fail(
            f"rated matches need the token of the bot's owner: set {TOKEN_VARIABLE} to it. Who "
            "operates the ladder gives it; casual tables (casual=True) may do without",
            status=2,
        )
    if not 1 <= seats <= MOST_SEATS_AT_ONCE:
        fail(f"seats={seats}: a home offers 1 to {MOST_SEATS_AT_ONCE}", status=2)
    table = None
    if casual:
        if players not in (2, 3, 4):
            fail(f"players={players}: a table is for 2, 3 or 4", status=2)
        if partners not in [one.value for one in Partners]:
            fail(f"partners={partners!r}: say 'fixed' or 'second_ace'", status=2)
        table = TableWish(players, Partners(partners))
        if table.partners is Partners.SECOND_ACE and players != 4:
            fail("a second ace draws partners where four play: players=4", status=2)
    if games is not None and (table is None or games < 1):
        fail("games= counts casual games, from 1: rated matches are as the ladder has them", 2)
    return Stay(
        server=server,
        token=token,
        seats=seats if table is None else 1,
        table=table,
        games=games,
        is_secure=_is_secure(host, insecure=insecure),
    )


def stay(bot_class: type[Bot], asked: Stay) -> None:
    """Be there until Ctrl-C, or until as many casual games are played as were asked for. Raises
    SystemExit where the ladder wants no more of it (status 1), and after a second Ctrl-C (130).
    """
    main = sys.modules["__main__"]
    if not hasattr(main, "__file__") and "-c" not in sys.orig_argv:
        fail("a bot that stays at home is a program that can be started again: a file", status=2)
    if asked.is_secure and not os.environ.get(TLS_CA_VARIABLE):
        os.environ[TLS_CA_VARIABLE] = str(_system_roots())  # for the processes of seats as well
    status = _Home(bot_class, asked).stay()
    if status:
        sys.exit(status)


def end_with_home() -> None:
    """Have this process end with the home that started it, if one did."""
    home = os.environ.get(HOME_VARIABLE, "")
    if not home.isdigit():
        return
    if sys.platform != "linux":
        threading.Thread(target=_end_with_stdin, name="hokm home", daemon=True).start()
        return
    import ctypes

    death_signal = 1  # PR_SET_PDEATHSIG (linux/prctl.h)
    ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(home):  # it was gone before that
        os._exit(1)


def _end_with_stdin() -> None:
    with suppress(OSError, ValueError):
        while sys.stdin.buffer.read(1024):  # the home holds the other end, and writes nothing
            pass
    os._exit(1)


# -- what happens


@dataclass(frozen=True, slots=True)
class _Heard:
    stream: "_Stream"
    message: ToHome


@dataclass(frozen=True, slots=True)
class _StreamEnded:
    """``code`` is None where it was ended well."""

    stream: "_Stream"
    code: grpc.StatusCode | None
    details: str


@dataclass(frozen=True, slots=True)
class _SeatEnded:
    offer: int
    exit_code: int


@dataclass(frozen=True, slots=True)
class _Told:
    """Somebody wants it to end."""


_Happening = _Heard | _StreamEnded | _SeatEnded | _Told


class _Stream:
    """One call to the ladder; what is heard on it goes to ``happenings``."""

    def __init__(
        self, asked: Stay, hello: HomeHello, happenings: "SimpleQueue[_Happening]"
    ) -> None:
        self.welcome: HomeWelcome | None = None
        self.welcome_by = time.monotonic() + WELCOME_SECONDS
        self.has_offered = False
        self._happenings = happenings
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._outgoing.put(encode_from_home(hello))
        self._channel = channel_to(asked.server, is_far=True)
        method = OFFER_SEATS if asked.table is None else SIT_DOWN
        call = self._channel.stream_stream(f"/{SEAT_SERVICE}/{method}", _as_it_is, _as_it_is)
        metadata = ((TOKEN_METADATA, asked.token),) if asked.token else ()
        self._call = call(self._saying(), metadata=metadata)
        threading.Thread(target=self._listen, name="hokm home stream", daemon=True).start()

    def say(self, message: HomeAnswer | HomeDraining) -> None:
        """Say something soon."""
        self._outgoing.put(encode_from_home(message))

    def break_off(self) -> None:
        """Hear and say no more."""
        self._outgoing.put(None)
        self._call.cancel()
        self._channel.close()

    def _saying(self) -> Iterator[bytes]:
        while True:
            try:
                message = self._outgoing.get(timeout=ALIVE_SECONDS / 2)
            except Empty:
                message = encode_from_home(HomeAlive())
            if message is None:
                return
            yield message

    def _listen(self) -> None:
        code, details = None, ""
        try:
            for data in self._call:
                if (message := decode_to_home(data)) is not None:
                    self._happenings.put(_Heard(self, message))
        except grpc.RpcError as error:
            code, details = error.code(), error.details() or ""
        except WireError as error:
            code, details = grpc.StatusCode.INTERNAL, f"it does not speak this protocol: {error}"
        except ValueError as error:  # the channel was closed meanwhile
            code, details = grpc.StatusCode.CANCELLED, str(error)
        self._outgoing.put(None)
        self._happenings.put(_StreamEnded(self, code, details))


class _Home:
    """All of it, in the main thread: what starts a process is what it ends with (on Linux the
    thread that started it, prctl(2)).
    """

    def __init__(self, bot_class: type[Bot], asked: Stay) -> None:
        self._asked = asked
        self._name = bot_class.name or bot_class.__name__
        self._version = bot_class.version
        self._happenings: SimpleQueue[_Happening] = SimpleQueue()
        self._stream: _Stream | None = None
        self._seats: dict[int, subprocess.Popen[bytes]] = {}
        self._end_by: dict[int, float] = {}
        """When the process of a seat that is over is ended."""
        self._retry_at: float | None = time.monotonic()
        """When the ladder is called next; None while it is called, or for no more."""
        self._retries = 0
        self._is_known_lost = False
        self._is_leaving = False
        self._games = 0
        self._status = 0

    def stay(self) -> int:
        """Until the end; the exit status."""
        with self._heeding_signals():
            try:
                while not self._is_done():
                    self._do_what_is_due()
                    with suppress(Empty):
                        self._take(self._happenings.get(timeout=self._until_next_seconds()))
            finally:
                self._break_off()
                for process in self._seats.values():
                    _end(process)
        return self._status

    # -- what is due

    def _is_done(self) -> bool:
        """In a rated match another seat may be due after one that is over: the ladder knows, and
        ends the stream. Who waits for a casual table may go.
        """
        if not self._is_leaving or self._seats:
            return False
        if self._stream is None:
            return True
        return self._asked.table is not None and not self._stream.has_offered

    def _do_what_is_due(self) -> None:
        now = time.monotonic()
        for offer, at in list(self._end_by.items()):
            if now >= at:
                del self._end_by[offer]
                if offer in self._seats:
                    _end(self._seats[offer])
        if self._stream is not None:
            if self._stream.welcome is None and now >= self._stream.welcome_by:
                self._break_off()
                self._lost(grpc.StatusCode.DEADLINE_EXCEEDED, "it says nothing")
        elif self._retry_at is not None and now >= self._retry_at and not self._waits_for_seat():
            self._retry_at = None
            self._call()

    def _waits_for_seat(self) -> bool:
        """At casual tables nobody sits down who has not got up."""
        return self._asked.table is not None and bool(self._seats)

    def _until_next_seconds(self) -> float:
        """It looks up each second whatever happens: some systems deliver signals only then."""
        times = [*self._end_by.values(), time.monotonic() + 1.0]
        if self._retry_at is not None and not self._waits_for_seat():
            times.append(self._retry_at)
        return max(0.0, min(times) - time.monotonic())

    def _call(self) -> None:
        hello = HomeHello(
            protocol=PROTOCOL,
            sdk=f"hokm-sdk {hokm.__version__}",
            name=self._name,
            version=self._version,
            seats=self._asked.seats,
            playing=tuple(self._seats),
            table=self._asked.table,
        )
        try:
            self._stream = _Stream(self._asked, hello, self._happenings)
        except WireError as error:
            fail(str(error))

    def _break_off(self) -> None:
        if self._stream is not None:
            self._stream.break_off()
            self._stream = None

    # -- what happens

    def _take(self, happening: _Happening) -> None:
        match happening:
            case _Told():
                self._told()
            case _SeatEnded(offer, exit_code):
                self._seat_ended(offer, exit_code)
            case _Heard(stream, message):
                if stream is self._stream:
                    self._heard(stream, message)
            case _StreamEnded(stream, code, details):
                if stream is self._stream:
                    self._break_off()
                    self._stream_ended(code, details, has_offered=stream.has_offered)

    def _heard(self, stream: _Stream, message: ToHome) -> None:
        match message:
            case HomeWelcome():
                stream.welcome = message
                self._welcomed(message)
            case SeatOffer():
                self._offered(stream, message)
            case SeatOver(offer):
                if offer in self._seats:
                    self._end_by[offer] = time.monotonic() + FAREWELL_SECONDS
                else:
                    stream.say(HomeAnswer(offer, HomeAnswerKind.FINISHED))

    def _welcomed(self, welcome: HomeWelcome) -> None:
        where = f"{welcome.bot} {self._version} at {self._asked.server}"
        if self._is_known_lost:
            _say(f"back as {where}")
        elif self._retries == 0 and self._games == 0:
            what = "a casual table is asked for"
            if self._asked.table is None:
                what = f"there for rated matches, with {self._asked.seats} seats"
            _say(f"{where}: {what}; Ctrl-C stops")
        self._is_known_lost = False
        self._retries = 0
        if self._is_leaving and self._stream is not None and self._asked.table is None:
            self._stream.say(HomeDraining())

    def _offered(self, stream: _Stream, offer: SeatOffer) -> None:
        stream.has_offered = True
        if offer.offer in self._seats:
            return
        # One more than were offered may be there: a process takes a moment to end.
        if len(self._seats) >= 2 * self._asked.seats:
            stream.say(HomeAnswer(offer.offer, HomeAnswerKind.REFUSED))
            return
        try:
            process = self._start(offer)
        except OSError as error:
            _say(f"a process for a seat cannot be started: {error}")
            stream.say(HomeAnswer(offer.offer, HomeAnswerKind.REFUSED))
            return
        self._seats[offer.offer] = process
        stream.say(HomeAnswer(offer.offer, HomeAnswerKind.TAKEN))
        waiting = threading.Thread(
            target=self._wait_for, args=(offer.offer, process), name="hokm home seat", daemon=True
        )
        waiting.start()

    def _seat_ended(self, offer: int, exit_code: int) -> None:
        process = self._seats.pop(offer)
        was_over = self._end_by.pop(offer, None) is not None
        if process.stdin is not None:
            process.stdin.close()
        if exit_code and not was_over:
            _say(f"the process of a seat ended with {_how(exit_code)}")
        if self._stream is not None:
            self._stream.say(HomeAnswer(offer, HomeAnswerKind.FINISHED))

    def _stream_ended(
        self, code: grpc.StatusCode | None, details: str, *, has_offered: bool
    ) -> None:
        if code in _TURNED_AWAY:
            _say(details or _UNSAID.get(code, f"the ladder ended it: {code.name}"))
            self._status = 1
            self._is_leaving = True
            return
        if self._is_leaving:
            return
        if code is None:
            if self._asked.table is None:
                self._lost(grpc.StatusCode.UNAVAILABLE, "the ladder ended it")
            else:  # the game is over
                self._games += has_offered
                self._is_leaving = self._games == self._asked.games
                self._retry_at = time.monotonic() + FIRST_RETRY_SECONDS * random.uniform(0.5, 1)
            return
        self._lost(code, details)

    def _lost(self, code: grpc.StatusCode, details: str) -> None:
        """Say so, once, and come back."""
        if not self._is_known_lost:
            hint = ""
            if code is grpc.StatusCode.UNAVAILABLE and self._asked.is_secure and not self._retries:
                hint = f" (over TLS, its certificate checked by {os.environ[TLS_CA_VARIABLE]})"
            cause = " ".join(f"{code.name}: {details}".split())
            _say(
                f"{self._asked.server} is not reached{hint}: {cause}; trying on, as long as it "
                "takes"
            )
            self._is_known_lost = True
        first = FIRST_RETRY_SECONDS
        if code in (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED):
            first = NOT_NOW_SECONDS
        seconds = min(LONGEST_RETRY_SECONDS, first * 2 ** min(self._retries, 10))
        self._retries += 1
        self._retry_at = time.monotonic() + seconds * random.uniform(0.5, 1)

    def _told(self) -> None:
        """The first time it takes no more and finishes what is played; the second it ends."""
        if self._is_leaving:
            _say("ended")
            for process in self._seats.values():
                _end(process)
            self._seats.clear()
            self._break_off()
            self._status = 130
            return
        playing = len(self._seats)
        self._is_leaving = True
        self._retry_at = None
        _say(
            f"taking part in no more; {playing or 'nothing'} under way"
            + (", played to the end: again ends it at once" if playing else "")
        )
        if self._stream is not None and self._asked.table is None:
            self._stream.say(HomeDraining())

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM are told; elsewhere than in the main thread nobody may hear them."""
        kept = {}
        with suppress(ValueError):
            for number in (signal.SIGINT, signal.SIGTERM):
                kept[number] = signal.signal(number, self._on_signal)
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._happenings.put(_Told())  # SimpleQueue.put may be called from a signal handler

    # -- processes

    def _start(self, offer: SeatOffer) -> "subprocess.Popen[bytes]":
        environment = {name: text for name, text in os.environ.items() if name != TOKEN_VARIABLE}
        environment[ADDRESS_VARIABLE] = self._asked.server
        environment[TICKET_VARIABLE] = offer.ticket
        environment[HOME_VARIABLE] = str(os.getpid())
        # Of a session of its own: a Ctrl-C in the terminal is for the home alone. Its standard
        # input ends with the home, which is how it hears of that where there is no better way.
        return subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            env=environment,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _wait_for(self, offer: int, process: "subprocess.Popen[bytes]") -> None:
        self._happenings.put(_SeatEnded(offer, process.wait()))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, with whatever it has started, and see it gone."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=FAREWELL_SECONDS)


# -- where, and how


def _host_of(server: str) -> str:
    host, colon, port = server.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and server.isprintable()):
        fail(f"{server!r} is no ladder: say HOST:PORT, as in ladder.example:7117", status=2)
    return host


def _is_secure(host: str, *, insecure: bool) -> bool:
    """Whether TLS is spoken: always, unless the ladder is on this machine or it was said so."""
    if os.environ.get(TLS_CA_VARIABLE):
        if insecure:
            fail(f"insecure=True, and {TLS_CA_VARIABLE} is set: one of them", status=2)
        return True
    return not (insecure or _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _system_roots() -> Path:
    """The certificates that this system trusts, as a file; where it has none, those that come with
    gRPC.
    """
    file = ssl.get_default_verify_paths().cafile
    if file and Path(file).is_file():
        return Path(file)
    return Path(grpc.__file__).parent / "_cython" / "_credentials" / "roots.pem"


def _how(exit_code: int) -> str:
    return f"exit code {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"


def _as_it_is(data: bytes) -> bytes:
    return data


def _say(text: str) -> None:
    sys.stderr.write(f"hokm: {text}\n")
    sys.stderr.flush()
