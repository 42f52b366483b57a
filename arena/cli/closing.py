"""What a command has to undo as it ends, however it ends. It does not know what that is."""

from contextlib import ExitStack
from typing import Final

UNDO: Final = ExitStack()
"""Closed by :func:`arena.cli.app.main`; who makes something that must go adds how."""
