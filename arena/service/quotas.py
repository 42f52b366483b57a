"""How much an owner may have on a ladder, and how often anybody may ask. Pure: times are given."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

MOST_KEYS: Final = 4096
"""Who asked, as many as are remembered; who asked longest ago is forgotten first."""

CHECK_MINUTES: Final = 30
"""What checks and matches of a validation may take together: enough for a bot that thinks 200 ms
about each of the some 8,500 decisions. One at a time is validated, so that is how long a bot may
hold up the others."""
MOST_CHECK_MINUTES: Final = 59
"""As `arena bot check --limit` has it, which is below an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many requests at once, and one more each so many seconds."""

    burst: int
    every_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """What an owner may have and do; an operator may say other numbers."""

    active_bots: int = 5
    """Bots that play, with those that are on their way to it."""
    submissions_a_day: int = 20
    """In any 24 hours. A validation takes up to two minutes of two cores, and there is one at a
    time: 720 a day for everybody."""
    kept_bytes: int = 500 * 2**20
    """Archives; ten of the largest."""
    uploads_of_an_owner: int = 1
    """At once: a disk is not to be filled by what is not counted yet."""
    uploads: int = 4
    """At once, of everybody."""
    new_owners_a_day: int = 50
    """From when on nobody registers over the network, those the operator makes counted as well: a
    class in an hour, and no more than so many times what one owner may have and do."""
    tokens: int = 20
    """Tokens of one owner, revoked ones too."""
    of_an_owner: Rate = Rate(burst=120, every_seconds=0.5)
    """Requests with a token. `arena submit --wait` asks every few seconds."""
    of_an_address: Rate = Rate(burst=60, every_seconds=1.0)
    """Requests without one, and wrong ones."""


COST_OF_A_WRONG_TOKEN: Final = 5
COST_OF_AN_UPLOAD: Final = 10
"""The disk is written, and an archive is unpacked and read."""
COST_OF_AN_OWNER: Final = 20
"""Who registers owners again and again gets three at once, and three a minute."""


class Buckets:
    """Counts requests by who makes them: each has a bucket of so many, which fills up again."""

    def __init__(self, rate: Rate, *, most_keys: int = MOST_KEYS) -> None:
        self._rate = rate
        self._most_keys = most_keys
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What each had left, and when in seconds that was."""

    def wait_seconds(self, key: str, *, now: float, cost: int = 1) -> float:
        """Take so much, and return 0; or take nothing, and say how long until there is enough."""
        left = self._left_of(key, now)
        if left < cost:
            return (cost - left) * self._rate.every_seconds
        self._left[key] = left - cost, now
        self._left.move_to_end(key)
        if len(self._left) > self._most_keys:
            self._left.popitem(last=False)
        return 0.0

    def empty(self, key: str, *, now: float) -> float:
        """How long until there is anything at all; 0 where there is."""
        left = self._left_of(key, now)
        return (1 - left) * self._rate.every_seconds if left < 1 else 0.0

    def charge(self, key: str, *, now: float, cost: int) -> None:
        """Take so much, or all there is."""
        self.wait_seconds(key, now=now, cost=min(cost, int(self._left_of(key, now))))

    def _left_of(self, key: str, now: float) -> float:
        left, since = self._left.get(key, (float(self._rate.burst), now))
        if now < since:
            # A clock that is set back gives nothing, and takes nothing; from then on it fills up.
            self._left[key] = left, now
            return left
        return min(float(self._rate.burst), left + (now - since) / self._rate.every_seconds)
