"""What an operator may choose of bots that run elsewhere. Values only."""

from enum import Enum


class Remote(Enum):
    """Whether bots that stay at home play, and with whom. Nobody can look at them, and two on one
    machine are not kept from each other: that is the operator's to accept.
    """

    NO = "no"
    TOGETHER = "together"
    """In one ladder with all others."""
    APART = "apart"
    """With each other only."""


class Casual(Enum):
    """Who may sit down at casual tables."""

    NO = "no"
    OWNERS = "owners"
    """Whoever has a token that is good for playing."""
    OPEN = "open"
    """Anybody."""
