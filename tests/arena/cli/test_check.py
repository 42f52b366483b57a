"""`arena bot check`: the checks there are, the exchange of one that fails, and JSON. Bots are real
processes, one a run.
"""

import json
import os
import shlex
import signal
import time

import pytest
import trio

from arena.conformance.checks import CHECKS
from arena.ladder.bots.entrants import load_bot
from arena.validation.commands import match_command
from arena.validation.matches import self_matches
from hokm.session import ClockRules

GOOD = """
from hokm import Bot, run

class Lowest(Bot):
    def play(self, view):
        return view.playable[0]

run(Lowest)
"""
BAD = GOOD.replace("view.playable[0]", "view.hand[0]")
NAMELESS = GOOD.replace("run(Lowest)", "raise SystemExit('no \\x1b[31mname')")


@pytest.fixture
def write_bot(make_bot):
    def write_bot(source):
        folder = make_bot("mybot")
        (folder / "bot.py").write_text(source, encoding="utf-8")
        return folder

    return write_bot


def test_every_check_is_listed_with_what_it_means(run):
    ran = run("bot", "check", "--list")
    assert ran.status == 0
    assert all(check.name in ran.out for check in CHECKS)
    rows = json.loads(run("bot", "check", "--list", "--json").out)["checks"]
    assert [row["name"] for row in rows] == [check.name for check in CHECKS]


def test_what_cannot_be_meant_is_said_in_a_line(run, write_bot):
    folder = write_bot(GOOD)
    for words, told in (
        (["--only", "four-vodi"], "no check 'four-vodi'"),
        (["--skip", "*"], "no check is left"),
        (["--fuzz", "-1"], "--fuzz is from 0"),
    ):
        ran = run("bot", "check", folder, *words)
        assert (ran.status, ran.out) == (2, "")
        assert told in ran.err
    assert "name a BOT" in run("bot", "check", "--json").err
    assert run("bot", "check", "nobody", "--only", "hello").status == 2


def test_a_bot_that_passes_is_said_to(run, write_bot):
    ran = run("bot", "check", write_bot(GOOD), "--only", "four-sweep", "--seed", "s")
    assert ran.status == 0
    assert ran.out.startswith("ok             four-sweep ")
    assert "1 check in " in ran.out
    assert ran.out.endswith("(seed s)\npassed\n")


def test_a_failure_is_shown_with_its_exchange_and_how_to_repeat_it(run, write_bot):
    folder = write_bot(BAD)
    ran = run("bot", "check", folder, "--only", "four-forced", "--seed", "a b")
    assert ran.status == 1
    assert "FAILED four-forced: Where one card is legal, it plays that." in ran.out
    assert "see       rulebook 1.4" in ran.out
    assert "MUST_FOLLOW_SUIT" in ran.out
    assert "expected  one of: play " in ran.out
    assert "  bot      answer to game " in ran.out
    assert f"arena bot check {folder} --only four-forced --seed 'a b'" in ran.out
    assert ran.out.endswith("not passed\n")


def test_what_fails_alike_is_shown_once_and_with_all_each_time(run, write_bot):
    folder = write_bot(BAD)
    only = [word for name in ("names", "four-forced", "fuzz") for word in ("--only", name)]
    ran = run("bot", "check", folder, *only, "--seed", "s")
    assert ran.out.count("  the end of the exchange:") == 1
    assert "FAILED four-forced: " in ran.out
    assert "\n  likewise in 2 other checks: names, fuzz\n" in ran.out
    ran = run("bot", "check", folder, *only, "--seed", "s", "--all")
    assert ran.out.count("  the end of the exchange:") == 3
    assert "likewise" not in ran.out


def test_a_bot_that_cannot_start_is_told_in_one_failure(run, write_bot):
    ran = run("bot", "check", write_bot("class Mine(Bot)"), "--seed", "s")
    assert ran.status == 1
    assert "it did    its process ended (exit code 1): SyntaxError: " in ran.out
    many = len(CHECKS) - 1
    assert f"NOT RUN        {many} checks, since no process of the bot says hello" in ran.out
    assert "  nothing was said\n" in ran.out
    assert "how it is run: cd " in ran.out
    assert len(ran.out.splitlines()) < 40


def test_of_many_mistakes_a_few_are_shown_and_the_rest_named(run, write_bot, monkeypatch):
    monkeypatch.setattr("arena.cli.conformance.MOST_SHOWN", 0)
    ran = run("bot", "check", write_bot(BAD), "--only", "four-forced", "--only", "names")
    assert "the end of the exchange" not in ran.out
    assert "FAILED four-forced, names: play " in ran.out
    assert "--all shows each failure in full" in ran.out


def test_json_is_one_object_with_every_check(run, write_bot):
    ran = run("bot", "check", write_bot(BAD), "--only", "four-forced", "--seed", "s", "--json")
    assert ran.status == 1
    report = json.loads(ran.out)
    assert (report["ok"], report["seed"], report["bot"]["name"]) == (False, "s", "mybot")
    (check,) = report["checks"]
    assert {"name", "result", "seconds", "detail"} <= set(check)
    assert (check["name"], check["result"]) == ("four-forced", "failed")
    (failure,) = report["failures"]
    assert failure["cause"] == check["detail"]
    assert failure["reference"] == "rulebook 1.4"
    assert failure["exchange"]


def test_what_a_bot_wrote_steers_no_terminal_and_its_logs_can_be_kept(run, write_bot, tmp_path):
    logs = tmp_path / "kept"
    ran = run("bot", "check", write_bot(NAMELESS), "--only", "no-match", "--logs", logs)
    assert ran.status == 1
    assert "its process ended (exit code 1)" in ran.out
    assert "| no " in ran.out
    assert "\x1b" not in ran.out
    assert [file.name for file in logs.iterdir()] == ["mybot-1.log"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_is_one_line_and_leaves_the_bots_to_be_ended(
    run, write_bot, monkeypatch, number
):
    ended = []

    async def check_bot(*_, **__):
        try:
            os.kill(os.getpid(), number)
            await trio.sleep_forever()
        finally:
            ended.append(number)

    monkeypatch.setattr("arena.validation.validate.check_bot", check_bot)
    ran = run("bot", "check", write_bot(GOOD))
    assert (ran.status, ran.err.strip()) == (130, "interrupted")
    assert ended == [number]


def test_a_fault_of_ours_that_nobody_foresaw_is_no_verdict(run, write_bot, monkeypatch):
    async def check_bot(*_, **__):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("arena.validation.validate.check_bot", check_bot)
    ran = run("bot", "check", write_bot(GOOD), "--json")
    assert ran.status == 3
    assert json.loads(ran.out)["verdict"] == "undecided"
    assert "RuntimeError: a bug of ours" in ran.err


def test_files_that_are_refused_are_told_with_status_1_and_nothing_there_with_2(run, write_bot):
    folder = write_bot(GOOD)
    (folder / "bot.py").unlink()
    ran = run("bot", "check", folder)
    assert ran.status == 1
    assert "FAILED bundle: " in ran.out
    assert "it did    " in ran.out
    assert ran.out.endswith("refused\n")
    ran = run("bot", "check", folder / "nowhere", "--json")
    assert (ran.status, ran.out) == (2, "")


def test_the_command_of_a_match_plays_the_match_that_was_played(run, write_bot, runner):
    folder = write_bot(GOOD)
    entrant = load_bot(folder)
    clock = ClockRules(move_seconds=0.5, bank_seconds=7.0)
    for match in self_matches(entrant, seed="a b", clock=clock):
        command = match_command(str(folder), match.plan, seed=match.seed)
        first, *words = shlex.split(command)
        assert first == "arena"
        assert run(*words).status == 0
        assert runner.played[-1] == match.plan


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_while_something_is_built_ends_that_first(run, write_bot, monkeypatch, number):
    ended = []

    def prepared(self, entrant):
        try:
            os.kill(os.getpid(), number)
            time.sleep(5)
        finally:
            ended.append(number)

    monkeypatch.setattr("arena.ladder.bots.environments.Environments.prepared", prepared)
    began = time.monotonic()
    ran = run("bot", "check", write_bot(GOOD), "--only", "hello")
    assert (ran.status, ran.err.strip(), ended) == (130, "interrupted", [number])
    assert time.monotonic() - began < 5
