"""A schedule is kept and published as text, and read back as the same value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.schedules import (
    KINDS,
    Adaptive,
    Gauntlet,
    KnockOut,
    RoundRobin,
    Swiss,
    from_document,
    from_text,
    kind_of,
    to_document,
    to_text,
)

COUNTS = st.integers(1, 1000)
NAMES = st.lists(st.text(min_size=1, max_size=5), unique=True).map(tuple)
SCHEDULES = st.one_of(
    st.builds(RoundRobin, COUNTS),
    st.builds(Gauntlet, NAMES.filter(len), among=st.booleans(), near=st.integers(0, 99)),
    st.builds(Gauntlet, NAMES.filter(len), COUNTS, among=st.booleans()),
    st.builds(Swiss, st.none() | COUNTS, NAMES),
    st.builds(KnockOut, st.booleans(), st.integers(0, 9), NAMES),
    st.builds(Adaptive, COUNTS, st.none() | st.just(2), st.none() | st.just(7)),
)


@given(SCHEDULES)
def test_what_is_read_is_what_was_written(schedule):
    assert from_text(to_text(schedule)) == schedule
    assert from_document(to_document(schedule)) == schedule
    assert "\n" not in to_text(schedule)


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        (RoundRobin(2), '{"cycles": 2, "kind": "round-robin"}'),
        (
            Gauntlet(("mine",)),
            '{"among": false, "cycles": 1, "kind": "gauntlet", "near": 0, "seeds": ["mine"]}',
        ),
        (Swiss(), '{"kind": "swiss", "order": [], "rounds": null}'),
        (KnockOut(), '{"kind": "knock-out", "order": [], "replays": 2, "third": false}'),
        (Adaptive(500), '{"kind": "adaptive", "least": null, "matches": 500, "most": null}'),
    ],
)
def test_the_texts_are_these(schedule, text):
    # They are in the databases and documents of events that were played: they must stay readable.
    assert to_text(schedule) == text
    assert KINDS[kind_of(schedule)] is type(schedule)


def test_what_is_left_out_has_its_default():
    assert from_text('{"kind": "round-robin", "cycles": 3}') == RoundRobin(3)
    assert from_text('{"kind": "gauntlet", "seeds": ["a"]}') == Gauntlet(("a",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "is no schedule"),
        ("{", "is no schedule"),
        ("{}", "is no kind of schedule; there are round-robin, gauntlet, swiss"),
        ('{"kind": ["swiss"]}', "is no kind of schedule"),
        ('{"kind": "swiss", "round": 3}', "is no option of swiss; there are rounds, order"),
        ('{"kind": "swiss", "rounds": true}', "rounds of swiss cannot be True"),
        ('{"kind": "swiss", "rounds": 2.5}', "rounds of swiss cannot be 2.5"),
        ('{"kind": "swiss", "rounds": 0}', "1 round or more, not 0"),
        ('{"kind": "gauntlet", "seeds": "mine"}', "seeds of gauntlet cannot be"),
        ('{"kind": "gauntlet", "seeds": [1]}', "seeds of gauntlet cannot be"),
        ('{"kind": "gauntlet"}', "gauntlet lacks one of its options: seeds"),
        ('{"kind": "knock-out", "third": 1}', "third of knock-out cannot be 1"),
        ('{"kind": "adaptive"}', "adaptive lacks one of its options: matches"),
    ],
)
def test_what_is_no_schedule_is_refused_with_what_is_wrong(text, why):
    with pytest.raises(ValueError, match=why):
        from_text(text)


def test_it_is_written_the_same_way_whoever_writes_it():
    text = to_text(Gauntlet(("چهار", "b")))
    assert json.loads(text)["seeds"] == ["چهار", "b"]
    assert "چهار" in text


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (RoundRobin(2), "2 cycles"),
        (Gauntlet(("mine", "yours")), "a gauntlet of mine, yours"),
        (Swiss(7), "a Swiss event, 7 rounds"),
        (Swiss(), "a Swiss event"),
        (KnockOut(), "a knock-out"),
        (Adaptive(500), "500 matches where they say most"),
    ],
)
def test_a_schedule_is_said_in_a_few_words(schedule, said):
    assert str(schedule) == said
