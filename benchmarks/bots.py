"""The bots of the referee's benchmark: a process that plays the first legal action it is offered.

`raw` is the honest minimum: it decodes all it is told with `hokm.wire`, and answers; it has no view
and no player. It comes over gRPC or, for the floor, over a socket it inherits. `client` is what an
author would write: a :class:`~hokm.bot.Bot` run by :mod:`hokm.client`.
"""

import logging
import os
import socket
import struct
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from typing import NoReturn

from hokm.session import PROTOCOL, Answer, Decision, FromBot, Goodbye, Hello
from hokm.wire import (
    CONCURRENT_GAMES,
    PLAY_METHOD,
    TICKET_METADATA,
    decode_from_referee,
    encode_from_bot,
)

HEADER = struct.Struct("<I")
"""Over a socket each batch comes after its length in bytes."""

HELLO = encode_from_bot([Hello(PROTOCOL, "benchmark", "first", "1", CONCURRENT_GAMES)])


def answers_to(batch: bytes) -> tuple[bytes, bool]:
    """What to say to a batch, and whether that was the last."""
    answers: list[FromBot] = []
    is_last = False
    for message in decode_from_referee(batch):
        if isinstance(message, Decision):
            answers.append(Answer(message.game, message.decision, 1, message.legal[0]))
        elif isinstance(message, Goodbye):
            answers.append(Goodbye())
            is_last = True
    return encode_from_bot(answers) if answers else b"", is_last


def over_grpc(address: str, ticket: str) -> None:
    import grpc

    outgoing: SimpleQueue[bytes | None] = SimpleQueue()
    outgoing.put(HELLO)

    def requests() -> Iterator[bytes]:
        while (batch := outgoing.get()) is not None:
            yield batch

    # Without serializers gRPC moves the bytes as they are.
    with grpc.insecure_channel(address) as channel:
        play: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY_METHOD)
        for batch in play(requests(), metadata=((TICKET_METADATA, ticket),)):
            answers, is_last = answers_to(batch)
            if answers:
                outgoing.put(answers)
            if is_last:
                outgoing.put(None)


def over_socket(descriptor: int) -> None:
    with socket.socket(fileno=descriptor) as stream, stream.makefile("rb") as incoming:
        stream.sendall(HEADER.pack(len(HELLO)) + HELLO)
        while header := incoming.read(HEADER.size):
            answers, is_last = answers_to(incoming.read(HEADER.unpack(header)[0]))
            if answers:
                stream.sendall(HEADER.pack(len(answers)) + answers)
            if is_last:
                return


def as_an_author_would() -> None:
    from hokm import Bot, Card, View, run

    # The measurement stops in the middle of games, and each answer on its way would be a warning.
    logging.getLogger("hokm").setLevel(logging.ERROR)

    class First(Bot):
        concurrent = CONCURRENT_GAMES

        def play(self, view: View) -> Card:
            return view.playable[0]

    run(First)


def main() -> NoReturn:
    kind, *where = sys.argv[1:]
    if kind == "client":
        as_an_author_would()
    elif where:
        over_socket(int(where[0]))
    else:
        over_grpc(os.environ["HOKM_ADDRESS"], os.environ["HOKM_TICKET"])
    sys.exit(0)


if __name__ == "__main__":
    main()
