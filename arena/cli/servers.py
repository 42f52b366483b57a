"""A ladder elsewhere, as a person means it: which one, how to know it, and by which token.

Tokens are in no command line, which others on a machine can read: they come from the environment,
from a file, or from the one that ``arena register`` writes, ``tokens.toml``, for its owner alone.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.errors import Misuse

if TYPE_CHECKING:
    from arena.service.client import LadderClient

SERVER_VARIABLE: Final = "HOKM_ARENA_SERVER"
TOKEN_VARIABLE: Final = "HOKM_ARENA_TOKEN"
TLS_NAME_VARIABLE: Final = "HOKM_TLS_NAME"
TOKENS_FILE: Final = "tokens.toml"
HOW_TO_GET_A_TOKEN: Final = (
    f"set {TOKEN_VARIABLE}, give --token-file, or become an owner with arena register; else the "
    "operator of the ladder gives one"
)

Address = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar=SERVER_VARIABLE,
        metavar="HOST:PORT",
        help="The ladder, where arena serve listens.",
        show_default=False,
    ),
]
Roots = Annotated[
    Path | None,
    typer.Option(
        "--ca",
        envvar="HOKM_TLS_CA",
        metavar="FILE",
        help="What the ladder's certificate must be or come from, PEM.  [default: whom the system "
        "trusts]",
    ),
]
Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        help="Do without TLS: the token can be read on the way. A ladder on this machine, named "
        "by a loopback address, needs it not.",
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take the token from a file.  [default: $HOKM_ARENA_TOKEN, or what arena register "
        "kept]",
    ),
]


@dataclass(frozen=True, slots=True)
class Where:
    """A ladder as it was asked for."""

    server: str | None
    ca: Path | None
    insecure: bool
    token_file: Path | None = None

    @property
    def address(self) -> str:
        """``host:port``; raises Misuse for what is none."""
        from arena.referee.serving import ServingError, host_and_port

        if not self.server:
            raise Misuse(
                f"which ladder? Give --server HOST:PORT, or set {SERVER_VARIABLE}; for one in a "
                "folder there is arena ladder"
            )
        try:
            host_and_port(self.server)
        except ServingError as error:
            raise Misuse(
                f"--server {self.server!r} is no HOST:PORT, such as ladder.example:7117"
            ) from error
        return self.server


@contextmanager
def asking(where: Where, *, needs_token: bool = True) -> Iterator["LadderClient"]:
    """The ladder that was meant, to be asked while this is open.

    Raises Misuse where it is not said which, or by which token.
    """
    address = where.address
    token = _token(where)
    if needs_token and not token:
        raise Misuse(f"by which token? {HOW_TO_GET_A_TOKEN[0].upper()}{HOW_TO_GET_A_TOKEN[1:]}")
    with _connected(where, address, token=token) as client:
        yield client


@contextmanager
def asking_as_nobody(where: Where) -> Iterator["LadderClient"]:
    """The same without a token."""
    with _connected(where, where.address, token="") as client:
        yield client


@contextmanager
def _connected(where: Where, address: str, *, token: str) -> Iterator["LadderClient"]:
    from arena.referee.serving import is_loopback
    from arena.service.client import Server, connected

    is_here = is_loopback(address.rpartition(":")[0])
    if where.insecure and where.ca is not None:
        raise Misuse("--insecure is to do without TLS, and there is a --ca: give one of them")
    server = Server(
        address=address,
        roots=None if where.ca is None else _roots(where.ca),
        tls_name=os.environ.get(TLS_NAME_VARIABLE, ""),
        is_open=where.insecure or (is_here and where.ca is None),
        is_told_so=where.insecure,
        is_here=is_here,
    )
    with connected(server, token=token) as client:
        yield client


def _roots(file: Path) -> bytes:
    from arena.referee.serving import ServingError, certificates_in

    try:
        return certificates_in(file)
    except ServingError as error:
        raise Misuse(f"--ca {error}") from error
    except OSError as error:
        raise Misuse(f"--ca {file}: {error.strerror}; name a PEM file") from error


# -- tokens


def _token(where: Where) -> str:
    """The token that is meant, checked; empty if there is none."""
    from arena.service.tokens import is_token

    source, token = str(where.token_file), ""
    if where.token_file is not None:
        try:
            token = where.token_file.read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            raise Misuse(f"--token-file {where.token_file}: {error.strerror}") from error
    elif token := os.environ.get(TOKEN_VARIABLE, "").strip():
        source = TOKEN_VARIABLE
    else:
        source = str(tokens_file())
        token = kept_tokens().get(where.address, {}).get("token", "")
    if (token or where.token_file is not None) and not is_token(token):
        raise Misuse(f"{source} holds no token: one is hokm_ and 43 characters; copy it whole")
    return token


def owner_kept(where: Where) -> str | None:
    """Whose the token is that is meant, if that is known here: the token comes from the file that
    has owners as well.
    """
    if where.token_file is not None or os.environ.get(TOKEN_VARIABLE, "").strip():
        return None
    return kept_tokens().get(where.address, {}).get("owner")


def tokens_file() -> Path:
    """Where tokens are kept, by ladder."""
    config = os.environ.get("XDG_CONFIG_HOME")
    try:
        home = Path(config) if config else Path.home() / ".config"
    except RuntimeError as error:
        raise Misuse(f"there is no home to keep tokens in; set {TOKEN_VARIABLE}") from error
    return home / "hokm-arena" / TOKENS_FILE


def kept_tokens() -> dict[str, dict[str, str]]:
    """What is kept of each ladder, by its address: ``owner`` and ``token``.

    Raises Misuse for a file that others can read, or that holds something else.
    """
    from arena.ladder.strict_toml import parsed, read_text

    file = tokens_file()
    remedy = "mend it, or remove it and register anew"
    try:
        mode = file.stat().st_mode
        text = read_text(file, error=_unreadable, remedy=remedy)
    except FileNotFoundError:
        return {}
    if stat.S_IMODE(mode) & 0o077:
        raise Misuse(f"{file} can be read by others, and holds tokens: chmod 600 it")
    found: dict[str, dict[str, str]] = {}
    for address, table in parsed(text, where=file, error=_unreadable, remedy=remedy).items():
        if not isinstance(table, dict) or not all(isinstance(one, str) for one in table.values()):
            raise Misuse(f"{file}: {address} is no table of texts; {remedy}")
        found[address] = table
    return found


def keep_token(address: str, *, owner: str, token: str) -> Path:
    """Keep a token in place of an older one of that ladder, where nobody else reads it."""
    from arena.ladder.files import write_whole

    kept = kept_tokens() | {address: {"owner": owner, "token": token}}
    file = tokens_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, _toml(kept).encode(), mode=0o600)
    return file


def _toml(kept: dict[str, dict[str, str]]) -> str:
    import json

    # A text of JSON is one of TOML.
    lines = ["# Tokens by ladder: secrets, which arena register keeps here.\n"]
    for address, table in kept.items():
        lines.append(f"\n[{json.dumps(address)}]\n")
        lines += [f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in table.items()]
    return "".join(lines)


def _unreadable(where: str, problem: str, *, remedy: str) -> Misuse:
    return Misuse(f"{where}: {problem}; {remedy}")
