"""The kit passes a good bot, and names the check that a broken one fails. Bots are real processes.

A broken bot here is a good one with one thing changed, so what is found is that thing.
"""

import re
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import dedent

import pytest

from arena.conformance.checks import CHECKS
from arena.conformance.groups import grouped
from arena.conformance.kit import NO_HELLO, check_bot
from arena.conformance.report import Report, Result, Verdict
from arena.conformance.script import Ask, Process
from arena.ladder.bots.entrants import Entrant, load_bot

pytestmark = pytest.mark.timeout(120)

PLAIN = """
    from hokm import Bot, run

    class Plain(Bot):
        concurrent = 4

        def play(self, view):
            return view.playable[0]
"""

RUN = """
    run(Plain)
"""


def write_bot(folder: Path, change: str, *, after: str = "", tables: str = "2, 3, 4") -> Entrant:
    """The plain bot with a change before it runs, and something after."""
    folder.mkdir()
    source = "\n".join(dedent(part) for part in (PLAIN, change, RUN, after))
    (folder / "bot.py").write_text(source, encoding="utf-8")
    (folder / "bot.toml").write_text(
        'schema = 1\nname = "plain"\nowner = "tests"\nversion = "1"\n'
        'command = ["python", "bot.py"]\nprotocol = 1\nconcurrent = 4\n'
        f"variants = [{tables}]\n"
    )
    return load_bot(folder)


async def report_of(
    bot: Entrant,
    only: Sequence[str],
    tmp_path: Path,
    *,
    seed: str = "tests",
    fuzz_seconds: float = 0.5,
    limit_seconds: float = 60.0,
) -> Report:
    told: list[Result] = []
    report = await check_bot(
        bot,
        [check for check in CHECKS if any(fnmatchcase(check.name, one) for one in only)],
        ask=Ask(seed=seed, fuzz_seconds=fuzz_seconds),
        limit_seconds=limit_seconds,
        python=sys.executable,
        running=tmp_path / "running",
        logs=tmp_path / "logs",
        done=told.append,
    )
    assert sorted(one.check.name for one in told) == sorted(
        one.check.name for one in report.results
    )
    return report


def failed(report: Report) -> dict[str, str]:
    """What failed, and what the bot did."""
    return {
        result.check.name: result.detail
        for result in report.results
        if result.verdict is Verdict.FAILED
    }


SHARED = tuple(
    check.name
    for check in CHECKS
    if check.process is Process.SHARED
    and (check.players in (None, 4) or check.name in ("three-seats", "two-seats"))
)
"""Hands and races at four seats stand for the rest, which the fuzz plays as well."""


async def test_a_good_bot_passes_what_is_asked_of_one_process(tmp_path: Path) -> None:
    report = await report_of(write_bot(tmp_path / "bot", ""), SHARED, tmp_path)
    assert failed(report) == {}
    assert report.ok
    assert {result.verdict for result in report.results} == {Verdict.PASSED}


async def test_a_good_bot_passes_what_is_asked_of_a_session(tmp_path: Path) -> None:
    only = ("hello", "end-in-one-batch", "turned-away", "unknown-fields", "return-open")
    report = await report_of(write_bot(tmp_path / "bot", ""), only, tmp_path)
    assert failed(report) == {}
    assert report.ok


PLAYS_ANYTHING = "Plain.play = lambda self, view: view.hand[-1]"
NEVER_VOID = """
    Plain.play = lambda self, view: next(c for c in view.hand if view.led in (None, c.suit))
"""
DISCARDS_THREE = """
    Plain.discard = lambda self, view, count: view.hand[:3]
"""
KEEP_IS_REFUSE = """
    import hokm.bot
    hokm.bot.DRAWS = hokm.bot.DRAWS[::-1]
"""
MIXED_SUITS = """
    plain_declare = Plain.declare
    Plain.declare = lambda self, view: (plain_declare(self, view) + 1) % 4
    from hokm import Trump
    shifted = Plain.declare
    Plain.declare = lambda self, view: Trump(shifted(self, view))
"""
CUTS_NOTHING = "Plain.cut = lambda self, view: 0"
NO_SECOND_HAND = """
    from hokm.view import View
    View._begin_once = View._begin
    def begin(self):
        if self.hand_number < 2:
            self._begin_once()
    View._begin = begin
"""
ALWAYS_FIRST_ATTEMPT = """
    import hokm.player as player
    class Answer(player.Answer):
        def __init__(self, game, decision, attempt, *rest, **more):
            super().__init__(game, decision, 1, *rest, **more)
    player.Answer = Answer
    from hokm import wire
    wire._PUT_FROM_BOT[Answer] = wire._put_answer
"""
ANSWERS_ONE = """
    import hokm.player as player
    original = player.decide_many
    player.decide_many = lambda kind, asked: original(kind, asked[:1])
"""
SMALL_NUMBERS = """
    import hokm.wire as wire
    original = wire._TAKE_FROM_REFEREE["decision"]
    def take(message):
        assert message.game < 2**53
        return original(message)
    wire._TAKE_FROM_REFEREE["decision"] = take
"""
NEEDS_A_CLOCK = """
    Plain.play = lambda self, view: view.playable[0 if view.clock.bank_seconds >= 0 else 0]
"""
KNOWS_EVERYTHING = """
    import hokm.wire as wire
    def each(messages, oneof, take):
        for message in messages:
            name = message.WhichOneof(oneof)
            yield take[name](getattr(message, name))
    wire._each = each
"""
REMEMBERS = """
    Plain.games = 0
    def play(self, view):
        if len(view.playable) > 1 and Plain.games > 3:
            return view.playable[1]
        return view.playable[0]
    def game_started(self, view):
        Plain.games += 1
    Plain.play, Plain.game_started = play, game_started
"""
RAISES_AT_SWEEPS = """
    def hand_ended(self, view, result):
        assert 0 not in result.tricks
    Plain.hand_ended = hand_ended
"""
REFUSES_TO_END = """
    Plain.game_ended = lambda self, view, outcome: {"COMPLETED": 0, "CRASH": 1}[outcome.ending.name]
"""
RETRIES_WHAT_IS_OVER = """
    from hokm.errors import Reason
    import hokm.player as player
    original = player.Player._receive
    def receive(self, message):
        if isinstance(message, player.Refused) and message.reason is Reason.STALE_DECISION:
            game = self._games.get(message.game)
            if game is not None:
                self._asked[message.game] = game
        original(self, message)
    player.Player._receive = receive
"""
NO_GOODBYE = """
    import hokm.player as player
    original = player.Player._answers
    def answers(self):
        yield from (one for one in original(self) if not isinstance(one, player.Goodbye))
    player.Player._answers = answers
"""
TAKES_FEW = "Plain.concurrent = 1"
ASCII_NAMES = """
    import hokm.player as player
    original = player.Player._start
    def start(self, message):
        [name.encode("ascii") for name in message.players]
        original(self, message)
    player.Player._start = start
"""

SAYS_GOODBYE_TWICE = """
    import hokm.player as player
    original = player.Player._answers
    def answers(self):
        for one in original(self):
            yield from [one, one] if isinstance(one, player.Goodbye) else [one]
    player.Player._answers = answers
"""
NAMES_NO_GAMES = """
    import hokm.player as player
    from dataclasses import replace
    original = player.Player.hello
    player.Player.hello = lambda self: replace(original(self), games=())
"""
KEEPS_ITS_FIRST_TOKEN = """
    import hokm.player as player
    original = player.Player.resume_token.fget
    def token(self):
        self.first = getattr(self, "first", "") or original(self)
        return self.first
    player.Player.resume_token = property(token)
"""
BROKEN = {
    "plays any card": (PLAYS_ANYTHING, "four-forced", "MUST_FOLLOW_SUIT"),
    "cannot be void": (NEVER_VOID, "four-void", "stream ended"),
    "discards three as the second": (DISCARDS_THREE, "two-seats", "BAD_DISCARD"),
    "keeps what it means to refuse": (KEEP_IS_REFUSE, "two-keep-or-refuse", "refused A K Q J T"),
    "names another suit": (MIXED_SUITS, "suits", "clubs: diamonds"),
    "cuts nothing": (CUTS_NOTHING, "four-cut", "BAD_CUT"),
    "does not forget a hand": (NO_SECOND_HAND, "four-race", ""),
    "never counts attempts": (ALWAYS_FIRST_ATTEMPT, "attempts", "attempt 1"),
    "answers one game of a batch": (ANSWERS_ONE, "many-games", ""),
    "has numbers of 53 bits": (SMALL_NUMBERS, "large-numbers", "stream ended"),
    "needs a clock": (NEEDS_A_CLOCK, "no-clock", "stream ended"),
    "knows no unknown events": (KNOWS_EVERYTHING, "unknown-events", "stream ended"),
    "knows no kot": (RAISES_AT_SWEEPS, "three-sweep", "stream ended"),
    "knows two endings": (REFUSES_TO_END, "endings", "stream ended"),
    "answers what is over": (RETRIES_WHAT_IS_OVER, "late-refusals", "it said: answer to"),
    "says no goodbye": (NO_GOODBYE, "no-match", ""),
    "says goodbye twice": (SAYS_GOODBYE_TWICE, "no-match", "after its goodbye it said: goodbye"),
    "takes fewer games than it claims": (TAKES_FEW, "hello", "1 games at once"),
    "names no games on coming back": (NAMES_NO_GAMES, "return-taken", "names the games []"),
    "keeps its first token": (KEEPS_ITS_FIRST_TOKEN, "return-open", "came back once"),
    "reads ASCII alone": (ASCII_NAMES, "names", "stream ended"),
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_fault_is_found_by_the_check_that_is_about_it(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.conformance.talk.ANSWER_SECONDS", 1.0)  # one of them never answers
    change, name, what = BROKEN[fault]
    report = await report_of(write_bot(tmp_path / "bot", change), [name], tmp_path)
    assert list(failed(report)) == [name]
    assert what in failed(report)[name]
    (result,) = report.results
    assert result.finding is not None
    assert result.finding.exchange
    assert not report.ok


async def test_the_fuzz_finds_what_breaks_the_rules_now_and_then_and_can_repeat_it(
    tmp_path: Path,
) -> None:
    sometimes = """
        def play(self, view):
            return view.hand[0] if len(view.tricks) == 5 else view.playable[0]
        Plain.play = play
    """
    bot = write_bot(tmp_path / "bot", sometimes)
    report = await report_of(bot, ["fuzz"], tmp_path, fuzz_seconds=20.0)
    assert "MUST_FOLLOW_SUIT" in failed(report)["fuzz"]
    told = re.search(r"--seed (tests:\d+)", failed(report)["fuzz"])
    assert told is not None
    again = await report_of(bot, ["fuzz"], tmp_path, seed=told[1], fuzz_seconds=5.0)
    assert failed(again) == failed(report)


async def test_a_bot_that_says_no_hello_is_asked_nothing_else(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", "class Other(Bot)\n    pass")
    only = ("unix-socket", "late-welcome", "hello", "turned-away", "four-seats", "fuzz")
    report = await report_of(bot, only, tmp_path)
    assert list(failed(report)) == ["hello"]
    assert failed(report)["hello"].startswith("its process ended (exit code 1): SyntaxError: ")
    left = {result.detail for result in report.results if result.verdict is Verdict.NOT_RUN}
    assert left == {NO_HELLO}
    assert report.count(Verdict.NOT_RUN) == 5
    (finding,) = [result.finding for result in report.results if result.finding is not None]
    assert "SyntaxError" in finding.log
    assert "bot.py" in finding.by_hand


async def test_a_bot_that_cannot_start_is_not_turned_away(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", "class Other(Bot)\n    pass")
    report = await report_of(bot, ["turned-away"], tmp_path)
    assert failed(report)["turned-away"].startswith("its process ended (exit code 1): SyntaxError")


async def test_one_mistake_is_one_group_named_by_the_check_that_is_about_it(tmp_path: Path) -> None:
    plays_what_it_does_not_hold = """
        from hokm.cards import CARDS
        def play(self, view):
            if view.led is not None and all(card.suit != view.led for card in view.hand):
                return next(c for c in CARDS if c.suit == view.led and c not in view.hand)
            return view.playable[0]
        Plain.play = play
    """
    bot = write_bot(tmp_path / "bot", plays_what_it_does_not_hold, tables="4")
    only = (
        "one-by-one",
        "names",
        "four-seats",
        "four-every-card",
        "four-void",
        "four-race",
        "fuzz",
    )
    report = await report_of(bot, only, tmp_path)
    (group,) = grouped(report.results)
    assert group.best.check.name == "four-void"
    assert sorted(one.check.name for one in group.others) == sorted({*only} - {"four-void"})


async def test_a_crash_is_told_with_the_last_line_of_its_log(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", NEVER_VOID.replace("next(c", "[][0] or next(c"), tables="4")
    report = await report_of(bot, ["four-seats", "fuzz"], tmp_path)
    crash = "its stream ended (exit code 1): IndexError: list index out of range"
    assert failed(report)["four-seats"] == crash
    assert failed(report)["fuzz"].endswith(crash)


async def test_an_exit_code_is_looked_at(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", "", after="raise SystemExit(3)")
    report = await report_of(bot, ["no-match"], tmp_path)
    assert failed(report) == {"no-match": "its process ended (exit code 3)"}


async def test_what_fails_after_other_games_alone_is_told_by_the_long_session(
    tmp_path: Path,
) -> None:
    forgets = """
        Plain.games = 0
        def game_started(self, view):
            Plain.games += 1
            assert Plain.games < 20
        Plain.game_started = game_started
    """
    bot = write_bot(tmp_path / "bot", forgets)
    report = await report_of(bot, ["four-seats", "names", "no-clock", "long-session"], tmp_path)
    assert list(failed(report)) == ["long-session"]
    assert "passes in a fresh one" in failed(report)["long-session"]
    report = await report_of(bot, ["four-seats", "names", "no-clock"], tmp_path)
    assert list(failed(report)) == ["four-seats"]  # the check that would tell was not asked for
    assert "passes in a fresh one" in failed(report)["four-seats"]


async def test_a_game_played_otherwise_after_others_is_found(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", REMEMBERS, tables="4")
    report = await report_of(bot, ["after-others"], tmp_path)
    detail = failed(report)["after-others"]
    assert "after other games in the same process" in detail
    finding = report.results[0].finding
    assert finding is not None
    told = re.search(
        r"to decision (\d+) of it, game (\d+) of the exchange, .* (play ..), and", detail
    )
    assert told is not None
    decision, game, action = told.groups()
    assert (
        f"answer to game {game}, decision {decision}, attempt 1: {action}" in finding.exchange[-1]
    )
    assert any(f"game {game} starts" in text for text in finding.exchange)


async def test_a_game_played_otherwise_beside_others_is_shown_without_them(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", REMEMBERS, tables="4")
    report = await report_of(bot, ["beside-others"], tmp_path)
    (result,) = report.results
    assert result.finding is not None
    games = {game for text in result.finding.exchange for game in re.findall(r"game (\d+)", text)}
    assert len(games) == 1


async def test_a_bot_that_draws_lots_is_not_judged_by_its_memory(tmp_path: Path) -> None:
    lots = """
        import random
        Plain.play = lambda self, view: random.choice(view.playable)
    """
    bot = write_bot(tmp_path / "bot", lots, tables="4")
    report = await report_of(bot, ["after-others"], tmp_path)
    assert [result.verdict for result in report.results] == [Verdict.NOT_SUPPORTED]
    assert report.ok


async def test_a_bot_that_does_not_come_back_is_none_the_worse(tmp_path: Path) -> None:
    stays_away = """
        import hokm.player as player
        player.Player.resume_seconds = 0.0
    """
    bot = write_bot(tmp_path / "bot", stays_away)
    report = await report_of(bot, ["return-taken"], tmp_path)
    assert [result.verdict for result in report.results] == [Verdict.NOT_SUPPORTED]
    assert report.ok


async def test_what_has_no_time_left_is_not_run_and_the_bot_has_not_passed(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", "import time\ntime.sleep(30)")
    report = await report_of(bot, ["hello", "no-match"], tmp_path, limit_seconds=0.5)
    assert {result.verdict for result in report.results} == {Verdict.NOT_RUN}
    assert not report.ok
