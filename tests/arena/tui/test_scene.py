"""What is to be seen at a moment: openly, and by one seat with nothing that it may not know."""

from dataclasses import replace
from random import Random

import pytest

from arena.tui.reel import At, Kind, Moment, Reel, Unit
from arena.tui.scene import Scene, scene
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.notes import Note
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, Noted, Refusal
from tests.arena.cli.test_replay import DRAW, FROM_SEAT_0, HAND, OPEN, text_of
from tests.arena.tui.conftest import MakeReel, reel_of, reel_of_text
from tests.hokm.permute import other_story
from tests.hokm.random_play import random_story
from tests.hokm.records.conftest import make_match_record
from tests.hokm.test_permutation import TABLES, name_of

OPEN_TABLE = """\
  seat        card      took    bank  hand
  0 deals      T♦                     ♣26 ♦6 ♥3Q ♠2379J
> 1 hakem      J♦                     ♣38JA ♦9 ♥8K ♠5QK
  2                                   ♣7Q ♦28KA ♥26TJA
  3           >7♦                     ♣5 ♦345Q ♥4579 ♠6
"""


def text(lines: tuple[object, ...]) -> str:
    return "".join(f"{one}\n" for one in lines)


def last(reel: Reel, game: int = 0) -> At:
    return reel.ends(At(game, 0), last=True)


def shown(scene: Scene) -> str:
    return text((*scene.heading, *scene.table, *scene.story, *scene.remarks))


def test_the_table_has_the_hands_and_the_trick_that_is_on():
    reel = reel_of_text(HAND)
    assert text(scene(reel, last(reel), eyes=None).table) == OPEN_TABLE
    before = reel.step(last(reel), Unit.PLAY, onwards=False)
    assert "> 0 deals      T♦" in text(scene(reel, before, eyes=None).table)


def test_other_hands_are_numbers_of_cards():
    reel = reel_of_text(HAND)
    table = text(scene(reel, last(reel), eyes=Seat(2)).table)
    assert "♣7Q ♦28KA ♥26TJA" in table
    assert table.count(" 10 cards\n") == 3


def test_the_heading_says_where_it_is_and_how_it_stands(make_reel: MakeReel):
    reel = make_reel(kind=Format.CLASSIC, games=1, options={"target_points": "2"})
    place, standing = scene(reel, reel.jump(At(0, 0), "2.3"), eyes=Seat(2)).heading
    assert str(place).startswith("room 1, game 1, hand 2, trick 3   1 of 2 games   local/")
    assert str(standing).startswith("score ")
    assert str(standing).endswith("as seat 2 sees it")


@pytest.mark.parametrize(("eyes", "told"), [(None, OPEN), (Seat(0), FROM_SEAT_0)])
def test_the_story_is_that_of_the_printed_replay(eyes: Seat | None, told: str):
    reel = reel_of_text(HAND)
    story = text(scene(reel, last(reel), eyes=eyes).story)
    assert story == told[told.index("\nhand 1") :].removesuffix("\n")


def test_a_card_that_is_looked_at_is_seen_by_who_looks():
    reel = reel_of_text(DRAW)
    at = last(reel)
    assert "1 hakem     (8♥) " in text(scene(reel, at, eyes=None).table)
    assert "1 hakem     (8♥) " in text(scene(reel, at, eyes=Seat(1)).table)
    assert "1 hakem     (? ) " in text(scene(reel, at, eyes=Seat(0)).table)


def test_cards_are_in_letters_where_a_terminal_has_no_suits():
    reel = reel_of_text(HAND)
    everything = shown(scene(reel, last(reel), eyes=None, in_letters=True))
    assert not set("♣♦♥♠") & set(everything)
    assert "C26 D6 H3Q S2379J" in everything


@pytest.mark.rule("6")
@pytest.mark.parametrize("table", TABLES[::5], ids=name_of)
def test_what_a_seat_sees_is_the_same_with_other_hidden_cards(table):
    rng = Random(7)
    story = random_story(table, rng)
    seat = Seat(rng.randrange(table.players))
    # Whole hands: at their end all have been seen, so they are stopped on the way.
    story = story.until(rng.randrange(1, len(story.actions)))
    reels = [reel_of_text(text_of(one)) for one in (story, other_story(story, seat, rng))]
    moments = [len(reel.strip(0).moments) for reel in reels]
    assert moments[0] == moments[1]
    places = [At(0, index) for index in range(moments[0])]
    one, other = ([shown(scene(reel, at, eyes=seat)) for at in places] for reel in reels)
    assert one == other
    openly = [[shown(scene(reel, at, eyes=None)) for at in places] for reel in reels]
    assert openly[0] != openly[1], "the other cards would not even show openly"


# -- what is remarked


def with_first_game(record: MatchRecord, **changes: object) -> MatchRecord:
    room = record.rooms[0]
    game = replace(room.games[0], **changes)  # type: ignore[arg-type]
    return replace(record, rooms=(replace(room, games=(game, *room.games[1:])), *record.rooms[1:]))


def moment_of(reel: Reel, *, decision: int) -> At:
    def is_it(moment: Moment) -> bool:
        return moment.decision == decision and moment.seat is not None

    return At(0, next(index for index, one in enumerate(reel.strip(0).moments) if is_it(one)))


def test_a_note_is_shown_at_its_moment_to_its_seat_and_openly():
    noted = Noted(hand=1, decision=3, seat=Seat(1), note=Note("sure of it", (("win", 0.5),)))
    reel = reel_of(with_first_game(make_match_record(), notes=(noted,)))
    at = moment_of(reel, decision=3)
    for eyes in (None, Seat(1)):
        remarks = text(scene(reel, at, eyes=eyes).remarks)
        assert remarks == "  note     seat 1: sure of it; win 0.5\n"
    assert scene(reel, at, eyes=Seat(0)).remarks == ()
    assert scene(reel, moment_of(reel, decision=4), eyes=None).remarks == ()


def test_times_and_banks_stand_beside_who_had_them():
    record = make_match_record()
    seconds = [list(record.rooms[0].games[0].seconds[0])]
    seconds[0][2] = 3.25
    reel = reel_of(with_first_game(record, seconds=(tuple(seconds[0]),)))
    rows = text(scene(reel, moment_of(reel, decision=3), eyes=None).table).splitlines()
    assert rows[2].startswith("> 1 ")
    assert "  3.250s   27.8s  " in rows[2]
    assert "   30.0s  " in rows[1]


def test_a_refusal_is_told_from_its_moment_on_and_to_its_seat_alone():
    refusal = Refusal(hand=1, seat=Seat(1), attempt=1, reason=Reason.NOT_IN_HAND, action="\x07 AS")
    reel = reel_of(with_first_game(make_match_record(), refusals=(refusal,)))
    kinds = [moment.kind for moment in reel.strip(0).moments]
    at = At(0, kinds.index(Kind.REFUSAL))
    line = "  refused  seat 1, attempt 1: NOT_IN_HAND: \\x07 AS\n"
    assert line in text(scene(reel, at, eyes=None).story)
    assert line in text(scene(reel, At(0, at.moment + 1), eyes=Seat(1)).story)
    assert "refused" not in text(scene(reel, at, eyes=Seat(0)).story)
    assert "refused" not in text(scene(reel, At(0, at.moment - 1), eyes=None).story)


def test_an_ending_is_told_with_whose_fault_it_is(make_reel: MakeReel):
    reel = make_reel(faults={(1, 1): Ending.CRASH})
    story = text(scene(reel, last(reel), eyes=None).story)
    assert "\n  ending   CRASH by the fault of seat " in story


def test_why_a_hand_leaves_the_rules_is_said_openly_alone():
    record = make_match_record()
    [hand] = record.rooms[0].games[0].hands
    again = replace(hand, plays=(*hand.plays[:5], hand.plays[0], *hand.plays[6:]))
    reel = reel_of(with_first_game(record, hands=(again,)))
    openly = text(scene(reel, last(reel), eyes=None).story)
    assert "\n  broken   here the record leaves the rules: seat " in openly
    closed = text(scene(reel, last(reel), eyes=Seat(0)).story)
    assert closed.endswith("\n  broken   here the record leaves the rules\n")
