"""The zoo, as data: what each broken bot does, and what has to come of it.

What they do is in `bot.py`, by the same names. A member's match is one board for two seats unless
it says otherwise, so it sits at seat 0, which is hakem, in room 1 and at seat 1 in room 2.
"""

from dataclasses import dataclass
from enum import Enum

from hokm.outcome import Ending
from hokm.records import Policy
from hokm.session import ClockRules


class Limit(Enum):
    """What bounds the wait of the others, and from when it counts."""

    NONE = "at once"
    """From what the member does."""
    HELLO = "hello"
    """From its start."""
    MOVE = "move"
    """From the writing of the decision that it leaves open."""
    CAP = "cap"
    """From the start of its match."""


AMPLE = ClockRules()
"""A clock that nobody reaches: what ends these games is something else."""
SHORT = ClockRules(move_seconds=1.0, bank_seconds=0.0)
"""Short, because it has to pass, but not for a good bot on a machine with other work."""
NO_CLOCK = ClockRules(move_seconds=600.0, bank_seconds=0.0)

GONE = "its stream ended without a goodbye"
NO_MESSAGE = "it sent what is no message of the protocol"
FLOOD = "it sent far more than it was asked for"
NOT_A_GAME = ""
"""No game has begun, so no end of one is told: the others are told that the match is over."""


@dataclass(frozen=True, slots=True)
class Member:
    """One broken bot.

    ``endings`` is how its games may end, and ``told`` what the others are told of the cause, the
    seat aside: they hold for every room that was played. Where an ending is not ``COMPLETED``, the
    seat at fault is a seat of the member's. ``cap_seconds`` is that of its match.
    """

    name: str
    what: str
    endings: tuple[Ending, ...]
    told: str = NOT_A_GAME
    limit: Limit = Limit.NONE
    clock: ClockRules = AMPLE
    policy: Policy = Policy.RATED
    players: int = 2
    cap_seconds: float | None = None
    leaves_a_stranger: bool = False
    """Whether what it leaves could be any bot's, and so goes with the last bot it could be of."""

    def limit_seconds(self, *, hello_seconds: float) -> float:
        """How long the others may have to wait for it at most."""
        match self.limit:
            case Limit.NONE:
                return 0.0
            case Limit.HELLO:
                return hello_seconds
            case Limit.MOVE:
                return self.clock.move_seconds + self.clock.bank_seconds
            case Limit.CAP:
                assert self.cap_seconds is not None
                return self.cap_seconds

    @property
    def is_harmless(self) -> bool:
        """Whether its games are completed whatever it does."""
        return self.endings == (Ending.COMPLETED,)


def _absent(name: str, what: str, *, limit: Limit = Limit.NONE) -> Member:
    return Member(name, what, (Ending.NEVER_STARTED,), limit=limit)


def _gone(name: str, what: str, *, told: str = GONE, players: int = 2) -> Member:
    return Member(name, what, (Ending.CRASH,), told, players=players)


def _slow(name: str, what: str) -> Member:
    return Member(name, what, (Ending.TIME,), "no answer", limit=Limit.MOVE, clock=SHORT)


def _no_message(name: str, what: str, *, told: str = NO_MESSAGE) -> Member:
    return Member(name, what, (Ending.MALFORMED,), told)


def _refused(name: str, what: str, told: str) -> Member:
    ending = Ending.MALFORMED if told == "MALFORMED" else Ending.ILLEGAL
    return Member(name, what, (ending,), f"{told}, refusal 1 in this hand")


def _harmless(name: str, what: str) -> Member:
    return Member(name, what, (Ending.COMPLETED,))


MEMBERS: tuple[Member, ...] = (
    # -- at the door
    _absent("never-connects", "lives and never connects", limit=Limit.HELLO),
    _absent("connects-and-is-silent", "connects and says nothing", limit=Limit.HELLO),
    _absent("stops-before-its-hello", "sends itself SIGSTOP before it connects", limit=Limit.HELLO),
    _absent("ignores-sigterm-at-the-door", "never connects and ignores SIGTERM", limit=Limit.HELLO),
    _absent("exits-before-its-hello", "exits without connecting"),
    _absent("brings-a-wrong-ticket", "connects with a ticket of its own making"),
    _absent("speaks-another-protocol", "says hello in protocol 2"),
    _absent("begins-with-an-answer", "sends an answer in place of a hello"),
    _absent("begins-with-garbage", "sends bytes that are no message in place of a hello"),
    _absent("has-a-name-in-bad-utf8", "says hello with a name that is not UTF-8"),
    _harmless(
        "uses-its-ticket-twice",
        "once welcomed, opens a second stream with the same ticket, which is turned away",
    ),
    _gone("exits-at-the-welcome", "exits as soon as it has been welcomed"),
    # -- ends in a game
    _gone("exits-in-the-pause", "exits while trump is being named, by itself or by the other"),
    _gone("exits-in-a-trick", "exits when it is to play the second card of a trick"),
    _gone("exits-at-a-table-of-four", "exits at its first play with four seats", players=4),
    _gone("raises-an-exception", "has an exception that it does not catch"),
    _gone("kills-itself", "sends itself SIGKILL"),
    _gone("closes-its-half", "ends its half of the stream and listens on"),
    _gone("cancels-its-stream", "cancels its call and lives on"),
    _gone("says-goodbye-in-a-game", "leaves in due form", told="it said goodbye and left"),
    _gone(
        "lets-a-child-play-and-exits",
        "has a child, in a session of its own, say hello and play, and exits meanwhile",
    ),
    _harmless("exits-at-the-end-of-its-game", "exits when it is told the end of its last game"),
    _harmless("exits-at-the-end-of-its-match", "exits without a goodbye when the match is over"),
    # -- takes its time
    _slow("never-answers", "reads on and does not answer its first play"),
    _slow("stops-itself", "sends itself SIGSTOP at its first play"),
    _slow("stops-reading", "reads nothing more once it has been welcomed"),
    _slow("answers-too-late", "answers its first play 0.5 s after the limit"),
    Member(
        "answers-in-the-last-millisecond",
        "sleeps until 1 ms before the limit, by its own clock, which starts when it has read the "
        "decision: what arrives late is late, unless the machine held it up",
        (Ending.COMPLETED, Ending.TIME, Ending.HOST_FAULT),
        "no answer",
        limit=Limit.MOVE,
        clock=SHORT,
    ),
    Member(
        "holds-its-match-up",
        "does not answer, at a table where a move may take ten minutes",
        (Ending.STALL,),
        "the room has taken 2 s, and may not take longer",
        limit=Limit.CAP,
        clock=NO_CLOCK,
        cap_seconds=2.0,
    ),
    # -- floods
    _no_message("floods-with-a-valid-answer", "gives one valid answer 20,000 times", told=FLOOD),
    _refused(
        "floods-with-stale-answers", "answers the decision before, 20,000 times", "STALE_DECISION"
    ),
    _harmless("floods-a-finished-game", "sends 20,000 answers once its game is over"),
    _no_message("floods-with-garbage", "sends 20,000 batches that are no message"),
    _no_message("floods-with-empty-batches", "sends 20,000 empty batches", told=FLOOD),
    _no_message(
        "floods-with-unknown-messages",
        "sends 20,000 messages of a kind that there is not",
        told=FLOOD,
    ),
    _gone("sends-three-megabytes", "sends batches of 3 MB, which nobody reads"),
    _no_message("sends-a-batch-out-of-bounds", "sends a batch of 100 KiB"),
    # -- answers what it was not asked
    _refused(
        "answers-for-another-seat", "answers while the other is being asked", "STALE_DECISION"
    ),
    _refused("answers-a-stale-decision", "answers the decision before again", "STALE_DECISION"),
    _refused("answers-early", "answers the decision after the one that is open", "STALE_DECISION"),
    _harmless("answers-twice", "gives every answer twice: it is applied once"),
    _no_message("answers-another-game", "answers in a game that it was never given"),
    _no_message("says-hello-again", "says hello in the middle of a game"),
    # -- plays what it may not
    _refused(
        "plays-a-card-not-held", "plays a card that it does not hold", "a card it may not use"
    ),
    Member(
        "plays-a-card-not-held-three-times",
        "the same at a casual table, where two refusals in a hand are borne",
        (Ending.ILLEGAL,),
        "a card it may not use, refusal 3 in this hand",
        policy=Policy.CASUAL,
    ),
    _refused("revokes", "does not follow suit though it could", "a card it may not use"),
    _refused(
        "plays-before-trump-is-named", "plays a card when it is to name or discard", "WRONG_PHASE"
    ),
    _refused("discards-one-too-few", "discards one card too few", "BAD_DISCARD"),
    _refused("discards-a-card-twice", "discards one card twice", "BAD_DISCARD"),
    _refused(
        "discards-a-card-not-held", "discards a card that it does not hold", "a card it may not use"
    ),
    _refused("keeps-then-refuses", "keeps, and then refuses as a second attempt", "STALE_DECISION"),
    _harmless(
        "keeps-and-refuses-in-one-batch",
        "gives both answers as the same attempt: the first is applied",
    ),
    _harmless(
        "keeps-and-refuses-in-one-action",
        "writes both choices into one action, of which protobuf reads the last",
    ),
    # -- what is no action, and what is ignored
    _refused("answers-without-an-action", "sends an answer with no action in it", "MALFORMED"),
    _refused("plays-a-card-that-does-not-exist", "plays card number 99", "MALFORMED"),
    _refused("names-a-trump-that-does-not-exist", "names trump number 99", "MALFORMED"),
    _no_message("says-goodbye-in-bad-utf8", "leaves with a reason that is not UTF-8"),
    _harmless("sends-unknown-fields", "adds fields and messages of a later version everywhere"),
    # -- more than one process, and what a process may do besides
    _harmless("leaves-a-child", "leaves a child in its group that would live for two minutes"),
    _harmless("leaves-a-daemon", "leaves a child in a session of its own, whose parent is gone"),
    Member(
        "leaves-a-daemon-with-no-environment",
        "the same, and nothing in the child's environment tells whose it is: it is ended with the "
        "last bot that it could be of",
        (Ending.COMPLETED,),
        leaves_a_stranger=True,
    ),
    _harmless("fills-stderr", "writes 50 MB a second to stderr while it plays"),
    _harmless("closes-its-output", "closes stdout and stderr"),
    _harmless("ignores-sigterm", "does not exit when all is over, and ignores SIGTERM"),
)

BY_NAME = {member.name: member for member in MEMBERS}
