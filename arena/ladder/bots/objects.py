"""A shelf in an object store, by its URL: S3 and what speaks like it, Google's, Azure's.

Credentials come from the environment, by the variables that these stores have everywhere, and from
nowhere else: what is not there is asked for in one line, before anything is sent, and no machine is
asked for its own. They are printed nowhere. This module needs what the extra `objects` brings.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import from_url

from arena.ladder.bots import archive
from arena.ladder.bots.shelf import ShelfError
from hokm.errors import quoted

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

# A store that is away is to be noticed within half a minute, and one that is slow is to be borne.
_CLIENT: "Final[ClientConfig]" = {
    "connect_timeout": timedelta(seconds=5),
    "read_timeout": timedelta(seconds=30),
    "timeout": timedelta(minutes=10),
}
_RETRY: "Final[RetryConfig]" = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}

_LARGEST_BYTES: Final = archive.LARGEST_BYTES + 2 * 2**20  # as the reader of archives has it
_SECRET: Final = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|SAS|CREDENTIAL|ACCOUNT$")


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a store of one kind needs in the environment: all of one of these groups. The names of
    its variables begin with `prefix`.
    """

    prefix: str
    needs: tuple[tuple[str, ...], ...]
    always: tuple[str, ...] = ()


_KINDS: Final[Mapping[str, _Kind]] = {
    "s3": _Kind(
        "AWS",
        (
            ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
        ),
    ),
    "gs": _Kind(
        "GOOGLE",
        (
            ("GOOGLE_APPLICATION_CREDENTIALS",),
            ("GOOGLE_SERVICE_ACCOUNT",),
            ("GOOGLE_SERVICE_ACCOUNT_PATH",),
            ("GOOGLE_SERVICE_ACCOUNT_KEY",),
        ),
    ),
    "az": _Kind(
        "AZURE",
        (
            ("AZURE_STORAGE_ACCOUNT_KEY",),
            ("AZURE_STORAGE_ACCESS_KEY",),
            ("AZURE_STORAGE_SAS_KEY",),
            ("AZURE_STORAGE_SAS_TOKEN",),
            ("AZURE_STORAGE_TOKEN",),
            ("AZURE_STORAGE_CLIENT_ID", "AZURE_STORAGE_CLIENT_SECRET", "AZURE_STORAGE_TENANT_ID"),
            ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"),
        ),
        always=("AZURE_STORAGE_ACCOUNT_NAME",),
    ),
}


def open_store(url: str, *, environment: Mapping[str, str] = os.environ) -> "ObjectShelf":
    """The shelf at a URL; nothing is sent yet.

    Raises ShelfError for what is no such URL, and for credentials that are not in the environment.
    """
    kind = _KINDS.get(checked_url(url).scheme)
    try:
        if kind is None:
            store = from_url(url)
        else:
            _refuse_without_credentials(url, kind, environment)
            # Options that are given here are all there are: what else the library would take of
            # them from the environment it then does not.
            options = _CLIENT | {"allow_http": _may_do_without_tls(url, kind, environment)}
            store = from_url(url, client_options=options, retry_config=_RETRY)
    except (BaseError, ValueError, OSError) as error:
        problem = f"cannot be used ({_reason(error, environment)})"
        raise ShelfError(url, problem, remedy="check the URL and its variables") from None
    return ObjectShelf(store, name=url, environment=environment)


def checked_url(url: str) -> SplitResult:
    """The parts of the URL of a store. Raises ShelfError, in which nothing of a secret is."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    known = (*_KINDS, "memory")
    remedy = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER"
    if parts.scheme not in known:
        scheme = f"has the scheme {quoted(parts.scheme)}" if parts.scheme else "has no scheme"
        raise ShelfError("the URL of bundles", scheme, remedy=f"give {remedy}")
    if "@" in parts.netloc or parts.query or parts.fragment:
        problem = "has more than a bucket and a prefix, credentials say"
        remedy = "give those by the variables of the store, where nobody sees them"
        raise ShelfError("the URL of bundles", problem, remedy=remedy)
    if parts.scheme != "memory" and not parts.netloc:
        raise ShelfError(url, "names no bucket", remedy=f"give {remedy}")
    return parts


class ObjectShelf:
    """A shelf in a store of obstore's, see `arena.ladder.bots.shelf.Shelf`."""

    def __init__(
        self, store: "ObjectStore", *, name: str, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._store = store
        self._name = name
        self._environment = environment

    @property
    def name(self) -> str:
        """Its URL."""
        return self._name

    def put(self, digest: str, file: Path) -> None:
        """See `Shelf`. The store has it once this returns."""
        with self._failing():
            self._store.put(_key(digest), file)

    def get(self, digest: str, file: Path) -> bool:
        """See `Shelf`."""
        with self._failing():
            try:
                found = self._store.get(_key(digest))
            except FileNotFoundError:
                return False
            if (size_bytes := found.meta["size"]) > _LARGEST_BYTES:
                problem = f"has {size_bytes:,} bytes as the archive of {digest[:12]}…"
                remedy = "remove it there, then have it sent again"
                raise ShelfError(self._name, problem, remedy=remedy)
            pieces = found.stream()
        with file.open("xb") as stream:
            while True:
                with self._failing():
                    piece = next(pieces, None)
                if piece is None:
                    return True
                stream.write(piece)

    def has(self, digest: str) -> bool:
        """See `Shelf`."""
        with self._failing():
            try:
                self._store.head(_key(digest))
            except FileNotFoundError:
                return False
            return True

    def remove(self, digest: str) -> None:
        """See `Shelf`."""
        with self._failing():
            try:
                self._store.delete(_key(digest))
            except FileNotFoundError:
                return

    def list(self) -> frozenset[str]:
        """See `Shelf`."""
        with self._failing():
            found = (one["path"] for page in self._store.list() for one in page)
            names = (archive.named_digest(Path(path)) for path in found if "/" not in path)
            return frozenset(digest for digest in names if digest is not None)

    def probe(self) -> None:
        """Ask the store for anything, to hear whether it is there and lets us in. Raises
        ShelfError, which is passing if the store may be there later.
        """
        with self._failing():
            for _ in self._store.list(chunk_size=1):
                return

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            status = _status_of(error)
            reason = _reason(error, self._environment)
        else:
            return
        is_passing = False
        if status in (401, 403):
            problem = "refuses these credentials"
            remedy = "check its variables, and that they may list, read, write and delete there"
        elif status == 404:
            problem, remedy = "is not there", "make that bucket, or give another URL"
        elif status is not None and status < 500 and status != 429:
            problem = f"does not take what is asked ({reason})"
            remedy = "check the URL and its variables, the region say"
        else:
            problem = f"cannot be used ({reason})"
            remedy, is_passing = "see to the network and the store, then it works again", True
        raise ShelfError(self._name, problem, remedy=remedy, is_passing=is_passing) from None


def _key(digest: str) -> str:
    return f"{digest}{archive.SUFFIX}"


def _refuse_without_credentials(url: str, kind: _Kind, environment: Mapping[str, str]) -> None:
    missing = [name for name in kind.always if not environment.get(name)]
    if not any(all(environment.get(name) for name in group) for group in kind.needs):
        missing += [" and ".join(kind.needs[0])]
    if missing:
        problem = "needs credentials, which come from the environment"
        raise ShelfError(url, problem, remedy=f"set {' and '.join(missing)}")


def _may_do_without_tls(url: str, kind: _Kind, environment: Mapping[str, str]) -> bool:
    word = f"{kind.prefix}_ALLOW_HTTP"
    if environment.get(word, "").lower() in ("true", "1"):
        return True
    for name, value in environment.items():
        is_endpoint = name.startswith(f"{kind.prefix}_") and re.search("ENDPOINT|BASE_URL", name)
        if is_endpoint and "METADATA" not in name and value.lower().startswith("http://"):
            problem = f"is at an address without TLS, by {name}"
            remedy = f"give one with https, or set {word}=true if nobody can listen on the way"
            raise ShelfError(url, problem, remedy=remedy)
    return False


def _status_of(error: Exception) -> int | None:
    """The status that a store answered with, None if that is not known."""
    match error:
        case PermissionDeniedError() | UnauthenticatedError():
            return 403
        case FileNotFoundError():
            return 404
        case _:  # the library has no kind for it, and its text is all there is
            found = re.search(r"status(?: code)?:? (\d{3})\b", str(error).partition("\n")[0])
            return int(found[1]) if found else None


def _reason(error: Exception, environment: Mapping[str, str]) -> str:
    """What the library says, in one short line, and nothing in it that the environment keeps
    secret, nor what a store has answered, nor a signature. The rest may hold all of these, so that
    no error is raised from it.
    """
    line = (str(error).splitlines() or [""])[0].partition("<")[0]
    line = re.sub(r"\?\S*", "", line)
    for name, value in environment.items():
        if len(value) >= 4 and _SECRET.search(name.upper()):
            line = line.replace(value, "…")
    line = " ".join(line.split())
    return line if len(line) <= 300 else f"{line[:300]}…"
