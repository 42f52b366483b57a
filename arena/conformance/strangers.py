"""What a later version of the protocol may add, put into batches of this one: fields, kinds of
events and kinds of messages that no bot knows.

Works on encoded batches, since the wire module says nothing it does not know. It knows no rules and
no games. Apart from `hokm.wire` this is the one module that names message classes.
"""

from google.protobuf.message import Message

from arena.conformance.chance import Chance
from hokm.v1.event_pb2 import Event
from hokm.v1.referee_service_pb2 import PlayResponse
from hokm.v1.session_pb2 import FromReferee, MatchStart

# Tag (field number << 3 | wire type) and value, one of each wire type that proto3 has. Numbers from
# 1000 up are far from any that this version uses.
_VARINT = b"\xc0\x3e\x96\x01"  # field 1000
_FIXED64 = b"\xc9\x3e" + bytes(range(1, 9))  # field 1001
_TEXT = b"\xd2\x3e\x0asomething\x21"  # field 1002
_FIXED32 = b"\xdd\x3e\x01\x02\x03\x04"  # field 1003
_EVERY_TYPE = (_VARINT, _FIXED64, _TEXT, _FIXED32)
_KIND = b"\xe2\x3e\x04\x08\x01\x10\x02"  # field 1004, a message with two numbers


def with_unknown_fields(payload: bytes, chance: Chance) -> bytes:
    """A batch with unknown fields in it: in itself, its messages, and all within them."""
    batch = PlayResponse.FromString(payload)
    _add_fields(batch, chance)
    return batch.SerializeToString()


def with_unknown_events(payload: bytes, chance: Chance) -> bytes:
    """A batch with events of unknown kinds among those it tells of."""
    batch = PlayResponse.FromString(payload)
    for message in batch.messages:
        match message.WhichOneof("message"):
            case "decision":
                events = message.decision.events
            case "game_end":
                events = message.game_end.events
            case _:
                continue
        known = list(events)
        del events[:]
        for place in range(len(known) + 1):
            if chance.happens(40) or not known:
                events.append(Event.FromString(_KIND if chance.happens(70) else b""))
            events.extend(known[place : place + 1])
    return batch.SerializeToString()


def with_unknown_messages(payload: bytes, chance: Chance) -> bytes:
    """A batch with messages of unknown kinds before, between and after its own."""
    batch = PlayResponse.FromString(payload)
    known = list(batch.messages)
    del batch.messages[:]
    for place in range(len(known) + 1):
        batch.messages.append(FromReferee.FromString(_KIND if chance.happens(70) else b""))
        batch.messages.extend(known[place : place + 1])
    return batch.SerializeToString()


def padded(payload: bytes, *, to_bytes: int, messages: int) -> bytes:
    """A batch made larger by messages of an unknown kind before its own, equally long."""
    each = (to_bytes - len(payload)) // messages
    head = b"\xd2\x3e"  # field 1002, a text
    body = b"x" * each
    stranger = FromReferee.FromString(head + _varint(len(body)) + body)
    batch = PlayResponse(messages=[stranger] * messages)
    return batch.SerializeToString() + payload


def without_clock(payload: bytes) -> bytes:
    """A batch whose match starts say nothing of a clock."""
    batch = PlayResponse.FromString(payload)
    for message in batch.messages:
        if message.WhichOneof("message") == "match_start":
            start: MatchStart = message.match_start
            start.ClearField("clock")
    return batch.SerializeToString()


def _add_fields(message: Message, chance: Chance) -> None:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for inner in [value] if isinstance(value, Message) else value:
            _add_fields(inner, chance)
    message.MergeFromString(chance.one_of(_EVERY_TYPE))
    if chance.happens(50):
        message.MergeFromString(chance.one_of(_EVERY_TYPE))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
