"""Tokens: what they look like, and how they are known again. Pure.

A token is `hokm_` and 43 characters of base64url, which are 256 random bits: nobody finds one by
trying. What is kept is its SHA-256, which needs no salt and no stretching for that reason. A token
is in no log, no command line and no record.
"""

import base64
import hashlib
import hmac
import re
from typing import Final

PREFIX: Final = "hokm_"
RANDOM_BYTES: Final = 32

_TOKEN: Final = re.compile(r"hokm_[A-Za-z0-9_-]{43}")


def token_of(random: bytes) -> str:
    """The token of 32 random bytes.

    >>> token_of(bytes(32))
    'hokm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"a token is made of {RANDOM_BYTES} random bytes, not {len(random)}")
    return PREFIX + base64.urlsafe_b64encode(random).decode().rstrip("=")


def is_token(text: str) -> bool:
    """Whether a text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


def digest_of(token: str) -> str:
    """What is kept of a token, 64 hex digits."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_same(digest: str, other: str) -> bool:
    """Whether two digests are the same, in a time that does not tell how far they are."""
    return hmac.compare_digest(digest.encode(), other.encode())
