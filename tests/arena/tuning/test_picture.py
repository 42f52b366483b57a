"""The picture of a tuning: a row for each parameter, and the same bytes for the same trials."""

from pathlib import Path

from arena.ladder.bots.entrants import Parameter
from arena.tuning.climb import Climb
from arena.tuning.picture import draw
from arena.tuning.study import Trial


def drawn(file: Path) -> bytes:
    parameters = (Parameter("caution", 0.5, 0.0, 1.0), Parameter("depth", 3.0, 1.0, 8.0, True))
    climb = Climb(parameters, trials=6, boards=4, mixed=bytes(32))
    trials = []
    while (pair := climb.next()) is not None:
        trial = Trial(pair, (pair.number % 3 - 1, 0, 0, 1))
        climb.take(trial.points)
        trials.append(trial)
    draw(climb, trials, file=file, title="رستم: 6 trials")
    return file.read_bytes()


def test_every_parameter_has_a_row_and_the_same_trials_make_the_same_bytes(tmp_path: Path) -> None:
    text = drawn(tmp_path / "it.svg").decode()
    assert "caution: 0.5 (dashed) → 0." in text
    assert "depth: 3 (dashed) → " in text
    assert "رستم: 6 trials" in text
    assert drawn(tmp_path / "two.svg").decode() == text
