"""What a check finds: the one exception that says what a bot did in place of what was expected."""

import re


class Unmet(Exception):
    """A bot did ``what``, and ``expected`` says what would have been right.

    ``reference`` names the paragraph it breaks where that is another than the check's own.
    ``alike`` is the same wherever a bot did the same, whatever was being played; if it is not
    given, that is ``what`` without its numbers.
    """

    def __init__(self, what: str, *, expected: str, reference: str = "", alike: str = "") -> None:
        super().__init__(f"{what}; expected {expected}")
        self.what = what
        self.expected = expected
        self.reference = reference
        self.alike = alike or re.sub(r"\d+", "#", what)


class NotSupported(Exception):
    """The bot does without what a check is about, and may; the text says what."""
