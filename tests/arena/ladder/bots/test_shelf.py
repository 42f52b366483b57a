"""Shelves, all of them by one table: a folder, and stores of objects.

HOKM_TEST_BUNDLES=s3://BUCKET/PREFIX, with the variables of that store, has it tried as well.
"""

import os
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from obstore.store import LocalStore, MemoryStore

from arena.cli.bundles import shelf_at
from arena.cli.errors import Misuse
from arena.ladder.bots import archive
from arena.ladder.bots.objects import ObjectShelf, open_store
from arena.ladder.bots.shelf import Bundles, FolderShelf, Shelf, ShelfError, fetch
from tests.arena.ladder.conftest import bot_folder

__all__ = ["bot_folder"]  # a fixture

SERVER = os.environ.get("HOKM_TEST_BUNDLES", "")
AWAY = "s3://bundles/club"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "a-secret/of-ours"}


def server(tmp_path: Path) -> Shelf:
    if not SERVER:
        pytest.skip("no store of objects: HOKM_TEST_BUNDLES names none")
    return open_store(f"{SERVER}/{uuid.uuid4().hex}")


MAKE: dict[str, Callable[[Path], Shelf]] = {
    "folder": lambda path: FolderShelf(path / "kept"),
    "store in a folder": lambda path: ObjectShelf(
        LocalStore(path / "kept", mkdir=True), name="file:///kept"
    ),
    "store in memory": lambda _: ObjectShelf(MemoryStore(), name="memory://"),
    "store on a server": server,
}


@pytest.fixture(params=MAKE)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return MAKE[request.param](tmp_path)


@pytest.fixture
def packed(tmp_path: Path, bot_folder) -> archive.Packed:
    return archive.pack(Path(bot_folder("one")), into=tmp_path / "packed")


@pytest.fixture
def other(tmp_path: Path, bot_folder) -> archive.Packed:
    return archive.pack(Path(bot_folder("two")), into=tmp_path / "packed")


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def test_what_is_put_there_is_fetched_under_its_digest(
    shelf: Shelf, packed: archive.Packed, into: Path
) -> None:
    digest = packed.entrant.digest
    assert not shelf.has(digest)
    assert shelf.list() == frozenset()
    shelf.put(digest, packed.file)
    shelf.put(digest, packed.file)
    assert shelf.has(digest)
    assert shelf.list() == {digest}
    file = fetch(shelf, digest, into=into)
    assert file == into / f"{digest}.zip"
    assert file.read_bytes() == packed.file.read_bytes()
    assert list(into.iterdir()) == [file]


def test_what_is_removed_is_there_no_more(
    shelf: Shelf, packed: archive.Packed, other: archive.Packed
) -> None:
    for one in (packed, other):
        shelf.put(one.entrant.digest, one.file)
    shelf.remove(packed.entrant.digest)
    shelf.remove(packed.entrant.digest)
    assert not shelf.has(packed.entrant.digest)
    assert shelf.list() == {other.entrant.digest}


def test_what_is_not_there_is_said(shelf: Shelf, packed: archive.Packed, into: Path) -> None:
    digest = packed.entrant.digest
    with pytest.raises(ShelfError, match=f"has no archive of {digest[:12]}…; put it back"):
        fetch(shelf, digest, into=into)
    assert list(into.iterdir()) == []


@pytest.mark.parametrize("damage", ["another bot", "cut", "nothing"])
def test_a_shelf_is_believed_in_nothing(
    shelf: Shelf, packed: archive.Packed, other: archive.Packed, into: Path, damage: str
) -> None:
    bad = into.parent / "bad.zip"
    data = {"another bot": other.file.read_bytes(), "cut": packed.file.read_bytes()[:-30]}
    bad.write_bytes(data.get(damage, b""))
    shelf.put(packed.entrant.digest, bad)
    with pytest.raises(ShelfError, match="has a damaged archive"):
        fetch(shelf, packed.entrant.digest, into=into)
    assert list(into.iterdir()) == []


def test_a_large_archive_comes_back_whole(shelf: Shelf, tmp_path: Path, into: Path) -> None:
    # Longer than the pieces that a store takes and gives.
    large = tmp_path / "large.zip"
    large.write_bytes(os.urandom(17 << 20))
    shelf.put("ab" * 32, large)
    assert shelf.get("ab" * 32, into / "again")
    assert (into / "again").read_bytes() == large.read_bytes()


def test_whoever_reads_sees_an_archive_whole_or_not_at_all(
    shelf: Shelf, packed: archive.Packed, into: Path
) -> None:
    digest = packed.entrant.digest
    failures = []

    def put() -> None:
        try:
            for _ in range(20):
                shelf.put(digest, packed.file)
        except ShelfError as error:
            failures.append(error)

    thread = threading.Thread(target=put)
    thread.start()
    while thread.is_alive():
        if shelf.get(digest, into / "seen"):
            assert (into / "seen").read_bytes() == packed.file.read_bytes()
            (into / "seen").unlink()
    thread.join()
    assert failures == []
    assert shelf.list() == {digest}


def test_a_folder_is_open_to_its_owner_alone(tmp_path: Path, packed: archive.Packed) -> None:
    shelf = FolderShelf(tmp_path / "a/kept")
    shelf.put(packed.entrant.digest, packed.file)
    for path in (shelf.folder, shelf.file_of(packed.entrant.digest)):
        assert path.stat().st_mode & 0o077 == 0
    assert [path.name for path in shelf.folder.iterdir()] == [f"{packed.entrant.digest}.zip"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, packed: archive.Packed) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(ShelfError, match=r"kept: cannot be written \(.*\); mend that") as found:
        FolderShelf(tmp_path / "kept").put(packed.entrant.digest, packed.file)
    assert found.value.is_passing


def test_an_object_that_no_archive_is_as_long_as_is_not_fetched(into: Path) -> None:
    store = MemoryStore()
    store.put(f"{'ab' * 32}.zip", bytes(archive.LARGEST_BYTES + (2 << 20) + 1))
    shelf = ObjectShelf(store, name="memory://")
    with pytest.raises(ShelfError, match="has 54,525,953 bytes as the archive"):
        shelf.get("ab" * 32, into / "file")
    assert list(into.iterdir()) == []


def test_what_is_no_archive_of_ours_is_left_alone() -> None:
    store = MemoryStore()
    for name in ("note.txt", f"deeper/{'ab' * 32}.zip", f"{'cd' * 32}.zip"):
        store.put(name, b"x")
    assert ObjectShelf(store, name="memory://").list() == {"cd" * 32}


# -- a ladder's own shelf, and one elsewhere


def test_what_the_own_shelf_has_is_found_there(
    tmp_path: Path, packed: archive.Packed, other: archive.Packed, into: Path
) -> None:
    own, elsewhere = Bundles(tmp_path / "own"), FolderShelf(tmp_path / "elsewhere")
    own.put(packed.entrant.digest, packed.file)
    both = Bundles(tmp_path / "own", elsewhere)
    both.put(other.entrant.digest, other.file)
    assert elsewhere.list() == {other.entrant.digest}
    assert own.own.list() == {packed.entrant.digest}
    for one in (packed, other):
        assert both.fetch(one.entrant.digest, into=into).read_bytes() == one.file.read_bytes()


def test_only_what_is_named_is_removed_elsewhere(
    tmp_path: Path, packed: archive.Packed, other: archive.Packed
) -> None:
    elsewhere = FolderShelf(tmp_path / "elsewhere")
    both = Bundles(tmp_path / "own", elsewhere)
    for one in (packed, other):
        both.put(one.entrant.digest, one.file)
    both.remove_elsewhere(frozenset())
    both.remove_elsewhere(frozenset({packed.entrant.digest, "ab" * 32}))
    assert elsewhere.list() == {other.entrant.digest}


# -- URLs and credentials


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("club", "the URL of bundles: has no scheme; give s3://BUCKET/PREFIX"),
        ("https://example.org/b", "the URL of bundles: has the scheme 'https'"),
        ("s3:///club", "s3:///club: names no bucket"),
        ("s3://AKIA:a-secret@bundles/club", "has more than a bucket and a prefix"),
        ("az://box/club?sig=a-secret", "has more than a bucket and a prefix"),
        ("s3://[", "the URL of bundles: has no scheme"),
    ],
)
def test_a_url_that_names_no_store_is_refused(url: str, said: str) -> None:
    with pytest.raises(ShelfError) as found:
        open_store(url, environment=KEYS)
    assert said in str(found.value)
    assert "a-secret" not in str(found.value)
    assert not found.value.is_passing


@pytest.mark.parametrize(
    ("url", "environment", "missing"),
    [
        (AWAY, {}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        (AWAY, {"AWS_ACCESS_KEY_ID": "AKIA"}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("gs://bundles", {}, "GOOGLE_APPLICATION_CREDENTIALS"),
        ("az://box", {}, "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
        ("az://box", {"AZURE_STORAGE_ACCOUNT_KEY": "k"}, "AZURE_STORAGE_ACCOUNT_NAME"),
    ],
)
def test_credentials_that_are_missing_are_asked_for_before_anything_is_sent(
    url: str, environment: dict[str, str], missing: str
) -> None:
    with pytest.raises(ShelfError) as found:
        open_store(url, environment=environment)
    assert str(found.value) == (
        f"{url}: needs credentials, which come from the environment; set {missing}"
    )


def test_a_store_is_spoken_to_without_tls_only_if_that_is_said() -> None:
    environment = KEYS | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    with pytest.raises(ShelfError, match=r"without TLS, by AWS_ENDPOINT_URL; .*_HTTP=true"):
        open_store(AWAY, environment=environment)
    open_store(AWAY, environment=environment | {"AWS_ALLOW_HTTP": "true"})


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 at a port of this machine where nobody listens."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9/a-secret/of-ours")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")


@pytest.mark.usefixtures("nowhere")
def test_a_store_that_is_away_is_one_line_without_secrets(
    packed: archive.Packed, into: Path
) -> None:
    shelf = open_store(AWAY)
    acts: list[Callable[[], object]] = [
        lambda: shelf.put(packed.entrant.digest, packed.file),
        lambda: fetch(shelf, packed.entrant.digest, into=into),
        lambda: shelf.has("ab" * 32),
        lambda: shelf.remove("ab" * 32),
        shelf.list,
        shelf.probe,
    ]
    for act in acts:
        with pytest.raises(ShelfError) as found:
            act()
        said = str(found.value)
        assert said.startswith(f"{AWAY}: cannot be used (")
        assert "error sending request)" in said
        assert said.endswith("; see to the network and the store, then it works again")
        assert "\n" not in said
        assert not any(value in said for value in KEYS.values())
        assert found.value.__suppress_context__  # that has all that the library says
        assert found.value.is_passing
    assert list(into.iterdir()) == []


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """S3 on this machine, which answers everything with the status that one says."""
    statuses: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = f"<Error><Code>Said</Code>{' '.join(KEYS.values())}</Error>".encode()
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(statuses[-1])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        for name, value in KEYS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        yield statuses.append
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "said", "is_passing"),
    [
        (403, "refuses these credentials; check its variables", False),
        (401, "refuses these credentials; check its variables", False),
        (404, "is not there; make that bucket", False),
        (400, "does not take what is asked (", False),
        (503, "cannot be used (", True),
    ],
)
def test_what_a_store_answers_is_told_by_what_is_to_be_done(
    answering: Callable[[int], None],
    packed: archive.Packed,
    capsys: pytest.CaptureFixture[str],
    status: int,
    said: str,
    is_passing: bool,
) -> None:
    answering(status)
    shelf = open_store(AWAY)
    acts: list[Callable[[], object]] = [
        lambda: shelf.put(packed.entrant.digest, packed.file),
        shelf.probe,
    ]
    for act in acts:
        with pytest.raises(ShelfError) as found:
            act()
        assert str(found.value).startswith(f"{AWAY}: {said}")
        assert found.value.is_passing is is_passing
        assert not any(word in str(found.value) for word in (*KEYS.values(), "Said"))
    if is_passing:
        shelf_at(AWAY)
        assert AWAY in capsys.readouterr().err
    else:
        with pytest.raises(Misuse, match=f"^--bundles: {AWAY}: "):
            shelf_at(AWAY)


@pytest.mark.usefixtures("nowhere")
def test_a_server_begins_without_its_store_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert shelf_at(AWAY).name == AWAY
    assert "nobody can send bots in for now: s3://bundles/club: " in capsys.readouterr().err


def test_a_folder_elsewhere_needs_no_library(tmp_path: Path) -> None:
    shelf = shelf_at(f"file://{tmp_path}/with%20space")
    assert isinstance(shelf, FolderShelf)
    assert shelf.folder == tmp_path / "with space"
    with pytest.raises(Misuse, match="a folder is file:///FOLDER"):
        shelf_at("file://host/folder")


def test_what_cannot_mend_itself_is_a_misuse(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misuse, match="--bundles: the URL of bundles: has the scheme"):
        shelf_at("ftp://example.org")
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    monkeypatch.delitem(__import__("sys").modules, "arena.ladder.bots.objects")
    monkeypatch.delattr("arena.ladder.bots.objects")
    with pytest.raises(Misuse, match=r"pip install 'hokm-arena\[objects\]'"):
        shelf_at(AWAY)
