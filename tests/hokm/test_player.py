"""The player: a bot's side of a session without a stream."""

import logging
from collections.abc import Iterator, Sequence

import pytest

from hokm import Asked, Bot, Card, HandResult, Outcome, Rules, Seat, Side, View
from hokm.actions import DECLARATIONS, Action, PlayCard
from hokm.cards import Trump, parse_cards
from hokm.errors import Reason
from hokm.events import (
    CARD_PLAYED,
    TRICK_TAKEN,
    Event,
    HandEnded,
    HandStarted,
    PacketDealt,
    PartnerDrawn,
    TrumpDeclared,
)
from hokm.notes import Note
from hokm.outcome import Ending, HandKind
from hokm.player import Player, SessionError
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
    MatchEnd,
    MatchStart,
    ProtocolRefused,
    Refused,
    Welcome,
)
from hokm.view import ClockView

RULES = Rules.of(4)
WELCOME = Welcome(1, "arena 1", "token")
NAMES = ("a", "b", "a", "b")
MATCH = MatchStart("local/a~b", RULES, 2, ClockRules())
FIVE = parse_cards("2S 3S 4S 5S 6H")
LOST = HandResult(Side(1), HandKind.HAKEM_KOT, (0, 3), (0, 7))
OUTCOME = Outcome(Ending.COMPLETED, (0, 3), Side(1))


class Witness(Bot):
    """Plays the first legal card, and keeps what it was told of."""

    told: list[tuple[object, ...]] = []  # noqa: RUF012  # for all bots of a test: emptied by it

    def play(self, view: View) -> Card:
        self.told.append(("play", view.seat, view.playable, view.clock))
        return view.playable[0]

    def game_started(self, view: View) -> None:
        self.told.append(("started", id(self), view.seat, view.rules))

    def hand_ended(self, view: View, result: HandResult) -> None:
        self.told.append(("hand", view.hand_number, view.results, result))

    def game_ended(self, view: View, outcome: Outcome) -> None:
        self.told.append(("ended", id(self), outcome))


@pytest.fixture
def told() -> list[tuple[object, ...]]:
    Witness.told = []
    return Witness.told


def seated(*messages: FromReferee, game: int = 7) -> Player:
    """A player whose bot sits as hakem at seat 0 of a four-seat board."""
    player = Player(Witness)
    start = GameStart(MATCH.match, game, Seat(0), NAMES)
    assert list(player.receive([WELCOME, MATCH, start, *messages])) == []
    return player


def test_a_bot_sees_who_sits_at_its_table() -> None:
    class Curious(Witness):
        def game_started(self, view: View) -> None:
            seen.append(view.players)

    seen: list[tuple[str, ...]] = []
    player = Player(Curious)
    player.receive([WELCOME, MATCH, GameStart(MATCH.match, 7, Seat(0), NAMES)])
    assert seen == [NAMES]


@pytest.mark.parametrize(
    "event",
    [
        CARD_PLAYED[3][0],
        TRICK_TAKEN[3],
        PacketDealt(Seat(3), 5, None),
        HandStarted(1, Seat(3), Seat(0), (0, 0)),
        HandStarted(1, Seat(0), Seat(3), (0, 0)),
        HandStarted(1, Seat(0), Seat(1), (0,)),
        HandEnded(HandResult(Side(2), HandKind.WIN, (0, 1), (0, 7)), None, None),
        HandEnded(HandResult(Side(1), HandKind.WIN, (0, 1, 0), (0, 7)), None, None),
        PartnerDrawn(Seat(0), Seat(3)),
        PacketDealt(Seat(1), 5, FIVE),
    ],
)
def test_an_event_that_cannot_be_at_the_table_ends_the_session(event: Event) -> None:
    match = MatchStart("m", Rules.of(2), 1, ClockRules())
    player = Player(Witness)
    player.receive([WELCOME, match, GameStart("m", 7, Seat(0), ("a", "b"))])
    with pytest.raises(SessionError, match="game 7: "):
        player.receive([Decision(7, 1, (event,), DECLARATIONS[:4], None)])


def test_a_refusal_of_what_was_never_asked_asks_nobody() -> None:
    player = seated()
    assert list(player.receive([Refused(7, 0, 0, Reason.MALFORMED, "what")])) == []


def test_what_was_asked_before_the_view_is_made_anew_is_asked_again_and_not_before() -> None:
    player = seated()
    again = GameStart(MATCH.match, 7, Seat(0), NAMES, resumed=True)
    assert list(player.receive([declaring(), again])) == []
    assert len(list(player.receive([declaring()]))) == 1


def test_a_seat_that_is_not_there_and_a_second_beginning_end_the_session() -> None:
    with pytest.raises(SessionError, match="no seat 4"):
        seated(GameStart(MATCH.match, 8, Seat(4), NAMES))
    with pytest.raises(SessionError, match="game 7 begins a second time"):
        seated(GameStart(MATCH.match, 7, Seat(0), NAMES))


def declaring(game: int = 7, decision: int = 1) -> Decision:
    events = (HandStarted(1, Seat(0), Seat(3), (0, 0)), PacketDealt(Seat(0), 5, FIVE))
    return Decision(game, decision, events, DECLARATIONS[:4], ClockView(1.0, 30.0))


def playing(game: int = 7, decision: int = 2) -> Decision:
    events = (TrumpDeclared(Seat(0), Trump.SPADES),)
    legal = tuple(PlayCard(card) for card in FIVE)
    return Decision(game, decision, events, legal, ClockView(1.0, 29.0, 0.5))


def answer(player: Player, *messages: FromReferee) -> FromBot:
    (only,) = player.receive(messages)
    return only


def test_a_hello_says_who_the_bot_is() -> None:
    class Named(Witness):
        name = "rostam"
        version = "7"
        concurrent = 3

    assert Player(Named).hello() == Hello(1, "hokm-sdk 0.1.0", "rostam", "7", 3)
    assert Player(Witness).hello().name == "Witness"


def test_a_decision_is_answered_by_what_the_bot_does(told) -> None:
    player = seated()
    assert answer(player, declaring()) == Answer(7, 1, 1, DECLARATIONS[Trump.SPADES])
    assert answer(player, playing()) == Answer(7, 2, 1, PlayCard(Card.parse("6H")))
    assert told[-1] == ("play", Seat(0), tuple(sorted(FIVE)), ClockView(1.0, 29.0, 0.5))


def test_a_batch_of_several_games_is_answered_in_order_with_a_bot_for_each(told) -> None:
    player = seated()
    player.receive([GameStart(MATCH.match, 8, Seat(0), NAMES)])
    assert list(player.receive([declaring(8), declaring(7)])) == [
        Answer(8, 1, 1, DECLARATIONS[Trump.SPADES]),
        Answer(7, 1, 1, DECLARATIONS[Trump.SPADES]),
    ]
    bots = {entry[1] for entry in told if entry[0] == "started"}
    assert len(bots) == 2


class Noting(Witness):
    """Notes what it does, and at the wrong time too."""

    def game_started(self, view: View) -> None:
        self.note("too early")

    def play(self, view: View) -> Card:
        self.note("thinking")
        self.note("the lowest", choices=len(view.playable))
        return view.playable[0]


def test_a_note_goes_with_the_action_that_is_being_decided_and_the_last_one_counts(told) -> None:
    player = seated()
    player._bot_class = Noting
    player.receive([GameStart(MATCH.match, 8, Seat(0), NAMES)])
    assert answer(player, declaring(8)) == Answer(8, 1, 1, DECLARATIONS[Trump.SPADES])
    card = PlayCard(Card.parse("6H"))
    noted = Answer(8, 2, 1, card, note=Note("the lowest", (("choices", 5.0),)))
    assert answer(player, playing(8)) == noted
    # Asked again after the stream broke, it is told again as it was.
    player.hello()
    player.receive([WELCOME, MATCH, GameStart(MATCH.match, 8, Seat(0), NAMES, resumed=True)])
    again = Decision(8, 2, declaring().events + playing().events, (card,), None)
    assert answer(player, again) == noted


def test_bots_that_are_asked_together_note_each_its_own(told) -> None:
    class Together(Noting):
        @classmethod
        def decide_many(cls, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Action]]:
            for one in asked:
                one.bot.note("together", game=one.game)
            yield from ((one, one.view.legal[0]) for one in asked)

    player = Player(Together)
    starts = [GameStart(MATCH.match, game, Seat(0), NAMES) for game in (7, 8)]
    answers = list(player.receive([WELCOME, MATCH, *starts, declaring(8), declaring(7)]))
    assert [one.note for one in answers if isinstance(one, Answer)] == [
        Note("together", (("game", 8.0),)),
        Note("together", (("game", 7.0),)),
    ]


def test_a_note_that_does_not_fit_is_cut_and_the_author_is_told_and_nothing_raised(
    told, caplog
) -> None:
    class Unreadable:
        def __str__(self) -> str:
            raise ZeroDivisionError

    class Verbose(Noting):
        def declare(self, view: View) -> Trump:
            self.note(Unreadable())  # type: ignore[arg-type]
            return Trump.SPADES

        def play(self, view: View) -> Card:
            self.note("x" * 300, share=float("nan"))
            return view.playable[0]

    player = seated()
    player._bot_class = Verbose
    player.receive([GameStart(MATCH.match, 8, Seat(0), NAMES)])
    first, second = answer(player, declaring(8)), answer(player, playing(8))
    assert isinstance(first, Answer)
    assert first.note is None
    assert isinstance(second, Answer)
    assert second.note == Note("x" * 200)
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 2
    assert "ZeroDivisionError" in warnings[0]
    assert "200 printable characters" in warnings[1]
    assert "'share'" in warnings[1]


def test_a_class_is_asked_about_all_games_of_a_batch_together_and_answers_as_it_likes() -> None:
    asked_at_once: list[list[int]] = []

    class Together(Witness):
        @classmethod
        def decide_many(cls, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Action]]:
            asked_at_once.append([one.game for one in asked])
            for one in reversed(asked):
                yield one, one.view.legal[one.game - 7]

    player = Player(Together)
    starts = [GameStart(MATCH.match, game, Seat(0), NAMES) for game in (7, 8, 9)]
    assert list(player.receive([WELCOME, MATCH, *starts])) == []
    assert list(player.receive([declaring(7), declaring(8), declaring(9)])) == [
        Answer(9, 1, 1, DECLARATIONS[2]),
        Answer(8, 1, 1, DECLARATIONS[1]),
        Answer(7, 1, 1, DECLARATIONS[0]),
    ]
    refused = Refused(8, 1, 1, Reason.BAD_DECLARATION, "")
    assert list(player.receive([refused, playing(7)])) == [
        Answer(7, 2, 1, PlayCard(FIVE[0])),
        Answer(8, 1, 2, DECLARATIONS[1]),
    ]
    assert asked_at_once == [[7, 8, 9], [8, 7]]


def test_an_answer_is_there_before_the_next_is_thought_about() -> None:
    thoughts: list[int] = []

    class InTurn(Witness):
        def declare(self, view: View) -> Trump:
            thoughts.append(len(thoughts))
            return Trump.CLUBS

    player = Player(InTurn)
    starts = [GameStart(MATCH.match, game, Seat(0), NAMES) for game in (7, 8)]
    assert list(player.receive([WELCOME, MATCH, *starts])) == []
    answers = player.receive([declaring(7), declaring(8)])
    assert thoughts == []
    assert next(answers) == Answer(7, 1, 1, DECLARATIONS[Trump.CLUBS])
    assert thoughts == [0]


def test_nobody_is_asked_in_a_game_that_ends_in_the_same_batch(told) -> None:
    player = seated()
    assert list(player.receive([declaring(), GameEnd(7, (), OUTCOME)])) == []
    assert [entry[0] for entry in told] == ["started", "ended"]


def test_a_bot_is_told_of_the_start_the_end_of_each_hand_and_the_end_in_that_order(told) -> None:
    player = seated(
        GameEnd(7, (HandStarted(1, Seat(0), Seat(3), (0, 0)), HandEnded(LOST, None, None)), OUTCOME)
    )
    kinds = [entry[0] for entry in told]
    assert kinds == ["started", "hand", "ended"]
    assert told[0][2:] == (Seat(0), RULES)
    assert told[1][1:] == (1, (LOST,), LOST)
    assert told[2][2] == OUTCOME
    assert told[0][1] == told[2][1]
    assert list(player.receive([MatchEnd(MATCH.match)])) == []


def test_the_end_of_a_hand_is_told_before_the_next_one_begins(told) -> None:
    player = seated()
    events = (
        HandStarted(1, Seat(0), Seat(3), (0, 0)),
        HandEnded(LOST, Seat(1), Seat(0)),
        HandStarted(2, Seat(1), Seat(0), (0, 3)),
        PacketDealt(Seat(0), 5, FIVE),
        TrumpDeclared(Seat(1), Trump.SPADES),
        CARD_PLAYED[3][0],
    )
    answer(player, Decision(7, 1, events, (PlayCard(FIVE[0]),), None))
    assert [entry[:2] for entry in told[1:]] == [("hand", 1), ("play", Seat(0))]


def test_a_refused_answer_is_logged_and_the_bot_asked_again(told, caplog) -> None:
    player = seated()
    answer(player, declaring())
    answer(player, playing())
    with caplog.at_level(logging.WARNING):
        again = answer(player, Refused(7, 2, 1, Reason.NOT_IN_HAND, "seat 0 does not hold 6H"))
    assert again == Answer(7, 2, 2, PlayCard(Card.parse("6H")))
    assert len(told) == 3  # the start, and asked twice
    (record,) = caplog.records
    assert record.getMessage() == (
        "game 7, decision 2, attempt 1: play 6H was refused: NOT_IN_HAND: seat 0 does not hold 6H"
    )
    third = answer(player, Refused(7, 2, 2, Reason.NOT_IN_HAND, "seat 0 does not hold 6H"))
    assert third == Answer(7, 2, 3, PlayCard(Card.parse("6H")))


@pytest.mark.parametrize(
    "refused",
    [
        Refused(7, 1, 1, Reason.STALE_DECISION, ""),
        Refused(7, 1, 1, Reason.MATCH_OVER, ""),
        Refused(7, 1, 2, Reason.MALFORMED, ""),
        Refused(7, 2, 1, Reason.MALFORMED, ""),
        Refused(8, 1, 1, Reason.MALFORMED, ""),
    ],
)
def test_a_refusal_of_what_is_not_open_is_not_answered(told, refused: Refused) -> None:
    player = seated()
    answer(player, declaring())
    assert list(player.receive([refused])) == []


def test_goodbye_is_answered_by_goodbye(told) -> None:
    player = seated()
    assert not player.is_finished
    assert list(player.receive([Goodbye("all done")])) == [Goodbye()]
    assert player.is_finished


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([ProtocolRefused(2, 3)], "speaks protocol 1, the referee 2 to 3: install"),
        ([Goodbye("no such seat")], "did not let this bot in: no such seat"),
        ([WELCOME, GameStart("other", 1, Seat(0), NAMES)], "match 'other', which never began"),
        ([WELCOME, MATCH, declaring(9)], "game 9, which is not on"),
        ([WELCOME, GameEnd(9, (), OUTCOME)], "game 9, which is not on"),
        (
            [
                WELCOME,
                MATCH,
                GameStart(MATCH.match, 1, Seat(0), NAMES),
                Decision(1, 1, (), (), None),
            ],
            "without an action that this version of hokm-sdk knows",
        ),
    ],
)
def test_what_a_referee_must_not_say_ends_the_session(told, messages, says: str) -> None:
    with pytest.raises(SessionError, match=says):
        Player(Witness).receive(messages)


def test_what_a_bot_raises_passes_through() -> None:
    class Broken(Bot):
        def play(self, view: View) -> Card:
            raise ZeroDivisionError

        def game_started(self, view: View) -> None:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Player(Broken).receive([WELCOME, MATCH, GameStart(MATCH.match, 1, Seat(0), NAMES)])
