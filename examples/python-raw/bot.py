"""A bot from the generated code alone: gRPC, the messages of `hokm.v1`, and nothing else of `hokm`.

This is all that a client has to do, in any language; what it plays is `choose`, and is up to you.
"""

import os
import sys
from queue import SimpleQueue

import grpc

from hokm.v1.action_pb2 import Action, LegalActions
from hokm.v1.referee_service_pb2 import PlayRequest
from hokm.v1.referee_service_pb2_grpc import RefereeServiceStub
from hokm.v1.session_pb2 import (
    REASON_MATCH_OVER,
    REASON_STALE_DECISION,
    Answer,
    Decision,
    FromBot,
    FromReferee,
    Goodbye,
    Hello,
    Refused,
)

HELLO = Hello(protocol=1, sdk="none", name="python-raw", version="1", concurrent=16)


def main() -> int:
    """Play as the arena asks; the exit code, 0 after the goodbyes."""
    session = Session()
    outgoing: SimpleQueue[PlayRequest | None] = SimpleQueue()
    outgoing.put(PlayRequest(messages=[FromBot(hello=HELLO)]))
    options = [("grpc.enable_http_proxy", 0)]
    with grpc.insecure_channel(os.environ["HOKM_ADDRESS"], options=options) as channel:
        # The call takes what is to be sent from an iterator; None ends this half of the stream.
        responses = RefereeServiceStub(channel).Play(
            iter(outgoing.get, None), metadata=(("hokm-ticket", os.environ["HOKM_TICKET"]),)
        )
        for response in responses:
            replies = [reply for message in response.messages for reply in session.replies(message)]
            if replies:
                outgoing.put(PlayRequest(messages=replies))
            if session.is_over:
                outgoing.put(None)
    return 0 if session.is_over else 1


NOT_OPEN = (REASON_MATCH_OVER, REASON_STALE_DECISION)
"""Refusals of what is no longer asked: there is nothing to answer again."""


class Session:
    """What is to be remembered from one message to the next."""

    def __init__(self) -> None:
        self.is_over = False
        self._open: dict[int, Decision] = {}
        """The last decision of each game under way."""

    def replies(self, message: FromReferee) -> list[FromBot]:
        """What to say to a message: one message, or nothing."""
        match message.WhichOneof("message"):
            case "decision":
                self._open[message.decision.game] = message.decision
                return [answer(message.decision, attempt=1)]
            case "refused":
                return self._again(message.refused)
            case "game_end":
                self._open.pop(message.game_end.game, None)
            case "protocol_refused":
                sys.stderr.write(f"this bot speaks another protocol: {message.protocol_refused}\n")
            case "goodbye":
                self.is_over = True
                return [FromBot(goodbye=Goodbye())]
        return []  # to know of, and nothing to say: a welcome, a start, a kind of a later version

    def _again(self, refused: Refused) -> list[FromBot]:
        # Who takes one of the legal actions is never refused; a bot with ideas of its own may be.
        sys.stderr.write(f"refused: {refused.detail}\n")
        if refused.reason in NOT_OPEN:
            return []
        decision = self._open.get(refused.game)
        if decision is None or decision.decision != refused.decision:
            return []
        return [answer(decision, attempt=refused.attempt + 1)]


def answer(decision: Decision, *, attempt: int) -> FromBot:
    """The answer to a decision."""
    action = choose(decision.legal)
    given = Answer(game=decision.game, decision=decision.decision, attempt=attempt, action=action)
    return FromBot(answer=given)


def choose(legal: LegalActions) -> Action:
    """The first legal action.

    One field has content, and its name is that of the field in `Action` that answers.
    """
    if legal.cut_deck:  # no list: the last position, and all from 1 on are open
        return Action(cut_deck=1)
    [(field, choices)] = legal.ListFields()
    return Action(**{field.name: choices[0]})


if __name__ == "__main__":
    sys.exit(main())
