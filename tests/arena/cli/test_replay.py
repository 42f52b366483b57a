"""`arena replay` as its users see it: a record or a pasted hand, told trick by trick."""

import io
import os
import subprocess
import sys
from dataclasses import is_dataclass, replace
from random import Random
from textwrap import dedent

import pytest

import hokm.events
from arena import telling
from arena.cli.pasting import OFFER
from hokm.actions import ChooseDraw, CutDeck, DeclareTrump, DiscardCards, PlayCard
from hokm.cards import Seat, Side
from hokm.errors import Reason
from hokm.events import Event
from hokm.notation import hand_text, parse_hands
from hokm.notes import Note
from hokm.outcome import Ending, Outcome
from hokm.records import Flag, HandRecord, MatchRecord, Noted, Refusal, load, save
from tests.hokm.permute import Story, other_story
from tests.hokm.random_play import random_story
from tests.hokm.test_permutation import TABLES, name_of, stops

HAND = """\
hokm 4 hakem 1 pause_after=right_opponent
deck QS JC KH JD 4C AH 8D KC JH 7C 5H AS 6S 4D QD 9S TS TD 3S 2S AC KS 8H 9D
  AD 2H TH QC 9H 5C 7D 3D 6D 7S 2C 3H 5S 3C 8S 8C 2D KD 4S 6H 4H 7H 9C 5D 6C
  JS QH TC
trump H
plays 4C KC 9C TC / 4S AS TS 8S / 7D TD JD
"""

OPEN = """\
4 players, boards, pause_after=right_opponent
> leads, ^ trump, * takes the trick

hand 1: seat 1 is hakem, seat 0 deals, score 0-0
  hands    1  4♣ J♣ J♦ K♥ Q♠
           2  7♣ K♣ 8♦ J♥ A♥
  trump    ♥, named by seat 1
  hands    0  2♣ 6♣ T♣ 6♦ T♦ 3♥ Q♥ 2♠ 3♠ 7♠ 9♠ T♠ J♠
           1  3♣ 4♣ 8♣ J♣ A♣ 9♦ J♦ 8♥ K♥ 5♠ 8♠ Q♠ K♠
           2  7♣ Q♣ K♣ 2♦ 8♦ K♦ A♦ 2♥ 6♥ T♥ J♥ A♥ 4♠
           3  5♣ 9♣ 3♦ 4♦ 5♦ 7♦ Q♦ 4♥ 5♥ 7♥ 9♥ 6♠ A♠
  trick     0      1      2      3      won by side
      1     T♣    >4♣     K♣*    9♣    1-0
      2     T♠     8♠    >4♠     A♠*   1-1
      3     T♦     J♦           >7♦

"""

FROM_SEAT_0 = """\
4 players, boards, pause_after=right_opponent
> leads, ^ trump, * takes the trick

hand 1: seat 1 is hakem, seat 0 deals, score 0-0
  hands    1  (5 cards)
           2  (5 cards)
  trump    ♥, named by seat 1
  hands    0  2♣ 6♣ T♣ 6♦ T♦ 3♥ Q♥ 2♠ 3♠ 7♠ 9♠ T♠ J♠
           1  (13 cards)
           2  (13 cards)
           3  (13 cards)
  trick     0      1      2      3      won by side
      1     T♣    >4♣     K♣*    9♣    1-0
      2     T♠     8♠    >4♠     A♠*   1-1
      3     T♦     J♦           >7♦

"""

DRAW = """\
hokm 2 hakem 1
deck KH JD 2S TD 5D AS 4H KS 5S 6S 9C 2D QH AH 3S AC QC 4C 8H 3H 8S 7S 5H KD
  JS 4S 9D 2H 2C 7H TC QS KC 6D QD TH 9H 3D 5C 7D JH TS 3C 6C 7C JC 6H AD 9S
  8C 8D 4D
trump S
discards JD KH 2S / 5S 6S
draws RRKK
"""

DRAWN = """\
2 players, boards
> leads, ^ trump, * takes the trick

hand 1: seat 1 is hakem, seat 0 deals, score 0-0
  hands    0  4♥ 5♠ 6♠ K♠ A♠
           1  5♦ T♦ J♦ K♥ 2♠
  trump    ♠, named by seat 1
  discard  seat 1 lays away J♦ K♥ 2♠
  discard  seat 0 lays away 5♠ 6♠
  draw     42 left: seat 1 refuses 9♣, and takes 2♦
  draw     40 left: seat 0 refuses Q♥, and takes A♥
  draw     38 left: seat 1 keeps 3♠, and A♣ goes
  draw     36 left: seat 0 keeps Q♣, and 4♣ goes
  draw     34 left: seat 1 looks at 8♥
  hands    0  Q♣ 4♥ A♥ K♠ A♠
           1  2♦ 5♦ T♦ 3♠

"""

DRAWN_FROM_SEAT_0 = """\
  hands    0  4♥ 5♠ 6♠ K♠ A♠
           1  (5 cards)
  trump    ♠, named by seat 1
  discard  seat 1 lays away 3 cards
  discard  seat 0 lays away 5♠ 6♠
  draw     42 left: seat 1 refuses the first card, and takes the second
  draw     40 left: seat 0 refuses Q♥, and takes A♥
  draw     38 left: seat 1 keeps the first card
  draw     36 left: seat 0 keeps Q♣, and 4♣ goes
  draw     34 left: seat 1 looks at a card
  hands    0  Q♣ 4♥ A♥ K♠ A♠
           1  (4 cards)

"""

RESULT = """\
hokm 4 race hand 2 hakem 2 modes=suit,sar cut=on
deck TD 3H 9H 6S 7D 8C 7C QD 6C 5C AC 4C JS AS QS 4S 8D KH TH 2D 6H 3C TS 2S
  JD AD 5D 7H 8S 4H 6D TC 5H 9S 2C 4D 8H JC 3D QH 5S 3S KD QC 9C KS 9D JH AH
  7S KC 2H
cut 1
trump SAR
"""


@pytest.fixture
def told(run, tmp_path):
    """`told(text, words…)`: what is printed of a pasted hand."""

    def told(text, *words):
        file = tmp_path / "hand.txt"
        file.write_text(text, encoding="utf-8")
        ran = run("replay", file, *words)
        assert (ran.status, ran.err) == (0, "")
        return ran.out

    return told


# -- a hand


def test_a_hand_is_told_openly(told):
    assert told(HAND) == OPEN


def test_a_hand_is_told_from_a_seat_with_its_own_cards_alone(told):
    assert told(HAND, "--seat", 0) == FROM_SEAT_0


def test_draws_and_discards_are_told(told):
    assert told(DRAW) == DRAWN


def test_of_the_others_draws_and_discards_no_card_is_told(told):
    assert told(DRAW, "--seat", 0).partition("score 0-0\n")[2] == DRAWN_FROM_SEAT_0


def test_of_a_private_choice_only_its_turn_is_told(told):
    shown = told(DRAW.replace("hakem 1", "hakem 1 draw_choice_public=off"), "--seat", 0)
    assert shown.count("seat 1 keeps the first card or takes the second\n") == 2
    assert "seat 0 keeps Q♣, and 4♣ goes" in shown


def test_a_cut_and_a_mode_are_told(told):
    shown = told(RESULT, "--seat", 3)
    assert "4 players, a race, modes=suit,sar, cut=on\n" in shown
    assert "hand 2: seat 2 is hakem, seat 1 deals, score 0-0\n" in shown
    assert "  cut      seat 0 cuts 1 card from the top to the bottom\n" in shown
    assert "  trump    sar (no trump, aces high), named by seat 2\n" in shown


def test_every_kind_of_event_can_be_told():
    kinds = {kind for kind in vars(hokm.events).values() if is_event(kind)}
    assert set(telling._TELL) == kinds


def is_event(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Event) and is_dataclass(kind)


def test_several_hands_are_told_in_turn_and_come_from_stdin_as_well(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((DRAW + HAND).encode())))
    assert run("replay", "-").out == DRAWN + OPEN


def test_the_text_of_a_hand_is_printed_as_it_should_be_written(told):
    assert told(HAND.replace("\n", " # so\n").lower(), "--text") == HAND + "\n"


# -- nothing that a seat may not know


def text_of(story: Story) -> str:
    actions = story.actions
    hand = HandRecord(
        number=1,
        deck=story.deck,
        hakem=story.hakem,
        cut=next((one.position for one in actions if isinstance(one, CutDeck)), None),
        trump=next((one.trump for one in actions if isinstance(one, DeclareTrump)), None),
        discards=tuple(one.cards for one in actions if isinstance(one, DiscardCards)),
        draws=tuple(one.choice for one in actions if isinstance(one, ChooseDraw)),
        plays=tuple(one.card for one in actions if isinstance(one, PlayCard)),
    )
    return hand_text(story.rules, hand)


@pytest.mark.rule("6")
@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_what_a_seat_is_told_is_the_same_with_other_hidden_cards(told, table):
    rng = Random(3)
    differing = 0
    for story in stops(random_story(table, rng), rng):
        seat = Seat(rng.randrange(table.players))
        one, other = text_of(story), text_of(other_story(story, seat, rng))
        assert told(one, "--seat", seat) == told(other, "--seat", seat)
        differing += told(one) != told(other)
    assert differing, "the other cards would not even show openly"


# -- a record


@pytest.fixture
def record(run, runner, make_bot, tmp_path):
    """Writes a record of two boards and gives its file; `change` makes another of it."""

    def record(*words: object, change=None, names=("sara", "علی")):
        file = tmp_path / "match.json"
        bots = [make_bot(name) for name in names]
        ran = run("match", *bots, *(words or ("--boards", 2)), "--seed", "s", "--record", file)
        assert ran.status == 0, ran.err
        if change is not None:
            save(file, change(load(file)))
        return file

    return record


def with_first_game(record: MatchRecord, **changes: object) -> MatchRecord:
    room = record.rooms[0]
    games = (replace(room.games[0], **changes), *room.games[1:])  # type: ignore[arg-type]
    return replace(record, rooms=(replace(room, games=games), *record.rooms[1:]))


def test_every_game_of_a_record_is_told_with_its_names(run, record):
    ran = run("replay", record())
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].endswith("/sara~علی: 4 players, boards")
    places = [line for line in lines if line.startswith("room ")]
    assert places == [f"room {room}, game {game}" for room in (1, 2) for game in (1, 2)]
    # The mark keeps what follows a name in Persian where it belongs.
    seated = ("sara", "علی\N{LEFT-TO-RIGHT MARK}") * 2
    assert lines[4:8] == [f"  seat {seat}   {name}" for seat, name in enumerate(seated)]
    assert ran.out.count("  ending   COMPLETED\n") == 4
    assert ran.out.count("  result   won by ") + ran.out.count("kot by ") == 4


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("--room 2", ["room 2, game 1", "room 2, game 2"]),
        ("--game 2", ["room 1, game 2", "room 2, game 2"]),
        ("--room 1 --game 2 --hand 1", ["room 1, game 2"]),
    ],
)
def test_room_and_game_choose(run, record, words, places):
    ran = run("replay", record(), *words.split())
    assert [line for line in ran.out.splitlines() if line.startswith("room ")] == places


def with_gains(record: MatchRecord) -> MatchRecord:
    """Board 1 is level; the first entrant loses board 2, whose sides are changed in room 2."""
    points = ({1: (1, 0), 2: (0, 2)}, {1: (1, 0), 2: (0, 1)})
    rooms = []
    for room, by_game in zip(record.rooms, points, strict=True):
        games = tuple(
            replace(game, outcome=Outcome(Ending.COMPLETED, by_game[game.number], None))
            for game in room.games
        )
        rooms.append(replace(room, games=games))
    return replace(record, rooms=tuple(rooms))


def test_the_boards_that_a_bot_lost_are_named_and_shown_room_beside_room(run, record):
    ran = run("replay", record(change=with_gains), "--lost", "sara")
    assert ran.err == "sara lost 1 of 2 boards: 2\n"
    places = [line for line in ran.out.splitlines() if line.startswith("room ")]
    assert places == ["room 1, game 2", "room 2, game 2"]
    texts = [text[: text.index("\n\n")] for text in f"{ran.out}\n\n".split(OFFER)[1:]]
    (first,), (second,) = (parse_hands(dedent(text)) for text in texts)
    assert first[1].deck == second[1].deck, "the two rooms of a board"


def test_where_a_bot_lost_nothing_that_is_said(run, record):
    ran = run("replay", record(change=with_gains), "--lost", "علی", "--text")
    assert (ran.status, ran.out, ran.err) == (0, "", "علی lost 0 of 2 boards\n")


def test_boards_that_not_every_room_finished_are_not_counted_as_not_lost(run, record):
    def stopped(made: MatchRecord) -> MatchRecord:
        first, *others = with_gains(made).rooms
        outcome = Outcome(Ending.STOPPED, (0, 0), None)
        games = (replace(first.games[0], outcome=outcome), *first.games[1:])
        return replace(made, rooms=(replace(first, games=games), *others))

    ran = run("replay", record(change=stopped), "--lost", "sara", "--text")
    assert ran.err == ("sara lost 1 of 1 boards: 2; not counted: 1 that not every room finished\n")


def test_a_race_is_told_from_its_ace_draw_on(run, record):
    file = record("--format", "classic", "--games", 1, "--option", "target_points=3")
    game = load(file).rooms[0].games[0]
    out = run("replay", file, "--room", 1).out
    turned = "  ".join(f"{seat} {card.symbol}" for seat, card in game.turned[:10])
    assert f"\n  ace draw {turned}\n" in out
    assert out.count("\nhand ") == len(game.hands) > 1
    assert out.count("\n  next     seat ") == len(game.hands) - 1
    assert out.index("ace draw") < out.index("hand 1: ")


def test_one_hand_of_a_race_is_told_alone(run, record):
    file = record("--format", "classic", "--games", 1, "--option", "target_points=3")
    last = len(load(file).rooms[0].games[0].hands)
    first = run("replay", file, "--room", 1, "--hand", 1).out
    assert "ace draw" not in first
    assert (first.count("\nhand "), first.count("ending")) == (1, 0)
    ending = run("replay", file, "--room", 1, "--hand", last).out
    assert (ending.count(f"\nhand {last}: "), ending.count("ending")) == (1, 1)
    assert "score 0-0" not in ending


def without_second_trump(record: MatchRecord) -> MatchRecord:
    first, second, *rest = record.rooms[0].games[0].hands
    return with_first_game(record, hands=(first, replace(second, trump=None), *rest))


def test_a_hand_can_be_seen_although_a_later_one_is_damaged(run, record):
    words = ("--format", "classic", "--games", 1, "--option", "target_points=3")
    file = record(*words, change=without_second_trump)
    assert run("replay", file, "--room", 1, "--hand", 1).status == 0
    ran = run("replay", file, "--room", 1)
    assert ran.status == 1
    assert ran.err.startswith("error: room 1, game 1, hand 2, play 1: seat ")
    assert ran.out.count("\n  result   ") == 1


def test_a_partner_that_was_drawn_is_told(run, record):
    words = ["--format", "classic", "--games", 1, "--option", "target_points=1"]
    file = record(*words, "--option", "teams=second_ace", names="abcd")
    room = load(file).rooms[0]
    out = run("replay", file, "--room", 1).out
    assert "\n  partner  the second ace makes it the player at seat " in out
    seated = [
        f"  seat {seat}   {'abcd'[index]}\n"
        for seat, index in enumerate(room.seating_of(room.games[0]))
    ]
    assert "".join(seated) in out


def test_the_texts_of_a_record_are_its_hands(run, record, tmp_path):
    file = record()
    texts = run("replay", file, "--text").out
    assert texts.startswith(f"# {load(file).match}, room 1, game 1, hand 1\nhokm 4 hakem 0\n")
    hands = [hand for room in load(file).rooms for game in room.games for hand in game.hands]
    assert [hand for _, hand in parse_hands(texts)] == [replace(one, result=None) for one in hands]


FAULT = Outcome(Ending.CRASH, (0, 3), None, at_fault=Seat(2), cause="broke off\n\x1b[31mhere")


def test_an_ending_is_told_with_its_cause_and_steers_no_terminal(run, record):
    ran = run("replay", record(change=lambda one: with_first_game(one, outcome=FAULT)))
    expected = "  ending   CRASH by the fault of seat 2, sara: broke off\\n\\x1b[31mhere\n"
    assert f"{expected}           nobody wins; points by side 0, 3\n" in ran.out


def test_a_game_with_a_fault_ends_with_its_hand_to_paste_where_all_cards_are_open(run, record):
    file = record(change=lambda one: with_first_game(one, outcome=FAULT))
    offer = "  the hand so far, to paste into `arena replay -`:\n"
    shown = run("replay", file, "--room", 1, "--game", 1).out
    [(rules, hand)] = parse_hands(shown.partition(offer)[2])
    assert hand == replace(load(file).rooms[0].games[0].hands[0], result=None)
    assert rules == load(file).rules
    assert offer not in run("replay", file, "--room", 1, "--game", 1, "--seat", 2).out
    assert offer not in run("replay", file, "--room", 2, "--game", 1).out


def test_what_an_entrant_calls_itself_steers_no_terminal(run, record):
    def renamed(match: MatchRecord) -> MatchRecord:
        alike = [
            replace(entrant, name="b\u202e", version=f"{number}\x1b[31m")
            for number, entrant in enumerate(match.entrants)
        ]
        return replace(match, entrants=tuple(alike), match="a\u202e/b")

    out = run("replay", record(change=renamed)).out
    assert "b\\u202e 0\\x1b[31m" in out
    assert out.startswith("a\\u202e/b: ")
    assert not {"\x1b", "\u202e"} & set(out)


def test_a_game_that_never_began_or_is_not_over_says_so(run, record):
    outcome = replace(FAULT, winner=Side(1), points=(-2, 2), cause="")
    file = record(
        change=lambda one: with_first_game(one, hands=(), outcome=outcome, flags=(Flag.UNPLAYED,))
    )
    assert run("replay", file, "--room", 1, "--game", 1).out.endswith(
        "  unplayed the side at fault had no incident left in this match\n"
        "  ending   CRASH by the fault of seat 2, sara\n"
        "           seats 1 and 3 won; points by side -2, 2\n"
    )
    save(file, with_first_game(load(file), outcome=None))
    assert "  ending   there is none: the game goes on\n" in run("replay", file).out


def refused(record: MatchRecord) -> MatchRecord:
    refusals = tuple(
        Refusal(hand=1, seat=Seat(seat), attempt=1, reason=Reason.NOT_IN_HAND, action="play \x07AS")
        for seat in (1, 2)
    )
    return with_first_game(record, refusals=refusals)


def test_a_refusal_is_told_before_the_result_and_to_its_seat_alone(run, record):
    words = ("replay", record(change=refused), "--room", 1, "--game", 1)
    lines = run(*words).out.splitlines()
    at = lines.index("  refused  seat 1, attempt 1: NOT_IN_HAND: play \\x07AS")
    assert lines[at + 1] == lines[at].replace("seat 1", "seat 2")
    assert lines[at + 2].startswith("  result")
    assert "refused  seat 1" not in run(*words, "--seat", 2).out
    assert "refused  seat 2" in run(*words, "--seat", 2).out


def noted(record: MatchRecord) -> MatchRecord:
    notes = tuple(
        Noted(hand=1, decision=decision, seat=Seat(seat), note=Note(text, (("win", 0.5),)))
        for decision, seat, text in ((1, 0, "the longest"), (3, 1, "no choice"))
    )
    return with_first_game(record, notes=notes)


def test_notes_stand_below_what_they_are_about_and_are_told_to_their_seat_alone(run, record):
    words = ("replay", record(change=noted), "--room", 1, "--game", 1)
    lines = run(*words).out.splitlines()
    at = lines.index("  note     seat 0: the longest; win 0.5")
    assert lines[at - 1].startswith("  trump    ")
    at = lines.index("  note     seat 1: no choice; win 0.5")
    assert lines[at - 1].startswith("      1    >")
    assert run(*words, "--seat", 1).out.count("  note     ") == 1
    assert "note" not in run(*words, "--seat", 2).out


# -- what is wrong

MISUSES = {
    "--room 3": "--room 3: this record has rooms 1 to 2",
    "--game 9": "--game 9: this record has games 1 to 2",
    "--hand 2": "--hand 2: the last hand of what was chosen is 1",
    "--seat 4": "--seat 4: this table has seats 0 to 3",
    "--room 0": "--room",
    "--lost reza": "--lost reza: this match was played by sara",
    "--step": "--step waits for Enter, which needs a terminal",
    "--text --seat 1": "leave out --seat and --step",
    "--text --step": "leave out --seat and --step",
}


@pytest.mark.parametrize("words", MISUSES)
def test_a_misuse_is_one_line_that_says_what_would_do(run, record, words):
    ran = run("replay", record(), *words.split())
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert MISUSES[words] in ran.err


def test_a_pasted_hand_has_no_rooms(run, tmp_path):
    file = tmp_path / "hand.txt"
    file.write_text(HAND, encoding="utf-8")
    ran = run("replay", file, "--room", 1)
    assert (ran.status, ran.out) == (2, "")
    assert "choose from a record" in ran.err


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("hand.txt", b"hokm 4 hakem 9", "hand.txt: line 1, column 14: expected a seat"),
        ("hand.txt", b"\xff\xfe", "hand.txt: neither a record (.json, .json.gz) nor a text"),
        ("match.json", b'{"schema": 1}', "match.json: no record: expected a JSON object"),
        ("match", b' {"schema": 1}', "match: no record: expected a JSON object"),
        ("match.json.gz", b"hokm", "match.json.gz: the compressed file is torn or damaged"),
    ],
)
def test_what_cannot_be_read_is_one_line(run, tmp_path, name, data, expected):
    (tmp_path / name).write_bytes(data)
    ran = run("replay", tmp_path / name)
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert f"/{expected}" in ran.err


def test_a_file_that_is_not_there_is_one_line(run, tmp_path):
    ran = run("replay", tmp_path / "none.txt")
    assert (ran.status, ran.err) == (1, f"error: {tmp_path}/none.txt: No such file or directory\n")


def test_a_hand_that_leaves_the_rules_is_told_up_to_there(run, tmp_path):
    file = tmp_path / "hand.txt"
    file.write_text(HAND.replace("7D TD JD", "7D TD JC"), encoding="utf-8")
    ran = run("replay", file)
    assert ran.status == 1
    assert ran.out == OPEN.replace("J♦           >7♦", "             >7♦")[:-1]
    assert ran.err == (
        "error: play 11: seat 1 may not do this: MUST_FOLLOW_SUIT: seat 1 holds diamonds and must "
        "follow (rulebook 1.4)\n"
    )
    # What seat 1 holds is nothing for seat 0.
    assert run("replay", file, "--seat", 0).err == (
        "error: play 11: the hand leaves the rules here; without --seat it is said how\n"
    )


# -- on a terminal


@pytest.fixture
def on_terminal(run, monkeypatch, tmp_path):
    """`on_terminal(words…)`: the hand on a terminal on which Enter is pressed, then Ctrl-D; and how
    often that was waited for.
    """
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "hand.txt"
    file.write_text(HAND, encoding="utf-8")

    def on_terminal(*words):
        keys = Keys()
        # Not before the test runs: between its set-up and its call the streams are others.
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", keys)
        ran = run("replay", file, *words)
        assert ran.status == 0, ran.err
        return ran, keys.waits

    return on_terminal


class Keys:
    """What somebody types: Enter, and then Ctrl-D for ever."""

    def __init__(self) -> None:
        self.waits = 0

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        self.waits += 1
        return "\n" if self.waits == 1 else ""


def test_on_a_terminal_hearts_and_diamonds_are_red_and_trumps_bold(on_terminal):
    ran, waits = on_terminal()
    assert "\x1b[31mK♥\x1b[0m" in ran.out  # before trump was named
    assert "\x1b[1;31mK♥\x1b[0m" in ran.out  # and after
    assert ">\x1b[31m7♦\x1b[0m" in ran.out
    assert "\x1b[7mA♠\x1b[0m*" in ran.out
    assert (ran.err, waits) == ("", 0)


def test_without_colours_if_that_is_asked(on_terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    ran, _ = on_terminal()
    assert "[31m" not in ran.out
    assert "[1;31m" not in ran.out
    assert "K♥" in ran.out


def test_in_steps_it_waits_after_each_trick_until_there_is_no_more_input(on_terminal):
    ran, waits = on_terminal("--step")
    assert ran.err == "Enter shows the next trick, Ctrl-D all that is left\n"
    assert waits == 2  # Enter after the first trick, the end of input after the second
    assert ">\x1b[31m7♦\x1b[0m" in ran.out


def test_where_suits_cannot_be_written_they_are_letters(told, monkeypatch):
    monkeypatch.setattr("rich.console.Console.encoding", "ascii")
    assert "  trump    H, named by seat 1\n" in told(HAND)
    assert "♥" not in told(HAND)


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path):
    file = tmp_path / "hands.txt"
    file.write_text(DRAW * 300, encoding="utf-8")  # more than a pipe holds
    command = "from arena.cli import main; raise SystemExit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", command, "replay", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_pipe_is_refused_and_not_waited_for(run, tmp_path):
    pipe = tmp_path / "hands.txt"
    os.mkfifo(pipe)
    ran = run("replay", pipe)
    assert (ran.status, ran.err) == (1, f"error: {pipe}: not a regular file\n")
