"""What homes and ladders say to each other about seats is received as it was sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hokm import wire
from hokm.seats import (
    MOST_SEATS_AT_ONCE,
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
from hokm.v1 import seat_service_pb2
from hokm.wire import WireError

TEXTS = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=40)
NUMBERS = st.integers(0, 2**64 - 1)
TABLES = st.builds(TableWish, st.integers(2, 4), st.sampled_from(Partners))
HELLOS = st.builds(
    HomeHello,
    protocol=st.integers(0, 2**32 - 1),
    sdk=TEXTS,
    name=TEXTS,
    version=TEXTS,
    seats=st.integers(1, MOST_SEATS_AT_ONCE),
    playing=st.lists(NUMBERS, max_size=MOST_SEATS_AT_ONCE).map(tuple),
    table=st.none() | TABLES,
)
FROM_HOME: st.SearchStrategy[FromHome] = st.one_of(
    HELLOS,
    st.builds(HomeAnswer, NUMBERS, st.sampled_from(HomeAnswerKind)),
    st.just(HomeAlive()),
    st.just(HomeDraining()),
)
TICKETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=200)
SECONDS = st.integers(0, 3600 * 10**6).map(lambda microseconds: microseconds / 1e6)
TO_HOME: st.SearchStrategy[ToHome] = st.one_of(
    st.builds(HomeWelcome, st.integers(0, 2**32 - 1), TEXTS, TEXTS),
    st.builds(SeatOffer, NUMBERS, TICKETS, SECONDS),
    st.builds(SeatOver, NUMBERS),
)

HELLO = HomeHello(1, "sdk", "rostam", "1.0", 4)


@given(FROM_HOME)
def test_what_a_home_says_arrives(message: FromHome) -> None:
    assert wire.decode_from_home(wire.encode_from_home(message)) == message


@given(TO_HOME)
def test_what_a_ladder_says_arrives(message: ToHome) -> None:
    assert wire.decode_to_home(wire.encode_to_home(message)) == message


def test_both_methods_have_the_same_messages_under_the_same_numbers() -> None:
    def fields(kind: type) -> dict[str, tuple[int, str | None]]:
        return {
            field.name: (field.number, field.message_type and field.message_type.full_name)
            for field in kind.DESCRIPTOR.fields  # type: ignore[attr-defined]
        }

    pb = seat_service_pb2
    sit = fields(pb.SitDownRequest)
    assert {name: fields(pb.OfferSeatsRequest)[name] for name in sit} == sit
    assert fields(pb.SitDownResponse) == fields(pb.OfferSeatsResponse)


def test_a_ticket_is_not_printed() -> None:
    assert "secret" not in repr(SeatOffer(1, "secret", 10.0))


@pytest.mark.parametrize(
    "hello",
    [
        HomeHello(1, "sdk", "", "1.0", 4),
        HomeHello(1, "sdk", "x" * 41, "1.0", 4),
        HomeHello(1, "sdk", "a\nb", "1.0", 4),
        HomeHello(1, "sdk", "rostam", "1.0", 0),
        HomeHello(1, "sdk", "rostam", "1.0", MOST_SEATS_AT_ONCE + 1),
        HomeHello(1, "sdk", "rostam", "1.0", 4, tuple(range(MOST_SEATS_AT_ONCE + 1))),
        HomeHello(1, "sdk", "rostam", "1.0", 4, (), TableWish(5)),
        HomeHello(1, "sdk", "rostam", "1.0", 4, (), TableWish(1)),
        HomeHello(-1, "sdk", "rostam", "1.0", 4),
    ],
)
def test_a_hello_out_of_bounds_is_not_sent(hello: HomeHello) -> None:
    with pytest.raises(WireError):
        wire.encode_from_home(hello)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        bytes(wire.HOME_MESSAGE_BYTES + 1),
        seat_service_pb2.OfferSeatsRequest(
            answer=seat_service_pb2.HomeAnswer(offer=1)
        ).SerializeToString(),
        seat_service_pb2.OfferSeatsRequest(
            hello=seat_service_pb2.HomeHello(sdk="s", name="n", version="v", seats=65)
        ).SerializeToString(),
    ],
)
def test_what_a_home_may_not_say_is_a_wire_error(data: bytes) -> None:
    with pytest.raises(WireError):
        wire.decode_from_home(data)


@pytest.mark.parametrize("ticket", ["", "a\nb", "é", "x" * 201])
def test_an_offer_without_a_ticket_is_a_wire_error(ticket: str) -> None:
    offer = seat_service_pb2.SeatOffer(offer=1, ticket=ticket)
    data = seat_service_pb2.OfferSeatsResponse(offer=offer).SerializeToString()
    with pytest.raises(WireError):
        wire.decode_to_home(data)


def test_a_kind_of_a_later_version_is_none() -> None:
    assert wire.decode_from_home(b"") is None
    assert wire.decode_to_home(b"\xc2\x3e\x00") is None  # field 1000
