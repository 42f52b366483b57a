"""What stands in a ladder's audit log of what is done on its machine: by whom and when. The verbs
are the commands'.
"""

import getpass
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.ladder.facts import Deed


def actor() -> str:
    """Who runs this, as the system knows him."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name belongs to the number
        return f"user {os.getuid()}"


def deed_of(verb: str, subject: str, *, because: str = "") -> "Deed":
    """A deed of now."""
    from arena.ladder.facts import Deed
    from arena.wording import stamp

    return Deed(stamp(datetime.now(UTC)), actor(), verb, subject, because)
