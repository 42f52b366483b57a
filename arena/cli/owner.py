"""``arena owner``: who may send bots to a ladder, for whoever operates it, on the ladder's machine.

Whoever may write the ladder's folder is its operator; nobody is asked for a token. What is done
stands in the audit log, ``arena operate DIR log``.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.deeds import deed_of
from arena.cli.errors import Misuse
from arena.cli.options import Json
from arena.wording import printable

if TYPE_CHECKING:
    from arena.ladder.facts import Owner, Scope
    from arena.ladder.ladder import Ladder

_HELP = "Who may send bots to a ladder, and by which tokens."

app = typer.Typer(help=_HELP, no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The ladder's folder.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="An owner, as in bot.toml.")]
Scopes = Annotated[
    list[str],
    typer.Option(
        "--scope",
        metavar="WORD",
        help="What the token is good for, submit, read or play; may be repeated.  "
        "[default: all of it]",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the token to a new file, for you alone, and print nothing of it.",
    ),
]
Label = Annotated[
    str, typer.Option(metavar="TEXT", help="What tells it from the owner's other tokens.")
]


@app.callback(help=_HELP)
def _owner() -> None:
    pass


@app.command("add", no_args_is_help=True)
def add(
    folder: Folder,
    name: Name,
    label: Label = "first",
    scope: Scopes = [],  # noqa: B006  # typer wants a list, and nobody changes it
    out: Out = None,
) -> None:
    """Make an owner, with a token, which is told this once.

    Bots in the ladder that have that owner are theirs from then on, to withdraw and to read the
    logs of.
    """
    from arena.service import accounts

    _refuse_existing(out)
    with _opened(folder) as ladder:
        if ladder.store.accounts.owner_named(name) is not None:
            another = f"arena owner token {folder} {name} --label TEXT"
            raise Misuse(f"{name} is an owner here already; {another} issues another token")
        owner = accounts.register(ladder.store.accounts, name, at=_now())
        _note(ladder, "add owner", owner.name)
        _issue(ladder, owner, label=label, scopes=_scopes(scope), out=out)


@app.command("token", no_args_is_help=True)
def token(
    folder: Folder,
    name: Name,
    label: Annotated[
        str, typer.Option(metavar="TEXT", help="What tells it from the owner's other tokens.")
    ],
    scope: Scopes = [],  # noqa: B006
    out: Out = None,
) -> None:
    """Issue another token of an owner, which is told this once."""
    _refuse_existing(out)
    with _opened(folder) as ladder:
        _issue(ladder, _named(ladder, name), label=label, scopes=_scopes(scope), out=out)


@app.command("revoke", no_args_is_help=True)
def revoke(
    folder: Folder,
    name: Name,
    label: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Which.  [default: all of them]")
    ] = None,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the audit log.")] = "",
) -> None:
    """Have an owner's tokens be good for nothing, from the next call on."""
    with _opened(folder) as ladder:
        owner = _named(ladder, name)
        kept = ladder.store.accounts.tokens(owner.number)
        found = [one for one in kept if one.revoked is None and label in (None, one.label)]
        if not found:
            good = ", ".join(one.label for one in kept if one.revoked is None) or "none"
            raise Misuse(f"{owner.name} has no such token that is good; those that are: {good}")
        for one in found:
            ladder.store.accounts.revoke(one.digest, at=_now())
            _note(ladder, "revoke token", f"{owner.name}: {one.label}", because)
            print(printable(f"{owner.name}: {one.label} revoked"))


@app.command("bar", no_args_is_help=True)
def bar(
    folder: Folder,
    name: Name,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why; the owner is told it.")],
) -> None:
    """Bar an owner: no token is good, and what waits is refused. Bots that play go on.

    To take those out as well: arena operate DIR disable, or arena ladder withdraw. To let the owner
    come back: arena owner unbar.
    """
    from arena.service import accounts
    from arena.wording import counted

    if not because.strip():
        raise Misuse("--because is empty; the owner is told why")
    with _opened(folder) as ladder:
        owner = _named(ladder, name)
        refused = accounts.bar(ladder.store.accounts, owner, because=because, at=_now())
        _note(ladder, "bar owner", owner.name, because)
        playing = [
            bot.name for bot in ladder.store.bots() if bot.is_active and accounts.is_of(bot, owner)
        ]
        print(f"{owner.name}: barred; of what waited, {counted(refused, 'submission')} refused")
        if playing:
            print(printable(f"bots that still play: {', '.join(playing)}"))


@app.command("unbar", no_args_is_help=True)
def unbar(
    folder: Folder,
    name: Name,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the audit log.")] = "",
) -> None:
    """Let an owner come back who is barred.

    Tokens are good again that were not revoked. What was refused stays so.
    """
    with _opened(folder) as ladder:
        owner = _named(ladder, name)
        if not owner.is_barred:
            raise Misuse(f"{owner.name} is not barred; there is nothing to do")
        ladder.store.accounts.bar(owner.number, because=None)
        _note(ladder, "unbar owner", owner.name, because)
        print(printable(f"{owner.name}: welcome again"))


@app.command("list", no_args_is_help=True)
def list_owners(folder: Folder, json_: Json = False) -> None:
    """List the owners of a ladder, with the labels of their tokens."""
    from arena.cli import show
    from arena.wording import kept_apart

    with _opened(folder) as ladder:
        store = ladder.store.accounts
        found = [
            (owner, store.tokens(owner.number), store.usage(owner.number, since=""))
            for owner in store.owners()
        ]
    if json_:
        rows = [
            {
                "name": owner.name,
                "registered": owner.registered,
                "barred_because": owner.barred_because,
                "submissions": usage.submissions,
                "kept_bytes": usage.kept_bytes,
                "tokens": [
                    {
                        "label": one.label,
                        "scopes": sorted(scope.value for scope in one.scopes),
                        "issued": one.issued,
                        "revoked": one.revoked,
                    }
                    for one in tokens
                ],
            }
            for owner, tokens, usage in found
        ]
        show.print_json({"owners": rows})
        return
    table = show.named_columns("owner", "registered", "sent", "kept MiB", "tokens", "")
    for owner, tokens, usage in found:
        good = ", ".join(one.label for one in tokens if one.revoked is None)
        barred = "" if owner.barred_because is None else f"barred: {owner.barred_because}"
        table.add_row(
            kept_apart(owner.name),
            owner.registered,
            str(usage.submissions),
            f"{usage.kept_bytes / 2**20:.1f}",
            printable(good or "none that is good"),
            printable(barred),
        )
    show.results().print(table)


# -- below


def _issue(
    ladder: "Ladder", owner: "Owner", *, label: str, scopes: "frozenset[Scope]", out: Path | None
) -> None:
    from arena.service import accounts
    from arena.service.quotas import Quotas
    from arena.service.tokens import RANDOM_BYTES
    from hokm.errors import quoted

    made = accounts.issue(
        ladder.store.accounts,
        owner,
        label=label,
        scopes=scopes,
        random=os.urandom(RANDOM_BYTES),
        at=_now(),
        most=Quotas().tokens,
    )
    _note(ladder, "issue token", f"{owner.name}: {label}")
    if out is None:
        print(made)
        return
    descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{made}\n")
    print(printable(f"{owner.name}: the token {quoted(label)} is in {out}"))


def _refuse_existing(out: Path | None) -> None:
    """Or it would be found out when the token is made, and told to nobody."""
    if out is not None and out.exists():
        raise Misuse(f"--out {out} is there already; name a new file")
    if out is not None and not out.absolute().parent.is_dir():
        raise Misuse(f"--out {out}: there is no such folder")


def _scopes(words: Sequence[str]) -> "frozenset[Scope]":
    from arena.ladder.facts import Scope

    known = {scope.value: scope for scope in Scope}
    for word in words:
        if word not in known:
            raise Misuse(f"--scope {word!r} is none; take {', '.join(known)}")
    return frozenset(known[word] for word in words) or frozenset(Scope)


def _named(ladder: "Ladder", name: str) -> "Owner":
    import difflib

    store = ladder.store.accounts
    owner = store.owner_named(name)
    if owner is None:
        names = [one.name for one in store.owners()]
        near = difflib.get_close_matches(name, names, n=1)
        remedy = f"did you mean {near[0]}?" if near else "arena owner list shows them"
        raise Misuse(f"{name} is no owner here; {remedy}")
    return owner


def _note(ladder: "Ladder", verb: str, subject: str, because: str = "") -> None:
    ladder.store.operator.note(deed_of(verb, subject, because=because))


def _now() -> str:
    from arena.wording import stamp

    return stamp(datetime.now(UTC))


@contextmanager
def _opened(folder: Path) -> "Iterator[Ladder]":
    from arena.ladder.ladder import Ladder

    with Ladder.open(folder) as ladder:
        yield ladder
