"""A bot may write what it likes: its log keeps the head and the tail, and its cap."""

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.ladder.processes.capped_log import CAP_BYTES, CappedLog

CAP = 1000
HEAD = 500
RING = 436  # what is left beside the head and 64 bytes for the note


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CappedLog]:
    log = CappedLog(tmp_path / "bot.log", cap_bytes=CAP)
    yield log
    log.close()


def noise(length: int, *, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(length)


def test_what_fits_is_kept_as_it_was_written_and_is_there_at_once(log: CappedLog) -> None:
    data = noise(HEAD + RING)
    for i in range(0, len(data), 7):
        log.write(data[i : i + 7])
    assert log.path.read_bytes() == data
    log.close()
    assert log.path.read_bytes() == data
    assert log.left_out_bytes == 0


@pytest.mark.parametrize("extra", [1, RING - 1, RING, RING + 1, 10 * RING, 100_000])
@pytest.mark.parametrize("piece", [1, 7, RING, HEAD, 65536])
def test_of_more_than_fits_the_head_and_the_tail_are_kept_and_the_rest_counted(
    log: CappedLog, extra: int, piece: int
) -> None:
    data = noise(HEAD + RING + extra)
    for i in range(0, len(data), piece):
        log.write(data[i : i + piece])
    log.close()
    note = b"\n[%d bytes left out here]\n" % extra
    assert log.path.read_bytes() == data[:HEAD] + note + data[-RING:]
    assert log.left_out_bytes == extra


def test_the_cap_holds_at_every_moment(log: CappedLog) -> None:
    for _ in range(2000):
        log.write(b"x" * 97)
        assert log.path.stat().st_size <= CAP
    log.close()
    assert log.path.stat().st_size <= CAP


def test_the_default_cap_is_one_mebibyte(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "bot.log")
    log.write(noise(3 * CAP_BYTES))
    log.close()
    assert CAP_BYTES - 64 < log.path.stat().st_size <= 1024 * 1024


def test_the_tail_is_the_same_before_and_after_closing(log: CappedLog) -> None:
    log.write(b"".join(b"line %d\n" % i for i in range(1000)))
    tail = log.tail(most_bytes=20)
    assert tail == "line 998\nline 999\n"
    log.close()
    assert log.tail(most_bytes=20) == tail


def test_the_tail_of_a_little_is_all_of_it(log: CappedLog) -> None:
    assert log.tail() == ""
    log.write("بی\u200cبی\n\tIndexError".encode())
    assert log.tail() == "بی\u200cبی\n\tIndexError"


def test_a_last_line_that_is_longer_than_the_tail_is_told_by_its_end(log: CappedLog) -> None:
    log.write(b"x" * 100 + b" no such card\n")
    assert log.tail(most_bytes=20) == "xxxxxx no such card\n"


def test_a_tail_without_a_line_end_is_cut_where_it_must(log: CappedLog) -> None:
    log.write(b"x" * 90 + b"y" * 10)
    assert log.tail(most_bytes=12) == "xx" + "y" * 10


def test_a_tail_cannot_drive_the_terminal_it_is_printed_on(log: CappedLog) -> None:
    log.write(b"\x1b[2Jgone\x07 \xff \xe2\x80\xae\r10 %\r20 %\r\ndone")
    assert log.tail() == "\ufffd[2Jgone\ufffd \ufffd \ufffd\n10 %\n20 %\ndone"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_loses_the_log_and_nothing_else() -> None:
    log = CappedLog(Path("/dev/full"))
    log.write(b"x" * 100)
    assert log.left_out_bytes == 100
    log.close()
    assert log.tail().endswith("[its log is not whole: /dev/full: No space left on device]\n")


def test_a_log_that_cannot_be_made_or_read_is_no_error_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    for path in (tmp_path / "file" / "bot.log", tmp_path):
        log = CappedLog(path)
        log.write(b"x" * 100)
        assert log.left_out_bytes == 100
        log.close()
        assert re.fullmatch(rf"\[its log is not whole: {path}: .+\]\n", log.tail())


def test_a_log_whose_folder_is_removed_loses_its_tail_and_nothing_else(tmp_path: Path) -> None:
    log = CappedLog(tmp_path / "deep" / "logs" / "bot.log")
    log.write(b"one\n")
    shutil.rmtree(tmp_path / "deep")
    log.write(b"two\n")
    assert log.tail() == "one\ntwo\n"  # the file is there as long as it is open
    log.close()
    assert log.tail().endswith("bot.log: No such file or directory]\n")


def test_closing_twice_is_harmless(log: CappedLog) -> None:
    log.write(noise(5000))
    log.close()
    content = log.path.read_bytes()
    log.close()
    assert log.path.read_bytes() == content


def test_a_cap_without_room_for_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape("a log of 255 bytes has no room; 256 is least")):
        CappedLog(tmp_path / "bot.log", cap_bytes=255)
