"""A log that cannot grow past its cap: the head and the tail of what was written are kept.

The head tells how a bot began and the tail how it ended; whatever lies between is left out and
counted. All of it is on disk as it arrives, so the evidence outlives a crash of the arena. This
module knows nothing of processes: somebody hands it bytes.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

CAP_BYTES: Final = 1 << 20
"""1 MiB, the log of a match's process as the design settles it."""

_NOTE_BYTES: Final = 64  # room for the line that says how much was left out
_LEAST_CAP_BYTES: Final = 4 * _NOTE_BYTES
_JOINERS: Final = "\u200c\u200d"  # invisible, but Persian is spelt with them


class CappedLog:
    """A file of at most `cap_bytes`, at every moment.

    Byte p of what is written lies at p while it fits; what comes after goes round and round in the
    second half of the file. `close` puts that half in order and says how much was left out.

    A log must not end a match: if the disk is full or broken, or the file cannot even be made, what
    cannot be written is left out, and the tail says so. Folders on the way to `path` are made.
    """

    def __init__(self, path: Path, *, cap_bytes: int = CAP_BYTES) -> None:
        if cap_bytes < _LEAST_CAP_BYTES:
            raise ValueError(f"a log of {cap_bytes} bytes has no room; {_LEAST_CAP_BYTES} is least")
        self.path = path
        self._file: BinaryIO | None = None
        self._problem: OSError | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w+b")
        except OSError as error:
            self._problem = error
        self._head_bytes = cap_bytes // 2
        self._ring_bytes = cap_bytes - self._head_bytes - _NOTE_BYTES
        self._received_bytes = 0
        self._lost_bytes = 0

    @property
    def left_out_bytes(self) -> int:
        """How many of the bytes written so far are in the file no more."""
        overrun = self._received_bytes - self._head_bytes - self._ring_bytes
        return self._lost_bytes + max(0, overrun)

    def write(self, data: bytes) -> None:
        """Add `data` to the end."""
        left = memoryview(data)
        try:
            while left and self._file is not None:
                place, room_bytes = self._next_place()
                wrote_bytes = os.pwrite(self._file.fileno(), left[:room_bytes], place)
                self._received_bytes += wrote_bytes
                left = left[wrote_bytes:]
        except OSError as error:
            self._problem = error
        self._lost_bytes += len(left)

    def tail(self, *, most_bytes: int = 2048) -> str:
        """Return the last lines, fit for a terminal: a bot's escape sequences do nothing there."""
        content = self._content()
        if len(content) > most_bytes:
            cut = content[-most_bytes:]
            whole = cut[cut.find(b"\n") + 1 :]  # from the first whole line, if there is one
            content = whole if whole.strip() else cut
        text = content.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        text = "".join(c if c.isprintable() or c in "\n\t" + _JOINERS else "\ufffd" for c in text)
        return text + self._what_is_lost()

    def close(self) -> None:
        """Put the file into its final form; harmless if done twice."""
        if self._file is None or self._file.closed:
            return
        if self.left_out_bytes:
            with suppress(OSError):  # if it fails, the bytes are there all the same, out of order
                os.pwrite(self._file.fileno(), self._in_order(self._file), 0)
        self._file.close()

    def _content(self) -> bytes:
        try:
            if self._file is None:
                return b""
            if self._file.closed:
                with self.path.open("rb") as file:
                    return file.read(self._head_bytes + self._ring_bytes + _NOTE_BYTES)
            return self._in_order(self._file)
        except OSError as error:
            self._problem = error
            return b""

    def _what_is_lost(self) -> str:
        if self._problem is None:
            return ""
        return f"[its log is not whole: {self.path}: {self._problem.strerror}]\n"

    def _next_place(self) -> tuple[int, int]:
        """Return where the next byte goes, and how many fit there in one piece."""
        if self._received_bytes < self._head_bytes:
            return self._received_bytes, self._head_bytes - self._received_bytes
        at = (self._received_bytes - self._head_bytes) % self._ring_bytes
        return self._head_bytes + at, self._ring_bytes - at

    def _in_order(self, file: BinaryIO) -> bytes:
        data = os.pread(file.fileno(), self._head_bytes + self._ring_bytes, 0)
        if not self.left_out_bytes:
            return data
        place, _ = self._next_place()
        note = b"\n[%d bytes left out here]\n" % self.left_out_bytes
        head, ring = data[: self._head_bytes], data[self._head_bytes :]
        at = max(0, place - self._head_bytes)
        return head + note + ring[at:] + ring[:at]
