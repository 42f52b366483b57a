"""Whatever arrives on a stream is messages, or a WireError; nothing else comes of it."""

import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hokm import wire
from hokm.session import Answer, FromBot, FromReferee, Malformed
from hokm.wire import WireError
from tests.fuzz.mutations import FIELDS, MESSAGES, check_bounded, deep, examples, mangled
from tests.hokm.test_wire import FROM_BOT, FROM_REFEREE

BOT_BATCHES = st.lists(st.one_of(*FROM_BOT.values()), max_size=3).map(wire.encode_from_bot)
REFEREE_BATCHES = st.lists(st.one_of(*FROM_REFEREE.values()), max_size=3).map(
    wire.encode_from_referee
)
FORMS = st.lists(FIELDS | MESSAGES, max_size=6).map(b"".join)

DENSE = {
    "empty messages": b"\x0a\x00",
    "empty answers": b"\x0a\x02\x12\x00",
    "answers": wire.encode_from_bot([Answer(1, 1, 1, Malformed(""))]),
    "empty decisions": b"\x0a\x02\x2a\x00",
    "an unknown field": b"\xc0\x3e\x01",
    "a group": b"\x0b\x0c",
}
"""As much as there can be in few bytes, to be repeated."""


def read_from_bot(data: bytes) -> tuple[FromBot, ...] | None:
    try:
        return wire.decode_from_bot(data)
    except WireError as error:
        check_bounded(error)
        return None


def read_from_referee(data: bytes) -> tuple[FromReferee, ...] | None:
    try:
        return wire.decode_from_referee(data)
    except WireError as error:
        check_bounded(error)
        return None


@examples(200)
@given(st.one_of(st.binary(max_size=200), mangled(BOT_BATCHES), FORMS))
@example(deep(1, 5000))
@example(deep(2, 90))
@example(b"\x0b" * 5000)
@example(b"\x0a\xff\xff\xff\xff\x0f")
@example(b"\x0a\x04\x12\x02\x20\xff")
def test_a_bots_bytes_are_messages_or_a_wire_error(data: bytes) -> None:
    messages = read_from_bot(data)
    if messages is not None:
        assert len(messages) <= len(data) / 2
        # Nonsense in an answer is no action; all else that was read can be said again.
        again = read_from_bot(wire.encode_from_bot(messages))
        assert again is not None
        assert list(map(_unexplained, again)) == list(map(_unexplained, messages))


def _unexplained(message: FromBot) -> object:
    if isinstance(message, Answer):
        action = Malformed if isinstance(message.action, Malformed) else message.action
        return message.game, message.decision, message.attempt, action
    return message


@examples(200)
@given(st.one_of(st.binary(max_size=200), mangled(REFEREE_BATCHES), FORMS))
@example(deep(1, 5000))
@example(b"\x0b" * 5000)
@example(b"\x0a\xff\xff\xff\xff\x0f")
def test_a_referees_bytes_are_messages_or_a_wire_error(data: bytes) -> None:
    messages = read_from_referee(data)
    if messages is not None:
        assert len(messages) <= len(data) / 2


@pytest.mark.parametrize("piece", DENSE.values(), ids=DENSE.keys())
@pytest.mark.parametrize("read", [read_from_bot, read_from_referee])
def test_a_batch_takes_memory_as_it_is_long(read, piece: bytes) -> None:
    data = piece * (wire.BATCH_BYTES // len(piece))
    read(data)  # what is made once is not this batch's
    tracemalloc.start()
    try:
        read(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * len(data)
