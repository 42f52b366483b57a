"""Large blocks are the system's, also after larger ones."""

import ctypes
import subprocess
import sys

import pytest

# How much lies outside of the heap once a block of 8 MiB was freed and one of 4 is there.
MEASURE = """
import ctypes
from arena.heap import keep_heap_small

class Usage(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcd"] + [("mapped", ctypes.c_size_t)]
    _fields_ += [(name, ctypes.c_size_t) for name in "fghij"]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Usage
{before}
block = bytes(8 << 20)
del block
before = library.mallinfo2().mapped
block = bytes(4 << 20)
print(library.mallinfo2().mapped - before)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="this C library does not tell (glibc 2.33)"
)
@pytest.mark.parametrize(("before", "is_mapped"), [("", False), ("keep_heap_small()", True)])
def test_a_large_block_is_not_on_the_heap(before: str, is_mapped: bool) -> None:
    script = MEASURE.format(before=before)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (int(done.stdout) >= 4 << 20) == is_mapped
