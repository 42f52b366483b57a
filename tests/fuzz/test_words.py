"""What is said on a command line or in the environment: understood, or refused by a typed error."""

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.cli.errors import Misuse
from arena.cli.options import checked_seconds, option_texts
from arena.ladder.bots.entrants import BotError, checked_name, find_bot
from arena.ladder.settings import Settings
from arena.wording import printable
from hokm.bot import Bot
from hokm.cards import Card
from hokm.client import ADDRESS_VARIABLE, TICKET_VARIABLE, run
from hokm.deck import SEED_BYTES, secret_from_text
from hokm.errors import RulesError
from hokm.records import Format
from hokm.rules.options import OPTIONS, Play, Rules
from hokm.view import View
from tests.fuzz.mutations import check_bounded, examples


class Lowest(Bot):
    def play(self, view: View) -> Card:
        return view.playable[0]


TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["", "on", "off", "suit,nar", "suit,suit", "seat:0", "seat:9", "seat:", "٧", "7"]
    ),
    st.sampled_from(
        ["\ud800", "\0", "a" * 5000, "9" * 5000, "C", "first_round", "second_ace", ","]
    ),
)
NAMES = st.one_of(st.sampled_from(sorted(OPTIONS)), TEXTS)
SEATS = st.one_of(st.integers(2, 4), st.integers())


@examples(300)
@given(SEATS, st.sampled_from(Play), st.dictionaries(NAMES, TEXTS, max_size=3))
def test_any_options_are_rules_or_a_rules_error(
    players: int, play: Play, options: dict[str, str]
) -> None:
    try:
        rules = Rules.of(players, play=play, options=options)
    except RulesError as error:
        check_bounded(error)
    else:
        assert Rules.of(players, play=play, options=rules.options()) == rules


@examples(150)
@given(TEXTS, SEATS, st.sampled_from(Format), st.dictionaries(NAMES, TEXTS, max_size=2), TEXTS)
def test_what_is_asked_of_a_new_ladder_is_settings_or_a_value_error(
    name: str, players: int, kind: Format, options: dict[str, str], anchor: str
) -> None:
    try:
        Settings.of(name, players=players, format=kind, options=options, anchor=anchor)
    except ValueError as error:
        check_bounded(error)


@examples(100)
@given(st.lists(st.one_of(TEXTS, st.builds("{}={}".format, NAMES, TEXTS)), max_size=4))
def test_any_pairs_are_options_or_misuse(pairs: list[str]) -> None:
    with contextlib.suppress(Misuse):
        option_texts(pairs)


@examples(100)
@given(st.floats())
def test_any_number_of_seconds_is_in_its_bounds_or_misuse(seconds: float) -> None:
    with contextlib.suppress(Misuse):
        assert 0 <= checked_seconds("--hello-time", seconds) < 3600


@examples(150)
@given(TEXTS)
def test_any_name_is_composed_and_visible_or_a_value_error(text: str) -> None:
    try:
        name = checked_name(text)
    except ValueError as error:
        check_bounded(error)
    else:
        assert name.isprintable()
        assert checked_name(name) == name


@examples(150)
@given(TEXTS)
@example("n" * 255 + "/x")
@example("/dev/null")
@example("~")
def test_any_word_for_a_bot_is_a_folder_or_a_bot_error(text: str) -> None:
    try:
        find_bot(text)
    except BotError as error:
        check_bounded(error)


@examples(100)
@given(st.text())
def test_any_text_that_has_bytes_is_a_seed(text: str) -> None:
    assert len(secret_from_text(text)) == SEED_BYTES


@examples(150)
@given(TEXTS)
def test_what_somebody_else_wrote_is_printed_as_it_can_be(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()


@pytest.mark.parametrize(
    ("address", "ticket"),
    [
        ("", "secret"),
        ("127.0.0.1:1", ""),
        ("127.0.0.1:99999", "secret"),
        ("127.0.0.1:1", "secret\n"),
        ("127.0.0.1:1", "secret\udcff"),
        ("127.0.0.1:1", "secrét"),
        ("\udcff", "t"),
        ("unix:", "t"),
        ("unix:" + "x" * 500, "t"),
        ("no-such-scheme:///x", "t"),
        (" ", "t"),
        ("[::1", "t"),
    ],
)
def test_a_bot_in_an_environment_that_names_no_arena_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str, ticket: str
) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, address)
    monkeypatch.setenv(TICKET_VARIABLE, ticket)
    monkeypatch.setattr("hokm.client.CONNECT_SECONDS", 0.2)
    with pytest.raises(SystemExit) as ended:
        run(Lowest)
    assert ended.value.code in (1, 2)
    said = capsys.readouterr().err
    assert said.startswith("hokm: ")
    assert said.count("\n") == 1
    assert "secret" not in said
