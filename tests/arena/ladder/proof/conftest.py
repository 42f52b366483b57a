"""An event that was played: its records and its document in a folder, without a ladder."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from arena.ladder.bots.entrants import load_bot
from arena.ladder.events.playing import Unwatched
from arena.ladder.facts import State
from arena.ladder.matches.boards import MatchPlan, Secret, joined_names
from arena.ladder.proof.document import (
    Announcement,
    AttemptEntry,
    Beginning,
    EventDocument,
    MatchEntry,
    Nonce,
    Stage,
    schedule_text,
)
from arena.ladder.proof.entropy import Source, entropy_of_beacon, entropy_of_nonces
from arena.ladder.schedules import cycle_rounds
from arena.ladder.settings import MatchScoring
from arena.ladder.testing import InProcessRunner
from hokm.deck import commitment
from hokm.outcome import Ending
from hokm.records import Format, Policy, substance_digest
from hokm.rules.options import Rules
from hokm.session import ClockRules
from tests.arena.ladder.proof.events import NAMES, SECRET, entrant_of, keep, publish

MakeEvent = Callable[..., Path]


@pytest.fixture
def make_event(tmp_path: Path, bot_folder) -> MakeEvent:
    """Plays an event of one cycle in this process; returns its folder, `records/ev1` as it were.

    `faults` are as the runner in process has them, and end an attempt as a ladder would.
    """

    def make(
        *,
        names: tuple[str, ...] = NAMES,
        players: int = 4,
        its_format: Format = Format.BOARDS,
        nonces: dict[str, bytes] | None = None,
        beacon: tuple[str, str] | None = None,
        faults: dict[tuple[str, int], tuple[Ending, int | None]] | None = None,
    ) -> Path:
        rules = Rules.of(players, play=its_format.play)
        bots = {name: load_bot(Path(bot_folder(name, variants=(2, 3, 4)))) for name in names}
        if beacon is not None:
            entropy, source = entropy_of_beacon(beacon[1]), Source.BEACON
        elif nonces:
            entropy, source = entropy_of_nonces(nonces.values()), Source.NONCES
        else:
            entropy, source = b"", Source.NOTHING
        folder = tmp_path / "records" / "ev1"
        secret = Secret(SECRET, entropy)
        rounds = cycle_rounds(len(names), sides=3 if players == 3 else 2)
        runner = InProcessRunner(faults=faults)

        def plan(number: int, meeting: tuple[int, ...], attempt: int) -> MatchPlan:
            entrants = tuple(bots[names[player]] for player in meeting)
            ids = joined_names(tuple(bot.name for bot in entrants))
            return MatchPlan(
                match=f"ev1/r{number}/{ids}",
                format=its_format,
                rules=rules,
                length=2 if its_format is Format.BOARDS else 1,
                entrants=entrants,
                clock=ClockRules(),
                policy=Policy.RATED,
                secret=secret,
                event="ev1",
                attempt=attempt,
            )

        def played(number: int, meeting: tuple[int, ...]) -> MatchEntry:
            attempts: list[AttemptEntry] = []
            while True:
                its_plan = plan(number, meeting, len(attempts) + 1)
                record = trio.run(functools.partial(runner.play, its_plan, watcher=Unwatched()))
                keep(folder, replace(record, secret=SECRET, entropy=entropy))
                fault = (faults or {}).get((its_plan.match, its_plan.attempt))
                ending = None if fault is None else fault[0]
                attempts.append(
                    AttemptEntry(
                        number=its_plan.attempt,
                        voided_by=ending,
                        digest=substance_digest(record),
                    )
                )
                if ending is not Ending.HOST_FAULT or len(attempts) == 3:
                    break
            return MatchEntry(
                match=its_plan.match,
                round=number,
                entrants=tuple(bot.name for bot in its_plan.entrants),
                state=State.PLAYED if ending is None else State.VOID,
                because=None if ending is None else f"{ending.value} on order",
                attempts=tuple(attempts),
            )

        event = EventDocument(
            announcement=Announcement(
                event="ev1",
                ladder="club",
                format=its_format,
                rules=rules,
                games=2 if its_format is Format.BOARDS else 1,
                clock=ClockRules(),
                tick_seconds=0.005,
                score=MatchScoring.WIN_DRAW_LOSS,
                schedule=schedule_text({"kind": "round-robin", "cycles": 1}),
                commitment=commitment(SECRET),
                beacon=None if beacon is None else beacon[0],
            ),
            entrants=tuple(entrant_of(bot) for bot in bots.values()),
            nonces=tuple(
                Nonce(entrant=name, value=value) for name, value in (nonces or {}).items()
            ),
            beginning=Beginning(
                entropy=entropy,
                source=source,
                beacon_value=None if beacon is None else beacon[1],
                entrants=len(bots),
                schedule=schedule_text({"kind": "round-robin", "cycles": 1}),
            ),
            stages=(
                Stage(
                    number=1,
                    field=names,
                    matches=tuple(
                        played(round_.number, meeting)
                        for round_ in rounds
                        for meeting in round_.meetings
                    ),
                ),
            ),
            secret=SECRET,
        )
        publish(folder, event)
        return folder

    return make
