"""The other end of the ladder's service: asks a ladder elsewhere, over gRPC, one thing at a time.

Values in and out, as in `arena.service.handlers`; what goes wrong is a
:class:`~arena.service.errors.ServerError`, whether the ladder says no or nobody answers. The token
travels in each call's metadata, over TLS unless its owner says otherwise, and is in no error.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NoReturn, TypeVar

# gRPC's core writes lines to stderr about connections that fail; here they are told in one.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from arena.ladder.ratings.standings import Standings
from arena.service import messages, values
from arena.service.errors import ServerError
from hokm.wire import WireError

CALL_SECONDS: Final = 30.0
"""How long an answer of one message may take."""
FILE_SECONDS: Final = 600.0
"""How long a file may take, as the ladder has it."""
PIECE_BYTES: Final = 1 << 16
"""Over a slow connection a ladder sees that an upload goes on."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    # By default a first failure costs a second.
    ("grpc.initial_reconnect_backoff_ms", 100),
)
_LOCAL: Final = (("grpc.enable_http_proxy", 0),)

T = TypeVar("T")
H = TypeVar("H", values.LogHeader, values.RecordHeader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a ladder is, and how to know it: ``host:port``; the certificates that its own must be
    or come from (PEM; None: those that the system's gRPC knows), and the name that it is for, where
    that is not the host. ``is_open`` does without TLS.
    """

    address: str
    roots: bytes | None = None
    tls_name: str = ""
    is_open: bool = False
    is_told_so: bool = False
    """Somebody said that it does without TLS; else it follows from the address."""
    is_here: bool = False
    """It is on this machine: no proxy has business in between."""


@contextmanager
def connected(server: Server, *, token: str = "") -> Iterator["LadderClient"]:
    """A way to a ladder, while this is open. Nothing is sent before something is asked."""
    options: list[tuple[str, str | int]] = [*_OPTIONS, *(_LOCAL if server.is_here else ())]
    if server.is_open:
        channel = grpc.insecure_channel(server.address, options=options)
    else:
        if server.tls_name:
            options.append(("grpc.ssl_target_name_override", server.tls_name))
        credentials = grpc.ssl_channel_credentials(server.roots)
        channel = grpc.secure_channel(server.address, credentials, options=options)
    with channel:
        yield LadderClient(channel, server, token=token)


@dataclass(frozen=True, slots=True)
class Download(Iterator[bytes]):
    """A file that comes in pieces; each raises ServerError where it breaks off."""

    header: values.LogHeader | values.RecordHeader
    pieces: Iterator[bytes] = field(repr=False)

    def __next__(self) -> bytes:
        return next(self.pieces)


class LadderClient:
    """Asks a ladder; made by :func:`connected`. Every method raises ServerError."""

    def __init__(self, channel: grpc.Channel, server: Server, *, token: str = "") -> None:
        self._channel = channel
        self._server = server
        self._metadata = ((messages.TOKEN_METADATA, token),) if token else ()

    @property
    def has_token(self) -> bool:
        """Whether it asks as somebody."""
        return bool(self._metadata)

    def register(self, name: str) -> values.Registered:
        """Become an owner."""
        return self._ask(values.RegisterOwner(name), messages.decode_registered)

    def submit(
        self, archive: Path, *, digest: str, told: Callable[[int, int], None] = lambda *_: None
    ) -> values.Submitted:
        """Send the archive of the bot of that digest; `told` hears how many bytes of how many went.

        Raises OSError besides for an archive that cannot be read.
        """
        size = archive.stat().st_size
        with archive.open("rb") as file:
            failures: list[Exception] = []

            def parts() -> Iterator[bytes]:
                yield messages.encode_submit_part(values.SubmitHeader(digest, size))
                sent = 0
                try:
                    while data := file.read(PIECE_BYTES):
                        yield messages.encode_submit_part(values.Piece(data))
                        sent += len(data)
                        told(sent, size)
                except (OSError, ValueError) as error:  # gRPC would say something of its own
                    failures.append(error)
                    raise

            method = self._channel.stream_unary(_path(messages.SUBMIT), _as_it_is, _as_it_is)
            call = partial(method, parts(), timeout=FILE_SECONDS, metadata=self._metadata)
            try:
                return self._decoded(messages.decode_submitted, self._called(call))
            except ServerError:
                if failures and isinstance(failures[0], OSError):
                    raise failures[0] from None
                raise

    def submission(self, number: int | None = None) -> values.Shown:
        """A submission of one's own with its report; None: the last one."""
        return self._ask(values.GetSubmission(number), messages.decode_shown)

    def submissions(self) -> Iterator[values.Shown]:
        """All submissions of one's own, the last first, without their reports."""
        token = ""
        while True:
            page = self._ask(values.ListSubmissions(page_token=token), messages.decode_submissions)
            yield from page.submissions
            if not page.next_page_token or not page.submissions:
                return
            token = page.next_page_token

    def bots(self) -> values.OwnBots:
        """One's own bots."""
        return self._ask(values.ListBots(), messages.decode_bots)

    def withdraw(self, name: str) -> values.OwnBot:
        """Take a bot of one's own out."""
        return self._ask(values.WithdrawBot(name), messages.decode_withdrawn).bot

    def status(self) -> values.ServiceStatus:
        """Whether the ladder plays."""
        return self._ask(values.GetStatus(), messages.decode_status)

    def standings(self) -> Standings:
        """Who stands where."""
        return self._ask(values.GetStandings(), messages.decode_standings)

    def results(self, *, bot: str = "") -> Iterator[values.MatchResult]:
        """Decided matches, of one bot or of all, the last first, as far as one goes on asking."""
        token = ""
        while True:
            page = self._ask(values.ListResults(bot=bot, page_token=token), messages.decode_results)
            yield from page.results
            if not page.next_page_token or not page.results:
                return
            token = page.next_page_token

    def logs(self, match: str) -> Iterator[Download]:
        """What one's own bots printed in a match, a file a process; each is to be read to its end
        before the next.
        """
        return self._files(values.GetLog(match), messages.decode_log_part)

    def record(self, match: str, *, attempt: int | None = None) -> Download:
        """The record of a match."""
        found = self._files(values.GetRecord(match, attempt), messages.decode_record_part)
        file = next(found, None)
        if file is None:
            raise ServerError(f"{self._server.address} sent no record; update the arena")
        return Download(file.header, _holding(found, file.pieces))

    # -- below

    def _ask(self, request: values.Request, decode: Callable[[bytes], T]) -> T:
        try:
            name, data = messages.encode_request(request)
        except WireError as error:
            raise ServerError(str(error)) from error
        method = self._channel.unary_unary(_path(name), _as_it_is, _as_it_is)
        call = partial(method, data, timeout=CALL_SECONDS, metadata=self._metadata)
        return self._decoded(decode, self._called(call))

    def _files(
        self, request: values.Request, decode: Callable[[bytes], H | values.Piece]
    ) -> Iterator[Download]:
        try:
            name, data = messages.encode_request(request)
        except WireError as error:
            raise ServerError(str(error)) from error
        method = self._channel.unary_stream(_path(name), _as_it_is, _as_it_is)
        call = method(data, timeout=FILE_SECONDS, metadata=self._metadata)
        parts = self._parts(call, decode)
        try:
            header = next(parts, None)
            while header is not None:
                if isinstance(header, values.Piece):
                    raise ServerError(f"{self._server.address} sent a piece of no file")
                after: list[H | values.Piece] = []
                pieces = _pieces(parts, after, size=header.size_bytes, server=self._server)
                yield Download(header, pieces)
                for _ in pieces:  # what was not read
                    pass
                header = after[0] if after else None
        finally:
            call.cancel()

    def _parts(
        self, call: Iterator[bytes], decode: Callable[[bytes], H | values.Piece]
    ) -> Iterator[H | values.Piece]:
        while True:
            try:
                data = next(call, None)
            except grpc.RpcError as error:
                self._fail(error)
            if data is None:
                return
            yield self._decoded(decode, data)

    def _called(self, call: Callable[[], bytes]) -> bytes:
        try:
            return call()
        except grpc.RpcError as error:
            self._fail(error)

    def _decoded(self, decode: Callable[[bytes], T], data: bytes) -> T:
        try:
            return decode(data)
        except WireError as error:
            text = f"{self._server.address} sent what this arena does not understand ({error})"
            raise ServerError(f"{text}; update the arena") from error

    def _fail(self, error: grpc.RpcError) -> NoReturn:
        # Each that a call raises is a call as well; the types do not say so.
        code: grpc.StatusCode = error.code()
        details: str = error.details() or ""
        text, is_passing = _told(self._server, code, details)
        raise ServerError(text, is_passing=is_passing) from None


_BROKEN: Final = (
    "failed to connect",
    "DNS resolution failed",
    "name resolution",
    "Socket closed",
    "Connection reset",
    "recvmsg",
    "sendmsg",
    "End of TCP stream",
    "GOAWAY",
    "Broken pipe",
    "errors resolving",
    "Connection refused",
    "Stream removed",
    "Deadline Exceeded",
)
"""What gRPC's own words have in them where no word is the ladder's."""


def _told(server: Server, code: grpc.StatusCode, details: str) -> tuple[str, bool]:
    """What went wrong, for who asked, and whether it may pass."""
    where = server.address
    is_ours = details and not any(words in details for words in _BROKEN)
    match code:
        case grpc.StatusCode.UNAVAILABLE if not is_ours:
            return f"{where}: {_no_way(server, details)}", True
        case grpc.StatusCode.DEADLINE_EXCEEDED if not is_ours:
            return f"{where}: no answer in time; try again", True
        case grpc.StatusCode.UNIMPLEMENTED if not is_ours or "not found" in details.lower():
            text = "is no ladder that takes bots; is it the address of arena serve, and as new?"
            return f"{where}: {text}", False
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.DEADLINE_EXCEEDED:
            return f"{where}: {details}", True
        case _:
            return f"{where}: {details or code.name.lower().replace('_', ' ')}", False


def _no_way(server: Server, details: str) -> str:
    """Why nobody was reached, and what to look at."""
    if "DNS" in details or "resol" in details:
        return "there is no host of that name; is it spelt right?"
    if "Connection refused" in details:
        return "nobody listens there; is the port right, and arena serve running?"
    if "CERTIFICATE_VERIFY_FAILED" in details or "Hostname Verification" in details:
        question = "give --ca FILE with what it comes from"
        question += ", or set HOKM_TLS_NAME to the name that it is for"
        return f"its certificate is from nobody known here, or for another name; {question}"
    if "WRONG_VERSION_NUMBER" in details or "SSL_ERROR_SSL" in details:
        return "it does not speak TLS; --insecure does without"
    if server.is_open:
        then = "leave --insecure out, and give --ca" if server.is_told_so else "give --ca FILE"
        return f"the connection broke; does it want TLS? Then {then}"
    return "it cannot be reached, or the connection broke; try again"


def _pieces(
    parts: Iterator[H | values.Piece], after: list[H | values.Piece], *, size: int, server: Server
) -> Iterator[bytes]:
    """The pieces of a file, up to the next header, which goes to `after`."""
    left = size
    for part in parts:
        if not isinstance(part, values.Piece):
            after.append(part)
            break
        left -= len(part.data)
        yield part.data
    if left:
        raise ServerError(f"{server.address}: a file is not as long as it was said; try again")


def _holding(call: Iterator[Download], pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, and the call that they come by, which would end if nobody held it."""
    yield from pieces
    del call


def _path(method: str) -> str:
    return f"/{messages.SERVICE}/{method}"


def _as_it_is(data: bytes) -> bytes:
    return data
