"""A bot that comes over TLS: what its environment names, and what is said where that is wrong."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
import trustme

from hokm import client
from tests.hokm.test_client import Lowest, Referee, a_board, run

OURS = trustme.CA()
CLIENTS = trustme.CA()
ARENA = OURS.issue_cert("arena.example")
"""Its certificate is not for the address that is dialled."""


@contextmanager
def serving(*, client_ca: trustme.CA | None = None) -> Iterator[tuple[Referee, str]]:
    """A referee that plays a board over TLS, and its address."""
    referee = Referee(a_board)
    chain = b"".join(pem.bytes() for pem in ARENA.cert_chain_pems)
    credentials = grpc.ssl_server_credentials(
        [(ARENA.private_key_pem.bytes(), chain)],
        None if client_ca is None else client_ca.cert_pem.bytes(),
        client_ca is not None,
    )
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
        server.add_generic_rpc_handlers([referee])
        port = server.add_secure_port("127.0.0.1:0", credentials)
        server.start()
        try:
            yield referee, f"127.0.0.1:{port}"
        finally:
            server.stop(0).wait()
    assert not referee.failures


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Names a file of these bytes in a variable."""

    def name(variable: str, *pems: trustme.Blob) -> None:
        file = tmp_path / f"{variable}.pem"
        file.write_bytes(b"".join(pem.bytes() for pem in pems))
        monkeypatch.setenv(variable, str(file))

    monkeypatch.setenv("HOKM_TLS_NAME", "arena.example")
    return name


def test_a_bot_plays_over_tls(name, monkeypatch) -> None:
    name("HOKM_TLS_CA", OURS.cert_pem)
    with serving() as (referee, address):
        run(Lowest, address, monkeypatch)
    assert referee.tickets == ["ticket of the test"]


def test_a_bot_shows_its_own_certificate(name, monkeypatch) -> None:
    own = CLIENTS.issue_cert("maryam")
    name("HOKM_TLS_CA", OURS.cert_pem)
    name("HOKM_TLS_CERT", *own.cert_chain_pems)
    name("HOKM_TLS_KEY", own.private_key_pem)
    with serving(client_ca=CLIENTS) as (referee, address):
        run(Lowest, address, monkeypatch)
    assert referee.tickets == ["ticket of the test"]


@pytest.mark.parametrize("wrong", ["authority", "name", "no certificate of its own", "no tls"])
def test_a_ticket_is_not_sent_to_a_referee_that_is_not_the_one(
    name, monkeypatch, capsys, wrong: str
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.5)
    if wrong != "no tls":
        name("HOKM_TLS_CA", (CLIENTS if wrong == "authority" else OURS).cert_pem)
    if wrong == "name":
        monkeypatch.setenv("HOKM_TLS_NAME", "elsewhere.example")
    client_ca = CLIENTS if wrong == "no certificate of its own" else None
    with serving(client_ca=client_ca) as (referee, address), pytest.raises(SystemExit) as left:
        run(Lowest, address, monkeypatch)
    assert left.value.code == 1
    assert referee.tickets == []
    says = capsys.readouterr().err
    if wrong != "no tls":
        assert "Is its certificate from HOKM_TLS_CA, and for this name (otherwise" in says
        assert all(suspect in says for suspect in ("HOKM_TLS_NAME", "HOKM_TLS_CERT"))
    assert "ticket of the test" not in says


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"HOKM_TLS_CERT": True, "HOKM_TLS_CA": True}, "belong together: set both"),
        ({"HOKM_TLS_KEY": True, "HOKM_TLS_CA": True}, "belong together: set both"),
        ({"HOKM_TLS_CERT": True, "HOKM_TLS_KEY": True}, "of no use without HOKM_TLS_CA"),
        ({"HOKM_TLS_CA": False}, "HOKM_TLS_CA.pem, which is no PEM file"),
        ({"HOKM_TLS_CA": None}, "which cannot be read: No such file or directory"),
    ],
)
def test_an_environment_that_cannot_be_meant_is_said_to_be(
    name, monkeypatch, capsys, tmp_path: Path, names: dict[str, bool | None], says: str
) -> None:
    for variable, is_pem in names.items():
        match is_pem:
            case None:
                monkeypatch.setenv(variable, str(tmp_path / "nowhere.pem"))
            case True:
                name(variable, OURS.cert_pem)
            case False:
                name(variable)
    with pytest.raises(SystemExit) as left:
        run(Lowest, "127.0.0.1:1", monkeypatch)
    assert left.value.code == 2
    assert says in capsys.readouterr().err
