"""What a later version may add is in the bytes, and what is known is read from them as before."""

from collections.abc import Callable

import pytest

from arena.conformance import strangers
from arena.conformance.chance import Chance
from hokm.actions import PLAYS
from hokm.cards import CARDS, Seat
from hokm.events import CARD_PLAYED, HandStarted, PacketDealt
from hokm.outcome import Ending, Outcome
from hokm.rules.options import Rules
from hokm.session import (
    ClockRules,
    Decision,
    FromReferee,
    GameEnd,
    GameStart,
    MatchStart,
    Welcome,
)
from hokm.v1.referee_service_pb2 import PlayResponse
from hokm.view import ClockView
from hokm.wire import decode_from_referee, encode_from_referee

EVENTS = (
    HandStarted(1, Seat(0), Seat(3), (0, 0)),
    PacketDealt(Seat(0), 2, CARDS[:2]),
    CARD_PLAYED[1][5],
)
BATCH: tuple[FromReferee, ...] = (
    Welcome(1, "arena", "token"),
    MatchStart("m", Rules.of(4), 1, ClockRules()),
    GameStart("m", 1, Seat(0), ("a", "b", "c", "d")),
    Decision(1, 1, EVENTS, PLAYS[:2], ClockView(1.0, 30.0)),
    GameEnd(1, EVENTS[2:], Outcome(Ending.COMPLETED, (1, 0), None)),
)


@pytest.mark.parametrize(
    "change",
    [
        strangers.with_unknown_fields,
        strangers.with_unknown_events,
        strangers.with_unknown_messages,
    ],
)
def test_what_is_unknown_hides_nothing(change: Callable[[bytes, Chance], bytes]) -> None:
    payload = encode_from_referee(BATCH)
    changed = change(payload, Chance("strangers"))
    assert len(changed) > len(payload)
    assert decode_from_referee(changed) == BATCH


def test_unknown_fields_are_in_messages_within_messages() -> None:
    changed = strangers.with_unknown_fields(encode_from_referee(BATCH), Chance("strangers"))
    decision = PlayResponse.FromString(changed).messages[3].decision
    inner = (decision, decision.legal, decision.clock, decision.events[1].packet_dealt.cards)
    for message in inner:
        known = type(message).FromString(message.SerializeToString())
        known.DiscardUnknownFields()
        assert known.ByteSize() < message.ByteSize(), type(message)


def test_a_padded_batch_is_as_large_as_was_asked_for() -> None:
    payload = encode_from_referee(BATCH)
    padded = strangers.padded(payload, to_bytes=500_000, messages=100)
    assert 500_000 <= len(padded) < 502_000
    assert len(PlayResponse.FromString(padded).messages) == 100 + len(BATCH)
    assert decode_from_referee(padded) == BATCH


def test_a_match_start_without_a_clock_has_none() -> None:
    start = strangers.without_clock(encode_from_referee(BATCH[1:2]))
    assert not PlayResponse.FromString(start).messages[0].match_start.HasField("clock")
