"""``arena standings``, ``results`` and ``record``: a ladder elsewhere, as anybody may see it."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import Json
from arena.cli.servers import Address, Insecure, Roots, TokenFile, Where, asking
from arena.wording import kept_apart, printable

if TYPE_CHECKING:
    from arena.service import values


def standings(
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
    json_: Json = False,
) -> None:
    """Print the standings of a ladder elsewhere.

    Those of a ladder in a folder are printed by arena ladder standings.
    """
    from arena.cli import show, table

    with asking(Where(server, ca, insecure, token_file), needs_token=False) as client:
        found = client.standings()
    if json_:
        show.print_json(found.json())
    else:
        table.print_standings(found, show.results())


def results(
    bot: Annotated[
        str, typer.Argument(metavar="[BOT]", help="Of this bot alone, by its name there.")
    ] = "",
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
    last: Annotated[int, typer.Option(metavar="N", min=1, help="How many matches.")] = 20,
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also matches that were never played, since a bot was withdrawn, disabled or "
            "away; --json always has them.",
        ),
    ] = False,
    json_: Json = False,
) -> None:
    """Print the last matches of a ladder elsewhere.

    Those that are decided, the last one first: each bot with its points of all boards, or the races
    it won. Of one BOT it is said how it did.
    """
    from arena.cli import show
    from arena.ladder.facts import absent_in

    with asking(Where(server, ca, insecure, token_file), needs_token=False) as client:
        decided = client.results(bot=bot)
        if not (all_ or json_):
            decided = (one for one in decided if absent_in(one.void_because) is None)
        found = list(islice(decided, last))
    if json_:
        show.print_json({"results": list(map(_result_json, found))})
        return
    table = show.named_columns("match", "result (points, or races won)", *([""] if bot else []))
    for one in found:
        if one.void_because is None:
            result, outcome = _score_text(one, bot), _outcome(one, bot)
        else:
            result, outcome = f"void: {one.void_because}", ""
        cells = (one.match, result, *([outcome] if bot else []))
        table.add_row(*map(printable, cells))
    show.results().print(table)


def record(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="A match's id, such as ev1/r1/ada~bob.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write it; *.json.gz, to be read.")
    ],
    attempt: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Which attempt.  [default: the last]")
    ] = None,
    server: Address = None,
    ca: Roots = None,
    insecure: Insecure = False,
    token_file: TokenFile = None,
) -> None:
    """Fetch the record of a match from a ladder elsewhere.

    The match has to be decided. arena verify and arena replay read it.
    """
    from arena.ladder.files import part_of

    part = part_of(out)
    with asking(Where(server, ca, insecure, token_file), needs_token=False) as client:
        found = client.record(match, attempt=attempt)
        try:
            with part.open("wb") as file:
                for piece in found:
                    file.write(piece)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
    print(printable(f"{out}: {match}; arena verify {out} plays it again"))


def _score_text(result: "values.MatchResult", bot: str) -> str:
    """Each bot with its score, in the order of the match's id, but this one first: of two bots
    ``ada 13 : 23 bob``, of more ``ada 13, bob 23, cyd 7``.
    """
    scores = sorted(
        zip(result.bots, result.totals, strict=True),
        key=lambda score: (score[0] != bot, _place_in_id(result.match, score[0])),
    )
    if len(scores) == 2:
        (name, own), (other, others) = scores
        return f"{kept_apart(name)} {own} : {others} {kept_apart(other)}"
    return ", ".join(f"{kept_apart(name)} {own}" for name, own in scores)


def _place_in_id(match: str, name: str) -> int:
    names = match.rpartition("/")[2].split("~")
    return names.index(name) if name in names else len(names)


def _outcome(result: "values.MatchResult", bot: str) -> str:
    """How a bot did: against the best of the others, where there are more than two."""
    if bot not in result.bots:
        return ""
    own = result.totals[result.bots.index(bot)]
    best = max(total for name, total in zip(result.bots, result.totals, strict=True) if name != bot)
    return "won" if own > best else "lost" if own < best else "drawn"


def _result_json(result: "values.MatchResult") -> dict[str, object]:
    return {
        "match": result.match,
        "event": result.event,
        "round": result.round,
        "bots": list(result.bots),
        "totals": list(result.totals),
        "void_because": result.void_because,
    }
