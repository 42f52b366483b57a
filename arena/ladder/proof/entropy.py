"""What is mixed into an event's secret after it was committed to, so that nobody chose the deals.

The entropy E is 32 bytes which the operator could not know when he bound himself to his secret: the
hash of numbers that entrants have brought, or the value that a named public beacon published
afterwards. Without either E is empty, and the deals rest on the operator's word alone.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from enum import Enum

from hokm.deck import SEED_BYTES, secret_from_text
from hokm.errors import quoted

LONGEST_BEACON = 4096
"""Characters of a beacon's name or value: some publish a page, none a book."""


class Source(Enum):
    """Where the entropy of an event comes from."""

    NOTHING = "nothing"
    NONCES = "nonces"
    BEACON = "beacon"


def entropy_of_nonces(nonces: Iterable[bytes]) -> bytes:
    """SHA-256 over the nonces, sorted and joined; empty where there is none.

    Sorted, so that it does not matter who came first. Raises ValueError for one that has not 32
    bytes.
    """
    values = sorted(nonces)
    for value in values:
        if len(value) != SEED_BYTES:
            raise ValueError(f"a nonce has {SEED_BYTES} bytes, not {len(value)}")
    return hashlib.sha256(b"".join(values)).digest() if values else b""


def entropy_of_beacon(value: str) -> bytes:
    """The 32 bytes that a beacon's published value stands for.

    64 hex digits, small or capital, are the bytes themselves. Any other text is hashed: SHA-256
    over its UTF-8, just as it was published.

    >>> entropy_of_beacon("00" * 31 + "2A").hex()[-4:]
    '002a'
    >>> entropy_of_beacon("4 8 15 16 23 42").hex()[:16]
    '21f2049d5b7a9443'
    """
    return secret_from_text(beacon_text(value))


def beacon_text(text: str) -> str:
    """The text itself, if it can be a beacon's name or value; raises ValueError saying why not.

    What could be written down in two ways would have two hashes, so there is one line, in the
    composed form (NFC), with nothing white at its ends.
    """
    if not text or text != text.strip():
        raise ValueError(f"{quoted(text)} is empty, or has white space at an end")
    if len(text) > LONGEST_BEACON:
        raise ValueError(f"it has {len(text)} characters; {LONGEST_BEACON} are the most")
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(f"{quoted(text)} is not in Unicode's composed form (NFC)")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValueError(f"{quoted(text)} has a control character in it")
    return text


def parse_nonce(text: str) -> bytes:
    """A nonce as an entrant gives it, 64 hex digits; raises ValueError for anything else."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise ValueError(f"a nonce is 64 hex digits, not {quoted(text)}")
    return bytes.fromhex(text)
