"""What authors ask a ladder elsewhere, over real gRPC: bots sent in, followed, read about, and what
is said where it fails.
"""

import json
import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio

from arena.cli.looking import _outcome, _score_text
from arena.cli.servers import keep_token, tokens_file
from arena.ladder.facts import SubmissionState
from arena.service import values
from arena.service.handlers import Openness
from tests.arena.cli.conftest import Ran, RunCommand
from tests.arena.service.conftest import bot_folder, played_folder, world
from tests.arena.service.test_client import served
from tests.arena.service.worlds import World

__all__ = ["bot_folder", "played_folder", "world"]

REFUSED = json.dumps(
    {
        "schema": 1,
        "verdict": "refused",
        "cause": "hand-cards: it died",
        "seed": "ab12",
        "counts": {"passed": 3, "failed": 1},
        "failures": [
            {
                "stage": "conformance",
                "name": "hand-cards",
                "cause": "it died\u001b[2J",
                "expected": "a card",
                "exit_code": 7,
                "elapsed_seconds": 1.5,
                "limit_seconds": 10,
                "log": ["Traceback", "ValueError: no such card"],
                "exchange": ["referee: decision 1"],
                "command": "arena bot check ./mybot --only hand-cards --seed ab12",
                "by_hand": "",
                "also": ["two-cards"],
            },
            "no failure at all",
            {"stage": "of another arena", "exit_code": "x", "elapsed_seconds": 1e300},
        ],
        "more_failures": ["races"],
    }
)


@pytest.fixture(autouse=True)
def _own_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("HOKM_ARENA_TOKEN", "HOKM_ARENA_SERVER", "HOKM_TLS_CA", "HOKM_TLS_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("arena.cli.submit.ASK_SECONDS", 0.05)


@pytest.fixture
def command(run: RunCommand) -> Callable[..., Awaitable[Ran]]:
    """Run a command in a thread, while the ladder answers in this one."""

    async def command(*words: object) -> Ran:
        return await trio.to_thread.run_sync(lambda: run(*words))

    return command


def by(monkeypatch: pytest.MonkeyPatch, world: World, name: str, address: str) -> None:
    """Have commands ask that ladder as that owner."""
    monkeypatch.setenv("HOKM_ARENA_TOKEN", world.tokens[name])
    monkeypatch.setenv("HOKM_ARENA_SERVER", address)


async def test_from_a_name_to_a_verdict(world, command, monkeypatch) -> None:
    world.open(Openness(may_register=True))
    async with served(world, is_open=True) as address:
        monkeypatch.setenv("HOKM_ARENA_SERVER", address.replace("localhost", "127.0.0.1"))
        ran = await command("register", "dara")
        assert (ran.status, ran.err) == (0, "")
        assert "hokm_" not in ran.out
        assert stat.S_IMODE(tokens_file().stat().st_mode) == 0o600
        bot = world.folder("mybot", owner="dara")
        ran = await command("submit", bot)
        assert (ran.status, ran.err) == (0, "")
        assert "mybot 1.0 is submission 1\ndigest  " in ran.out
        assert "waiting; arena logs 1 --server 127.0.0.1:" in ran.out
        async with trio.open_nursery() as nursery:

            async def decide() -> None:
                await trio.sleep(0.3)
                world.ladder.store.accounts.set_state(
                    1, SubmissionState.REFUSED, at="2026-03-21T12:00:01Z", report=REFUSED
                )

            nursery.start_soon(decide)
            ran = await command("submit", bot, "--wait")
        assert ran.status == 1
        assert "mybot 1.0 is here already, as submission 1" in ran.out
        assert "waiting…" in ran.err
        for line in (
            "FAILED hand-cards",
            "  expected  a card",
            "  ended     its process, with exit code 7",
            "  took      1.5 s, and may take 10.0 s",
            "    | ValueError: no such card",
            "  run this alone: arena bot check ./mybot --only hand-cards --seed ab12",
            "FAILED races",
            "each failure in full, at home: arena bot check BOT --all --seed ab12\n",
            "refused\nsubmission 1, mybot 1.0: refused\n",
        ):
            assert line in ran.out
        assert "\x1b" not in ran.out
        assert "--all shows" not in ran.out  # there is no such option here
        world.decide(1, SubmissionState.ACCEPTED, bot=1)
        ran = await command("submit", bot, "--wait", "--json")
        told = json.loads(ran.out)
        assert ran.status == 0
        assert (told["state"], told["bot"], told["was_here"]) == ("accepted", "ada", True)


async def test_status_says_what_there_is_of_ones_own(world, command, monkeypatch) -> None:
    world.submit("ada", world.packed("another"))
    async with served(world, is_open=True) as address:
        by(monkeypatch, world, "ada", address)
        ran = await command("status")
        assert (ran.status, ran.err) == (0, "")
        assert "club: no event under way; 1 submission waiting" in ran.out
        assert "another" in ran.out
        assert "2 of 5 bots active or on their way" in ran.out
        told = json.loads((await command("status", "--json")).out)
        assert [bot["name"] for bot in told["bots"]] == ["ada"]
        assert told["submissions"][0]["state"] == "waiting"
        by(monkeypatch, world, "bob", address)
        assert "another" not in (await command("status", "--json")).out


async def test_status_without_a_token_says_what_anybody_may_know(
    world, command, monkeypatch
) -> None:
    said = values.ServiceStatus(ladder="club", is_paused=True, paused_because="a new disk")
    monkeypatch.setattr(world.service, "_status", lambda: said)
    async with served(world, is_open=True) as address:
        ran = await command("status", "--server", address)
        assert ran.status == 0
        assert ran.out == "club: paused (a new disk); 0 submissions waiting, 0 validated now\n"
        assert "a token shows your bots as well: set HOKM_ARENA_TOKEN" in ran.err
        told = json.loads((await command("status", "--server", address, "--json")).out)
        assert (told["paused_because"], "bots" in told) == ("a new disk", False)


async def test_a_bot_without_a_match_waits_for_the_next_stage(world, command, monkeypatch) -> None:
    world.ladder.add(world.folder("late", owner="o-ada"))
    async with served(world, is_open=True) as address:
        by(monkeypatch, world, "ada", address)
        lines = (await command("status")).out.splitlines()
        says = {line.partition(" ")[0]: line for line in lines}
        assert "plays from the next stage on, and the standings rank it then" in says["late"]
        assert "next stage" not in says["ada"]
        ran = await command("standings")
        assert "No rated match yet, plays from the next stage on: late\n" in ran.out


async def test_a_verdict_says_from_when_a_new_bot_plays_and_whether_it_still_does(
    world, command, monkeypatch
) -> None:
    bot = world.folder("late", owner="o-ada")
    async with served(world, is_open=True) as address:
        by(monkeypatch, world, "ada", address)
        await command("submit", bot)
        number = world.ladder.add(bot).bot.number
        world.decide(1, SubmissionState.ACCEPTED, bot=number)
        for words in (("submit", bot, "--wait"), ("logs", "1")):
            ran = await command(*words)
            assert ran.status == 0
            assert ran.out.endswith(
                "accepted, and plays as late; no match yet, plays from the next stage on, and the "
                "standings rank it then\n"
            )
        world.ladder.store.deactivate(number, because="did not start")
        assert (await command("logs", "1")).out.endswith("does not play now: did not start\n")


async def test_a_bot_plays_and_a_submission_is_accepted_or_withdrawn(
    world, command, monkeypatch
) -> None:
    world.submit("ada", world.packed("another"))
    world.decide(1, SubmissionState.ACCEPTED, bot=1)
    async with served(world, is_open=True) as address:
        by(monkeypatch, world, "ada", address)
        ran = await command("status")
        assert " accepted " in ran.out
        assert " active" in ran.out
        assert (await command("logs", "1")).out.endswith("accepted, and plays as ada\n")
        await command("withdraw", "ada")
        (line,) = [line for line in ran.out.splitlines() if "another" in line]
        assert line.split()[-1] == "ada"
        ran = await command("status")
        assert ran.out.count(" withdrawn") == 2
        (line,) = [line for line in ran.out.splitlines() if "another" in line]
        assert line.rstrip().endswith("withdrawn")
        assert "accepted" not in ran.out
        ran = await command("logs", "1")
        assert ran.out.endswith("withdrawn; sending it again takes it back\n")


async def test_logs_of_a_match_and_the_report_of_a_submission(
    world,
    command,
    monkeypatch,
    tmp_path,
) -> None:
    match = world.match_of("ada", "bob")
    world.write_logs(match)
    world.submit("ada", world.packed("another"))
    world.decide(1, SubmissionState.REFUSED)
    async with served(world, is_open=True) as address:
        by(monkeypatch, world, "ada", address)
        ran = await command("logs", match)
        assert ran.status == 0
        assert "--- ada: room 1, seat " in ran.out
        assert "printed by ada, start 2" in ran.out
        assert "printed by bob" not in ran.out
        ran = await command("logs", match, "--out", tmp_path / "logs")
        assert len(list((tmp_path / "logs").iterdir())) == 8
        told = json.loads((await command("logs", match, "--json")).out)
        assert {one["bot"] for one in told["logs"]} == {"ada"}
        assert "refused" in (await command("logs", "1")).out
        assert json.loads((await command("logs", "1", "--json")).out)["report"]
        ran = await command("logs", world.match_of("bob", "cyd"))
        assert (ran.status, ran.out) == (1, "")
        assert "no bot of o-ada played in" in ran.err
        assert (await command("logs", "2")).err.endswith("arena status lists them\n")


async def test_anybody_sees_standings_results_and_records(
    world,
    command,
    run,
    monkeypatch,
    tmp_path,
) -> None:
    folder = world.ladder.folder
    async with served(world, is_open=True) as address:
        there = await command("standings", "--server", address)
        here = await command("ladder", "standings", folder)
        assert (there.status, there.err) == (0, "")
        assert there.out == here.out
        there = await command("standings", "--server", address, "--json")
        assert there.out == (await command("ladder", "standings", folder, "--json")).out
        match = world.match_of("ada", "bob")
        ran = await command("results", "ada", "--server", address)
        assert match in ran.out
        told = json.loads((await command("results", "--server", address, "--json")).out)
        assert len(told["results"]) == 3
        file = tmp_path / "record.json.gz"
        assert (await command("record", match, "--out", file, "--server", address)).status == 0
        assert (await command("verify", file)).status == 0
        ran = await command(
            "record", "ev9/r9/a~b", "--out", tmp_path / "no.gz", "--server", address
        )
        assert ran.status == 1
        assert not (tmp_path / "no.gz").exists()


async def test_results_say_who_has_what_and_how_a_bot_did(world, command) -> None:
    match = world.match_of("ada", "bob")
    async with served(world, is_open=True) as address:
        told = json.loads((await command("results", "--server", address, "--json")).out)
        (one,) = [one for one in told["results"] if one["match"] == match]
        totals = dict(zip(one["bots"], one["totals"], strict=True))
        first, second = match.rpartition("/")[2].split("~")
        ran = await command("results", "--server", address)
        assert "points, or races won" in ran.out
        assert f"{first} {totals[first]} : {totals[second]} {second}" in ran.out
        how = {-1: "lost", 0: "drawn", 1: "won"}
        for name, other in ((first, second), (second, first)):
            ran = await command("results", name, "--server", address)
            (line,) = [line for line in ran.out.splitlines() if match in line]
            assert f"{name} {totals[name]} : {totals[other]} {other}" in line
            sign = (totals[name] > totals[other]) - (totals[name] < totals[other])
            assert line.split()[-1] == how[sign]


def test_a_score_is_told_in_the_order_of_the_id_whatever_that_of_the_bots() -> None:
    two = values.MatchResult("ev1/r1/house~house-30", "ev1", 1, ("house-30", "house"), (13, 23))
    assert _score_text(two, "") == "house 23 : 13 house-30"
    assert _score_text(two, "house-30") == "house-30 13 : 23 house"
    assert (_outcome(two, "house-30"), _outcome(two, "house")) == ("lost", "won")
    three = values.MatchResult("ev1/r1/a~b~c", "ev1", 1, ("c", "a", "b"), (5, -2, 5))
    assert _score_text(three, "b") == "b 5, a -2, c 5"
    assert [_outcome(three, name) for name in "abc"] == ["lost", "drawn", "drawn"]


async def test_matches_that_a_bot_was_missing_from_are_left_out(
    world, command, monkeypatch
) -> None:
    void = values.MatchResult("ev1/r9/a~b", "ev1", 9, ("a", "b"), (), "a is inactive: withdrawn")
    struck = values.MatchResult("ev1/r8/a~b", "ev1", 8, ("a", "b"), (), "a wrong version")
    monkeypatch.setattr(
        "arena.service.client.LadderClient.results", lambda *_, **__: (void, struck)
    )
    words = ("results", "--server", "127.0.0.1:1")
    ran = await command(*words)
    assert ("ev1/r9/a~b" in ran.out, "void: a wrong version" in ran.out) == (False, True)
    assert "void: a is inactive: withdrawn" in (await command(*words, "--all")).out
    assert len(json.loads((await command(*words, "--json")).out)["results"]) == 2


async def test_a_bot_is_taken_out_by_its_owner_alone(world, command, monkeypatch) -> None:
    async with served(world, is_open=True) as address:
        by(monkeypatch, world, "bob", address)
        ran = await command("withdraw", "ada")
        assert ran.status == 1
        assert "o-bob has no bot 'ada' here; yours: bob" in ran.err
        ran = await command("withdraw", "bob")
        assert (ran.status, ran.out) == (0, "bob: withdrawn\n")


async def test_over_tls_a_certificate_is_asked_for(world, command, monkeypatch, tmp_path) -> None:
    from tests.arena.referee.certificates import authority

    roots = tmp_path / "ca.pem"
    roots.write_bytes(authority().cert_pem.bytes())
    async with served(world) as address:
        ran = await command("standings", "--server", address, "--ca", roots)
        assert ran.status == 0
        ran = await command("standings", "--server", address)
        assert (ran.status, ran.out) == (1, "")
        assert "--ca" in ran.err


MISUSES = {
    "no server": (["status"], "which ladder? Give --server HOST:PORT"),
    "no address": (["status", "--server", "club"], "is no HOST:PORT"),
    "no port": (["status", "--server", "localhost"], "HOST:PORT, such as ladder.example:7117"),
    "no token": (["withdraw", "x", "--server", "127.0.0.1:1"], "by which token? Set HOKM_"),
    "no token file": (
        ["status", "--server", "127.0.0.1:1", "--token-file", "nowhere"],
        "No such file",
    ),
    "no roots": (["standings", "--server", "a:1", "--ca", "nowhere"], "name a PEM file"),
    "two minds": (
        ["standings", "--server", "a:1", "--ca", "x", "--insecure"],
        "give one of them",
    ),
    "a folder for a report": (["logs", "1", "--out", "x", "--server", "127.0.0.1:1"], "--out"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_what_cannot_be_meant_is_said(run: RunCommand, name: str) -> None:
    words, text = MISUSES[name]
    ran = run(*words)
    assert (ran.status, ran.out) == (2, "")
    assert text in ran.err
    assert ran.err.count("\n") == 1


def test_a_bot_of_another_owner_than_the_token_is_not_sent(run: RunCommand, bot_folder) -> None:
    keep_token("127.0.0.1:1", owner="dara", token="hokm_" + "a" * 43)
    words = ("submit", bot_folder("mybot", owner="maryam"), "--server", "127.0.0.1:1")
    ran = run(*words)
    assert (ran.status, ran.out) == (2, "")
    assert 'write owner = "dara"' in ran.err
    assert ran.err.count("\n") == 1


def test_nobody_there_is_one_line_that_says_what_to_do(run: RunCommand) -> None:
    ran = run("standings", "--server", "127.0.0.1:1")
    assert ran.status == 1
    assert ran.err == (
        "error: 127.0.0.1:1: nobody listens there; is the port right, and arena serve running?\n"
    )


def test_a_file_of_tokens_that_others_read_is_refused(run: RunCommand) -> None:
    file = tokens_file()
    file.parent.mkdir(parents=True)
    file.write_text('["127.0.0.1:1"]\nowner = "a"\ntoken = "x"\n')
    file.chmod(0o644)
    ran = run("status", "--server", "127.0.0.1:1")
    assert ran.status == 2
    assert "chmod 600" in ran.err
    file.chmod(0o600)
    assert "holds no token" in run("status", "--server", "127.0.0.1:1").err
    for text in ("[", 'a = "b"', "[a]\nb = 1"):
        file.write_text(text)
        ran = run("status", "--server", "127.0.0.1:1")
        assert ran.status == 2
        assert str(file) in ran.err


def test_a_token_of_another_ladder_is_not_sent(run: RunCommand, monkeypatch) -> None:
    from arena.cli.servers import keep_token, kept_tokens

    keep_token("one:1", owner="a", token="hokm_" + "A" * 43)
    keep_token("two:2", owner='ä"b', token="hokm_" + "B" * 43)
    assert kept_tokens()["one:1"]["token"].endswith("A")
    assert kept_tokens()["two:2"]["owner"] == 'ä"b'
    assert os.listdir(tokens_file().parent) == ["tokens.toml"]
    assert "by which token?" in run("withdraw", "x", "--server", "127.0.0.1:1").err


def test_a_bot_that_cannot_be_entered_is_not_sent(run: RunCommand, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOKM_ARENA_TOKEN", "hokm_" + "A" * 43)
    (tmp_path / "empty").mkdir()
    ran = run("submit", tmp_path / "empty", "--server", "127.0.0.1:1")
    assert ran.status == 1
    assert "bot.toml" in ran.err
