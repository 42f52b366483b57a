"""Whatever arrives between a home and a ladder is a message, or a WireError."""

from hypothesis import example, given
from hypothesis import strategies as st

from hokm import wire
from hokm.seats import FromHome, ToHome
from hokm.wire import WireError
from tests.fuzz.mutations import FIELDS, MESSAGES, check_bounded, deep, examples, mangled
from tests.hokm.test_seats import FROM_HOME, TO_HOME

FORMS = st.lists(FIELDS | MESSAGES, max_size=6).map(b"".join)


def from_home(data: bytes) -> FromHome | None:
    try:
        return wire.decode_from_home(data)
    except WireError as error:
        check_bounded(error)
        return None


def to_home(data: bytes) -> ToHome | None:
    try:
        return wire.decode_to_home(data)
    except WireError as error:
        check_bounded(error)
        return None


@examples(200)
@given(st.one_of(st.binary(max_size=200), mangled(FROM_HOME.map(wire.encode_from_home)), FORMS))
@example(deep(1, 5000))
@example(b"\x0b" * 2000)
def test_a_homes_bytes_are_a_message_or_a_wire_error(data: bytes) -> None:
    message = from_home(data)
    if message is not None:
        assert from_home(wire.encode_from_home(message)) == message


@examples(200)
@given(st.one_of(st.binary(max_size=200), mangled(TO_HOME.map(wire.encode_to_home)), FORMS))
@example(deep(2, 2000))
def test_a_ladders_bytes_are_a_message_or_a_wire_error(data: bytes) -> None:
    message = to_home(data)
    if message is not None:
        assert to_home(wire.encode_to_home(message)) == message
