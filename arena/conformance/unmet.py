"""What a check finds: the one exception that says what a bot did in place of what was expected."""


class Unmet(Exception):
    """A bot did ``what``, and ``expected`` says what would have been right.

    ``reference`` names the paragraph it breaks where that is another than the check's own.
    """

    def __init__(self, what: str, *, expected: str, reference: str = "") -> None:
        super().__init__(f"{what}; expected {expected}")
        self.what = what
        self.expected = expected
        self.reference = reference


class NotSupported(Exception):
    """The bot does without what a check is about, and may; the text says what."""
