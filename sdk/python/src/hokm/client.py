"""A bot's process: one stream to the referee, with a :class:`~hokm.player.Player` at its end.

The arena starts a bot with an address and a ticket in its environment; :func:`run` is the whole of
its main program. This is the one place of the library that waits and the one that knows gRPC; what
is said on the stream is the player's business, and what it looks like the wire's.
"""

import inspect
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NoReturn

import grpc

from hokm.bot import Bot
from hokm.player import Player, SessionError
from hokm.session import Answer, FromBot
from hokm.wire import (
    BATCH_BYTES,
    PLAY_METHOD,
    RESUME_METADATA,
    TICKET_METADATA,
    WireError,
    decode_from_referee,
    encode_from_bot,
)

ADDRESS_VARIABLE: Final = "HOKM_ADDRESS"
"""Names the referee: ``host:port`` or ``unix:/path``."""
TICKET_VARIABLE: Final = "HOKM_TICKET"
"""Holds the ticket for the bot's seats, valid once. It is a secret."""
PARAMETERS_VARIABLE: Final = "HOKM_PARAMETERS"
"""A JSON object: the numbers of :attr:`hokm.bot.Bot.parameters`, by name."""
TLS_CA_VARIABLE: Final = "HOKM_TLS_CA"
"""Names a PEM file of the certificates that the referee's must come from; TLS is spoken then."""
TLS_CERT_VARIABLE: Final = "HOKM_TLS_CERT"
"""Names the PEM file of the bot's own certificate, where the referee wants to see one."""
TLS_KEY_VARIABLE: Final = "HOKM_TLS_KEY"
"""Names the PEM file of its key."""
TLS_NAME_VARIABLE: Final = "HOKM_TLS_NAME"
"""The name that the referee's certificate is for, where it is not that of the address."""

CONNECT_SECONDS: float = 10.0
"""How long the referee may take to be reached; the arena waits no longer for a hello."""

_RETRY_SECONDS: Final = 0.05
"""Between two streams, so that one that breaks at once is not opened a thousand times."""

_NO_WAY_BACK: Final = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.ABORTED,
)
"""How the referee ends a stream that it wants no other in place of."""

_SILENCES: Final = {
    grpc.StatusCode.UNAUTHENTICATED: "the ticket was used, has expired or names no seat of this "
    "match, or the bot was away for too long: ask for a new ticket",
}
"""What it means where the referee says no more: whoever has no seat is told nothing."""

_OPTIONS: Final = (
    # The referee is named by the arena; a proxy of the machine has no business in between.
    ("grpc.enable_http_proxy", 0),
    # By default a first failure costs a second.
    ("grpc.initial_reconnect_backoff_ms", 100),
    # The default of 4 MiB is for one message; a batch may have many games in it.
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.max_send_message_length", 16 * 1024 * 1024),
)

_NETWORK_OPTIONS: Final = (
    # A referee that is cut off without a word is found out, in place of being waited for forever;
    # and what forgets silent connections (a router) is kept from it. The arena allows one in 10 s.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # the one above alone lets a ping be out for a minute
    # By default two pings are sent and no more, and others may think for longer than that.
    ("grpc.http2.max_pings_without_data", 0),
)


def run(
    bot_class: type[Bot],
    *,
    server: str | None = None,
    token: str | None = None,
    seats: int = 4,
    casual: bool = False,
    players: int = 4,
    partners: str = "fixed",
    games: int | None = None,
    insecure: bool = False,
) -> None:
    """Play as the arena asks, with a fresh ``bot_class()`` for each game; returns once it is done.

    With a ``server`` (``host:port``) the bot stays at home: this process tells that ladder that the
    bot is there, and starts this program again for each of the ``seats`` that it is offered at
    once. It goes on until Ctrl-C. The ``token`` of the bot's owner may be in HOKM_ARENA_TOKEN. It
    plays rated matches, or if ``casual`` at casual tables for so many ``players``, whose
    ``partners`` are ``"fixed"`` or drawn by the ``"second_ace"``, ``games`` of them or without an
    end. TLS is spoken but with this machine itself, unless ``insecure``.

    What the bot raises comes through, after the stream was broken off: uncaught it ends the process
    with a traceback. Raises SystemExit where no session comes about (status 2 if no arena started
    this process) or where it breaks (status 1), with the cause on stderr; TypeError for what is no
    bot that can play. Standard output is the bot's own.
    """
    _refuse_unplayable(bot_class)
    if server is not None and not os.environ.get(TICKET_VARIABLE):
        from hokm import home  # not for those who play: it is much they do not need

        asked = home.checked(
            server=server,
            token=token,
            seats=seats,
            casual=casual,
            players=players,
            partners=partners,
            games=games,
            insecure=insecure,
        )
        home.stay(bot_class, asked)
        return
    if os.environ.get("HOKM_HOME"):
        from hokm import home

        home.end_with_home()
    address, ticket = _environment()
    if given := _parameters():
        bot_class.parameters = {**bot_class.parameters, **given}
    player = Player(bot_class)
    try:
        with channel_to(address) as channel:
            _connect(channel, address)
            _play(player, channel, key=(TICKET_METADATA, ticket))
            _come_back(player, channel)
    except (SessionError, WireError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)  # 128 and the number of the signal, as shells have it


def _refuse_unplayable(bot_class: object) -> None:
    if not inspect.isclass(bot_class) or not issubclass(bot_class, Bot):
        raise TypeError(f"run() takes the class of a bot, as in run(MyBot), not {bot_class!r}")
    missing = ", ".join(sorted(bot_class.__abstractmethods__))
    if missing:
        raise TypeError(f"{bot_class.__name__} cannot play yet: it lacks {missing}")


def _environment() -> tuple[str, str]:
    values = [os.environ.get(name, "") for name in (ADDRESS_VARIABLE, TICKET_VARIABLE)]
    if not all(values):
        fail(
            f"a bot is started by an arena, which sets {ADDRESS_VARIABLE} and {TICKET_VARIABLE}; "
            "to see this one play: `arena match ITS_FOLDER greedy`; to try bots without an arena, "
            "in one process: hokm.testing.duel",
            status=2,
        )
    address, ticket = values
    # Bytes that are no text come from the environment as halves of surrogate pairs.
    if not address.isprintable():
        fail(f"{ADDRESS_VARIABLE} names no address: {address!r}", status=2)
    if not (ticket.isascii() and ticket.isprintable()):
        fail(f"{TICKET_VARIABLE} holds no ticket of an arena", status=2)
    return address, ticket


def _parameters() -> dict[str, float]:
    """What the environment gives for the bot's parameters; those of its class hold otherwise."""
    text = os.environ.get(PARAMETERS_VARIABLE)
    if not text:
        return {}
    try:
        given: object = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict) or any(type(one) not in (int, float) for one in given.values()):
        fail(f"{PARAMETERS_VARIABLE} is no JSON object of numbers: {text!r}", status=2)
    return given


def channel_to(address: str, *, is_far: bool = False) -> grpc.Channel:
    """A way to the referee, over TLS where the environment has what to check its certificate by.
    Without it the referee is taken to be on this machine, unless it `is_far`.
    """
    roots, certificate, key = (
        _pem_named(name) for name in (TLS_CA_VARIABLE, TLS_CERT_VARIABLE, TLS_KEY_VARIABLE)
    )
    if (certificate is None) != (key is None):
        fail(f"{TLS_CERT_VARIABLE} and {TLS_KEY_VARIABLE} belong together: set both", status=2)
    if roots is None:
        if certificate is not None:
            fail(f"{TLS_CERT_VARIABLE} is of no use without {TLS_CA_VARIABLE}", status=2)
        near = (*_OPTIONS, *(_NETWORK_OPTIONS if is_far else ()))
        return grpc.insecure_channel(address, options=near)
    options: list[tuple[str, str | int]] = [*_OPTIONS, *_NETWORK_OPTIONS]
    if name := os.environ.get(TLS_NAME_VARIABLE):
        options.append(("grpc.ssl_target_name_override", name))
    credentials = grpc.ssl_channel_credentials(roots, key, certificate)
    return grpc.secure_channel(address, credentials, options=options)


def _pem_named(variable: str) -> bytes | None:
    """What the file holds that a variable names; None where it names none."""
    file = os.environ.get(variable)
    if not file:
        return None
    try:
        pem = Path(file).read_bytes()
    except OSError as error:
        fail(f"{variable} names {file}, which cannot be read: {error.strerror}", status=2)
    if b"-----BEGIN " not in pem:
        fail(f"{variable} names {file}, which is no PEM file", status=2)
    return pem


def _connect(channel: grpc.Channel, address: str) -> None:
    ready = grpc.channel_ready_future(channel)
    try:
        ready.result(timeout=CONNECT_SECONDS)
    except grpc.FutureTimeoutError:
        ready.cancel()  # or its thread finds the channel closed, and says so with a traceback
        question = "is the arena still running?"
        if os.environ.get(TLS_CA_VARIABLE):
            question += (
                f" Is its certificate from {TLS_CA_VARIABLE}, and for this name (otherwise set "
                f"{TLS_NAME_VARIABLE})? Does it want one of yours ({TLS_CERT_VARIABLE}, "
                f"{TLS_KEY_VARIABLE})?"
            )
        fail(f"no referee at {address} within {CONNECT_SECONDS:g} s: {question}")


def _come_back(player: Player, channel: grpc.Channel) -> None:
    """Go on, on other streams, as often as one breaks and as long as the referee waits."""
    broken_at = time.monotonic()
    while not player.is_finished:
        if time.monotonic() > broken_at + player.resume_seconds:
            fail(f"no stream came about within {player.resume_seconds:g} s")
        token = player.resume_token
        _play(player, channel, key=(RESUME_METADATA, token))
        if player.resume_token != token:  # it was welcome before that stream broke, too
            broken_at = time.monotonic()
        time.sleep(_RETRY_SECONDS)


def _play(player: Player, channel: grpc.Channel, *, key: tuple[str, str]) -> None:
    """Play over one stream, opened with this key in its metadata, until all is said or the stream
    breaks where the bot may come back on another.
    """
    outgoing: SimpleQueue[bytes | None] = SimpleQueue()
    outgoing.put(encode_from_bot([player.hello()]))
    play = channel.stream_stream(PLAY_METHOD, _as_it_is, _as_it_is)
    call = play(_batches(outgoing), metadata=(key,))
    try:
        for batch in call:
            read_at = time.monotonic()
            for message in player.receive(decode_from_referee(batch)):
                outgoing.put(encode_from_bot([_timed(message, since=read_at)]))
            if player.is_finished:
                outgoing.put(None)
    except grpc.RpcError as error:
        if player.is_finished:
            return
        cause = f"{error.code().name}: {error.details() or _SILENCES.get(error.code(), '')}"
        if error.code() in _NO_WAY_BACK or not player.resume_seconds:
            fail(f"the referee broke the stream off: {cause}")
        sys.stderr.write(f"hokm: the stream broke ({cause}); going on, on another\n")
        return
    finally:
        call.cancel()  # broken off, unless it has ended; and then the sending thread is let go
        outgoing.put(None)
    if not player.is_finished:
        fail("the referee ended the stream without a goodbye")


def _timed(message: FromBot, *, since: float) -> FromBot:
    """An answer that says how long the bot had the decision."""
    if not isinstance(message, Answer):
        return message
    return replace(message, took_seconds=time.monotonic() - since)


def _batches(outgoing: SimpleQueue[bytes | None]) -> Iterator[bytes]:
    """What is ready at one moment as one batch, or several where it is more than one may have,
    until None; gRPC draws them in a thread of its own.

    Encoded batches one after another are one batch: the bytes of a repeated field add up.
    """
    batch = b""
    while (message := outgoing.get()) is not None:
        if batch and len(batch) + len(message) > BATCH_BYTES:
            yield batch
            batch = b""
        batch += message
        if outgoing.empty():  # nobody else takes from it
            yield batch
            batch = b""
    if batch:
        yield batch


def _as_it_is(data: bytes) -> bytes:
    return data


def fail(text: str, status: int = 1) -> NoReturn:
    """End the process, with a line on stderr."""
    sys.stderr.write(f"hokm: {text}\n")
    sys.exit(status)
