"""Any text is hands, or a NotationError that says where; and what is read can be played."""

import contextlib
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hokm.cards import Card, Trump, parse_cards
from hokm.errors import NotationError
from hokm.notation import LARGEST_CHARACTERS, hand_events, hand_text, parse_hands
from hokm.records import ReplayError
from tests.fuzz.mutations import check_bounded, examples
from tests.hokm.records.conftest import make_match_record

KNOWN = """
hokm race hand hakem deck cut trump discards draws plays / # 0 1 2 3 4 7 51 52 -1 AS as TC A♠ 2c ZZ
K R KRKR C SAR TAK_NAR = cut=on cut=off modes=suit,nar target_points=7 teams=second_ace x=y ٣ ²
first_hakem=seat:1 pause_after=first_round
"""
WORDS = st.one_of(
    st.sampled_from([*KNOWN.split(), "", "\n"]),
    st.text(max_size=4),
    st.just("9" * 5000),
    st.just("x" * 5000),
)


def texts() -> list[str]:
    """The short text of hands of every table."""
    records = [make_match_record(players, games=1) for players in (2, 3, 4)]
    return [
        hand_text(record.rules, hand)
        for record in records
        for room in record.rooms
        for game in room.games
        for hand in game.hands
    ]


@st.composite
def mangled_texts(draw: st.DrawFn) -> str:
    """A hand with words lost, doubled, changed, or moved."""
    words = draw(st.sampled_from(VALID)).replace("\n", " \n ").split(" ")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words)))
        match draw(st.integers(0, 4)):
            case 0:
                words[at : at + 1] = [draw(WORDS)]
            case 1:
                words[at:at] = [draw(WORDS)]
            case 2:
                del words[at : at + draw(st.integers(1, 10))]
            case 3:
                words[at:at] = words[at : at + draw(st.integers(1, 60))]
            case _:
                words = words[at:] + words[:at]
    return " ".join(words)


VALID = texts()


def read_and_play(text: str) -> None:
    try:
        hands = parse_hands(text)
    except NotationError as error:
        check_bounded(error)
        return
    for rules, hand in hands:
        assert parse_hands(hand_text(rules, hand)) == ((rules, hand),)
        with contextlib.suppress(ReplayError):
            list(hand_events(rules, hand))


@examples(200)
@given(st.one_of(mangled_texts(), st.text(max_size=60), st.lists(WORDS).map(" ".join)))
@example("hokm 4 hakem 0 hand " + "9" * 5000)
@example("hokm 4 hakem 0 " + "=" * 5000)
@example("hokm 4 hakem 0 a=" + "b" * 5000)
@example("hokm 4 hakem 0 " + ("a" * 5000 + "=b ") * 2)
@example("hokm 4 hakem ²")
def test_any_text_is_hands_or_a_notation_error(text: str) -> None:
    read_and_play(text)


@examples(100)
@given(st.text(max_size=10))
def test_any_text_is_cards_and_a_trump_or_a_notation_error(text: str) -> None:
    for parse in (Card.parse, Trump.parse, parse_cards):
        with contextlib.suppress(NotationError):
            parse(text)


@pytest.mark.parametrize("piece", ["/ ", "hokm ", "AS ", "plays ", "#\n", "K "])
def test_a_text_takes_memory_as_it_is_long(piece: str) -> None:
    for start in ("hokm 4 hakem 0 deck ", "hokm 2 hakem 0 plays ", ""):
        text = start + piece * (100_000 // len(piece))
        tracemalloc.start()
        try:
            read_and_play(text)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 200 * len(text)
    assert 200 * LARGEST_CHARACTERS < 2**28
