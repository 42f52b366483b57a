"""The C library's heap: one for all threads, and large blocks go back as soon as they are free.

glibc asks the system for each large block, and hands it back when it is freed; but each time it
raises what it calls large, up to 32 MiB. After the first flood of a bot, further ones lie among
small blocks on the heap, and the holes they leave are kept: an arena that stood for a thousand
matches grew in steps of megabytes without holding any of it. To name the size once keeps it as it
is. And it gives threads heaps of their own, eight a core; what one thread of gRPC's has freed,
another does not use, so all of them grow for as long as each has yet to meet its worst match.
"""

import ctypes
from typing import Final

LARGE_BYTES: Final = 128 * 1024
"""glibc's own first value; the batches of a match are smaller, floods larger."""

_M_MMAP_THRESHOLD: Final = -3  # malloc.h
_M_ARENA_MAX: Final = -8


def keep_heap_small() -> None:
    """Have it so in this process from now on; where the C library has no such switch, nothing.

    To be called before there are threads: those that have a heap keep it.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        library.mallopt(_M_ARENA_MAX, 1)
