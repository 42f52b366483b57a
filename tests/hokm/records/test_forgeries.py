"""A document whose digests were made to fit is refused, or judged; it never breaks the judge."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hokm.records import Format, MatchRecord, RecordError, from_json, to_json, verify
from hokm.records.document import sha256_of

MakeMatch = Callable[..., MatchRecord]

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([2**32, 10**30, "", "\0", "\ud800", "AS", "K", "0" * 64, [], {}]),
    st.text(max_size=3),
)

# What no rule speaks about: who entered and how fast it had to be.
UNJUDGED = {
    *("owner", "version", "digest", "clock", "move_milliseconds", "bank_milliseconds"),
    # What a kot counts says nothing where there was none.
    *("points_kot", "points_hakem_kot"),
}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("kind", Format)
def test_a_forged_value_is_refused_or_found(
    make_match: MakeMatch, kind: Format, players: int
) -> None:
    check_forgeries(make_match(players, kind, games=1))


def test_a_forged_cut_or_draw_of_partners_is_refused_or_found(
    make_drawn_match: MakeMatch,
) -> None:
    record = make_drawn_match(games=1)
    assert record.rooms[0].games[0].seating is not None
    check_forgeries(record)


def check_forgeries(record: MatchRecord) -> None:
    text = to_json(record)
    paths = [path for path in paths_of(json.loads(text)["substance"]) if UNJUDGED.isdisjoint(path)]

    @settings(max_examples=60)
    @given(st.sampled_from(paths), VALUES)
    def check(path: tuple[str | int, ...], value: object) -> None:
        document = json.loads(text)
        inner = document["substance"]
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
        try:
            read = from_json(resealed(document))
        except RecordError:
            return
        assert read == record or verify(read)

    check()


def paths_of(value: Any, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        yield (*before, key)
        if isinstance(inner, (dict, list)):
            yield from paths_of(inner, (*before, key))


def resealed(document: dict[str, Any]) -> bytes:
    """The document with digests that fit."""
    del document["checksum"]
    document["substance_digest"] = sha256_of(document["substance"])
    return json.dumps({**document, "checksum": sha256_of(document)}).encode()
