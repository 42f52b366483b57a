"""What is mixed into a secret: the vectors that both implementations read, and what is refused."""

import doctest
import json
from pathlib import Path

import pytest

import arena.ladder.proof.entropy
from arena.ladder.proof.entropy import (
    beacon_text,
    entropy_of_beacon,
    entropy_of_nonces,
    parse_nonce,
)

VECTORS = json.loads(
    (Path(__file__).resolve().parents[4] / "docs/fair-deals/vectors.json").read_text("utf-8")
)


@pytest.mark.parametrize("vector", VECTORS["nonces"], ids=lambda one: str(len(one["nonces"])))
def test_nonces_have_their_published_entropy_whoever_came_first(vector) -> None:
    nonces = [bytes.fromhex(nonce) for nonce in vector["nonces"]]
    assert entropy_of_nonces(nonces).hex() == vector["entropy"]
    assert entropy_of_nonces(reversed(nonces)).hex() == vector["entropy"]


@pytest.mark.parametrize("vector", VECTORS["beacons"], ids=lambda one: one["value"][:20])
def test_a_beacons_value_has_its_published_entropy(vector) -> None:
    assert entropy_of_beacon(vector["value"]).hex() == vector["entropy"]


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_nonce_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        entropy_of_nonces([bytes(length)])


@pytest.mark.parametrize("text", ["", "ab", "0" * 63, "0" * 65, "g" * 64, " " + "0" * 63])
def test_what_is_no_nonce_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="64 hex digits"):
        parse_nonce(text)


def test_a_nonce_may_have_capital_digits() -> None:
    assert parse_nonce("AB" * 32) == bytes.fromhex("ab" * 32)


@pytest.mark.parametrize("text", ["", " drand", "drand\n", "one\ntwo", "e\u0301", "a" * 4097])
def test_a_beacon_that_could_be_written_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        beacon_text(text)


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(arena.ladder.proof.entropy).attempted == 2
    assert doctest.testmod(arena.ladder.proof.entropy).failed == 0
