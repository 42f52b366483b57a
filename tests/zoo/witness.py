"""The good bot that sits with a member of the zoo: it writes down what it was told of each end, and
when, by the clock that all processes of a machine share.
"""

import time

import hokm.client
from hokm import Bot, run
from hokm.session import MatchEnd, Welcome
from hokm.wire import decode_from_referee


def noted(batch):
    """What a batch says, with the time of what the bot itself is not told."""
    messages = decode_from_referee(batch)
    for message in messages:
        if isinstance(message, Welcome):
            print("welcomed", time.monotonic(), flush=True)
        if isinstance(message, MatchEnd):
            print("over", time.monotonic(), flush=True)
    return messages


class Witness(Bot):
    """Plays the lowest card that it may, and knows when it last did anything."""

    acted = 0.0

    def game_started(self, view):
        self.acted = time.monotonic()

    def discard(self, view, count):
        self.acted = time.monotonic()
        return super().discard(view, count)

    def keep(self, view):
        self.acted = time.monotonic()
        return super().keep(view)

    def play(self, view):
        self.acted = time.monotonic()
        return view.playable[0]

    def game_ended(self, view, outcome):
        words = time.monotonic(), self.acted, outcome.ending.name, outcome.at_fault, outcome.cause
        print("ended", *words, flush=True)


if __name__ == "__main__":
    vars(hokm.client)["decode_from_referee"] = noted
    run(Witness)
