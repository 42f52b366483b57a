"""The score of a match while it is played, from the games that are over."""

from arena.ladder.matches.boards import MatchPlan
from hokm.records import Format, GameRecord, RoomRecord, score_of


class Tally:
    """Counts the boards (or pairs of races) of a match that every room has finished.

    ``gained`` is what each team gained on each of them, in the order they were finished:
    ``gained[team][board]``; points on boards, races won in races.
    """

    def __init__(self, plan: MatchPlan) -> None:
        self.gained: tuple[list[int], ...] = tuple([] for _ in range(plan.teams))
        self.games_over = 0
        self._plan = plan
        self._open: dict[int, list[RoomRecord]] = {}

    @property
    def boards(self) -> int:
        """How many boards count so far."""
        return len(self.gained[0])

    @property
    def unit(self) -> str:
        """What is gained."""
        return "points" if self._plan.format is Format.BOARDS else "races won"

    @property
    def games(self) -> int:
        """How many games the match has in all its rooms."""
        return len(self._plan.rooms) * self._plan.length

    def add(self, room: int, game: GameRecord) -> None:
        """A game is over in that room."""
        self.games_over += 1
        played = self._open.setdefault(game.number, [])
        seating = self._plan.seating(room, game.number)
        played.append(RoomRecord(number=room, seating=seating, games=(game,)))
        if len(played) == len(self._plan.rooms):
            del self._open[game.number]
            self._count(played)

    def differences(self) -> tuple[int, ...]:
        """What the first side gained more than the second, a board each."""
        return tuple(a - b for a, b in zip(self.gained[0], self.gained[1], strict=True))

    def _count(self, rooms: list[RoomRecord]) -> None:
        outcomes = [game.outcome for room in rooms for game in room.games]
        if not all(outcome is not None and outcome.ending.counts for outcome in outcomes):
            return
        points = score_of(self._plan.rules, rooms, entrants=len(self._plan.entrants))
        for gained, count in zip(self.gained, points, strict=False):
            gained.append(count)
