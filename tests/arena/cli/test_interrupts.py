"""Ctrl-C: once to finish, twice to end, thrice to leave; SIGTERM finishes, but not for ever."""

import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest
import trio
import trio.testing

from arena.cli.interrupts import heeding_signals


class Runner:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def stop(self) -> None:
        self.asked.append("stop")

    def abort(self) -> None:
        self.asked.append("abort")


@pytest.mark.parametrize(
    ("signals", "asked"),
    [
        ([signal.SIGINT], ["stop"]),
        ([signal.SIGINT, signal.SIGINT], ["stop", "abort"]),
        ([signal.SIGTERM], ["stop"]),
        ([signal.SIGTERM, signal.SIGTERM], ["stop", "abort"]),
        ([signal.SIGTERM, signal.SIGINT], ["stop", "abort"]),
        ([signal.SIGINT, signal.SIGTERM], ["stop", "abort"]),
        ([signal.SIGHUP], ["abort"]),
        ([signal.SIGINT, signal.SIGHUP], ["stop", "abort"]),
    ],
)
async def test_signals_ask_the_runner(signals: Sequence[signal.Signals], asked: list[str]) -> None:
    runner, told = Runner(), list[str]()
    async with heeding_signals(runner, tell=told.append):
        for number in signals:
            signal.raise_signal(number)
            await trio.testing.wait_all_tasks_blocked()
    assert runner.asked == asked
    assert len(told) == len(asked)


async def test_after_a_sigterm_games_have_so_long_and_no_longer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    runner = Runner()
    async with heeding_signals(runner, tell=lambda _: None, drain_seconds=30.0):
        signal.raise_signal(signal.SIGTERM)
        await trio.sleep(29.9)
        assert runner.asked == ["stop"]
        await trio.sleep(0.2)
        assert runner.asked == ["stop", "abort"]


async def test_after_a_ctrl_c_games_have_as_long_as_they_need(
    autojump_clock: trio.testing.MockClock,
) -> None:
    runner = Runner()
    async with heeding_signals(runner, tell=lambda _: None, drain_seconds=30.0):
        signal.raise_signal(signal.SIGINT)
        await trio.sleep(3600)
        assert runner.asked == ["stop"]


async def test_one_more_leaves_everything() -> None:
    runner = Runner()
    with pytest.RaisesGroup(KeyboardInterrupt):
        async with heeding_signals(runner, tell=lambda _: None):
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                await trio.testing.wait_all_tasks_blocked()
            await trio.sleep_forever()


@pytest.mark.parametrize(
    "module", ["arena.cli.app", "typer", "arena.cli.checking", "hokm.records", "rich.console"]
)
def test_an_interrupt_while_modules_are_imported_is_one_line(module: str) -> None:
    code = f"""if True:
        import signal, sys
        from arena.cli import main

        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    signal.raise_signal(signal.SIGINT)

        sys.meta_path.insert(0, Interrupting())
        raise SystemExit(main(["verify", "there-is-no-such-file.json"]))
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "interrupted\n")
