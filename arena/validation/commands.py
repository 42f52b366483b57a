"""The shell lines that repeat what failed, on the machine of the bot's author. Pure.

They name the bot as its author knows it, and no place of the machine that found out.
"""

import shlex

from arena.ladder.matches.boards import MatchPlan
from hokm.notation import options_chosen
from hokm.records import Format
from hokm.session import ClockRules


def check_command(
    bot: str,
    *,
    only: str = "",
    seed: str = "",
    limit_seconds: float | None = None,
    is_confined: bool = False,
) -> str:
    """``arena bot check`` with so much of it as is needed."""
    words = ["arena", "bot", "check", bot]
    words += ["--only", only] if only else []
    words += ["--seed", seed] if seed else []
    words += [] if limit_seconds is None else ["--limit", f"{limit_seconds:g}"]
    return shlex.join([*words, *_confined(is_confined)])


def match_command(bot: str, plan: MatchPlan, *, seed: str, is_confined: bool = False) -> str:
    """``arena match`` that plays the plan, which is one of :mod:`arena.validation.matches`."""
    players, clock, usual = plan.rules.players, plan.clock, ClockRules()
    words = ["arena", "match", *[bot] * len(plan.entrants), "--players", str(players)]
    if plan.format is Format.CLASSIC:
        words += ["--format", "classic", "--games", str(plan.length)]
    else:
        words += ["--boards", str(plan.length)]
    for option in options_chosen(plan.rules):
        words += ["--option", option]
    words += ["--policy", plan.policy.value]
    if clock.move_seconds != usual.move_seconds:
        words += ["--move-time", f"{clock.move_seconds:g}"]
    if clock.bank_seconds != usual.bank_seconds:
        words += ["--bank", f"{clock.bank_seconds:g}"]
    return shlex.join([*words, "--seed", seed, *_confined(is_confined)])


def _confined(is_confined: bool) -> list[str]:
    return ["--sandbox"] if is_confined else []
