"""The benchmarks run: in a tiny form, for what they count and not for how fast it is."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import benchmarks.__main__ as bench
from benchmarks import core, environment, match, referee, sandbox, store, timing
from benchmarks.measure import Rate, in_turn, table

ROOT = Path(__file__).resolve().parents[2]


def test_the_core_is_measured_in_every_form_beside_the_bare_loop(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = bench.run(bench.TINY, ("core",))
    rates = figures["core"]
    assert isinstance(rates, dict)
    assert {*core.TARGETS} < {*rates}
    assert rates[core.FLOOR]["ratio"] == 1
    assert all(rates[name]["rate"] > 0 for name in core.TARGETS)
    printed = capsys.readouterr().out
    assert all(name in printed for name in rates if name != "duel_milliseconds")
    assert json.dumps(figures)


def test_the_environment_is_measured_beside_the_scalar_core_and_the_peers_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = bench.run(bench.TINY, ("environment",))
    rates = figures["environment"]
    assert isinstance(rates, dict)
    assert rates[environment.FLOOR]["ratio"] == 1
    assert rates[environment.AT_ONCE]["rate"] > 0
    printed = capsys.readouterr().out
    for peer in environment.PEERS:
        assert peer in printed
        assert (peer in rates) != (peer in rates["missing"])
    assert f"{environment.TARGET_PER_SECOND:,}" in printed
    assert json.dumps(figures)


@pytest.mark.parametrize(
    ("carrier", "bots"), [("pairs", "raw"), ("grpc", "raw"), ("grpc", "client")]
)
def test_a_referee_is_measured_with_processes_that_end(carrier: str, bots: str) -> None:
    measured = referee.measured_apart(carrier, bots, 2, seconds=0.3, warm_up_seconds=0.1)
    assert (measured.carrier, measured.bots, measured.boards) == (carrier, bots, 2)
    assert measured.decisions > 0
    assert measured.rate > 0
    assert 0 < measured.median_milliseconds <= measured.p99_milliseconds


def test_the_referee_is_reported_beside_its_floor() -> None:
    floor = referee.Measured("pairs", "raw", 64, 1.0, 1000, 20, 3.0, 9.0, 60.0, 40.0, 50.0)
    grpc = replace(floor, carrier="grpc", seconds=2.0, referee_cpu=85.0)
    _, first, second, *more = referee.report([floor, grpc]).splitlines()
    assert first.split() == ["pairs,", "raw,", "64", "1,000", "3.00", "9.0", "60", "40", "50"]
    assert second.split()[3:7] == ["500", "0.50", "0.4", "0.80"]
    assert not more


def test_a_match_is_measured_from_its_command_line() -> None:
    taken = match.measure(rounds=1, boards=1)
    assert all(took.wall_seconds[0] > 0 for took in taken.values())
    assert {*match.TARGETS} < {*taken}
    assert "first card" in match.report(taken)


def test_a_store_is_measured_when_it_is_small_and_when_it_is_grown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = bench.run(bench.TINY, ("store",))
    measured = figures["store"]
    assert isinstance(measured, list)
    assert {(one["what"], one["matches"]) for one in measured} == {
        (what, matches)
        for what in (store.APPEND, store.STANDINGS, store.PAIRING)
        for matches in (1, 200)
    }
    assert all(one["median"] > 0 for one in measured)
    assert "target ms" in capsys.readouterr().out
    assert json.dumps(figures)


def test_the_start_of_a_sandbox_is_measured_or_it_is_said_why_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = bench.run(bench.TINY, ("sandbox",))
    assert json.dumps(figures)
    printed = capsys.readouterr().out
    if isinstance(figures["sandbox"], str):
        assert figures["sandbox"] in printed
    else:
        assert all(what in printed for what in sandbox.COMMANDS)


def test_what_a_sandbox_adds_is_reported_by_the_median_of_the_rounds() -> None:
    starts = sandbox.Starts("it", (0.010, 0.020, 0.010), (0.020, 0.030, 0.025))
    assert sandbox.report([starts]).splitlines()[-1].split()[-5:] == (
        ["it", "10.0", "25.0", "10.0", "2.00"]
    )


def test_a_ratio_is_to_the_floor_of_the_same_round() -> None:
    floors, others = iter([10.0, 1.0, 4.0]), iter([5.0, 2.0, 1.0])
    rates = in_turn(
        {"floor": lambda: next(floors), "other": lambda: next(others)}, floor="floor", rounds=3
    )
    assert rates["other"] == Rate((5.0, 2.0, 1.0), (0.5, 2.0, 0.25))
    assert rates["other"].ratio == 0.5
    assert rates["other"].median == 2.0


def test_a_table_has_its_figures_to_the_right() -> None:
    assert table([["what", "n"], ["a", "1,000"], ["bc", ""]]) == "what      n\na     1,000\nbc"


def test_a_part_that_does_not_exist_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "cores"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no part 'cores'" in done.stderr


def test_what_time_tells_is_the_distance_of_its_distributions() -> None:
    apart = timing.Told(0.0, choice=(0.003, 0.004, 0.001), forced=(0.001, 0.002))
    alike = timing.Told(0.005, choice=(0.01, 0.01), forced=(0.01,))
    assert apart.distance == pytest.approx(2 / 3)
    assert alike.distance == 0
    assert "a tick of 5 ms" in timing.report([apart, alike])


def test_a_listener_measures_what_lies_between_its_plays() -> None:
    told = timing.measure(0.0, boards=3, choice_seconds=0.02, forced_seconds=0.0003)
    assert len(told.choice) > 10
    assert min(told.choice) > 0.02
