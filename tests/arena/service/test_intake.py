"""Archives on their way to the disk: whole or not there, and nothing of a kill stays."""

import errno
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.ladder.bots.archive import Packed, pack
from arena.service.errors import Fault, ServiceError
from arena.service.intake import LARGEST_BYTES, PIECE_BYTES, Intake, Upload
from tests.arena.ladder.conftest import MakeBotFolder

DIGEST = "ab" * 32


@pytest.fixture
def intake(tmp_path: Path) -> Intake:
    (tmp_path / "club").mkdir()
    return Intake(tmp_path / "club")


@pytest.fixture
def packed(bot_folder: MakeBotFolder, tmp_path: Path) -> Packed:
    return pack(Path(bot_folder("ada")), into=tmp_path / "archives")


@contextmanager
def uploading(
    intake: Intake, data: bytes, *, digest: str, size: int | None = None
) -> Iterator[Upload]:
    upload = intake.begin(digest, len(data) if size is None else size)
    try:
        for start in range(0, len(data), PIECE_BYTES):
            upload.write(data[start : start + PIECE_BYTES])
        yield upload
    finally:
        upload.close()


def names(intake: Intake) -> list[str]:
    return sorted(os.listdir(intake.folder))


def test_what_is_whole_is_kept_under_its_digest(intake: Intake, packed: Packed) -> None:
    data = packed.file.read_bytes()
    with uploading(intake, data, digest=packed.entrant.digest) as upload:
        found = upload.checked()
        assert (found.name, found.owner, found.digest) == ("ada", "o-ada", packed.entrant.digest)
        assert names(intake) == [upload._part.name]
        upload.keep()
    assert names(intake) == [f"{packed.entrant.digest}.zip"]
    assert intake.bundles.own.file_of(packed.entrant.digest).read_bytes() == data
    assert intake.folder.stat().st_mode & 0o077 == 0


def test_what_is_not_kept_leaves_nothing(intake: Intake, packed: Packed) -> None:
    with uploading(intake, packed.file.read_bytes(), digest=packed.entrant.digest) as upload:
        upload.checked()
    assert names(intake) == []


@pytest.mark.parametrize("what", ["tempfile.mkstemp", "Path.mkdir"])
def test_a_folder_that_nothing_can_be_written_to_is_the_operators_business(
    intake: Intake, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/srv/club/submissions")

    monkeypatch.setattr(f"arena.service.intake.{what}", fail)
    with pytest.raises(ServiceError, match="cannot take files at the moment") as refused:
        intake.begin(DIGEST, 100)
    assert refused.value.fault is Fault.NOT_NOW
    assert "/srv" not in str(refused.value)


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "ab",
        "AB" * 32,
        "../" + "a" * 61,
        "a" * 63 + "/",
        "é" * 64,
        "x/" + "a" * 64,
        "a" * 64 + ".zip",
    ],
)
def test_what_is_no_digest_is_refused_before_a_byte(intake: Intake, digest: str) -> None:
    with pytest.raises(ServiceError, match="64 hex digits"):
        intake.begin(digest, 100)
    assert not intake.folder.exists()


@pytest.mark.parametrize("size", [0, LARGEST_BYTES + 1, 2**63])
def test_a_size_that_no_archive_has_is_refused(intake: Intake, size: int) -> None:
    with pytest.raises(ServiceError) as caught:
        intake.begin(DIGEST, size)
    assert caught.value.fault is Fault.INVALID


@pytest.mark.parametrize("piece", [b"", bytes(PIECE_BYTES + 1)])
def test_a_piece_has_its_bounds(intake: Intake, piece: bytes) -> None:
    with (
        uploading(intake, b"", digest=DIGEST, size=10 * PIECE_BYTES) as upload,
        pytest.raises(ServiceError, match="piece"),
    ):
        upload.write(piece)


def test_no_more_is_written_than_was_announced(intake: Intake) -> None:
    with uploading(intake, b"12345678", digest=DIGEST, size=10) as upload:
        with pytest.raises(ServiceError, match="announced"):
            upload.write(b"345")
        assert upload._part.stat().st_size <= 10


def test_less_than_was_announced_is_no_archive(intake: Intake, packed: Packed) -> None:
    data = packed.file.read_bytes()
    with (
        uploading(intake, data[:-1], digest=packed.entrant.digest, size=len(data)) as upload,
        pytest.raises(ServiceError, match="came"),
    ):
        upload.checked()


def test_another_bot_than_was_announced_is_refused(intake: Intake, packed: Packed) -> None:
    with (
        uploading(intake, packed.file.read_bytes(), digest=DIGEST) as upload,
        pytest.raises(ServiceError, match="holds another bot"),
    ):
        upload.checked()


@pytest.mark.parametrize("name", ["../../escaped.py", "/escaped.py", "x/../../escaped.py"])
def test_nothing_is_written_where_an_archive_says(
    intake: Intake, tmp_path: Path, name: str
) -> None:
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("bot.toml", "schema = 1\n")
        archive.writestr(name, "boo")
    with (
        uploading(intake, bad.read_bytes(), digest=DIGEST) as upload,
        pytest.raises(ServiceError) as caught,
    ):
        upload.checked()
    assert caught.value.fault is Fault.INVALID
    assert str(tmp_path) not in str(caught.value)
    assert names(intake) == []
    assert not list(tmp_path.rglob("escaped.py"))


def test_a_refusal_is_in_the_words_of_the_reader_and_names_no_path(
    intake: Intake, tmp_path: Path
) -> None:
    with (
        uploading(intake, b"no zip at all" * 100, digest=DIGEST) as upload,
        pytest.raises(ServiceError) as caught,
    ):
        upload.checked()
    assert str(caught.value).startswith("the archive: is no zip")
    assert str(tmp_path) not in str(caught.value)


def test_what_a_kill_left_is_removed_and_what_is_asked_for_stays(
    intake: Intake, packed: Packed
) -> None:
    for digest in (packed.entrant.digest, "cd" * 32):
        with uploading(intake, packed.file.read_bytes(), digest=packed.entrant.digest) as upload:
            upload.checked()
            upload.digest = digest
            upload.keep()
    left = intake.begin(DIGEST, 100)  # never closed: its arena was killed
    left._file.close()
    (intake.folder / ".looked-at-x/bot").mkdir(parents=True)
    (intake.folder / "a note of the operator.txt").touch()
    intake.sweep(frozenset({packed.entrant.digest}))
    assert names(intake) == sorted([f"{packed.entrant.digest}.zip", "a note of the operator.txt"])
    Intake(intake.folder / "nowhere").sweep(frozenset())


def test_a_disk_that_takes_nothing_is_said_without_its_paths(
    intake: Intake, tmp_path: Path
) -> None:
    intake.folder.touch()  # a file in the place of the folder
    with pytest.raises(ServiceError) as caught:
        intake.begin(DIGEST, 100)
    assert caught.value.fault is Fault.NOT_NOW
    assert str(tmp_path) not in str(caught.value)
