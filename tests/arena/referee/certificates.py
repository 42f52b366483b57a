"""Certificates for tests of TLS: an authority, the arena's certificate, and bots' own."""

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import trustme

from arena.referee.serving import Tls

PAGE = Path(__file__).parents[3] / "docs" / "serve.md"
OPENSSL = re.findall(r"^openssl req .+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)[0]
"""The line of the page that makes a certificate to try it with."""


def a_certificate(line: str, folder: Path) -> tuple[Path, Path]:
    """What a line of openssl makes in a folder: the certificate and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl is not here")
    subprocess.run(shlex.split(line), cwd=folder, check=True, capture_output=True, timeout=60)
    return folder / "cert.pem", folder / "key.pem"


@dataclass(frozen=True)
class Authority:
    """An authority, as files in a folder."""

    ca: trustme.CA
    folder: Path

    @property
    def roots(self) -> Path:
        file = self.folder / "ca.pem"
        self.ca.cert_pem.write_to_path(str(file))
        return file

    def issue(self, name: str, *hosts: str) -> tuple[Path, Path]:
        """A certificate for these hosts and its key, as files."""
        issued = issue(self.ca, *hosts)
        chain, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        chain.write_bytes(issued.certificate)
        key.write_bytes(issued.key)
        return chain, key


@cache
def authority(name: str = "one") -> trustme.CA:
    """An authority by name, the same each time: making one takes a while."""
    return trustme.CA(organization_name=name)


def issue(ca: trustme.CA, *hosts: str, client_ca: trustme.CA | None = None) -> Tls:
    """A certificate from this authority, for a server that trusts clients of another."""
    issued = ca.issue_cert(*hosts)
    return Tls(
        certificate=b"".join(blob.bytes() for blob in issued.cert_chain_pems),
        key=issued.private_key_pem.bytes(),
        client_ca=None if client_ca is None else client_ca.cert_pem.bytes(),
    )
