"""``arena standings``, ``results`` and ``record``: a ladder elsewhere, as anybody may see it."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import Json
from arena.cli.servers import Address, Insecure, Roots, TokenFile, Where, asking
from arena.cli.text import printable

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
    json_: Json = False,
) -> None:
    """Print the last matches of a ladder elsewhere.

    Those that are decided, the last one first.
    """
    from arena.cli import show

    with asking(Where(server, ca, insecure, token_file), needs_token=False) as client:
        found = list(islice(client.results(bot=bot), last))
    if json_:
        show.print_json({"results": list(map(_result_json, found))})
        return
    table = show.named_columns("match", "result")
    for one in found:
        totals = " : ".join(map(str, one.totals))
        void = None if one.void_because is None else f"void: {one.void_because}"
        table.add_row(printable(one.match), printable(void or totals))
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


def _result_json(result: "values.MatchResult") -> dict[str, object]:
    return {
        "match": result.match,
        "event": result.event,
        "round": result.round,
        "bots": list(result.bots),
        "totals": list(result.totals),
        "void_because": result.void_because,
    }
