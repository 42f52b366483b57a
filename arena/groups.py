"""What went wrong where tasks run side by side: a group of exceptions, and groups in it."""

from collections.abc import Iterator


def leaves(error: BaseException) -> Iterator[BaseException]:
    """All that a group holds, however deep; an exception that is no group is its own."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error
