"""The checks, in the order they are run and shown: sessions, exchanges, hands, games, what a
bot remembers, and how it comes back.
"""

from arena.conformance.checks.exchanges import EXCHANGES
from arena.conformance.checks.games import GAMES
from arena.conformance.checks.hands import HANDS
from arena.conformance.checks.memory import MEMORY
from arena.conformance.checks.returns import RETURNS
from arena.conformance.checks.sessions import LAST, SESSIONS
from arena.conformance.fuzz import FUZZ
from arena.conformance.script import Check

CHECKS: tuple[Check, ...] = (
    *SESSIONS,
    *EXCHANGES,
    *HANDS,
    *GAMES,
    *MEMORY,
    *RETURNS,
    FUZZ,
    LAST,
)
"""Every check there is."""
