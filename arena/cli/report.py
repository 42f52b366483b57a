"""What ``arena match`` says of a match, as figures; :mod:`arena.cli.show` makes tables of them."""

import math
from dataclasses import dataclass
from pathlib import Path

from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.conduct import Conduct, conduct
from arena.ladder.matches.scores import PairScore, score
from arena.ladder.ratings.statistics import HeadToHead, head_to_head
from arena.wording import told_apart
from hokm.outcome import Ending
from hokm.records import Format, MatchRecord, substance_digest

SCALES = {Format.BOARDS: "board-sign", Format.CLASSIC: "race-pair"}
"""What Elo is computed from, by the name it has in the output: Elo of different scales does not
compare."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides, and what the first has of the second."""

    first: str
    second: str
    series: HeadToHead


class MatchReport:
    """A match that was played, or as far as it was. ``file`` is where its record lies, if kept."""

    def __init__(
        self, plan: MatchPlan, record: MatchRecord, *, seconds: float, file: Path | None
    ) -> None:
        self.plan = plan
        self.record = record
        self.seconds = seconds
        self.file = file
        self.digest = substance_digest(record)
        self.conduct: tuple[Conduct, ...] = conduct(record)
        self.labels = told_apart([(bot.label, bot.version) for bot in plan.entrants])
        self.score = score(record)
        self.pairs = tuple(self._pair(pair) for pair in self.score.pairs)

    @property
    def is_complete(self) -> bool:
        """Whether every game was played, and the match counts."""
        return self.score.spoilt is None

    @property
    def decisions(self) -> int:
        """Decisions that were taken in all."""
        return sum(one.decisions for one in self.conduct)

    @property
    def endings(self) -> dict[str, int]:
        """How many games ended how, completed ones first."""
        counts = self.score.endings
        return {ending.value: counts[ending] for ending in Ending if ending in counts}

    @property
    def gained(self) -> tuple[int, ...]:
        """What each team gained on all that counts: points on boards, or races it won."""
        return tuple(map(sum, self.score.gained))

    def side(self, first: int) -> str:
        """A team by its first entrant: with four entrants whose partners are fixed it has two."""
        team = [
            self.labels[index]
            for index in range(len(self.plan.entrants))
            if self.plan.team(index) == first
        ]
        return " + ".join(team)

    def json(self) -> dict[str, object]:
        """The report as JSON has it; null is undefined or infinite, nothing is rounded."""
        record = self.record
        length = "boards" if record.format is Format.BOARDS else "games"
        return {
            "match": record.match,
            "format": record.format.value,
            "players": record.rules.players,
            length: record.games,
            "options": record.rules.options(),
            "policy": record.policy.value,
            "clock": {
                "move_seconds": record.clock.move_seconds,
                "bank_seconds": record.clock.bank_seconds,
            },
            "entrants": [self._entrant(index) for index in range(len(record.entrants))],
            "complete": self.is_complete,
            "spoilt": None if self.score.spoilt is None else self.score.spoilt.value,
            "counted": len(self.score.boards),
            **self._result(),
            "scale": SCALES[record.format] if self.pairs else None,
            "endings": self.endings,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "seed": None if record.secret is None else record.secret.hex(),
            "commitment": record.commitment.hex(),
            "substance_digest": self.digest,
            "record": None if self.file is None else str(self.file),
        }

    def _pair(self, pair: PairScore) -> Pair:
        return Pair(self.side(pair.first), self.side(pair.second), head_to_head(pair.differences))

    def _result(self) -> dict[str, object]:
        """Of one pair as it is, of several as a list; of drawn partners what each entrant won."""
        if self.plan.draws_partners:
            return {"gained": list(self.gained)}
        if len(self.pairs) == 1:
            return self._figures(self.pairs[0].series)
        return {
            "pairs": [
                {"a": pair.first, "b": pair.second, **self._figures(pair.series)}
                for pair in self.pairs
            ]
        }

    def _figures(self, series: HeadToHead) -> dict[str, object]:
        is_boards = self.record.format is Format.BOARDS
        signs = series.by_sign
        return {
            "score": {"wins": series.won, "draws": series.drawn, "losses": series.lost},
            "points_per_board": series.points_per_board if is_boards else None,
            "points_error": series.points_error if is_boards else None,
            "elo": {"value": _unsigned_zero(signs.elo), "error": signs.elo_error},
            "nelo": {"value": signs.nelo, "error": signs.nelo_error},
            "los": signs.los,
        }

    def _entrant(self, index: int) -> dict[str, object]:
        entrant, own = self.record.entrants[index], self.conduct[index]
        revision = self.plan.entrants[index].revision
        return {
            "name": entrant.name,
            "owner": entrant.owner,
            "version": entrant.version,
            "digest": entrant.digest,
            "revision": None if revision is None else revision.json(),
            "side": self.plan.team(index),
            "cpu_seconds": own.cpu_seconds,
            "decisions": own.decisions,
            "mean_seconds": own.mean_seconds,
            "longest_seconds": own.longest_seconds,
            "refusals": own.refusals,
            "faults": own.faults,
        }


def shown_elo(series: HeadToHead) -> float | None:
    """Elo with its sign where it is infinite: one side won all there was."""
    signs = series.by_sign
    if signs.elo is None and signs.score is not None:
        return math.copysign(math.inf, signs.score - 0.5)
    return signs.elo


def _unsigned_zero(value: float | None) -> float | None:
    """Zero for minus zero, which is what the formula of Elo makes of an even score."""
    return None if value is None else value + 0.0
