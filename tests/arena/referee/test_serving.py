"""What may be asked of a network, what is refused before anything listens, and patience."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.referee.serving import (
    Limits,
    Patience,
    ServingError,
    Tls,
    certificates_in,
    doubt_of,
    host_of,
    load_tls,
    network,
)
from tests.arena.referee.certificates import OPENSSL, Authority, a_certificate, authority, issue


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(authority(), tmp_path)


@pytest.fixture(scope="module")
def tls() -> Tls:
    return issue(authority(), "localhost")


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:7117", "[::1]:7117", "127.9.9.9:1"])
def test_a_loopback_address_needs_no_tls(listen: str) -> None:
    assert network(listen, tls=None).tls is None


@pytest.mark.parametrize(
    "listen", ["0.0.0.0:7117", "[::]:7117", "192.168.1.4:7117", "arena.example:7117"]
)
def test_an_address_that_others_reach_needs_tls_unless_it_is_said_to_do_without(
    listen: str, tls: Tls
) -> None:
    with pytest.raises(ServingError, match="without TLS tickets and cards travel in the open"):
        network(listen, tls=None, this_host="here")
    assert network(listen, tls=tls, this_host="here").tls is tls
    assert network(listen, tls=None, this_host="here", allow_insecure=True).tls is None


@pytest.mark.parametrize(
    "listen",
    ["7117", "127.0.0.1", ":7117", "localhost:http", "localhost:65536", "::1:7117", "a b:1"],
)
def test_what_is_no_place_to_listen_at_is_refused(listen: str) -> None:
    with pytest.raises(ServingError):
        network(listen, tls=None)


def test_bots_are_told_the_host_that_is_listened_at_or_another_that_is_given(tls: Tls) -> None:
    assert network("10.0.0.1:1", tls=tls, this_host="here").reached_at == "10.0.0.1"
    assert network("0.0.0.0:1", tls=tls, this_host="here").reached_at == "here"
    assert network("[::]:1", tls=tls, this_host="here").reached_at == "here"
    assert network("0.0.0.0:1", tls=tls, reached_at="arena.example").reached_at == "arena.example"
    assert network("0.0.0.0:1", tls=tls, reached_at="[2001:db8::1]").reached_at == "[2001:db8::1]"


@pytest.mark.parametrize("name", ["", "arena.example:7117", "http://arena.example", "a\nb", "::1"])
def test_what_is_no_name_of_a_host_is_told_nobody(name: str, tls: Tls) -> None:
    with pytest.raises(ServingError, match="no name by which a machine is reached"):
        network("0.0.0.0:7117", tls=tls, reached_at=name)


def test_a_certificate_and_its_key_are_read(ours: Authority) -> None:
    chain, key = ours.issue("arena", "localhost")
    tls = load_tls(chain, key, client_ca=ours.roots)
    assert tls.certificate.startswith(b"-----BEGIN CERTIFICATE-----")
    assert tls.key == key.read_bytes()
    assert tls.client_ca == ours.ca.cert_pem.bytes()


def test_a_key_does_not_show_in_what_is_printed(ours: Authority) -> None:
    chain, key = ours.issue("arena", "localhost")
    assert "PRIVATE" not in repr(load_tls(chain, key))


def test_a_key_of_another_certificate_is_refused(ours: Authority) -> None:
    chain, _ = ours.issue("arena", "localhost")
    _, key = ours.issue("other", "localhost")
    with pytest.raises(ServingError, match="no certificate and its key"):
        load_tls(chain, key)


def test_files_that_hold_something_else_are_refused(ours: Authority, tmp_path: Path) -> None:
    chain, key = ours.issue("arena", "localhost")
    other = tmp_path / "other.pem"
    other.write_text("-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n")
    with pytest.raises(ServingError, match="no certificate and its key"):
        load_tls(other, key)
    with pytest.raises(ServingError, match=r"other\.pem holds no certificate"):
        load_tls(chain, key, client_ca=other)
    other.write_text("")
    with pytest.raises(ServingError, match=r"other\.pem holds no certificate"):
        load_tls(chain, key, client_ca=other)


def test_a_file_that_is_not_there_is_named(ours: Authority, tmp_path: Path) -> None:
    chain, key = ours.issue("arena", "localhost")
    for missing in ((tmp_path / "none.pem", key), (chain, tmp_path / "none.pem")):
        with pytest.raises(FileNotFoundError) as caught:
            load_tls(*missing)
        assert caught.value.filename == str(tmp_path / "none.pem")


LOCKED = """-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgQfWTnDFbbvQICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEPNGlYLlG0MGBNzZ5nlWkfcEgZCb
-----END ENCRYPTED PRIVATE KEY-----
"""


def test_a_key_with_a_password_is_refused_and_nobody_is_asked_for_it(
    ours: Authority, tmp_path: Path
) -> None:
    chain, _ = ours.issue("arena", "localhost")
    locked = tmp_path / "locked.key"
    locked.write_text(LOCKED)
    with pytest.raises(ServingError, match="without a password"):
        load_tls(chain, locked)


def test_of_a_file_with_a_key_in_it_only_the_certificates_are_taken(
    ours: Authority, tmp_path: Path
) -> None:
    chain, key = ours.issue("arena", "localhost")
    both = tmp_path / "both.pem"
    both.write_bytes(key.read_bytes() + chain.read_bytes())
    assert certificates_in(both) == chain.read_bytes()
    assert b"PRIVATE" not in load_tls(both, both).certificate


def test_patience_ends_with_so_many_wrong_tickets_and_comes_back_with_time() -> None:
    patience = Patience(3, forgiven_seconds=10.0)
    assert [patience.wrong("a", 0.0) for _ in range(3)] == [False, False, True]
    assert patience.is_out("a", 0.0)
    assert not patience.is_out("b", 0.0)
    assert patience.is_out("a", 9.9)
    assert not patience.is_out("a", 10.0)
    assert patience.wrong("a", 10.0)
    assert not patience.is_out("a", 100.0)


def test_patience_does_not_grow_with_the_number_of_addresses() -> None:
    patience = Patience(1, forgiven_seconds=1e9)
    for number in range(Patience.MOST_HOSTS + 1):
        patience.wrong(f"host {number}", 0.0)
    assert not patience.is_out("host 0", 0.0)
    assert patience.is_out("host 1", 0.0)


def test_an_address_that_is_wrong_again_is_not_forgotten_for_new_ones() -> None:
    patience = Patience(1, forgiven_seconds=1e9)
    patience.wrong("stubborn", 0.0)
    for number in range(Patience.MOST_HOSTS):
        patience.wrong("stubborn", 0.0)
        patience.wrong(f"host {number}", 0.0)
    assert patience.is_out("stubborn", 0.0)


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:10.0.0.1:4000", "10.0.0.1"),
        ("ipv6:%5B2001:db8::1%5D:4000", "2001:db8::/64"),
        ("ipv6:%5B2001:db8::ffff:1%5D:4001", "2001:db8::/64"),
        ("ipv6:[::1]:4000", "::/64"),
        ("ipv6:%5Bfe80::1%25eth0%5D:4000", "fe80::/64"),
        ("unix:", ""),
    ],
)
def test_a_peer_is_known_by_its_host(peer: str, host: str) -> None:
    assert host_of(peer) == host


def test_every_match_there_is_fits_into_the_limits() -> None:
    assert Limits().streams >= 2 * 12
    assert Limits().connections >= Limits().streams


def test_a_certificate_is_doubted_under_a_name_that_is_not_in_it(ours: Authority) -> None:
    files = ours.issue("arena", "localhost", "127.0.0.1", "::1")
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert doubt_of(*files, reached_at=name) == ""
    assert "arena.example" in doubt_of(*files, reached_at="arena.example")


@pytest.mark.parametrize(
    ("from_days", "to_days", "says"), [(-9, -1, "has expired"), (1, 9, "is not yet valid")]
)
def test_a_certificate_that_is_not_valid_now_is_refused(
    ours: Authority, from_days: int, to_days: int, says: str
) -> None:
    now = datetime.now(UTC)
    issued = ours.ca.issue_cert(
        "localhost",
        not_before=now + timedelta(days=from_days),
        not_after=now + timedelta(days=to_days),
    )
    cert, key = ours.folder / "then.pem", ours.folder / "then.key"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    with pytest.raises(ServingError, match=f"then.pem: certificate {says}; bots would not come in"):
        load_tls(cert, key)


def test_a_key_that_grpc_does_not_speak_is_refused(tmp_path: Path) -> None:
    for kind in ("ed25519", "ed448"):
        cert, key = a_certificate(
            OPENSSL.replace("ec -pkeyopt ec_paramgen_curve:P-256", kind), tmp_path
        )
        with pytest.raises(ServingError, match="which gRPC does not speak; make one with"):
            load_tls(cert, key)


def test_the_certificate_that_the_page_makes_is_taken_and_believed(tmp_path: Path) -> None:
    cert, key = a_certificate(OPENSSL, tmp_path)
    assert load_tls(cert, key).certificate == cert.read_bytes()
    assert doubt_of(cert, key, reached_at="localhost") == ""
