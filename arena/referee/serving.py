"""Serving on a network, as values: where to listen, with which TLS, and within which limits.

A referee that only this machine reaches needs none of it. Here is what may be asked for, what is
refused before anything listens, and how often a peer may be wrong; nothing here listens, waits or
knows gRPC. :mod:`arena.referee.bridge` does what these values say.
"""

import base64
import ipaddress
import re
import ssl
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\r?\n?", re.DOTALL
)
_KEY = re.compile(rb"-----BEGIN PRIVATE KEY-----(.+?)-----END", re.DOTALL)
_EDWARDS = b"\x30\x05\x06\x03\x2b\x65"
"""How PKCS 8 begins to name Ed25519 and Ed448, X25519 and X448 (RFC 8410)."""
_DATES = (9, 10)
"""X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED of OpenSSL's x509_vfy.h."""
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_WILDCARDS = ("0.0.0.0", "[::]")


class ServingError(ValueError):
    """What cannot be served as it was asked for: what is wrong, and what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Who the arena is, and who may come: PEM, as read by :func:`load_tls`.

    ``certificate`` is the arena's own, first, with those it was issued by; ``key`` is secret.
    ``client_ca`` holds the roots that a bot's certificate must come from; None lets bots come
    without one.
    """

    certificate: bytes
    key: bytes = field(repr=False)
    client_ca: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a stranger may use up. They hold on the network only, so that bots the arena has started
    here keep their place whatever happens there.
    """

    connections: int = 64
    """TCP connections at once, those without a finished handshake included. A match has at most 12
    seats (three rooms of three, or two of four), each with a connection; the rest is for those who
    come again before the old one is gone, and for health checks.
    """
    streams: int = 48
    """Bots' streams at once."""
    streams_a_connection: int = 8
    """Calls at once on one connection. A bot needs one."""
    probes: int = 16
    """Health watches and reflection calls at once: both last as long as their caller likes."""
    handshake_seconds: float = 10.0
    """From a TCP connection to the end of the TLS and HTTP/2 handshakes; gRPC would wait 120."""
    hello_seconds: float = 10.0
    """From a stream's beginning to its first message. The SDK sends it together with the call."""
    idle_seconds: float = 60.0
    """How long a connection may stand without a call; gRPC would never close it."""
    keepalive_seconds: float = 30.0
    """How often a silent peer is pinged. One that is cut off without a word (a cable, a sleeping
    laptop) is found out within that and :attr:`keepalive_timeout_seconds`; without it, never.
    """
    keepalive_timeout_seconds: float = 10.0
    least_ping_seconds: float = 10.0
    """How often a peer may ping; gRPC closes the connection of one that does it much oftener."""
    metadata_bytes: int = 4096
    """Headers of a call. A bot's have about 500, its ticket of 43 characters among them."""
    wrong_tickets: int = 100
    """Wrong tickets that an address may present at once before it is not listened to. One costs
    0.7 ms of CPU, one that is not listened to 0.3, so this is for floods: not for a few bots behind
    one router that are started again and again with an old ticket, once a second each.
    """
    wrong_ticket_seconds: float = 0.05
    """How long until one of them is forgiven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A place on a network to listen at; made by :func:`network`.

    ``listen`` is ``host:port``, where port 0 is any that is free. ``reached_at`` is the host by
    which bots are told to come.
    """

    listen: str
    reached_at: str
    tls: Tls | None = None
    limits: Limits = Limits()


def network(
    listen: str,
    *,
    tls: Tls | None,
    reached_at: str | None = None,
    allow_insecure: bool = False,
    this_host: str = "",
    limits: Limits | None = None,
) -> Network:
    """A place to listen at, checked.

    ``reached_at`` is the name or address by which bots come, without a port. Left out, it is the
    host of ``listen``, or ``this_host`` where that stands for all addresses of the machine.

    Raises:
        ServingError: for what is no ``host:port``, and without TLS for a host that others can
            reach, unless ``allow_insecure``.
    """
    host, _ = host_and_port(listen)
    if tls is None and not allow_insecure and not is_loopback(host):
        raise ServingError(
            f"{listen} can be reached from elsewhere, and without TLS tickets and cards travel in "
            "the open; give a certificate and its key, or a loopback address"
        )
    if reached_at is None:
        reached_at = this_host if host in _WILDCARDS else host
    if not reached_at or not (_HOST_NAME.fullmatch(reached_at) or _address_in(reached_at)):
        raise ServingError(
            f"{reached_at!r} is no name by which a machine is reached; give a host name, an IPv4 "
            "address, or an IPv6 address in brackets"
        )
    return Network(listen=listen, reached_at=reached_at, tls=tls, limits=limits or Limits())


def load_tls(certificate: Path, key: Path, *, client_ca: Path | None = None) -> Tls:
    """Read the PEM files of TLS, and see that they fit.

    Raises:
        OSError: for a file that cannot be read.
        ServingError: for what is no certificate or key, a certificate whose time has passed or not
            begun, a key of another certificate, one that is locked with a password, or one of a
            kind with which gRPC shakes hands with nobody.
    """
    for file in (certificate, key):
        file.open("rb").close()  # an error with the file's name in it; ssl's has none
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        raise ServingError(
            f"{certificate} and {key} are no certificate and its key in PEM, without a password: "
            f"{getattr(error, 'reason', None) or error}"
        ) from error
    if _is_edwards(key.read_bytes()):
        raise ServingError(
            f"{key} is an Ed25519 or Ed448 key, which gRPC does not speak; make one with "
            "`-newkey ec -pkeyopt ec_paramgen_curve:P-256`"
        )
    if (refusal := _refusal(certificate, key)) is not None and refusal.verify_code in _DATES:
        raise ServingError(f"{certificate}: {refusal.verify_message}; bots would not come in")
    return Tls(
        certificate=certificates_in(certificate),
        key=key.read_bytes(),
        client_ca=None if client_ca is None else certificates_in(client_ca),
    )


def doubt_of(certificate: Path, key: Path, *, reached_at: str) -> str:
    """Why a bot that trusts the certificate would not take it for that of ``reached_at``, in
    OpenSSL's words; empty where it would. The files are those that :func:`load_tls` took.
    """
    refusal = _refusal(certificate, key, reached_at=reached_at)
    return "" if refusal is None else refusal.verify_message


def _refusal(
    certificate: Path, key: Path, *, reached_at: str | None = None
) -> ssl.SSLCertVerificationError | None:
    """What a client that trusts the certificate would say to it; None asks for no name."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = reached_at is not None
    client.load_verify_locations(cadata=certificates_in(certificate).decode("ascii"))
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as gRPC: the arena's own is enough
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(back, there, server_hostname=reached_at and reached_at.strip("[]")),
        server.wrap_bio(there, back, server_side=True),
    )
    for end in ends * 2:  # its hello, the certificate, and what it says to that
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLCertVerificationError as error:
            return error
    return None


def certificates_in(file: Path) -> bytes:
    """The certificates in a PEM file, and nothing else that lies there: it may hold a key, too.

    Raises:
        OSError: if it cannot be read.
        ServingError: if there is none.
    """
    found = b"".join(_CERTIFICATE.findall(file.read_bytes()))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=found.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise ServingError(f"{file} holds no certificate in PEM that can be read") from error
    return found


class Patience:
    """Counts the wrong tickets of each address, and says when it is not listened to any more.

    A ticket has 256 bits and is not found by trying; this keeps the trying cheap. Each address has
    so many wrong tickets, and gets one back every ``forgiven_seconds``.
    """

    MOST_HOSTS = 1024
    """Addresses that are remembered; the one that was wrong longest ago is forgotten first."""

    def __init__(self, wrong_tickets: int, *, forgiven_seconds: float) -> None:
        self._most = wrong_tickets
        self._forgiven_seconds = forgiven_seconds
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """How many wrong tickets each address has to its name, and since when that is so."""

    def is_out(self, host: str, now: float) -> bool:
        """Whether this address has been wrong too often, seconds ``now``."""
        return self._count(host, now)[0] >= self._most

    def wrong(self, host: str, now: float) -> bool:
        """Note a wrong ticket; whether it was the one too many."""
        count, since = self._count(host, now)
        self._counts[host] = min(count + 1, self._most), since
        self._counts.move_to_end(host)
        if len(self._counts) > self.MOST_HOSTS:
            self._counts.popitem(last=False)
        return count + 1 >= self._most

    def _count(self, host: str, now: float) -> tuple[int, float]:
        count, since = self._counts.get(host, (0, now))
        forgiven = int((now - since) / self._forgiven_seconds)
        if forgiven >= count:
            return 0, now
        return count - forgiven, since + forgiven * self._forgiven_seconds


def host_of(peer: str) -> str:
    """Who is at the other end, as gRPC names it (``ipv4:10.0.0.1:4000``), without the port.

    Of an IPv6 address its network of 64 bits: whoever has one address there has them all.

    >>> host_of("ipv4:10.0.0.1:4000"), host_of("ipv6:%5B2001:db8::1%5D:4000")
    ('10.0.0.1', '2001:db8::/64')
    """
    host = peer.partition(":")[2].rpartition(":")[0].replace("%5B", "").replace("%5D", "")
    host = host.strip("[]")
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))


def host_and_port(listen: str) -> tuple[str, int]:
    """The two parts of a place to listen at; an IPv6 address keeps its brackets.

    Raises:
        ServingError: for what is none.
    """
    host, colon, port = listen.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ServingError(f"{listen!r} is no HOST:PORT to listen at, such as 0.0.0.0:7117")
    if ":" in host and not host.startswith("["):
        raise ServingError(f"{listen!r}: put the IPv6 address in brackets, as in [::]:7117")
    if not (_HOST_NAME.fullmatch(host) or _address_in(host)):
        raise ServingError(f"{listen!r}: {host!r} is neither an address nor the name of a host")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and nobody else reaches it."""
    address = _address_in(host)
    return host == "localhost" if address is None else address.is_loopback


def _address_in(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        if host.startswith("[") and host.endswith("]"):
            return ipaddress.IPv6Address(host[1:-1])
        return ipaddress.IPv4Address(host)
    except ValueError:
        return None


def _is_edwards(pem: bytes) -> bool:
    found = _KEY.search(pem)
    return found is not None and base64.b64decode(found[1])[5:].startswith(_EDWARDS)


def _no_password() -> str:
    raise ValueError("the key is locked with a password")
