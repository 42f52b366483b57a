"""What may be asked of a schedule: which kind it is, and its options."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from arena.cli.errors import Misuse

if TYPE_CHECKING:
    from arena.ladder.schedules import AnySchedule

Kind: TypeAlias = Annotated[
    Literal["round-robin", "gauntlet", "swiss", "knock-out", "adaptive"],
    typer.Option("--schedule", help="Who meets whom; see docs/schedules.md."),
]
Cycles: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="round-robin, gauntlet: how often all meet.  [default: 1]"
    ),
]
Seeds: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="gauntlet: who meets the whole field; may be given more than once."
    ),
]
Near: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="gauntlet: in place of the whole field ten of it, then N matches near the seed.",
    ),
]
Rounds: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="swiss: how many.  [default: two more than a knock-out has]"
    ),
]
Third: TypeAlias = Annotated[
    bool, typer.Option("--third", help="knock-out: play for the third place too.")
]
Matches: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="adaptive: how many, where they say most."),
]
Least: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="adaptive: matches that every bot gets.  [default: half of the mean]",
    ),
]
Most: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="adaptive: matches that no bot goes beyond.")
]

_OPTIONS = {
    "round-robin": {"cycles"},
    "gauntlet": {"cycles", "seeds", "near"},
    "swiss": {"rounds"},
    "knock-out": {"third"},
    "adaptive": {"matches", "least", "most"},
}


def schedule_of(
    kind: str,
    *,
    cycles: int | None = None,
    seeds: list[str] | None = None,
    near: int | None = None,
    rounds: int | None = None,
    third: bool = False,
    matches: int | None = None,
    least: int | None = None,
    most: int | None = None,
) -> "AnySchedule":
    """The schedule that was asked for. Raises Misuse for an option it has not, or cannot lack."""
    from arena.ladder.schedules import Adaptive, Gauntlet, KnockOut, RoundRobin, Swiss

    given = {
        "cycles": cycles,
        "seeds": seeds,
        "near": near,
        "rounds": rounds,
        "third": third,
        "matches": matches,
        "least": least,
        "most": most,
    }
    for option, value in given.items():
        if value not in (None, False, []) and option not in _OPTIONS[kind]:
            kinds = " or ".join(k for k, options in _OPTIONS.items() if option in options)
            raise Misuse(f"--{option} is for --schedule {kinds}, not {kind}")
    try:
        match kind:
            case "gauntlet":
                if not seeds:
                    raise Misuse("--schedule gauntlet needs --seeds NAME: who runs it")
                return Gauntlet(tuple(seeds), cycles=cycles or 1, near=near or 0)
            case "swiss":
                return Swiss(rounds=rounds)
            case "knock-out":
                return KnockOut(third=third)
            case "adaptive":
                if matches is None:
                    raise Misuse("--schedule adaptive needs --matches N: how many to play")
                return Adaptive(matches, least=least, most=most)
            case _:
                return RoundRobin(cycles or 1)
    except ValueError as error:
        raise Misuse(str(error)) from error
