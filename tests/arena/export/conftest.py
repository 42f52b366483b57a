"""What tests of the export share: records that were played in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from arena.ladder.bots.entrants import Entrant, Limits
from arena.ladder.events.playing import Unwatched
from arena.ladder.matches.boards import MatchPlan, Secret
from arena.ladder.testing import InProcessRunner
from hokm.records import Format, MatchRecord, Policy
from hokm.rules.options import Rules
from hokm.session import ClockRules

PlayMatch = Callable[..., MatchRecord]


def entrant(name: str) -> Entrant:
    return Entrant(
        name=name,
        owner=f"o-{name}",
        version="1.0",
        command=("bot",),
        language="",
        protocol=1,
        variants=(2, 3, 4),
        concurrent=1,
        limits=Limits(),
        folder=Path(name),
        digest=name.encode().hex().zfill(64),
    )


@pytest.fixture
def play() -> PlayMatch:
    def play(
        players: int = 4,
        *,
        names: str = "ab",
        boards: int = 1,
        kind: Format = Format.BOARDS,
        runner: InProcessRunner | None = None,
        **options: str,
    ) -> MatchRecord:
        plan = MatchPlan(
            match=f"local/x/{'~'.join(names)}",
            format=kind,
            rules=Rules.of(players, play=kind.play, options=options),
            length=boards,
            entrants=tuple(entrant(name) for name in names),
            clock=ClockRules(),
            policy=Policy.CASUAL,
            secret=Secret(bytes(32)),
        )
        playing = runner or InProcessRunner()

        async def played() -> MatchRecord:
            return await playing.play(plan, watcher=Unwatched())

        return trio.run(played)

    return play
