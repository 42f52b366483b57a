"""What is sent is what is received, and nonsense from a bot does no harm."""

import contextlib
import inspect
from typing import Any, get_args

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st

import hokm.events
from hokm import errors, wire
from hokm.actions import (
    CUTS,
    DECLARATIONS,
    DRAWS,
    PLAYS,
    Action,
    ChooseDraw,
    CutDeck,
    DeclareTrump,
    DiscardCards,
    Draw,
    PlayCard,
)
from hokm.cards import CARDS, Card, Seat, Side, Suit, Trump, parse_cards
from hokm.errors import Reason
from hokm.events import (
    CARD_PLAYED,
    CardOffered,
    CardPlayed,
    CardsDiscarded,
    CardTurned,
    DeckCut,
    DrawChosen,
    Event,
    HandEnded,
    HandStarted,
    PacketDealt,
    PartnerDrawn,
    PublicEvent,
    TrickTaken,
    TrumpDeclared,
)
from hokm.notes import NOTE_CHARACTERS, NOTE_NUMBERS, Note, fitted
from hokm.outcome import Ending, HandKind, HandResult, Outcome
from hokm.rules.options import (
    HakemDraw,
    NextHakem,
    PauseAfter,
    Rules,
    Teams,
)
from hokm.rules.options import (
    Play as Format,
)
from hokm.session import (
    Answer,
    ClockRules,
    Decision,
    FromBot,
    FromReferee,
    GameEnd,
    GameStart,
    Goodbye,
    Hello,
    Malformed,
    MatchEnd,
    MatchStart,
    ProtocolRefused,
    Refused,
    Welcome,
)
from hokm.v1 import (
    action_pb2,
    card_pb2,
    event_pb2,
    referee_service_pb2,
    rules_pb2,
    session_pb2,
)
from hokm.view import ClockView
from hokm.wire import WireError

# -- every value there is, for hypothesis

seats = st.integers(0, 3).map(Seat)
sides = st.integers(0, 2).map(Side)
cards = st.sampled_from(CARDS)
card_tuples = st.lists(cards, max_size=52, unique=True).map(tuple)
counts = st.integers(0, 2**32 - 1)
points = st.lists(st.integers(0, 300), min_size=2, max_size=3).map(tuple)
texts = st.text(max_size=40)
names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=40)

notes = st.builds(
    lambda text, numbers: fitted(text, numbers)[0],
    st.text(max_size=NOTE_CHARACTERS),
    st.dictionaries(
        st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,23}\Z"), st.floats(), max_size=NOTE_NUMBERS
    ),
)
seconds = st.integers(0, 10**12).map(lambda microseconds: microseconds / 1e6)
results = st.builds(HandResult, sides, st.sampled_from(HandKind), points, points)

EVENTS: dict[type[Event], st.SearchStrategy[Event]] = {
    CardTurned: st.builds(CardTurned, seats, cards),
    PartnerDrawn: st.builds(PartnerDrawn, seats, seats),
    HandStarted: st.builds(HandStarted, counts, seats, seats, points),
    DeckCut: st.builds(DeckCut, seats, st.integers(1, 51)),
    PacketDealt: st.builds(PacketDealt, seats, counts, st.none() | card_tuples),
    TrumpDeclared: st.builds(TrumpDeclared, seats, st.sampled_from(Trump)),
    CardsDiscarded: st.builds(CardsDiscarded, seats, counts, st.none() | card_tuples),
    CardOffered: st.builds(CardOffered, seats, counts, st.none() | cards),
    DrawChosen: st.builds(
        DrawChosen, seats, st.none() | st.sampled_from(Draw), st.none() | cards, st.booleans()
    ),
    CardPlayed: st.builds(CardPlayed, seats, cards),
    TrickTaken: st.builds(TrickTaken, seats),
    HandEnded: st.builds(HandEnded, results, st.none() | seats, st.none() | seats),
}
events = st.lists(st.one_of(*EVENTS.values()), max_size=5).map(tuple)

ACTIONS: dict[type[Action], st.SearchStrategy[Action]] = {
    CutDeck: st.builds(CutDeck, counts),
    DeclareTrump: st.sampled_from(DECLARATIONS),
    DiscardCards: st.builds(DiscardCards, card_tuples),
    ChooseDraw: st.sampled_from(DRAWS),
    PlayCard: st.sampled_from(PLAYS),
}
legal_actions = st.one_of(
    # A cut is open at every position up to the last, and travels as that.
    st.integers(1, 51).map(lambda last: CUTS[:last]),
    *(st.lists(ACTIONS[kind], max_size=10).map(tuple) for kind in ACTIONS if kind is not CutDeck),
)

FROM_BOT: dict[type[FromBot], st.SearchStrategy[FromBot]] = {
    Hello: st.builds(
        Hello,
        counts,
        names,
        names,
        names,
        st.integers(1, wire.CONCURRENT_GAMES),
        st.lists(counts, max_size=3).map(tuple),
    ),
    Answer: st.builds(
        Answer,
        counts,
        counts,
        counts,
        st.one_of(*ACTIONS.values()),
        st.none() | seconds,
        st.none() | notes,
    ),
    Goodbye: st.builds(Goodbye, st.text(max_size=200)),
}


@st.composite
def tables(draw: st.DrawFn) -> Rules:
    """Rules of any table that is played, with any of its options named."""
    players = draw(st.sampled_from([2, 3, 4]))
    play = draw(st.sampled_from(Format))
    choices = {
        "points_win": ["1", "2"],
        "points_kot": ["2", "50"],
        "points_hakem_kot": ["50", "100"],
        "play_out": ["on", "off"],
        "draw_choice_public": ["on", "off"],
        "removed_two": list("CDHS"),
        "pause_after": ["hakem", "first_round"],
        "target_points": ["1", "100"],
        "first_hakem": ["random", "ace_draw", "seat:0", "seat:1"],
        "next_hakem": {2: ["winner"], 3: ["winner", "right"], 4: ["right", "left"]}[players],
        "teams": ["fixed", "second_ace"],
        "cut": ["on", "off"],
        "modes": ["suit", "suit,nar", "suit,sar,nar,tak_nar"],
        "kot_in_modes": ["on", "off"],
    }
    meant = Rules.of(players, play=play).options().keys() & choices.keys()
    chosen = {name: draw(st.sampled_from(choices[name])) for name in sorted(meant)}
    if chosen.get("teams") == "second_ace":
        del chosen["first_hakem"]  # the ace draw, as without it
    if chosen["modes"] == "suit":
        del chosen["kot_in_modes"]  # has no meaning without a mode
    return Rules.of(players, play=play, options=chosen)


outcomes = st.builds(
    Outcome,
    st.sampled_from(Ending),
    st.lists(st.integers(-100, 300), min_size=2, max_size=3).map(tuple),
    st.none() | sides,
    st.none() | seats,
    texts,
)
clock_views = st.builds(ClockView, seconds, seconds, st.none() | seconds)

FROM_REFEREE: dict[type[FromReferee], st.SearchStrategy[FromReferee]] = {
    Welcome: st.builds(Welcome, counts, texts, texts, seconds),
    ProtocolRefused: st.builds(ProtocolRefused, counts, counts),
    MatchStart: st.builds(
        MatchStart,
        texts,
        tables(),
        counts,
        st.builds(ClockRules, seconds, seconds),
    ),
    GameStart: st.builds(
        GameStart, texts, counts, seats, st.lists(names, max_size=4).map(tuple), st.booleans()
    ),
    Decision: st.builds(
        Decision,
        counts,
        counts,
        events,
        legal_actions,
        st.none() | clock_views,
        st.integers(1, 3),
    ),
    Refused: st.builds(Refused, counts, counts, counts, st.sampled_from(Reason), texts),
    GameEnd: st.builds(GameEnd, counts, events, outcomes),
    MatchEnd: st.builds(MatchEnd, texts),
    Goodbye: st.builds(Goodbye, st.text(max_size=200)),
}


# -- what is sent is what is received


@given(st.lists(st.one_of(*FROM_BOT.values()), max_size=5).map(tuple))
def test_a_bots_batch_arrives_as_it_was_sent(batch: tuple[FromBot, ...]) -> None:
    assert wire.decode_from_bot(wire.encode_from_bot(batch)) == batch


@given(st.lists(st.one_of(*FROM_REFEREE.values()), max_size=5).map(tuple))
def test_a_referees_batch_arrives_as_it_was_sent(batch: tuple[FromReferee, ...]) -> None:
    assert wire.decode_from_referee(wire.encode_from_referee(batch)) == batch


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_each_kind_of_event_arrives_as_it_was_sent(kind: type[Event]) -> None:
    @given(EVENTS[kind])
    def arrives(event: Event) -> None:
        end = GameEnd(1, (event,), Outcome(Ending.COMPLETED, (1, 0), Side(0)))
        assert wire.decode_from_referee(wire.encode_from_referee([end])) == (end,)

    arrives()


@pytest.mark.parametrize("kind", ACTIONS, ids=lambda kind: kind.__name__)
def test_each_kind_of_action_arrives_as_it_was_sent(kind: type[Action]) -> None:
    @given(ACTIONS[kind])
    def arrives(action: Action) -> None:
        answer = Answer(1, 2, 3, action)
        assert wire.decode_from_bot(wire.encode_from_bot([answer])) == (answer,)

    arrives()


def test_every_kind_of_value_has_a_form_on_the_wire() -> None:
    events = {
        kind
        for _, kind in inspect.getmembers(hokm.events, inspect.isclass)
        if issubclass(kind, Event) and kind not in (Event, PublicEvent)
    }
    assert len(events) > 10
    assert events == EVENTS.keys()
    assert set(get_args(Action)) == ACTIONS.keys()
    assert set(get_args(FromBot)) == FROM_BOT.keys()
    assert set(get_args(FromReferee)) == FROM_REFEREE.keys()


@pytest.mark.parametrize(
    ("message", "values"),
    [
        (event_pb2.Event, EVENTS),
        (action_pb2.Action, ACTIONS),
        (session_pb2.FromBot, FROM_BOT),
        (session_pb2.FromReferee, FROM_REFEREE),
    ],
)
def test_every_kind_on_the_wire_has_a_value(message, values) -> None:
    (oneof,) = message.DESCRIPTOR.oneofs
    assert len(oneof.fields) == len(values)


@pytest.mark.parametrize(
    ("twin", "kind"),
    [
        (card_pb2.Suit, Suit),
        (card_pb2.Trump, Trump),
        (action_pb2.Draw, Draw),
        (event_pb2.HandKind, HandKind),
        (rules_pb2.Play, Format),
        (rules_pb2.PauseAfter, PauseAfter),
        (rules_pb2.NextHakem, NextHakem),
        (rules_pb2.Teams, Teams),
        (rules_pb2.HakemDraw, HakemDraw),
        (session_pb2.Reason, Reason),
        (session_pb2.Ending, Ending),
    ],
)
def test_an_enum_and_its_twin_have_the_same_members(twin, kind) -> None:
    prefix = twin.Name(0).removesuffix("UNSPECIFIED")
    assert {name.removeprefix(prefix) for name, _ in twin.items()} - {"UNSPECIFIED"} == {
        member.name for member in kind
    }


def test_a_card_on_the_wire_has_the_name_of_its_rank_and_suit() -> None:
    for card in CARDS:
        name = f"CARD_{card.rank.name}_OF_{card.suit.name}"
        answer = Answer(1, 1, 1, PlayCard(card))
        sent = referee_service_pb2.PlayRequest.FromString(wire.encode_from_bot([answer]))
        assert card_pb2.Card.Name(sent.messages[0].answer.action.play_card) == name


def test_what_was_sent_by_an_older_version_still_reads() -> None:
    # Taken down when the protocol began: a number that changes breaks every bot there is.
    answer = bytes.fromhex("0a0c120a08051007180122022834")
    assert wire.decode_from_bot(answer) == (Answer(5, 7, 1, PlayCard(Card.parse("AS"))),)
    decision = Decision(
        5,
        7,
        (CARD_PLAYED[0][12], CARD_PLAYED[1][13]),
        tuple(PlayCard(card) for card in parse_cards("2D AS")),
        ClockView(1.0, 29.0, 0.0004),
    )
    sent = bytes.fromhex(DECISION)
    assert wire.decode_from_referee(sent) == (decision,)
    assert wire.encode_from_referee([decision]) == sent


DECISION = "0a282a26080510071a044a02100d1a064a040801100e22042a020e342a0c08c0843d10c082ea0d189003"


# -- what is hidden is absent


def fields(event: Event) -> set[str]:
    end = GameEnd(1, (event,), Outcome(Ending.COMPLETED, (1, 0), Side(0)))
    sent = referee_service_pb2.PlayResponse.FromString(wire.encode_from_referee([end]))
    message = sent.messages[0].game_end.events[0]
    inner = getattr(message, message.WhichOneof("event") or "")
    return {field.name for field, _ in inner.ListFields()}


@pytest.mark.parametrize(
    ("event", "known"),
    [
        (PacketDealt(Seat(1), 5, parse_cards("2C 3C 4C 5C 6C")), {"seat", "count"}),
        (CardsDiscarded(Seat(1), 2, parse_cards("2C 3C")), {"seat", "count"}),
        (CardOffered(Seat(1), 42, Card.parse("2C")), {"seat", "stock"}),
        (DrawChosen(Seat(1), Draw.KEEP, Card.parse("2C"), True), {"seat", "choice", "public"}),
        (DrawChosen(Seat(1), Draw.KEEP, Card.parse("2C"), False), {"seat"}),
    ],
)
def test_a_field_that_a_seat_may_not_know_is_not_sent(event: Event, known: set[str]) -> None:
    assert fields(event.seen_by(Seat(0))) == known
    assert fields(event.seen_by(Seat(1))) > known


# -- nonsense from a bot


def from_bot(*messages: Any) -> bytes:
    """A bot's batch of messages written as dicts, whether or not they make sense."""
    return ParseDict({"messages": messages}, referee_service_pb2.PlayRequest()).SerializeToString()


def from_referee(*messages: Any) -> bytes:
    return ParseDict({"messages": messages}, referee_service_pb2.PlayResponse()).SerializeToString()


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ({}, "without an action"),
        ({"play_card": 0}, "0 is no card"),
        ({"play_card": 53}, "53 is no card"),
        ({"play_card": -1}, "-1 is no card"),
        ({"declare_trump": 0}, "0 is no Trump"),
        ({"declare_trump": 8}, "8 is no Trump: expected 1 to 7"),
        ({"choose_draw": 3}, "3 is no Draw"),
        ({"discard_cards": {"cards": [1, 53]}}, "53 is no card"),
        ({"discard_cards": {"cards": [1] * 53}}, "53 cards: a pack has 52"),
    ],
)
def test_what_is_no_action_is_malformed(action: dict[str, object], says: str) -> None:
    sent = {"game": 1, "decision": 2, "attempt": 3, "action": action}
    (answer,) = wire.decode_from_bot(from_bot({"answer": sent}))
    assert isinstance(answer, Answer)
    assert (answer.game, answer.decision, answer.attempt) == (1, 2, 3)
    assert isinstance(answer.action, Malformed)
    assert says in answer.action.detail


def test_a_malformed_answer_spoils_no_other_answer_of_its_batch() -> None:
    good = Answer(2, 1, 1, PLAYS[3])
    sent = wire.encode_from_bot([Answer(1, 1, 1, Malformed("on purpose")), good])
    bad, received = wire.decode_from_bot(sent)
    assert isinstance(bad, Answer)
    assert isinstance(bad.action, Malformed)
    assert received == good


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ({}, "it says nothing"),
        ({"text": b"x" * 201}, "201 characters"),
        ({"text": b"x" * 60_000}, "too much"),
        ({"text": b"two\nlines"}, "cannot be printed"),
        ({"text": "é".encode()[:1]}, "no UTF-8"),
        ({"numbers": [{"name": b"x", "value": 1.0}] * 9}, "too much"),
        ({"numbers": [{"name": b"x", "value": 1.0}] * 2}, "have one name"),
        ({"numbers": [{"name": b"x" * 25, "value": 1.0}]}, "too long a name"),
        ({"numbers": [{"name": b"two words", "value": 1.0}]}, "letters A to z"),
        ({"numbers": [{"name": b"\xff", "value": 1.0}]}, "no UTF-8"),
        ({"numbers": [{"value": 1.0}]}, "letters A to z"),
        ({"numbers": [{"name": b"x", "value": float("nan")}]}, "not finite"),
        ({"numbers": [{"name": b"x", "value": float("-inf")}]}, "not finite"),
    ],
)
def test_a_note_that_is_none_costs_nothing_but_the_note(note: dict[str, object], says: str) -> None:
    wire_note = session_pb2.Note(**note)  # type: ignore[arg-type]
    answer = session_pb2.Answer(
        game=1,
        decision=2,
        attempt=3,
        action=action_pb2.Action(play_card=card_pb2.CARD_ACE_OF_SPADES),
        note=wire_note,
    )
    batch = referee_service_pb2.PlayRequest(messages=[session_pb2.FromBot(answer=answer)])
    (heard,) = wire.decode_from_bot(batch.SerializeToString())
    assert isinstance(heard, Answer)
    assert heard.action == PLAYS[51]
    assert isinstance(heard.note, Malformed)
    assert says in heard.note.detail


def test_a_note_that_cannot_be_one_is_sent_as_one_that_says_nothing() -> None:
    sent = wire.encode_from_bot([Answer(1, 2, 3, PLAYS[51], note=Malformed("on purpose"))])
    (heard,) = wire.decode_from_bot(sent)
    assert isinstance(heard, Answer)
    assert isinstance(heard.note, Malformed)


def test_messages_are_counted_as_they_are_read() -> None:
    answers = [Answer(game, 1, 1, PLAYS[3], note=Note("x" * 200)) for game in range(50)]
    assert wire.count_from_bot(wire.encode_from_bot([*answers, Goodbye()])) == 51
    with pytest.raises(WireError, match="no PlayRequest"):
        wire.count_from_bot(b"\xff")


def test_keeping_and_refusing_cannot_be_said_at_once() -> None:
    # Two values of one choice: as protobuf has it, the later one counts.
    keep = action_pb2.Action(choose_draw=action_pb2.DRAW_KEEP).SerializeToString()
    refuse = action_pb2.Action(choose_draw=action_pb2.DRAW_REFUSE).SerializeToString()
    batch = referee_service_pb2.PlayRequest()
    batch.messages.add().answer.action.MergeFromString(keep + refuse)
    (answer,) = wire.decode_from_bot(batch.SerializeToString())
    assert isinstance(answer, Answer)
    assert answer.action == ChooseDraw(Draw.REFUSE)


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\x05ab", b"\x0a\x04\x0a\x02\x12\xff"])
def test_bytes_that_are_no_batch_are_told_from_a_batch(data: bytes) -> None:
    with pytest.raises(WireError, match=r"bytes that are no PlayRe(quest|sponse) of hokm\.v1"):
        wire.decode_from_bot(data)
    with pytest.raises(WireError, match=r"bytes that are no PlayRe(quest|sponse) of hokm\.v1"):
        wire.decode_from_referee(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_batch_or_a_wire_error(data: bytes) -> None:
    for decode in (wire.decode_from_bot, wire.decode_from_referee):
        with contextlib.suppress(WireError):
            assert isinstance(decode(data), tuple)


def test_a_batch_beyond_its_size_is_refused_unread() -> None:
    with pytest.raises(WireError, match="65537 bytes: a bot's have at most 65536"):
        wire.decode_from_bot(b"\0" * 65537)


def test_the_longest_answers_to_all_games_at_once_fit_into_a_batch() -> None:
    longest = Answer(2**32 - 1, 2**32 - 1, 2**32 - 1, DiscardCards(parse_cards("2C 3C 4C")))
    sent = wire.encode_from_bot([longest] * wire.CONCURRENT_GAMES)
    assert len(wire.decode_from_bot(sent)) == wire.CONCURRENT_GAMES


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"name": "x" * 41}, "the name in a hello has 1 to 40 printable characters, not 41"),
        ({"name": ""}, "the name in a hello"),
        ({"name": "a\nb"}, "printable"),
        ({"version": "x" * 41}, "the version in a hello"),
        ({"sdk": "x" * 41}, "the sdk in a hello"),
        ({"concurrent": 0}, "1 to 1024 games at once, not 0"),
        ({"concurrent": 1025}, "not 1025"),
    ],
)
def test_a_hello_out_of_bounds_is_refused_on_both_sides(changed, says: str) -> None:
    values = {"protocol": 1, "sdk": "s", "name": "n", "version": "1", "concurrent": 1} | changed
    with pytest.raises(WireError, match=says):
        wire.encode_from_bot([Hello(**values)])
    with pytest.raises(WireError, match=says):
        wire.decode_from_bot(from_bot({"hello": values}))


def test_a_goodbye_that_goes_on_for_ever_is_refused() -> None:
    with pytest.raises(WireError, match="at most 200 characters, not 201"):
        wire.decode_from_bot(from_bot({"goodbye": {"reason": "x" * 201}}))


@pytest.mark.parametrize(
    "message", [Answer(1, 2, 1, CutDeck(-1)), Answer(1, 2, 2**32, PLAYS[0]), Goodbye("\ud800")]
)
def test_what_no_field_can_hold_is_told_and_not_sent(message: FromBot) -> None:
    with pytest.raises(WireError, match=f"this {type(message).__name__} cannot be sent"):
        wire.encode_from_bot([message])


def test_a_referees_batch_beyond_what_a_client_takes_is_refused_unread(monkeypatch) -> None:
    monkeypatch.setattr(wire, "REFEREE_BATCH_BYTES", 1000)
    with pytest.raises(WireError, match="a batch of 1002 bytes: at most 1000"):
        wire.decode_from_referee(b"\x0a\x00" * 501)


# -- other versions

UNKNOWN_FIELD = b"\xc0\x3e\x01"  # field 1000, a number


def test_unknown_fields_are_ignored_at_every_depth() -> None:
    action = action_pb2.Action(play_card=card_pb2.CARD_ACE_OF_SPADES)
    action.MergeFromString(UNKNOWN_FIELD)
    answer = session_pb2.Answer(game=1, decision=2, attempt=3, action=action)
    answer.MergeFromString(UNKNOWN_FIELD)
    batch = referee_service_pb2.PlayRequest(messages=[session_pb2.FromBot(answer=answer)])
    data = batch.SerializeToString() + UNKNOWN_FIELD
    assert data.count(UNKNOWN_FIELD) == 3
    assert wire.decode_from_bot(data) == (Answer(1, 2, 3, PLAYS[51]),)


def test_a_kind_of_message_or_event_of_a_later_version_is_passed_over() -> None:
    batch = referee_service_pb2.PlayResponse.FromString(
        from_referee({"game_end": {"game": 1, "events": [{}], "outcome": {"ending": 1}}})
    )
    batch.messages[0].game_end.events[0].MergeFromString(UNKNOWN_FIELD)
    batch.messages.add().MergeFromString(UNKNOWN_FIELD)
    assert wire.decode_from_referee(batch.SerializeToString()) == (
        GameEnd(1, (), Outcome(Ending.COMPLETED, (), None)),
    )


@pytest.mark.parametrize(
    "message",
    [
        {"game_end": {"game": 1}},
        {"game_end": {"game": 1, "outcome": {"ending": 99}}},
        {"refused": {"reason": 0}},
        {"decision": {"events": [{"card_played": {"seat": 4, "card": 1}}]}},
        {"decision": {"events": [{"card_played": {"seat": 0, "card": 60}}]}},
        {"decision": {"legal": {"play_card": [0]}}},
        {"decision": {"legal": {"declare_trump": [8]}}},
        {"decision": {"legal": {"play_card": [1] * 53}}},
        {"game_start": {"game": 1, "seat": 4}},
        {"game_start": {"game": 1, "seat": 0, "players": ["a"] * 5}},
        {"decision": {"events": [{"card_turned": {"seat": 4, "card": 1}}]}},
        {"decision": {"events": [{"partner_drawn": {"seat": 0, "opposite": 4}}]}},
        {"decision": {"events": [{"hand_started": {"number": 1, "hakem": 4}}]}},
        {"decision": {"events": [{"hand_started": {"number": 1, "dealer": 4}}]}},
        {"decision": {"events": [{"hand_started": {"number": 1, "scores": [0] * 4}}]}},
        {"decision": {"events": [{"deck_cut": {"seat": 4, "position": 1}}]}},
        {"decision": {"events": [{"packet_dealt": {"seat": 4, "count": 5}}]}},
        {"decision": {"events": [{"trump_declared": {"seat": 4, "trump": 1}}]}},
        {"decision": {"events": [{"cards_discarded": {"seat": 4, "count": 3}}]}},
        {"decision": {"events": [{"card_offered": {"seat": 4, "stock": 2}}]}},
        {"decision": {"events": [{"draw_chosen": {"seat": 4}}]}},
        {"decision": {"events": [{"trick_taken": {"seat": 4}}]}},
        {"decision": {"events": [{"hand_ended": {"result": {"kind": 1, "winner": 3}}}]}},
        {"decision": {"events": [{"hand_ended": {"result": {"kind": 1, "points": [0] * 4}}}]}},
        {"decision": {"events": [{"hand_ended": {"result": {"kind": 1}, "next_hakem": 4}}]}},
        {"game_end": {"game": 1, "outcome": {"ending": 1, "winner": 3}}},
        {"game_end": {"game": 1, "outcome": {"ending": 1, "at_fault": 4}}},
        {"game_end": {"game": 1, "outcome": {"ending": 1, "points": [0] * 4}}},
        {"match_start": {"rules": {"players": 4, "play": 1, "modes": [5] * 8}}},
    ],
)
def test_a_value_of_the_referee_that_is_unknown_here_is_an_error(message) -> None:
    with pytest.raises(WireError):
        wire.decode_from_referee(from_referee(message))


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("players", 5, "played by 2, 3 or 4, not by 5"),
        ("removed_two", 1, "removed_two has no meaning with 4 players"),
        ("points_kot", 0, "points_kot must be"),
        ("cut", True, "cut has no meaning with boards"),
    ],
)
def test_a_table_that_cannot_be_played_here_is_refused_by_name(option, value, says) -> None:
    start = MatchStart("m", Rules.of(4), 1, ClockRules())
    batch = referee_service_pb2.PlayResponse.FromString(wire.encode_from_referee([start]))
    setattr(batch.messages[0].match_start.rules, option, value)
    with pytest.raises(WireError, match=says):
        wire.decode_from_referee(batch.SerializeToString())


def test_a_wire_error_is_an_error_of_this_library() -> None:
    assert issubclass(WireError, errors.HokmError)
