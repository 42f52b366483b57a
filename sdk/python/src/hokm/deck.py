"""Fair decks and their proof: the shuffle `hokm-shuffle-v1`, its number streams, and commit-reveal.

A deck is a pure function of 32 bytes of seed and a label, built from nothing but HMAC-SHA256, so
that anybody can deal it again in any language and check a record. A general-purpose generator would
not do: about 89 revealed decks give away the whole state of MT19937, and a hand of 13 cards is
enough to find a small seed by trial.

This module draws no randomness and knows no clock, no file and no card: it permutes whatever it is
given. Where the secret of an event comes from, and when it is revealed, is the arena's business.

    >>> shuffled(("C", "D", "H", "S"), bytes(32))
    ('H', 'C', 'S', 'D')
"""

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import Final, TypeVar

SEED_BYTES: Final = 32
"""Length of every seed, secret and commitment: one SHA-256 digest."""

_BYTE_VALUES: Final = 256
_BE32_VALUES: Final = 2**32
_HEX_SECRET: Final = re.compile(r"[0-9a-fA-F]{64}")

T = TypeVar("T")


class Stream:
    """The uniform numbers of one (seed, label) pair, always the same ones in the same order.

    Block i is HMAC-SHA256(seed, "hokm-stream-v1" 0 label 0 BE32(i)); its bytes are consumed from
    left to right. Take each label of a seed once: two streams with one label repeat each other.

    Args:
        seed: 32 bytes.
        label: ASCII without a zero byte: "deck", "ace", "start", "hakem".

    Raises:
        ValueError: for any other seed or label.
    """

    __slots__ = ("_block", "_block_at", "_blocks_used", "_prefix", "_seed")

    def __init__(self, seed: bytes, label: str) -> None:
        if not label.isascii() or "\0" in label:
            raise ValueError(f"stream label {label!r} is not ASCII without a zero byte")
        self._seed = _checked("seed", seed)
        self._prefix = b"hokm-stream-v1\0" + label.encode("ascii") + b"\0"
        self._block = b""
        self._block_at = 0
        self._blocks_used = 0

    @property
    def bytes_used(self) -> int:
        """How many bytes have been consumed so far, those that were rejected included."""
        return self._blocks_used * SEED_BYTES - (len(self._block) - self._block_at)

    def below(self, n: int) -> int:
        """Return the next number in 0 … n - 1, each equally likely.

        A byte at or above the largest multiple of n is thrown away and the next one tried: plain
        `byte % n` would favour some cards of a deck by 25 %.

        Raises:
            ValueError: if n is not in 2 … 256, the range one byte can serve.
        """
        if not 2 <= n <= _BYTE_VALUES:
            raise ValueError(f"below({n}): a stream draws below 2 to {_BYTE_VALUES} only")
        limit = _BYTE_VALUES - _BYTE_VALUES % n
        while True:
            if self._block_at == len(self._block):
                message = self._prefix + self._blocks_used.to_bytes(4, "big")
                self._block = hmac.digest(self._seed, message, "sha256")
                self._block_at = 0
                self._blocks_used += 1
            byte = self._block[self._block_at]
            self._block_at += 1
            if byte < limit:
                return byte % n


def shuffled(cards: Sequence[T], seed: bytes, *, label: str = "deck") -> tuple[T, ...]:
    """Return `cards` in the order `hokm-shuffle-v1` gives them; the first is the top of the deck.

    For a fair and repeatable deck pass the pack in ascending order of its card numbers. The shuffle
    is Fisher and Yates's, from the last place down to the second.

    Args:
        cards: at most 256 of them.
        seed: 32 bytes, e.g. from `board_seed`.
        label: "deck" for a deal, "ace" for the first-ace draw.

    Raises:
        ValueError: for more than 256 cards, or a seed or label that `Stream` refuses.
    """
    stream = Stream(seed, label)
    deck = list(cards)
    for i in range(len(deck) - 1, 0, -1):
        j = stream.below(i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return tuple(deck)


def commitment(secret: bytes) -> bytes:
    """Return the 32 bytes that bind an operator to `secret`, published before entries close."""
    return hashlib.sha256(b"hokm-commit-v1\0" + _checked("secret", secret)).digest()


def mix(secret: bytes, entropy: bytes) -> bytes:
    """Return the 32 bytes M that all board seeds of an event come from.

    Args:
        secret: the committed 32 bytes S.
        entropy: the bytes E that nobody controls, fixed after the commitment was published; empty
            where nobody but the operator need trust the decks. Without it an operator could try
            secrets until he likes the boards.
    """
    return hmac.digest(_checked("secret", secret), b"hokm-mix-v1\0" + entropy, "sha256")


def board_seed(mixed: bytes, match_id: str, board: int) -> bytes:
    """Return the 32-byte seed of one board of a match.

    Neither `mixed` nor the seed of any other board can be found from it, so it may be published
    once the last room of its match has closed.

    Args:
        mixed: M, from `mix`.
        match_id: as the schedule implies it, e.g. "ev1/r1/alpha~beta"; without a zero byte.
        board: from 1; in races the number of the hand, where 0 serves the draw of the first hakem.

    Raises:
        ValueError: for a board outside 0 … 2**32 - 1, a match id with a zero byte, or the wrong
            length of `mixed`.
    """
    if not 0 <= board < _BE32_VALUES:
        raise ValueError(f"board number {board} is not in 0 … {_BE32_VALUES - 1}")
    if "\0" in match_id:
        raise ValueError(f"match id {match_id!r} has a zero byte in it")
    message = b"hokm-board-v1\0" + match_id.encode() + b"\0" + board.to_bytes(4, "big")
    return hmac.digest(_checked("mixed secret", mixed), message, "sha256")


def secret_from_text(text: str) -> bytes:
    """Return the secret a person means by `text`: 64 hex digits are the secret, else a hash.

    The hash is the SHA-256 of the UTF-8 bytes. Short text can be guessed: fine for repeating a
    match on one's own machine, not for an event that others must trust.
    """
    if _HEX_SECRET.fullmatch(text):
        return bytes.fromhex(text)
    return hashlib.sha256(text.encode()).digest()


def _checked(what: str, value: bytes) -> bytes:
    if len(value) != SEED_BYTES:
        raise ValueError(f"the {what} has {len(value)} bytes; it must have {SEED_BYTES}")
    return value
