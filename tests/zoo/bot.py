"""The bots of the zoo: `python bot.py NAME` behaves as the member of that name does.

Each is a client that plays the first legal action, with one thing wrong. It is written over the
wire's own encoder and gRPC, and where even those would not let it, in bytes. It writes to its log
when it was born and when it did what it is here for, both by the clock that all processes of a
machine share. What is expected of it stands in `members.py`; this file knows nothing of that.
"""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import ClassVar, NoReturn, Protocol

import grpc

from hokm.actions import (
    Action,
    ChooseDraw,
    DeclareTrump,
    DiscardCards,
    PlayCard,
)
from hokm.cards import Card, Trump
from hokm.session import (
    PROTOCOL,
    Answer,
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
    Refused,
    Welcome,
)
from hokm.v1.referee_service_pb2 import PlayRequest
from hokm.view import View
from hokm.wire import (
    PLAY_METHOD,
    TICKET_METADATA,
    WireError,
    decode_from_bot,
    decode_from_referee,
    encode_from_bot,
)

FOREVER_SECONDS = 600.0
CHILD_SECONDS = "120"
"""How long a child lives that nobody ends: longer than anybody here waits for that."""
FLOOD = 20_000
"""Messages in a flood."""
SPARE = 1000
A_DECISION = 4
"""How many batches and answers a session bears, and how many more for each decision."""


class Stream(Protocol):
    """A call of gRPC, as far as it is used here."""

    def __iter__(self) -> Iterator[bytes]: ...

    def cancel(self) -> bool: ...


def main(name: str) -> None:
    born = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    print("born", born / os.sysconf("SC_CLK_TCK"), flush=True)
    zoo()[name]().live()


def zoo() -> "dict[str, type[Good]]":
    """Every member by name."""
    kinds = [kind for kind in globals().values() if isinstance(kind, type)]
    return {kind.name(): kind for kind in kinds if issubclass(kind, Good) and kind is not Good}


class Good:
    """Plays the first legal action; a member overrides what it does otherwise."""

    protocol: ClassVar[int] = PROTOCOL

    def __init__(self) -> None:
        self.ticket = os.environ["HOKM_TICKET"]
        self.outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self.is_flooding = False
        self.left = SPARE
        """How much more it may send before that is a flood."""
        self.view: View
        self.rules: MatchStart
        self.game = 0
        self.decision = 0
        self.has_done_it = False

    @classmethod
    def name(cls) -> str:
        """The class's name as the zoo has it: `KillsItself` is `kills-itself`."""
        return "".join(f"-{one.lower()}" if one.isupper() else one for one in cls.__name__)[1:]

    # -- its life

    def live(self) -> None:
        with grpc.insecure_channel(os.environ["HOKM_ADDRESS"]) as channel:
            self.channel = channel
            self.call = self.connect()
            self.greet()
            try:
                for batch in self.call:
                    for message in decode_from_referee(batch):
                        self.hear(message)
            except grpc.RpcError as error:
                print("broken off", error.code().name)
                os._exit(4)
        self.leave()

    def connect(self) -> Stream:
        play = channel_method(self.channel)
        return play(self.batches(), metadata=((TICKET_METADATA, self.ticket),))

    def batches(self) -> Iterator[bytes]:
        """What it has to say, until None. A flood is one from the batch on that is too many."""
        for batch in iter(self.outgoing.get, None):
            self.left -= 1 + len(decoded(batch))
            if self.is_flooding and self.left < 0:
                self.is_flooding = False
                self.deed()
            yield batch

    def greet(self) -> None:
        self.say(Hello(self.protocol, "none", "zoo", "1"))

    def hear(self, message: FromReferee) -> None:
        match message:
            case Welcome():
                self.welcomed()
            case MatchStart():
                self.rules = message
            case GameStart(_, game, seat):
                self.game = game
                self.view = View(self.rules.rules, seat)
                self.game_started()
            case Decision():
                self.left += A_DECISION
                self.decision = message.decision
                for event in message.events:
                    self.view.apply(event)
                self.view.ask(message.legal, message.clock)
                self.asked()
            case Refused():
                print("refused", message.reason.name, message.detail)
                self.refused(message)
            case GameEnd():
                self.game_ended()
            case MatchEnd():
                self.match_ended()
            case Goodbye():
                self.say(Goodbye())
                self.outgoing.put(None)

    # -- what a member may do otherwise

    def welcomed(self) -> None: ...

    def game_started(self) -> None: ...

    def asked(self) -> None:
        match self.view.legal[0]:
            case DeclareTrump():
                self.declare()
            case DiscardCards():
                self.discard()
            case ChooseDraw():
                self.draw()
            case PlayCard() if self.has_done_it:
                self.play_on()
            case _:
                self.play()

    def declare(self) -> None:
        self.answer(self.view.legal[0])

    def discard(self) -> None:
        self.answer(self.view.legal[0])

    def draw(self) -> None:
        self.answer(self.view.legal[0])

    def play(self) -> None:
        """Play a card; until it has done what it is here for."""
        self.play_on()

    def play_on(self) -> None:
        """Play a card, after that."""
        self.answer(self.view.legal[0])

    def refused(self, refused: Refused) -> None: ...

    def game_ended(self) -> None: ...

    def match_ended(self) -> None: ...

    def leave(self) -> None: ...

    # -- what it has to do so

    def deed(self) -> None:
        """Write down that now it does what it is here for."""
        self.has_done_it = True
        print("deed", time.monotonic(), flush=True)

    def flood(self) -> None:
        """From now on write that down once what is sent is too much."""
        self.has_done_it = self.is_flooding = True

    def say(self, *messages: FromBot) -> None:
        self.outgoing.put(encode_from_bot(messages))

    def send(self, batch: bytes) -> None:
        self.outgoing.put(batch)

    def answer(self, action: Action | Malformed, *, ahead: int = 0, attempt: int = 1) -> None:
        self.say(self.answered(action, ahead=ahead, attempt=attempt))

    def answered(self, action: Action | Malformed, *, ahead: int = 0, attempt: int = 1) -> Answer:
        return Answer(self.game, self.decision + ahead, attempt, action)

    def not_held(self) -> Action:
        return PlayCard(self.view.unseen[0])


def channel_method(channel: grpc.Channel) -> Callable[..., Stream]:
    return channel.stream_stream(PLAY_METHOD)


def decoded(batch: bytes) -> tuple[FromBot, ...]:
    """The messages in a batch that are known; of one that is none, none."""
    try:
        return decode_from_bot(batch)
    except WireError:
        return ()


def sleep_on() -> NoReturn:
    """A process that is alive and does nothing."""
    time.sleep(FOREVER_SECONDS)
    os._exit(9)


def field(number: int, payload: bytes) -> bytes:
    """A field of bytes as the wire has it."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(number: int) -> bytes:
    if number < 0x80:
        return bytes([number])
    return bytes([number & 0x7F | 0x80]) + varint(number >> 7)


# -- at the door


class NeverConnects(Good):
    def live(self) -> None:
        sleep_on()


class StopsBeforeItsHello(Good):
    def live(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class ConnectsAndIsSilent(Good):
    def greet(self) -> None: ...


class ExitsBeforeItsHello(Good):
    def live(self) -> None:
        self.deed()
        os._exit(7)


class BringsAWrongTicket(Good):
    def connect(self) -> Stream:
        self.ticket = "A" * len(self.ticket)
        self.deed()
        return super().connect()


class UsesItsTicketTwice(Good):
    def welcomed(self) -> None:
        self.deed()
        second = channel_method(self.channel)(
            iter([encode_from_bot([Hello(PROTOCOL, "none", "second", "1")])]),
            metadata=((TICKET_METADATA, self.ticket),),
        )
        try:
            print("the second stream was let in:", next(iter(second)), flush=True)
        except grpc.RpcError as error:
            print("the second stream ended with", error.code().name, flush=True)


class SpeaksAnotherProtocol(Good):
    protocol = 2

    def greet(self) -> None:
        self.deed()
        super().greet()


class BeginsWithAnAnswer(Good):
    def greet(self) -> None:
        self.deed()
        self.answer(Malformed("nothing"))


class BeginsWithGarbage(Good):
    def greet(self) -> None:
        self.deed()
        self.send(b"\xff" * 100)


class HasANameInBadUtf8(Good):
    def greet(self) -> None:
        self.deed()
        hello = varint(1 << 3) + varint(1) + field(2, b"none") + field(3, b"\xff\xfe")
        self.send(field(1, field(1, hello)))


class ExitsAtTheWelcome(Good):
    def welcomed(self) -> None:
        self.deed()
        os._exit(3)


# -- ends in a game


class ExitsInThePause(Good):
    def game_started(self) -> None:
        if self.view.seat != 0:  # who is not hakem exits while the other names trump
            self.declare()

    def declare(self) -> None:
        self.deed()
        os._exit(3)


class ExitsInATrick(Good):
    def play(self) -> None:
        if self.view.trick:
            self.deed()
            os._exit(3)
        self.play_on()


class ExitsAtATableOfFour(Good):
    def play(self) -> None:
        self.deed()
        os._exit(3)


class RaisesAnException(Good):
    def play(self) -> None:
        self.deed()
        raise RuntimeError("a bug of the bot's")


class KillsItself(Good):
    def play(self) -> None:
        self.deed()
        os.kill(os.getpid(), signal.SIGKILL)


class ClosesItsHalf(Good):
    def play(self) -> None:
        self.deed()
        self.outgoing.put(None)


class CancelsItsStream(Good):
    def play(self) -> None:
        self.deed()
        self.call.cancel()
        sleep_on()


class SaysGoodbyeInAGame(Good):
    def play(self) -> None:
        self.deed()
        self.say(Goodbye("I am losing"))


class ExitsAtTheEndOfItsGame(Good):
    def game_ended(self) -> None:
        self.deed()
        os._exit(3)


class ExitsAtTheEndOfItsMatch(Good):
    def match_ended(self) -> None:
        self.deed()
        os._exit(3)


# -- takes its time


class NeverAnswers(Good):
    def play(self) -> None:
        self.deed()


class StopsItself(Good):
    def play(self) -> None:
        self.deed()
        os.kill(os.getpid(), signal.SIGSTOP)


class StopsReading(Good):
    def welcomed(self) -> None:
        self.deed()
        sleep_on()


class AnswersTooLate(Good):
    def play(self) -> None:
        self.deed()
        time.sleep(self.rules.clock.move_seconds + 0.5)
        self.play_on()


class AnswersInTheLastMillisecond(Good):
    def play(self) -> None:
        asked_at = time.monotonic()
        self.deed()
        time.sleep(self.rules.clock.move_seconds - 0.001 - (time.monotonic() - asked_at))
        self.play_on()


class HoldsItsMatchUp(Good):
    def welcomed(self) -> None:
        self.deed()

    def asked(self) -> None: ...


# -- floods


class FloodsWithAValidAnswer(Good):
    def play(self) -> None:
        self.flood()
        for _ in range(FLOOD):
            self.play_on()


class FloodsWithStaleAnswers(Good):
    def play(self) -> None:
        self.deed()
        for attempt in range(1, FLOOD):
            self.answer(self.not_held(), ahead=-1, attempt=attempt)


class FloodsAFinishedGame(Good):
    def game_ended(self) -> None:
        self.flood()
        for attempt in range(FLOOD):
            self.answer(self.not_held(), ahead=1, attempt=attempt)


class FloodsWithGarbage(Good):
    def play(self) -> None:
        self.deed()
        for _ in range(FLOOD):
            self.send(b"\xff" * 100)


class FloodsWithEmptyBatches(Good):
    def play(self) -> None:
        self.flood()
        for _ in range(FLOOD):
            self.send(b"")


class FloodsWithUnknownMessages(Good):
    def play(self) -> None:
        self.flood()
        for _ in range(FLOOD):
            self.send(field(1, field(900, b"of a later version")))


class SendsThreeMegabytes(Good):
    def play(self) -> None:
        self.deed()
        for _ in range(20):
            self.send(field(1, field(900, bytes(3 << 20))))


class SendsABatchOutOfBounds(Good):
    def play(self) -> None:
        self.deed()
        self.send(field(1, field(900, bytes(100 << 10))))


# -- answers what it was not asked


class AnswersForAnotherSeat(Good):
    def game_started(self) -> None:
        if self.view.seat != 0:  # the hakem is being asked
            self.deed()
            self.decision = 1
            # Not as the first attempt: it is to be asked for its own first decision soon.
            self.answer(DeclareTrump(Trump.SPADES), attempt=2)

    def discard(self) -> None:
        super().discard()  # the other is being asked, for its first decision
        self.deed()
        self.decision = 1
        self.answer(DiscardCards(self.view.hand[:2]), attempt=2)


class AnswersAStaleDecision(Good):
    def play(self) -> None:
        self.deed()
        self.answer(self.view.legal[0], ahead=-1, attempt=2)


class AnswersEarly(Good):
    def play(self) -> None:
        self.deed()
        self.answer(self.view.legal[0], ahead=1)


class AnswersTwice(Good):
    def play(self) -> None:
        if not self.has_done_it:
            self.deed()
        self.play_on()

    def play_on(self) -> None:
        self.answer(self.view.legal[0])
        self.answer(self.view.legal[0])


class AnswersAnotherGame(Good):
    def play(self) -> None:
        self.deed()
        self.game = 99
        self.play_on()


class SaysHelloAgain(Good):
    def play(self) -> None:
        self.deed()
        self.greet()


# -- plays what it may not


class PlaysACardNotHeld(Good):
    def play(self) -> None:
        self.deed()
        self.answer(self.not_held())


class PlaysACardNotHeldThreeTimes(Good):
    def play(self) -> None:
        self.deed()
        self.answer(self.not_held())

    def refused(self, refused: Refused) -> None:
        if refused.attempt < 3:
            self.deed()
            self.answer(self.not_held(), attempt=refused.attempt + 1)


class Revokes(Good):
    def play(self) -> None:
        others = [card for card in self.view.hand if card not in self.view.playable]
        if others:
            self.deed()
            self.answer(PlayCard(others[0]))
        else:  # it leads, or has one suit left: low, so that the other is to lead
            self.answer(PlayCard(min(self.view.playable, key=lambda card: card.rank)))


class PlaysBeforeTrumpIsNamed(Good):
    def declare(self) -> None:
        self.deed()
        self.answer(PlayCard(self.view.hand[0]))

    def discard(self) -> None:
        self.deed()
        self.answer(PlayCard(self.view.hand[0]))


class DiscardsOneTooFew(Good):
    def discard(self) -> None:
        self.deed()
        self.answer(DiscardCards(self.cards()[1:]))

    def cards(self) -> tuple[Card, ...]:
        [discards] = self.view.legal[:1]
        assert isinstance(discards, DiscardCards)
        return discards.cards


class DiscardsACardTwice(DiscardsOneTooFew):
    def discard(self) -> None:
        self.deed()
        self.answer(DiscardCards((*self.cards()[1:], self.cards()[1])))


class DiscardsACardNotHeld(DiscardsOneTooFew):
    def discard(self) -> None:
        self.deed()
        self.answer(DiscardCards((*self.cards()[1:], self.view.unseen[0])))


class KeepsThenRefuses(Good):
    def draw(self) -> None:
        self.deed()
        keep, refuse = self.view.legal
        self.answer(keep)
        self.answer(refuse, attempt=2)


class KeepsAndRefusesInOneBatch(Good):
    def draw(self) -> None:
        self.deed()
        keep, refuse = self.view.legal
        self.say(self.answered(keep), self.answered(refuse))


class KeepsAndRefusesInOneAction(Good):
    def draw(self) -> None:
        self.deed()
        both = varint(4 << 3) + varint(1) + varint(4 << 3) + varint(2)
        numbers = [self.game, self.decision, 1]
        head = b"".join(varint(at << 3) + varint(value) for at, value in enumerate(numbers, 1))
        self.send(field(1, field(2, head + field(4, both))))


# -- what is no action, and what is ignored


class AnswersWithoutAnAction(Good):
    def play(self) -> None:
        self.deed()
        self.answer(Malformed("nothing"))


class PlaysACardThatDoesNotExist(Good):
    def play(self) -> None:
        self.deed()
        request = PlayRequest.FromString(encode_from_bot([self.answered(self.view.legal[0])]))
        request.messages[0].answer.action.play_card = 99  # type: ignore[assignment]
        self.send(request.SerializeToString())


class NamesATrumpThatDoesNotExist(Good):
    def declare(self) -> None:
        self.nonsense()

    def discard(self) -> None:
        self.nonsense()

    def nonsense(self) -> None:
        self.deed()
        request = PlayRequest.FromString(encode_from_bot([self.answered(self.view.legal[0])]))
        request.messages[0].answer.action.declare_trump = 99  # type: ignore[assignment]
        self.send(request.SerializeToString())


class SaysGoodbyeInBadUtf8(Good):
    def play(self) -> None:
        self.deed()
        self.send(field(1, field(3, field(1, b"\xff\xfe"))))


class SendsUnknownFields(Good):
    def greet(self) -> None:
        self.deed()
        super().greet()

    def say(self, *messages: FromBot) -> None:
        request = PlayRequest.FromString(encode_from_bot(messages))
        known = (message.SerializeToString() for message in request.messages)
        unknown = field(900, b"of a later version")
        self.send(b"".join(field(1, one + unknown) for one in known) + unknown)


# -- more than one process, and what a process may do besides


class LeavesAChild(Good):
    def play(self) -> None:
        self.deed()
        child = subprocess.Popen(["sleep", CHILD_SECONDS])
        print("child", child.pid, flush=True)
        self.play_on()


class LeavesADaemon(Good):
    """The child is in a session of its own, and its parent is gone."""

    environment: ClassVar[dict[str, str] | None] = None

    def play(self) -> None:
        self.deed()
        daemon = f"sleep {CHILD_SECONDS} & echo child $!"
        subprocess.run(["/usr/bin/setsid", "sh", "-c", daemon], check=True, env=self.environment)
        self.play_on()


class LeavesADaemonWithNoEnvironment(LeavesADaemon):
    environment: ClassVar[dict[str, str] | None] = {"PATH": "/usr/bin:/bin"}


class LetsAChildPlayAndExits(Good):
    """The process that was started exits once its child, in a session of its own, is playing."""

    def live(self) -> None:
        if sys.argv[2:] == ["child"]:
            super().live()
            return
        words = [sys.executable, *sys.argv, "child"]
        child = subprocess.Popen(words, start_new_session=True, stdin=subprocess.PIPE)
        print("child", child.pid, flush=True)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        self.deed()
        os.kill(child.pid, signal.SIGCONT)
        os._exit(0)

    def play(self) -> None:
        self.has_done_it = True
        os.kill(os.getpid(), signal.SIGSTOP)  # until its parent has seen that it plays
        time.sleep(0.2)
        self.play_on()


class FillsStderr(Good):
    """50 MB a second, or what is taken of that."""

    chunk: ClassVar[bytes] = b"x" * 49_999 + b"\n"

    def welcomed(self) -> None:
        self.deed()
        threading.Thread(target=self.fill, daemon=True).start()

    def fill(self) -> None:
        began = time.monotonic()
        for chunks in itertools.count(1):
            os.write(2, self.chunk)
            time.sleep(max(0.0, began + chunks / 1000 - time.monotonic()))

    def play_on(self) -> None:
        time.sleep(0.05)
        super().play_on()


class ClosesItsOutput(Good):
    def welcomed(self) -> None:
        self.deed()
        os.close(1)
        os.close(2)


class IgnoresSigterm(Good):
    def leave(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.deed()
        sleep_on()


class IgnoresSigtermAtTheDoor(Good):
    def live(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sleep_on()


if __name__ == "__main__":
    main(sys.argv[1])
