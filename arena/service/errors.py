"""What the ladder's service says no with: whose fault, what is wrong, what to do next."""

from enum import Enum


class Fault(Enum):
    """Why something was not done."""

    UNAUTHENTICATED = "unauthenticated"
    """Nobody knows who asks."""
    PERMISSION = "permission"
    """Who asks is known, and may not."""
    NOT_FOUND = "not found"
    TAKEN = "taken"
    QUOTA = "quota"
    """Too much, or too often."""
    INVALID = "invalid"
    """What was sent is not what was asked for."""
    NOT_NOW = "not now"
    """The ladder cannot, through no fault of who asks."""


class ServerError(Exception):
    """A ladder elsewhere did not do what it was asked, or could not be reached: one line that says
    what to do. `is_passing` says that the same again may do in a while.
    """

    def __init__(self, text: str, *, is_passing: bool = False) -> None:
        super().__init__(text)
        self.is_passing = is_passing


class ServiceError(Exception):
    """Something was not done, and why. The text is one line, for who asked, and holds no secret."""

    def __init__(self, fault: Fault, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}" if remedy else problem)
        self.fault = fault
