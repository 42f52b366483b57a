"""Checks of races: hand after hand, a moving hakem, the draw before, the cut, the score."""

from functools import partial

from arena.conformance.checks.hands import ALL_MODES, WORDS
from arena.conformance.script import Check, Run, Script, seeds
from arena.conformance.tables import Choose, ScriptedGame, at_random, cutting, keeping, strongest
from hokm.rules.draw import opening
from hokm.rules.options import Play, Rules

DRAWS = 400
"""Ace draws among which the longest one is looked for."""


async def _race(script: Script) -> None:
    """A race to seven and over it: hakem stays and changes, scores pass seven."""
    for options in ({}, {"points_win": "3", "points_kot": "5", "points_hakem_kot": "6"}):
        rules = script.rules(Play.RACE, **options)
        await script.play_match(rules, lambda rules: [script.race(rules, seat=1)])
    rules = script.rules(Play.RACE, target_points="1")
    await script.play_match(
        rules, lambda rules: [script.race(rules, seat=seat) for seat in range(rules.players)]
    )


async def _hakem_changes(script: Script) -> None:
    """Every succession there is, until the bot has been hakem in one hand and not in another."""
    successions = {4: ("right", "left"), 3: ("winner", "right"), 2: ("winner",)}
    for succession in successions[script.players]:
        rules = script.rules(Play.RACE, next_hakem=succession, first_hakem="seat:1")
        await script.play_match(
            rules,
            lambda rules: [
                script.race(rules, seat=0, others=keeping(strongest)),
                script.race(rules, seat=1),
            ],
        )


async def _long_race(script: Script) -> None:
    """A race of eight hands at the least, with scores to a hundred."""
    rules = script.rules(
        Play.RACE,
        target_points="100",
        points_win="4",
        points_kot="9",
        points_hakem_kot="14",
        modes=ALL_MODES,
        kot_in_modes="on",
    )
    await script.play_match(rules, lambda rules: [script.race(rules, seat=script.players - 1)])


async def _first_hakem(script: Script) -> None:
    """Drawn by an ace, by lot, or named; the ace after as many cards as may be."""
    drawn = script.rules(Play.RACE, target_points="1")
    seed = _longest_draw(drawn, script)
    await script.play_match(
        drawn, lambda rules: [script.race(drawn, seat=0, seed=seed), script.race(drawn, seat=1)]
    )
    for first in ("random", f"seat:{script.players - 1}", "seat:0"):
        rules = script.rules(Play.RACE, target_points="1", first_hakem=first)
        await script.play_match(rules, lambda rules: [script.race(rules, seat=0)])


async def _second_ace(script: Script) -> None:
    """Partners drawn: at every seat, one who changed chairs and one who did not."""
    rules = script.rules(Play.RACE, target_points="2", teams="second_ace")
    seeds_by_chairs: dict[tuple[int, ...], str] = {}
    for number in range(60):
        text = f"{script.ask.seed} second ace {number}"
        partner = opening(rules, seeds(text)(0)).partner
        assert partner is not None
        seeds_by_chairs.setdefault(partner.chairs, text)
    longest = _longest_draw(rules, script)
    chosen = [*list(seeds_by_chairs.values())[:6], longest]
    await script.play_match(
        rules,
        lambda rules: [
            script.race(rules, seat=number % 4, seed=seed) for number, seed in enumerate(chosen)
        ],
    )


async def _cut(script: Script) -> None:
    """The bot cuts as the hakem's partner, and sees others cut at either end; also in late hands of
    a long race, whose number is no position of a cut any more.
    """
    rules = script.rules(Play.RACE, target_points="3", cut="on", first_hakem="seat:2")
    for position in (1, 51):
        others = cutting(position, at_random(script.chance))
        await script.play_match(
            rules,
            partial(_at_seats, script, others),
        )
    long_race = script.rules(Play.RACE, target_points="60", cut="on", points_kot="1")
    await script.play_match(long_race, lambda rules: [script.race(rules, seat=0)])


def _at_seats(script: Script, others: Choose, rules: Rules) -> list[ScriptedGame]:
    """A race for the hakem's partner, the hakem, and one between them."""
    return [script.race(rules, seat=seat, others=others) for seat in (0, 2, 1)]


def _longest_draw(rules: Rules, script: Script) -> str:
    """A text whose draw before a race turns up more cards than most."""
    texts = [f"{script.ask.seed} draw {number}" for number in range(DRAWS)]
    return max(texts, key=lambda text: len(opening(rules, seeds(text)(0)).turned))


def _each(name: str, meaning: str, reference: str, run: Run) -> list[Check]:
    return [
        Check(f"{WORDS[players]}-{name}", meaning, reference, run, players=players)
        for players in (4, 3, 2)
    ]


GAMES = (
    *_each("race", "It plays a race, and scores may pass the target.", "rulebook 1.7", _race),
    *_each(
        "hakem-changes",
        "The hakem may change from hand to hand, by any succession.",
        "rulebook 2.6",
        _hakem_changes,
    ),
    *_each(
        "first-hakem",
        "The first hakem is drawn, by a draw of any length, or named.",
        "rulebook 1.9",
        _first_hakem,
    ),
    Check("long-race", "A race may be long, and its scores high.", "rulebook 1.7", _long_race),
    Check(
        "four-second-ace",
        "Partners may be drawn, and change chairs.",
        "rulebook 2.1",
        _second_ace,
        players=4,
    ),
    Check("four-cut", "The deck may be cut, also by this bot.", "rulebook 2.2", _cut, players=4),
)
