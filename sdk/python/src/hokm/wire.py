"""The session's values as bytes and back: the only module that names message classes.

One table a direction says what becomes of each class; a class without a row does not travel. What
comes from a bot is judged: a batch that is none, or a hello out of bounds, is a
:class:`WireError`; nonsense inside an answer becomes :class:`~hokm.session.Malformed`, whose cost
is the table's to say. Fields and kinds of message that this version does not know are ignored,
values it does not know are not. Nothing here knows gRPC, games or decisions.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from google.protobuf.message import DecodeError

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
from hokm.cards import CARDS, Card, Seat, Side, Suit, Trump
from hokm.errors import HokmError, Reason, RulesError
from hokm.events import (
    CARD_PLAYED,
    TRICK_TAKEN,
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
    TrickTaken,
    TrumpDeclared,
)
from hokm.notes import NOTE_CHARACTERS, NOTE_NUMBERS, NUMBER_NAME_CHARACTERS, Note, wrong_with
from hokm.outcome import Ending, HandKind, HandResult, Outcome
from hokm.rules.options import (
    FirstHakem,
    HakemDraw,
    NextHakem,
    PauseAfter,
    Play,
    Rules,
    Teams,
)
from hokm.seats import (
    MOST_SEATS_AT_ONCE,
    FromHome,
    HomeAlive,
    HomeAnswer,
    HomeAnswerKind,
    HomeDraining,
    HomeHello,
    HomeWelcome,
    Partners,
    SeatOffer,
    SeatOver,
    TableWish,
    ToHome,
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
    seat_service_pb2,
    session_pb2,
)
from hokm.view import ClockView

PLAY_METHOD: Final = "/hokm.v1.RefereeService/Play"
"""The method whose stream carries the batches."""

TICKET_METADATA: Final = "hokm-ticket"
"""The key of the call's metadata under which a bot's ticket travels."""
RESUME_METADATA: Final = "hokm-resume"
"""The same for the token of a bot that comes back; it has this in place of a ticket."""

SEAT_SERVICE: Final = "hokm.v1.SeatService"
OFFER_SEATS: Final = "OfferSeats"
SIT_DOWN: Final = "SitDown"
"""The service of bots that stay at home, and its methods."""
TOKEN_METADATA: Final = "hokm-token"
"""The key under which the token of a bot's owner travels, in calls of a ladder's services."""

TEXT_LENGTH: Final = 40
"""Characters at most in each text of a hello, as in the name of a bot."""
REASON_LENGTH: Final = 200
"""Characters at most in a goodbye's reason."""
CONCURRENT_GAMES: Final = 1024
"""Games at most that a hello may ask for; four times what the referee's speed is measured with."""
BATCH_BYTES: Final = 64 * 1024
"""Bytes at most in a bot's batch: an answer to each of its games, each the longest discard. Where
answers have notes, batches are begun sooner.
"""

HOME_MESSAGE_BYTES: Final = 4 * 1024
"""Bytes at most in a message between a home and a ladder, either way."""
TICKET_LENGTH: Final = 200
"""Characters at most in a ticket; one has 43."""

REFEREE_BATCH_BYTES: Final = 16 * 1024 * 1024
"""Bytes at most in a referee's batch, as many as the client has gRPC take."""

MOST_SEATS: Final = len(TRICK_TAKEN)
MOST_SIDES: Final = 3
"""With three seats each is its own side."""


class WireError(HokmError, ValueError):
    """Bytes that are no batch of messages, or a message that breaks its bounds."""


# -- batches


def encode_from_bot(messages: Sequence[FromBot]) -> bytes:
    """A batch of a bot, in order. Raises WireError for a hello or a goodbye out of bounds, and for
    a number or a text that has no form on the wire.
    """
    batch = referee_service_pb2.PlayRequest()
    for message in messages:
        try:
            _PUT_FROM_BOT[type(message)](message, batch.messages.add())
        except WireError:
            raise
        except ValueError as error:  # what no field can hold, as a cut at -1
            raise WireError(f"this {type(message).__name__} cannot be sent: {error}") from error
    return batch.SerializeToString()


def decode_from_bot(data: bytes) -> tuple[FromBot, ...]:
    """Read a batch of a bot. Raises WireError for what is none, or breaks the bounds.

    An answer whose action is not one of the right kind has a Malformed in its place.
    """
    if len(data) > BATCH_BYTES:
        raise WireError(f"a batch of {len(data)} bytes: a bot's have at most {BATCH_BYTES}")
    batch = _parsed(referee_service_pb2.PlayRequest, data)
    return tuple(_each(batch.messages, "message", _TAKE_FROM_BOT))


def count_from_bot(data: bytes) -> int:
    """How many messages a batch of a bot has, which is quicker than to read them. Raises as
    :func:`decode_from_bot`.
    """
    if len(data) > BATCH_BYTES:
        raise WireError(f"a batch of {len(data)} bytes: a bot's have at most {BATCH_BYTES}")
    return len(_parsed(referee_service_pb2.PlayRequest, data).messages)


def encode_from_referee(messages: Sequence[FromReferee]) -> bytes:
    """A batch of the referee, in order. Equal messages give equal bytes."""
    batch = referee_service_pb2.PlayResponse()
    for message in messages:
        _PUT_FROM_REFEREE[type(message)](message, batch.messages.add())
    return batch.SerializeToString()


def decode_from_referee(data: bytes) -> tuple[FromReferee, ...]:
    """Read a batch of the referee. Raises WireError for what is none, or has a value unknown
    here.
    """
    if len(data) > REFEREE_BATCH_BYTES:
        raise WireError(f"a batch of {len(data)} bytes: at most {REFEREE_BATCH_BYTES} are read")
    batch = _parsed(referee_service_pb2.PlayResponse, data)
    return tuple(_each(batch.messages, "message", _TAKE_FROM_REFEREE))


M = TypeVar("M")
T = TypeVar("T")
E = TypeVar("E", bound=Enum)


def _parsed(kind: type[M], data: bytes) -> M:
    message: Any = kind()
    try:
        message.ParseFromString(data)
    except DecodeError:
        name = kind.__name__
        raise WireError(f"{len(data)} bytes that are no {name} of hokm.v1") from None
    return message  # type: ignore[no-any-return]  # it was made just above


def _each(messages: Iterable[Any], oneof: str, take: dict[str, Callable[[Any], T]]) -> Iterable[T]:
    for message in messages:
        # None, or a name without a row, is of a later version, as an unknown field is.
        name = message.WhichOneof(oneof)
        if name is not None:
            yield take[name](getattr(message, name))


# -- cards, numbers and kinds

# What a card is called on the wire. Any, as the generated type is a number of its own kind.
_NUMBER_OF: tuple[Any, ...] = tuple(card + 1 for card in CARDS)


def _card(number: int) -> Card:
    if 0 < number <= len(CARDS):
        return CARDS[number - 1]
    raise WireError(
        f"{number} is no card: expected CARD_TWO_OF_CLUBS (1) to CARD_ACE_OF_SPADES (52)"
    )


def _card_or_hidden(number: int) -> Card | None:
    return _card(number) if number else None


def _cards(numbers: Sequence[int]) -> tuple[Card, ...]:
    if len(numbers) > len(CARDS):
        raise WireError(f"{len(numbers)} cards: a pack has {len(CARDS)}")
    return tuple([_card(number) for number in numbers])


def _cards_or_hidden(message: Any) -> tuple[Card, ...] | None:
    return _cards(message.cards.cards) if message.HasField("cards") else None


def _put_cards(cards: tuple[Card, ...] | None, message: Any) -> None:
    # What is hidden is absent; extending by nothing makes the message present, as no cards are.
    if cards is not None:
        message.cards.extend([_NUMBER_OF[card] for card in cards])


def _or_none(message: Any, field: str) -> Any:
    return getattr(message, field) if message.HasField(field) else None


def _maybe(message: Any, field: str, take: Callable[[int], T]) -> T | None:
    return take(getattr(message, field)) if message.HasField(field) else None


def _seat(number: int) -> Seat:
    if number >= MOST_SEATS:
        raise WireError(f"there is no seat {number}: a table has at most {MOST_SEATS}")
    return Seat(number)


def _side(number: int) -> Side:
    if number >= MOST_SIDES:
        raise WireError(f"there is no side {number}: a table has at most {MOST_SIDES}")
    return Side(number)


def _by_side(numbers: Sequence[int]) -> tuple[int, ...]:
    if len(numbers) > MOST_SIDES:
        raise WireError(f"{len(numbers)} numbers by side: a table has at most {MOST_SIDES} sides")
    return tuple(numbers)


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)


def _seconds(microseconds: int) -> float:
    return microseconds / 1e6


class _Kinds(Generic[E]):
    """An enum of ours and its twin on the wire, matched by the names of their members."""

    def __init__(self, kind: type[E], twin: Any) -> None:
        self._name = kind.__name__
        prefix = twin.Name(0).removesuffix("UNSPECIFIED")
        self._numbers = {member: twin.Value(prefix + member.name) for member in kind}
        self._members = {number: member for member, number in self._numbers.items()}

    def number(self, member: E | None) -> Any:
        """What stands on the wire; 0, which is unset, for None."""
        return 0 if member is None else self._numbers[member]

    def member(self, number: int) -> E:
        """The kind that was meant; raises WireError for none that is known here."""
        member = self._members.get(number)
        if member is None:
            raise WireError(f"{number} is no {self._name}: expected 1 to {max(self._members)}")
        return member

    def member_or_none(self, number: int) -> E | None:
        """The same, None where it is unset."""
        return self.member(number) if number else None


_SUIT = _Kinds(Suit, card_pb2.Suit)
_TRUMP = _Kinds(Trump, card_pb2.Trump)
_DRAW = _Kinds(Draw, action_pb2.Draw)
_HAND_KIND = _Kinds(HandKind, event_pb2.HandKind)
_PLAY = _Kinds(Play, rules_pb2.Play)
_PAUSE_AFTER = _Kinds(PauseAfter, rules_pb2.PauseAfter)
_NEXT_HAKEM = _Kinds(NextHakem, rules_pb2.NextHakem)
_TEAMS = _Kinds(Teams, rules_pb2.Teams)
_HAKEM_DRAW = _Kinds(HakemDraw, rules_pb2.HakemDraw)
_REASON = _Kinds(Reason, session_pb2.Reason)
_ENDING = _Kinds(Ending, session_pb2.Ending)


# -- actions


def _put_action(action: Action | Malformed, message: action_pb2.Action) -> None:
    match action:
        case PlayCard(card):
            message.play_card = _NUMBER_OF[card]
        case DeclareTrump(trump):
            message.declare_trump = _TRUMP.number(trump)
        case DiscardCards(cards):
            _put_cards(cards, message.discard_cards)
        case ChooseDraw(choice):
            message.choose_draw = _DRAW.number(choice)
        case CutDeck(position):
            message.cut_deck = position
        case Malformed():
            pass  # no action at all, which is what it reads as


def _take_action(message: action_pb2.Action) -> Action:
    match message.WhichOneof("action"):
        case "play_card":
            return PLAYS[_card(message.play_card)]
        case "declare_trump":
            return DECLARATIONS[_TRUMP.member(message.declare_trump)]
        case "discard_cards":
            return DiscardCards(_cards(message.discard_cards.cards))
        case "choose_draw":
            return _CHOICES[_DRAW.member(message.choose_draw)]
        case "cut_deck":
            return CutDeck(message.cut_deck)
        case None:
            raise WireError("an answer without an action: set one field of Action")


_CHOICES = {action.choice: action for action in DRAWS}


def _put_legal(actions: Sequence[Action], message: action_pb2.LegalActions) -> None:
    # Most decisions by far are plays, and asking each action for its kind would take most time.
    plays = [_NUMBER_OF[action.card] for action in actions if isinstance(action, PlayCard)]
    message.play_card.extend(plays)
    if len(plays) == len(actions):
        return
    for action in actions:
        match action:
            case DeclareTrump(trump):
                message.declare_trump.append(_TRUMP.number(trump))
            case DiscardCards(cards):
                _put_cards(cards, message.discard_cards.add())
            case ChooseDraw(choice):
                message.choose_draw.append(_DRAW.number(choice))
            case CutDeck(position):
                message.cut_deck = position  # the last of all from 1 on
            case PlayCard():
                pass


def _take_legal(message: action_pb2.LegalActions) -> tuple[Action, ...]:
    plays = tuple([PLAYS[card] for card in _cards(message.play_card)])
    if plays:
        return plays
    return (
        *CUTS[: message.cut_deck],
        *(DECLARATIONS[_TRUMP.member(number)] for number in message.declare_trump),
        *(DiscardCards(_cards(discard.cards)) for discard in message.discard_cards),
        *(_CHOICES[_DRAW.member(number)] for number in message.choose_draw),
    )


# -- events


def _put_events(events: Iterable[Event], messages: Any) -> None:
    for event in events:
        _PUT_EVENT[type(event)](event, messages.add())


def _take_events(messages: Iterable[event_pb2.Event]) -> tuple[Event, ...]:
    return tuple(_each(messages, "event", _TAKE_EVENT))


def _put_card_turned(event: CardTurned, message: event_pb2.Event) -> None:
    message.card_turned.seat = event.seat
    message.card_turned.card = _NUMBER_OF[event.card]


def _take_card_turned(message: event_pb2.CardTurned) -> CardTurned:
    return CardTurned(_seat(message.seat), _card(message.card))


def _put_partner_drawn(event: PartnerDrawn, message: event_pb2.Event) -> None:
    message.partner_drawn.seat = event.seat
    message.partner_drawn.opposite = event.opposite


def _take_partner_drawn(message: event_pb2.PartnerDrawn) -> PartnerDrawn:
    return PartnerDrawn(_seat(message.seat), _seat(message.opposite))


def _put_hand_started(event: HandStarted, message: event_pb2.Event) -> None:
    started = message.hand_started
    started.number = event.number
    started.hakem = event.hakem
    started.dealer = event.dealer
    started.scores.extend(event.scores)


def _take_hand_started(message: event_pb2.HandStarted) -> HandStarted:
    return HandStarted(
        message.number, _seat(message.hakem), _seat(message.dealer), _by_side(message.scores)
    )


def _put_deck_cut(event: DeckCut, message: event_pb2.Event) -> None:
    message.deck_cut.seat = event.seat
    message.deck_cut.position = event.position


def _take_deck_cut(message: event_pb2.DeckCut) -> DeckCut:
    return DeckCut(_seat(message.seat), message.position)


def _put_packet_dealt(event: PacketDealt, message: event_pb2.Event) -> None:
    dealt = message.packet_dealt
    dealt.seat = event.seat
    dealt.count = event.count
    _put_cards(event.cards, dealt.cards)


def _take_packet_dealt(message: event_pb2.PacketDealt) -> PacketDealt:
    return PacketDealt(_seat(message.seat), message.count, _cards_or_hidden(message))


def _put_trump_declared(event: TrumpDeclared, message: event_pb2.Event) -> None:
    message.trump_declared.seat = event.seat
    message.trump_declared.trump = _TRUMP.number(event.trump)


def _take_trump_declared(message: event_pb2.TrumpDeclared) -> TrumpDeclared:
    return TrumpDeclared(_seat(message.seat), _TRUMP.member(message.trump))


def _put_cards_discarded(event: CardsDiscarded, message: event_pb2.Event) -> None:
    discarded = message.cards_discarded
    discarded.seat = event.seat
    discarded.count = event.count
    _put_cards(event.cards, discarded.cards)


def _take_cards_discarded(message: event_pb2.CardsDiscarded) -> CardsDiscarded:
    return CardsDiscarded(_seat(message.seat), message.count, _cards_or_hidden(message))


def _put_card_offered(event: CardOffered, message: event_pb2.Event) -> None:
    offered = message.card_offered
    offered.seat = event.seat
    offered.stock = event.stock
    if event.card is not None:
        offered.card = _NUMBER_OF[event.card]


def _take_card_offered(message: event_pb2.CardOffered) -> CardOffered:
    return CardOffered(_seat(message.seat), message.stock, _card_or_hidden(message.card))


def _put_draw_chosen(event: DrawChosen, message: event_pb2.Event) -> None:
    chosen = message.draw_chosen
    chosen.seat = event.seat
    chosen.choice = _DRAW.number(event.choice)
    if event.second is not None:
        chosen.second = _NUMBER_OF[event.second]
    chosen.public = event.public


def _take_draw_chosen(message: event_pb2.DrawChosen) -> DrawChosen:
    return DrawChosen(
        _seat(message.seat),
        _DRAW.member_or_none(message.choice),
        _card_or_hidden(message.second),
        message.public,
    )


def _put_card_played(event: CardPlayed, message: event_pb2.Event) -> None:
    played = message.card_played
    played.seat = event.seat
    played.card = _NUMBER_OF[event.card]


def _take_card_played(message: event_pb2.CardPlayed) -> CardPlayed:
    return CARD_PLAYED[_seat(message.seat)][_card(message.card)]


def _put_trick_taken(event: TrickTaken, message: event_pb2.Event) -> None:
    message.trick_taken.seat = event.seat


def _take_trick_taken(message: event_pb2.TrickTaken) -> TrickTaken:
    return TRICK_TAKEN[_seat(message.seat)]


def _put_hand_ended(event: HandEnded, message: event_pb2.Event) -> None:
    ended, result = message.hand_ended, event.result
    ended.result.winner = result.winner
    ended.result.kind = _HAND_KIND.number(result.kind)
    ended.result.points.extend(result.points)
    ended.result.tricks.extend(result.tricks)
    if event.next_hakem is not None:
        ended.next_hakem = event.next_hakem
    if event.next_dealer is not None:
        ended.next_dealer = event.next_dealer


def _take_hand_ended(message: event_pb2.HandEnded) -> HandEnded:
    result = message.result
    return HandEnded(
        HandResult(
            _side(result.winner),
            _HAND_KIND.member(result.kind),
            _by_side(result.points),
            _by_side(result.tricks),
        ),
        _maybe(message, "next_hakem", _seat),
        _maybe(message, "next_dealer", _seat),
    )


_PUT_EVENT: dict[type[Event], Callable[[Any, Any], None]] = {
    CardTurned: _put_card_turned,
    PartnerDrawn: _put_partner_drawn,
    HandStarted: _put_hand_started,
    DeckCut: _put_deck_cut,
    PacketDealt: _put_packet_dealt,
    TrumpDeclared: _put_trump_declared,
    CardsDiscarded: _put_cards_discarded,
    CardOffered: _put_card_offered,
    DrawChosen: _put_draw_chosen,
    CardPlayed: _put_card_played,
    TrickTaken: _put_trick_taken,
    HandEnded: _put_hand_ended,
}

_TAKE_EVENT: dict[str, Callable[[Any], Event]] = {
    "card_turned": _take_card_turned,
    "partner_drawn": _take_partner_drawn,
    "hand_started": _take_hand_started,
    "deck_cut": _take_deck_cut,
    "packet_dealt": _take_packet_dealt,
    "trump_declared": _take_trump_declared,
    "cards_discarded": _take_cards_discarded,
    "card_offered": _take_card_offered,
    "draw_chosen": _take_draw_chosen,
    "card_played": _take_card_played,
    "trick_taken": _take_trick_taken,
    "hand_ended": _take_hand_ended,
}


# -- what a bot says


def _put_hello(hello: Hello, message: session_pb2.FromBot) -> None:
    _bound_hello(hello)
    message.hello.protocol = hello.protocol
    message.hello.sdk = hello.sdk
    message.hello.name = hello.name
    message.hello.version = hello.version
    message.hello.concurrent = hello.concurrent
    message.hello.games.extend(hello.games)


def _take_hello(message: session_pb2.Hello) -> Hello:
    hello = Hello(
        message.protocol,
        message.sdk,
        message.name,
        message.version,
        message.concurrent,
        tuple(message.games),
    )
    _bound_hello(hello)
    return hello


def _bound_hello(hello: Hello) -> None:
    _bound_texts(hello)
    if not 1 <= hello.concurrent <= CONCURRENT_GAMES:
        raise WireError(
            f"a hello is for 1 to {CONCURRENT_GAMES} games at once, not {hello.concurrent}"
        )
    if len(hello.games) > CONCURRENT_GAMES:
        raise WireError(f"a hello names at most {CONCURRENT_GAMES} games, not {len(hello.games)}")


def _bound_texts(hello: Hello | HomeHello) -> None:
    for field, text in {"sdk": hello.sdk, "name": hello.name, "version": hello.version}.items():
        if not (1 <= len(text) <= TEXT_LENGTH and text.isprintable()):
            raise WireError(
                f"the {field} in a hello has 1 to {TEXT_LENGTH} printable characters, "
                f"not {len(text)}: {text[:TEXT_LENGTH]!r}"
            )


def _put_answer(answer: Answer, message: session_pb2.FromBot) -> None:
    wire = message.answer
    wire.game = answer.game
    wire.decision = answer.decision
    wire.attempt = answer.attempt
    _put_action(answer.action, wire.action)
    if answer.took_seconds is not None:
        wire.took_microseconds = _microseconds(answer.took_seconds)
    match answer.note:
        case Note() as note:
            _put_note(note, wire.note)
        case Malformed():
            wire.note.SetInParent()  # a note that says nothing, which is what it reads as
        case None:
            pass


def _put_note(note: Note, message: session_pb2.Note) -> None:
    # Half a surrogate pair has no UTF-8.
    message.text = note.text.encode(errors="replace")
    for name, value in note.numbers:
        message.numbers.add(name=name.encode(errors="replace"), value=value)


def _take_note(message: session_pb2.Note) -> Note | Malformed:
    """A note within its bounds; whatever else it is costs nothing but the note."""
    # What is far beyond them is not decoded to find that out.
    if len(message.text) > 4 * NOTE_CHARACTERS or len(message.numbers) > NOTE_NUMBERS:
        return Malformed("a note with too much in it")
    if any(len(number.name) > NUMBER_NAME_CHARACTERS for number in message.numbers):
        return Malformed("a note with a number of too long a name")
    try:
        numbers = tuple([(number.name.decode(), number.value) for number in message.numbers])
        note = Note(message.text.decode(), numbers)
    except UnicodeDecodeError:
        return Malformed("a note in no UTF-8")
    wrong = wrong_with(note)
    return Malformed(f"a note that is none: {wrong}") if wrong else note


def _take_answer(message: session_pb2.Answer) -> Answer:
    action: Action | Malformed
    try:
        action = _take_action(message.action)
    except WireError as error:
        action = Malformed(str(error))
    took = _or_none(message, "took_microseconds")
    took_seconds = None if took is None else _seconds(took)
    note = _take_note(message.note) if message.HasField("note") else None
    return Answer(message.game, message.decision, message.attempt, action, took_seconds, note)


def _put_goodbye(goodbye: Goodbye, message: session_pb2.FromBot | session_pb2.FromReferee) -> None:
    _bound_goodbye(goodbye)
    message.goodbye.reason = goodbye.reason


def _take_goodbye(message: session_pb2.Goodbye) -> Goodbye:
    goodbye = Goodbye(message.reason)
    _bound_goodbye(goodbye)
    return goodbye


def _bound_goodbye(goodbye: Goodbye) -> None:
    if len(goodbye.reason) > REASON_LENGTH:
        raise WireError(
            f"a goodbye's reason has at most {REASON_LENGTH} characters, not {len(goodbye.reason)}"
        )


_PUT_FROM_BOT: dict[type[FromBot], Callable[[Any, Any], None]] = {
    Hello: _put_hello,
    Answer: _put_answer,
    Goodbye: _put_goodbye,
}

_TAKE_FROM_BOT: dict[str, Callable[[Any], FromBot]] = {
    "hello": _take_hello,
    "answer": _take_answer,
    "goodbye": _take_goodbye,
}


# -- what the referee says


def _put_welcome(welcome: Welcome, message: session_pb2.FromReferee) -> None:
    message.welcome.protocol = welcome.protocol
    message.welcome.arena = welcome.arena
    message.welcome.resume_token = welcome.resume_token
    if welcome.resume_seconds:
        message.welcome.resume_microseconds = _microseconds(welcome.resume_seconds)


def _take_welcome(message: session_pb2.Welcome) -> Welcome:
    return Welcome(
        message.protocol,
        message.arena,
        message.resume_token,
        _seconds(message.resume_microseconds),
    )


def _put_protocol_refused(refused: ProtocolRefused, message: session_pb2.FromReferee) -> None:
    message.protocol_refused.lowest = refused.lowest
    message.protocol_refused.highest = refused.highest


def _take_protocol_refused(message: session_pb2.ProtocolRefused) -> ProtocolRefused:
    return ProtocolRefused(message.lowest, message.highest)


def _put_match_start(start: MatchStart, message: session_pb2.FromReferee) -> None:
    wire = message.match_start
    wire.match = start.match
    _put_rules(start.rules, wire.rules)
    wire.games = start.games
    wire.clock.move_microseconds = _microseconds(start.clock.move_seconds)
    wire.clock.bank_microseconds = _microseconds(start.clock.bank_seconds)


def _take_match_start(message: session_pb2.MatchStart) -> MatchStart:
    clock = ClockRules(
        _seconds(message.clock.move_microseconds), _seconds(message.clock.bank_microseconds)
    )
    rules = _take_rules(message.rules)
    return MatchStart(message.match, rules, message.games, clock)


def _put_rules(rules: Rules, message: rules_pb2.Rules) -> None:
    message.players = rules.players
    message.play = _PLAY.number(rules.play)
    message.points_win = rules.points_win
    message.points_kot = rules.points_kot
    message.points_hakem_kot = rules.points_hakem_kot
    message.pause_after = _PAUSE_AFTER.number(rules.pause_after)
    message.removed_two = _SUIT.number(rules.removed_two)
    message.modes.extend([_TRUMP.number(mode) for mode in rules.modes])
    message.kot_in_modes = rules.kot_in_modes
    message.next_hakem = _NEXT_HAKEM.number(rules.next_hakem)
    message.teams = _TEAMS.number(rules.teams)
    if rules.play_out is not None:
        message.play_out = rules.play_out
    if rules.draw_choice_public is not None:
        message.draw_choice_public = rules.draw_choice_public
    if rules.target_points is not None:
        message.target_points = rules.target_points
    if rules.cut is not None:
        message.cut = rules.cut
    if rules.first_hakem is not None:
        message.first_hakem.draw = _HAKEM_DRAW.number(rules.first_hakem.draw)
        if rules.first_hakem.seat is not None:
            message.first_hakem.seat = rules.first_hakem.seat


def _take_rules(message: rules_pb2.Rules) -> Rules:
    if len(message.modes) > len(Trump):
        raise WireError(f"the rules of a match: {len(message.modes)} modes, and there are fewer")
    rules = Rules(
        players=message.players,
        play=_PLAY.member(message.play),
        points_win=message.points_win,
        points_kot=message.points_kot,
        points_hakem_kot=message.points_hakem_kot,
        pause_after=_PAUSE_AFTER.member_or_none(message.pause_after),
        play_out=_or_none(message, "play_out"),
        removed_two=_SUIT.member_or_none(message.removed_two),
        draw_choice_public=_or_none(message, "draw_choice_public"),
        modes=tuple(_TRUMP.member(mode) for mode in message.modes),
        kot_in_modes=message.kot_in_modes,
        target_points=_or_none(message, "target_points"),
        first_hakem=_take_first_hakem(message),
        next_hakem=_NEXT_HAKEM.member_or_none(message.next_hakem),
        teams=_TEAMS.member_or_none(message.teams),
        cut=_or_none(message, "cut"),
    )
    # A table that this library cannot play is refused here, with the option's name, rather than by
    # some error in the middle of a hand.
    try:
        return Rules.of(rules.players, play=rules.play, options=rules.options())
    except RulesError as error:
        raise WireError(f"the rules of a match: {error}") from None


def _take_first_hakem(message: rules_pb2.Rules) -> FirstHakem | None:
    if not message.HasField("first_hakem"):
        return None
    first = message.first_hakem
    return FirstHakem(_HAKEM_DRAW.member(first.draw), _maybe(first, "seat", _seat))


def _put_game_start(start: GameStart, message: session_pb2.FromReferee) -> None:
    message.game_start.match = start.match
    message.game_start.game = start.game
    message.game_start.seat = start.seat
    message.game_start.players.extend(start.players)
    message.game_start.resumed = start.resumed


def _take_game_start(message: session_pb2.GameStart) -> GameStart:
    if len(message.players) > MOST_SEATS:
        raise WireError(f"{len(message.players)} players: a table has at most {MOST_SEATS}")
    players = tuple(message.players)
    return GameStart(message.match, message.game, _seat(message.seat), players, message.resumed)


def _put_news(events: Iterable[Event], message: session_pb2.Decision) -> None:
    """Events, most of them as bytes made once: the bytes of repeated fields add up."""
    made: list[bytes] = []
    for event in events:
        if type(event) is CardPlayed:
            made.append(_PLAYED_BYTES[event.seat][event.card])
        elif type(event) is TrickTaken:
            made.append(_TAKEN_BYTES[event.seat])
        else:
            message.MergeFromString(b"".join(made))
            made.clear()
            _PUT_EVENT[type(event)](event, message.events.add())
    message.MergeFromString(b"".join(made))


def _news_bytes(event: Event) -> bytes:
    message = session_pb2.Decision()
    _PUT_EVENT[type(event)](event, message.events.add())
    return message.SerializeToString()


_PLAYED_BYTES = tuple(tuple(map(_news_bytes, events)) for events in CARD_PLAYED)
_TAKEN_BYTES = tuple(map(_news_bytes, TRICK_TAKEN))


def _put_decision(decision: Decision, message: session_pb2.FromReferee) -> None:
    wire = message.decision
    wire.game = decision.game
    wire.decision = decision.decision
    _put_news(decision.events, wire)
    _put_legal(decision.legal, wire.legal)
    if decision.clock is not None:
        clock = wire.clock
        clock.move_microseconds = _microseconds(decision.clock.move_seconds)
        clock.bank_microseconds = _microseconds(decision.clock.bank_seconds)
        if decision.clock.last_seconds is not None:
            clock.last_microseconds = _microseconds(decision.clock.last_seconds)
    if decision.attempt > 1:
        wire.attempt = decision.attempt


def _take_decision(message: session_pb2.Decision) -> Decision:
    return Decision(
        message.game,
        message.decision,
        _take_events(message.events),
        _take_legal(message.legal),
        _take_clock(message.clock) if message.HasField("clock") else None,
        max(1, message.attempt),
    )


def _take_clock(message: session_pb2.ClockView) -> ClockView:
    last = _seconds(message.last_microseconds) if message.HasField("last_microseconds") else None
    return ClockView(_seconds(message.move_microseconds), _seconds(message.bank_microseconds), last)


def _put_refused(refused: Refused, message: session_pb2.FromReferee) -> None:
    wire = message.refused
    wire.game = refused.game
    wire.decision = refused.decision
    wire.attempt = refused.attempt
    wire.reason = _REASON.number(refused.reason)
    wire.detail = refused.detail


def _take_refused(message: session_pb2.Refused) -> Refused:
    return Refused(
        message.game,
        message.decision,
        message.attempt,
        _REASON.member(message.reason),
        message.detail,
    )


def _put_game_end(end: GameEnd, message: session_pb2.FromReferee) -> None:
    wire, outcome = message.game_end, end.outcome
    wire.game = end.game
    _put_events(end.events, wire.events)
    wire.outcome.ending = _ENDING.number(outcome.ending)
    wire.outcome.points.extend(outcome.points)
    if outcome.winner is not None:
        wire.outcome.winner = outcome.winner
    if outcome.at_fault is not None:
        wire.outcome.at_fault = outcome.at_fault
    wire.outcome.cause = outcome.cause


def _take_game_end(message: session_pb2.GameEnd) -> GameEnd:
    outcome = message.outcome
    return GameEnd(
        message.game,
        _take_events(message.events),
        Outcome(
            _ENDING.member(outcome.ending),
            _by_side(outcome.points),
            _maybe(outcome, "winner", _side),
            _maybe(outcome, "at_fault", _seat),
            outcome.cause,
        ),
    )


def _put_match_end(end: MatchEnd, message: session_pb2.FromReferee) -> None:
    message.match_end.match = end.match


def _take_match_end(message: session_pb2.MatchEnd) -> MatchEnd:
    return MatchEnd(message.match)


_PUT_FROM_REFEREE: dict[type[FromReferee], Callable[[Any, Any], None]] = {
    Welcome: _put_welcome,
    ProtocolRefused: _put_protocol_refused,
    MatchStart: _put_match_start,
    GameStart: _put_game_start,
    Decision: _put_decision,
    Refused: _put_refused,
    GameEnd: _put_game_end,
    MatchEnd: _put_match_end,
    Goodbye: _put_goodbye,
}

_TAKE_FROM_REFEREE: dict[str, Callable[[Any], FromReferee]] = {
    "welcome": _take_welcome,
    "protocol_refused": _take_protocol_refused,
    "match_start": _take_match_start,
    "game_start": _take_game_start,
    "decision": _take_decision,
    "refused": _take_refused,
    "game_end": _take_game_end,
    "match_end": _take_match_end,
    "goodbye": _take_goodbye,
}


# -- between a home and a ladder


def encode_from_home(message: FromHome) -> bytes:
    """A message of a home. Raises WireError for one out of bounds.

    The two methods have the same messages under the same numbers, so one pair of functions will do.
    """
    wire = seat_service_pb2.OfferSeatsRequest()
    try:
        match message:
            case HomeHello():
                _put_home_hello(message, wire.hello)
            case HomeAnswer(offer, kind):
                wire.answer.offer = offer
                wire.answer.kind = _HOME_ANSWER.number(kind)
            case HomeAlive():
                wire.alive.SetInParent()
            case HomeDraining():
                wire.draining.SetInParent()
    except WireError:
        raise
    except ValueError as error:
        raise WireError(f"this {type(message).__name__} cannot be sent: {error}") from error
    return wire.SerializeToString()


def decode_from_home(data: bytes) -> FromHome | None:
    """Read a message of a home, None for one of a kind that is not known here.

    Raises WireError for what is none, or breaks the bounds.
    """
    wire: Any = _home_parsed(seat_service_pb2.OfferSeatsRequest, data)
    match wire.WhichOneof("message"):
        case "hello":
            return _take_home_hello(wire.hello)
        case "answer":
            return HomeAnswer(wire.answer.offer, _HOME_ANSWER.member(wire.answer.kind))
        case "alive":
            return HomeAlive()
        case "draining":
            return HomeDraining()
    return None


def encode_to_home(message: ToHome) -> bytes:
    """A message of a ladder to a home."""
    wire = seat_service_pb2.OfferSeatsResponse()
    match message:
        case HomeWelcome(protocol, arena, bot):
            wire.welcome.protocol = protocol
            wire.welcome.arena = arena
            wire.welcome.bot = bot
        case SeatOffer(offer, ticket, within_seconds):
            wire.offer.offer = offer
            wire.offer.ticket = ticket
            wire.offer.within_microseconds = _microseconds(within_seconds)
        case SeatOver(offer):
            wire.over.offer = offer
    return wire.SerializeToString()


def decode_to_home(data: bytes) -> ToHome | None:
    """Read a message of a ladder; see :func:`decode_from_home`."""
    wire: Any = _home_parsed(seat_service_pb2.OfferSeatsResponse, data)
    match wire.WhichOneof("message"):
        case "welcome":
            return HomeWelcome(wire.welcome.protocol, wire.welcome.arena, wire.welcome.bot)
        case "offer":
            ticket = wire.offer.ticket
            if not (0 < len(ticket) <= TICKET_LENGTH and ticket.isascii() and ticket.isprintable()):
                raise WireError("an offer without what could be a ticket")
            if wire.offer.within_microseconds > _MOST_MICROSECONDS:
                raise WireError(f"an offer of {wire.offer.within_microseconds} microseconds")
            return SeatOffer(wire.offer.offer, ticket, _seconds(wire.offer.within_microseconds))
        case "over":
            return SeatOver(wire.over.offer)
    return None


_HOME_ANSWER = _Kinds(HomeAnswerKind, seat_service_pb2.HomeAnswerKind)
_MOST_MICROSECONDS = 3600 * 10**6
"""An hour, and no offer stands for nearly so long."""
_PARTNERS = _Kinds(Partners, seat_service_pb2.Partners)


def _home_parsed(kind: type[M], data: bytes) -> M:
    if len(data) > HOME_MESSAGE_BYTES:
        raise WireError(f"a message of {len(data)} bytes: one has at most {HOME_MESSAGE_BYTES}")
    return _parsed(kind, data)


def _put_home_hello(hello: HomeHello, wire: Any) -> None:
    _bound_home_hello(hello)
    wire.protocol = hello.protocol
    wire.sdk = hello.sdk
    wire.name = hello.name
    wire.version = hello.version
    wire.seats = hello.seats
    wire.playing.extend(hello.playing)
    if hello.table is not None:
        wire.table.players = hello.table.players
        wire.table.partners = _PARTNERS.number(hello.table.partners)


def _take_home_hello(wire: Any) -> HomeHello:
    table = None
    if wire.HasField("table"):
        table = TableWish(wire.table.players, _PARTNERS.member(wire.table.partners))
    hello = HomeHello(
        wire.protocol, wire.sdk, wire.name, wire.version, wire.seats, tuple(wire.playing), table
    )
    _bound_home_hello(hello)
    return hello


def _bound_home_hello(hello: HomeHello) -> None:
    _bound_texts(hello)
    if not 1 <= hello.seats <= MOST_SEATS_AT_ONCE:
        raise WireError(f"a home offers 1 to {MOST_SEATS_AT_ONCE} seats, not {hello.seats}")
    if len(hello.playing) > MOST_SEATS_AT_ONCE:
        raise WireError(f"a home has {MOST_SEATS_AT_ONCE} processes at most")
    if hello.table is not None and not 2 <= hello.table.players <= MOST_SEATS:
        raise WireError(f"a table is for 2 to {MOST_SEATS}, not {hello.table.players}")
