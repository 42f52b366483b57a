"""A match that remote bots come to: what may be asked of the network, and the tickets' folder."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from arena.cli.errors import Misuse
from arena.cli.operating import extra
from arena.cli.places import temporary_folder
from arena.ladder.processes.invitations import PREFIX, Invitations, open_invitations
from arena.referee.serving import Network, ServingError, doubt_of, load_tls, network

HELLO_SECONDS = 60.0
"""How long a remote bot may take to come: somebody has to see the ticket and start it."""

RESUME_SECONDS = 30.0
"""How long one whose stream broke may be away in casual play: networks fail, and come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """What was asked for, as it was said; see :func:`listening`."""

    network: Network
    tickets: Path | None
    doubt: str = ""
    """Why bots may not take the certificate for that of the address that they are told."""


def is_remote(text: str) -> bool:
    """Whether a word for a bot means one that is started elsewhere."""
    return text.startswith(PREFIX)


def listening(
    bots: tuple[str, ...],
    *,
    listen: str | None,
    advertise: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
    tickets: Path | None,
    insecure: bool,
) -> Listening | None:
    """Where to listen, checked; None where nothing of it was asked for.

    Raises Misuse for what does not go together or cannot be read.
    """
    remote = [text for text in bots if is_remote(text)]
    if listen is None:
        if remote:
            raise Misuse(f"{remote[0]} comes over a network: say where, with --listen HOST:PORT")
        others = {
            "--advertise": advertise,
            "--tls-cert": tls_cert,
            "--tls-key": tls_key,
            "--client-ca": client_ca,
            "--tickets": tickets,
            "--insecure": insecure or None,
        }
        for option, value in others.items():
            if value is not None:
                raise Misuse(f"{option} is of no use without --listen HOST:PORT")
        return None
    if not remote:
        raise Misuse(f"--listen is for bots that come over a network: name one {PREFIX}NAME")
    place, doubt = place_of(
        listen,
        advertise=advertise,
        tls_cert=tls_cert,
        tls_key=tls_key,
        client_ca=client_ca,
        insecure=insecure,
        command="arena match",
    )
    return Listening(network=place, tickets=tickets, doubt=doubt)


def place_of(
    listen: str,
    *,
    advertise: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
    insecure: bool,
    command: str,
) -> tuple[Network, str]:
    """Where to listen, checked, and why others may not take its certificate for that of the address
    that they are told, empty if they will. ``command`` has the help.

    Raises Misuse for what does not go together or cannot be read.
    """
    if (tls_cert is None) != (tls_key is None):
        raise Misuse("--tls-cert and --tls-key belong together: give both")
    if client_ca is not None and tls_cert is None:
        raise Misuse("--client-ca needs TLS: give --tls-cert and --tls-key")
    if insecure and tls_cert is not None:
        raise Misuse("--insecure is to do without TLS, and there is a --tls-cert: give one of them")
    with extra("--listen"):
        import arena.referee.probes  # noqa: F401  # to miss it here, not with the bots under way
    tls, doubt = None, ""
    try:
        if tls_cert is not None and tls_key is not None:
            tls = load_tls(tls_cert, tls_key, client_ca=client_ca)
        place = network(
            listen,
            tls=tls,
            reached_at=advertise,
            allow_insecure=insecure,
            this_host=socket.gethostname(),
        )
        if tls_cert is not None and tls_key is not None:
            doubt = doubt_of(tls_cert, tls_key, reached_at=place.reached_at)
    except ServingError as error:
        raise Misuse(f"--listen: {error} (see {command} --help)") from error
    except OSError as error:
        raise Misuse(f"{error.filename}: {error.strerror}; name PEM files") from error
    return place, doubt


@contextmanager
def inviting(
    asked: Listening | None, *, say: Callable[[str], None]
) -> Iterator[Invitations | None]:
    """The folder of tickets while this is open. One that nobody named is gone afterwards."""
    if asked is None:
        yield None
        return
    tls = asked.network.tls
    certificates = None if tls is None else tls.certificate
    if tls is None:
        say("no TLS: tickets and cards can be read on the way")
    if asked.doubt:
        say(
            f"bots may not come in: {asked.doubt}; --advertise a name that is in the certificate, "
            "or have them set HOKM_TLS_NAME to one"
        )
    temporary = None
    folder = asked.tickets
    if folder is None:
        folder = temporary = temporary_folder()  # so that the next one finds it after a kill
    try:
        yield open_invitations(folder, certificates=certificates, tell=say)
    finally:
        if temporary is not None:
            rmtree(temporary, ignore_errors=True)
