"""Tickets and resume tokens are in no log: a whole session over real gRPC, with every logger of
every library at its lowest level.
"""

import logging

import grpc
import pytest
import trio

from arena.referee.bridge import serve
from arena.referee.lobby import open_lobby
from arena.referee.serving import Network
from hokm.session import PROTOCOL, Hello, Welcome
from hokm.wire import RESUME_METADATA, decode_from_referee, encode_from_bot
from tests.arena.referee.certificates import authority, issue
from tests.arena.referee.test_bridge import Caller

HELLO = encode_from_bot([Hello(PROTOCOL, "hokm-sdk test", "bot", "1", 1)])


async def welcomed(caller: Caller) -> Welcome:
    caller.say(HELLO)
    for message in decode_from_referee(await caller.listen()):
        if isinstance(message, Welcome):
            return message
    raise AssertionError("no welcome")


@pytest.mark.parametrize("is_resumed", [False, True])
async def test_tickets_and_tokens_are_in_no_log(
    is_resumed: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        caplog.set_level(logging.DEBUG, logger=name)
    network = Network(
        listen="127.0.0.1:0", reached_at="localhost", tls=issue(authority(), "localhost")
    )
    secrets: list[str] = []
    with trio.fail_after(30):
        async with (
            serve("127.0.0.1:0", network=network) as bridge,
            open_lobby(bridge.arrivals) as lobby,
        ):
            credentials = grpc.ssl_channel_credentials(authority().cert_pem.bytes())
            ticket = lobby.issue(resume_seconds=10.0 if is_resumed else 0.0)
            secrets.append(ticket)
            with grpc.secure_channel(bridge.network_address, credentials) as channel:
                caller = Caller(channel, ticket)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(lobby.arrival, ticket)
                    secrets.append((await welcomed(caller)).resume_token)
                used = Caller(channel, ticket)  # a ticket that is used, presented again
                assert (await used.status())[0] is grpc.StatusCode.UNAUTHENTICATED
                again = Caller(channel, secrets[-1], key=RESUME_METADATA)
                if is_resumed:
                    secrets.append((await welcomed(again)).resume_token)
                    assert (await caller.status())[0] is grpc.StatusCode.ABORTED
                else:
                    assert (await again.status())[0] is grpc.StatusCode.UNAUTHENTICATED
                for one in (caller, used, again):
                    one.call.cancel()
                    one.half_close()
    out, err = capfd.readouterr()
    written = "\n".join([caplog.text, out, err, *map(repr, caplog.records)])
    written += "\n".join(repr(vars(record)) for record in caplog.records)
    assert caplog.text.count("turned away a stream") == 1
    assert len(secrets) == 2 + is_resumed
    for secret in secrets:
        assert secret not in written
