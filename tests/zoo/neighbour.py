"""The good bot whose games go on beside those of the zoo. It takes a moment for each card, as bots
do, so that it is in a game all the time and leaves the processors to others.
"""

import time

from hokm import Bot, run

THINKING_SECONDS = 0.02


class Neighbour(Bot):
    """Plays the lowest card that it may."""

    def play(self, view):
        time.sleep(THINKING_SECONDS)
        return view.playable[0]


if __name__ == "__main__":
    run(Neighbour)
