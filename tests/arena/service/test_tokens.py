"""Tokens: their form, and what is kept of them."""

import pytest

from arena.service.tokens import RANDOM_BYTES, digest_of, is_same, is_token, token_of

TOKEN = token_of(bytes(range(32)))


def test_a_token_has_all_of_its_256_bits() -> None:
    assert len(TOKEN) == len("hokm_") + 43
    assert is_token(TOKEN)
    tokens = {token_of(bytes(31) + bytes([last])) for last in range(256)}
    assert len(tokens) == 256


@pytest.mark.parametrize("length", [0, RANDOM_BYTES - 1, RANDOM_BYTES + 1])
def test_a_token_is_made_of_no_less_and_no_more(length: int) -> None:
    with pytest.raises(ValueError):
        token_of(bytes(length))


@pytest.mark.parametrize(
    "text",
    [
        *("", "hokm_", TOKEN[:-1], TOKEN + "A", TOKEN + "\n", " " + TOKEN, "hokm-" + TOKEN[5:]),
        *(TOKEN[:-1] + "=", TOKEN[:-1] + "ä"),
    ],
)
def test_what_is_no_token_is_known_by_its_form(text: str) -> None:
    assert not is_token(text)


def test_what_is_kept_says_nothing_of_the_token() -> None:
    digest = digest_of(TOKEN)
    assert len(digest) == 64
    assert TOKEN[5:20] not in digest
    assert is_same(digest, digest_of(TOKEN))
    assert not is_same(digest, digest_of(TOKEN[:-1] + "B"))
