"""Notes: what one may be, and what becomes of what cannot be one."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hokm.notes import NOTE_CHARACTERS, NOTE_NUMBERS, Note, fitted, wrong_with


def test_what_fits_is_kept_as_it_was_given() -> None:
    note, wrong = fitted("the ace is out", {"win": 0.61, "deals": 40, "third": Fraction(1, 4)})
    assert note == Note("the ace is out", (("win", 0.61), ("deals", 40.0), ("third", 0.25)))
    assert wrong == ""
    assert wrong_with(note) == ""


def test_a_note_is_told_in_a_line() -> None:
    assert str(Note("the ace is out", (("win", 0.61), ("deals", 40.0)))) == (
        "the ace is out; win 0.61, deals 40"
    )
    assert str(Note("", (("x", 1e-9),))) == "x 1e-09"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x" * 201, "x" * 200),
        ("two\nlines", "two lines"),
        ("\x1b[31mred", "[31mred"),
        ("\ud800!", "!"),
        ("\u202eright to left", "right to left"),
        (None, "None"),
    ],
)
def test_a_text_that_does_not_fit_is_cut_to_what_does(text: object, kept: str) -> None:
    note, wrong = fitted(text, {})
    assert note == Note(kept)
    assert bool(wrong) == isinstance(text, str)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nan", math.nan),
        ("far", -math.inf),
        ("text", "0.5"),
        ("nothing", None),
        ("whole", 10**400),
        ("complex", 1j),
        ("x" * 25, 1.0),
        ("two words", 1.0),
        ("1st", 1.0),
        ("élan", 1.0),
        ("", 1.0),
        ("line\n", 1.0),
    ],
)
def test_a_number_that_is_none_is_left_out_and_said(name: str, value: object) -> None:
    note, wrong = fitted("", {"good": 1, name: value})
    assert note == Note("", (("good", 1.0),))
    assert repr(name[:24]) in wrong


def test_numbers_beyond_the_most_are_left_out_and_said() -> None:
    note, wrong = fitted("", {f"n{place}": place for place in range(9)})
    assert note is not None
    assert len(note.numbers) == NOTE_NUMBERS
    assert "it has 9 numbers, and 8 is the most" in wrong


def test_a_note_that_says_nothing_is_none() -> None:
    assert fitted("", {}) == (None, "")
    assert fitted(" ", {"x": math.nan})[0] is None
    assert wrong_with(Note()) == "it says nothing"


anything = st.one_of(
    st.text(max_size=NOTE_CHARACTERS + 50), st.floats(), st.integers(), st.none(), st.binary()
)


@given(anything, st.dictionaries(st.text(max_size=30), anything, max_size=12))
def test_whatever_is_given_becomes_a_note_or_none(text: object, numbers: dict[str, object]) -> None:
    note, _ = fitted(text, numbers)
    assert note is None or wrong_with(note) == ""
