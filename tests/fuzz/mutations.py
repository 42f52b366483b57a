"""What comes from outside, made by chance: bytes, protobuf that means nothing, JSON with something
in a place where it does not belong.

Every example begins with a valid one or with the bare form of one, since bytes drawn at random are
refused at the door and try nothing behind it. ``FUZZ_FACTOR`` in the environment multiplies the
examples of every test here (``make fuzz``).
"""

import copy
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from hokm.records.document import sha256_of

FACTOR: Final = int(os.environ.get("FUZZ_FACTOR", "1"))

LONGEST_MESSAGE: Final = 1500
"""Characters at most in what a typed error says, whatever it is about."""


def examples(count: int) -> settings:
    """So many examples, or as many times more as are asked for."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=count * FACTOR, suppress_health_check=slow)


def check_bounded(error: Exception) -> None:
    """A typed error says something, and not everything."""
    assert 0 < len(str(error)) <= LONGEST_MESSAGE


# -- bytes


@st.composite
def mangled(draw: st.DrawFn, valid: st.SearchStrategy[bytes]) -> bytes:
    """A valid text of bytes after some accidents: flipped, cut, doubled, spliced with another."""
    data = draw(valid)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        match draw(st.integers(0, 5)):
            case 0 if start < len(data):
                flipped = data[start] ^ 1 << draw(st.integers(0, 7))
                data = data[:start] + bytes([flipped]) + data[start + 1 :]
            case 1:
                data = data[:start]
            case 2:
                data = data[:start] + data[end:]
            case 3:
                data = data[:end] + data[start:end] * draw(st.integers(1, 200)) + data[end:]
            case 4:
                other = draw(valid)
                data = data[:start] + other[draw(st.integers(0, len(other))) :]
            case _:
                data = data[:start] + draw(st.binary(max_size=8)) + data[end:]
    return data


# -- protobuf

NUMBERS: Final = st.one_of(
    st.integers(0, 60),
    st.sampled_from([2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**70]),
)


def varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def _field(number: int, wire_type: int, payload: bytes) -> bytes:
    return varint(number << 3 | wire_type) + payload


def _delimited(payload: bytes) -> bytes:
    return varint(len(payload)) + payload


_FIELD_NUMBERS: Final = st.one_of(st.integers(1, 16), st.sampled_from([0, 100, 2**29 - 1]))
_SCALARS: Final = st.one_of(
    st.builds(_field, _FIELD_NUMBERS, st.just(0), NUMBERS.map(varint)),
    st.builds(_field, _FIELD_NUMBERS, st.just(1), st.binary(min_size=8, max_size=8)),
    st.builds(_field, _FIELD_NUMBERS, st.just(5), st.binary(min_size=4, max_size=4)),
    st.builds(_field, _FIELD_NUMBERS, st.integers(0, 7), st.binary(max_size=4)),
    st.builds(
        _field, _FIELD_NUMBERS, st.just(2), st.text(max_size=50).map(str.encode).map(_delimited)
    ),
    st.builds(
        _field,
        _FIELD_NUMBERS,
        st.just(2),
        st.lists(NUMBERS.map(varint), max_size=60).map(b"".join).map(_delimited),
    ),
)


def _around(inner: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Fields as a message inside a field, or as a group, which may not end."""
    together = st.lists(inner, max_size=4).map(b"".join)
    group_ends = st.sampled_from([b"", *(varint(number << 3 | 4) for number in range(1, 6))])
    return st.one_of(
        st.builds(_field, _FIELD_NUMBERS, st.just(2), together.map(_delimited)),
        st.builds(
            _field, _FIELD_NUMBERS, st.just(3), st.tuples(together, group_ends).map(b"".join)
        ),
    )


FIELDS: Final = st.recursive(_SCALARS, _around, max_leaves=12)
"""Fields of no message in particular, nested."""

# A batch is a list of messages, each with one field of a few, each of these with a few fields; so
# what has this form gets as far as what is behind it.
MESSAGES: Final = st.builds(
    lambda number, fields: _field(
        1, 2, _delimited(_field(number, 2, _delimited(b"".join(fields))))
    ),
    st.integers(1, 10),
    st.lists(FIELDS, max_size=6),
)


def deep(number: int, depth: int) -> bytes:
    """A field in itself, so deep."""
    data = b""
    for _ in range(depth):
        data = _field(number, 2, _delimited(data))
    return data


# -- JSON

Path = tuple[str | int, ...]

VALUES: Final[st.SearchStrategy[Any]] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.sampled_from([2**31, 2**32 - 1, 2**32, 10**30, -(10**30), 10**4000]),
    st.sampled_from(
        ["", "\0", "\ud800", "\u202e", "AS", "AS AS", "K", "KRKR", "C", "SAR", "0" * 64]
    ),
    st.sampled_from(["CRASH", "unplayed", "NOT_IN_HAND", "boards", "classic", "casual", "on", "7"]),
    st.sampled_from([[], {}, [[]], [0], [0, 1], [0, 1, 0, 1], ["AS"], {"a": 1}, [[0, "AS"]]]),
    st.text(max_size=5),
    st.just("x" * 5000),
)
"""What may stand anywhere in a document; some of it is right somewhere."""


def paths_of(value: object, before: Path = ()) -> Iterator[Path]:
    """The way to everything in a document."""
    entries: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        entries = iter(value.items())
    elif isinstance(value, list):
        entries = iter(enumerate(value))
    for key, inner in entries:
        yield (*before, key)
        yield from paths_of(inner, (*before, key))


def _at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def _name(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _like(value: Any) -> st.SearchStrategy[Any]:
    """Something of the same kind, which may be let in and found out later or never."""
    match value:
        case bool() | None:
            return VALUES
        case int():
            few = st.sampled_from([value - 1, value + 1, -value, 2**32 - 1])
            return st.integers(0, 5) | few
        case str() if " " in value:  # cards, in another order, too few or too many
            words = value.split(" ")
            return st.lists(st.sampled_from(words), max_size=60).map(" ".join)
        case str():
            alike = ["boards", "classic", "rated", "casual", "on", "off", "suit,sar", "1", "2"]
            endings = ["CRASH", "STALL", "TIME", "COMPLETED", "HOST_FAULT", "NEVER_STARTED"]
            reasons = ["NOT_IN_HAND", "MALFORMED", "MATCH_OVER", "2C", "KKR", "H", "NAR", "winner"]
            return st.sampled_from([*alike, *endings, *reasons, "x", "\x1b", "\ud800", "ab" * 32])
        case list() if value:
            return st.lists(st.sampled_from(value), max_size=2 * len(value))
        case _:
            return VALUES


@st.composite
def mutated_documents(draw: st.DrawFn, documents: Sequence[Any]) -> Any:
    """One of these documents with one to three things in it changed: another value, gone, doubled,
    or what stands elsewhere, in this one or in another.
    """
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        paths = list(paths_of(document))
        if not paths:
            break
        # By name first: there are a thousand times and one score.
        names = sorted({_name(path) for path in paths})
        name = draw(st.sampled_from(names))
        path = draw(st.sampled_from([path for path in paths if _name(path) == name]))
        holder: Any = _at(document, path[:-1])
        key: Any = path[-1]
        match draw(st.integers(0, 9)):
            case 0 | 1 | 2 | 3 | 4:
                holder[key] = draw(_like(holder[key]))
            case 5:
                holder[key] = draw(VALUES)
            case 6:
                del holder[key]
            case 7 if isinstance(holder, list):
                times = draw(st.sampled_from([1, 2, 50]))
                holder[key:key] = [copy.deepcopy(holder[key]) for _ in range(times)]
            case 7:
                holder[draw(st.text(max_size=3))] = draw(VALUES)
            case 8:
                holder[key] = copy.deepcopy(_at(document, draw(st.sampled_from(paths))))
            case _:
                other = draw(st.sampled_from(documents))
                place = draw(st.sampled_from(list(paths_of(other))))
                holder[key] = copy.deepcopy(_at(other, place))
    return document


def sealed(document: Any) -> bytes:
    """A record's document with digests that fit, as far as it is one."""
    if isinstance(document, dict):
        document.pop("checksum", None)
        document["substance_digest"] = sha256_of(document.get("substance"))
        document["checksum"] = sha256_of(document)
    return json.dumps(document).encode()
