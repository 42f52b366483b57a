"""The shuffle and its proof against vectors computed in Python and in Node, and against chance.

The vectors are part of `hokm-shuffle-v1`: an implementation that differs in one of them deals other
decks.
"""

import doctest
import hashlib
import hmac
import os
import sys
from collections import Counter
from dataclasses import dataclass

import pytest

import hokm.deck
from hokm.deck import Stream, board_seed, commitment, mix, secret_from_text, shuffled


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split())


def as_text(deck: tuple[int, ...]) -> str:
    return " ".join("23456789TJQKA"[card % 13] + "CDHS"[card // 13] for card in deck)


@dataclass(frozen=True, slots=True)
class Vector:
    seed: str
    first8: str
    bytes_used: int
    deck: tuple[int, ...]
    text: str
    sha256: str


PACK = tuple(range(52))
COUNTING_SEED = bytes(range(32))

VECTORS = (
    Vector(
        seed="0000000000000000000000000000000000000000000000000000000000000000",
        first8="550784f9eb016e9e",
        bytes_used=58,
        deck=numbers(
            "6 18 27 3 40 29 28 8 26 10 23 14 22 31 25 34 42 24 4 19 15 17 11 51 49 21 41 47 "
            "50 35 9 12 0 36 30 45 43 44 48 13 2 38 46 5 37 20 16 1 39 32 7 33"
        ),
        text=(
            "8C 7D 3H 5C 3S 5H 4H TC 2H QC QD 3D JD 7H AD TH 5S KD 6C 8D 4D 6D KC AS QS TD 4S "
            "TS KS JH JC AC 2C QH 6H 8S 6S 7S JS 2D 4C AH 9S 7C KH 9D 5D 3C 2S 8H 9C 9H"
        ),
        sha256="af5442955fac48ac86cbec40a696c9f50f1626000a149e321ed52460c98fbf25",
    ),
    Vector(
        seed="000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        first8="551ef84178d1b202",
        bytes_used=54,
        deck=numbers(
            "7 4 35 28 15 20 44 39 11 9 22 49 14 10 37 36 47 46 8 6 26 19 32 45 17 18 38 42 "
            "50 34 0 1 29 13 31 51 3 27 12 25 43 41 23 5 2 40 21 24 16 48 30 33"
        ),
        text=(
            "9C 6C JH 4H 4D 9D 7S 2S KC JC JD QS 3D QC KH QH TS 9S TC 8C 2H 8D 8H 8S 6D 7D AH "
            "5S KS TH 2C 3C 5H 2D 7H AS 5C 3H AC AD 6S 4S QD 7C 4C 3S TD KD 5D JS 6H 9H"
        ),
        sha256="396a94449c906b3b3220749fc13426c83cd48c3f7b5bdd9a43e15b9a90278f0f",
    ),
    Vector(
        seed="ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        first8="383841eed27a3e27",
        bytes_used=52,
        deck=numbers(
            "33 22 32 8 34 10 45 11 36 40 7 12 27 9 2 48 43 51 23 49 24 14 3 17 35 50 6 47 29 "
            "31 19 0 38 46 25 1 13 41 26 20 37 30 21 44 39 16 28 18 42 15 5 4"
        ),
        text=(
            "9H JD 8H TC TH QC 8S KC QH 3S 9C AC 3H JC 4C JS 6S AS QD QS KD 3D 5C 6D JH KS 8C "
            "TS 5H 7H 8D 2C AH 9S AD 3C 2D 4S 2H 9D KH 6H TD 7S 2S 5D 4H 7D 5S 4D 7C 6C"
        ),
        sha256="5f8b39ff195581e9188b75ec6ac2fcc5a4d3cfa17f2f95d1fb7721069e5ab503",
    ),
    Vector(
        seed="3f7cca4a5766583414d032a3de51e7c5ac3889159f7f2fba2fa71b659b9da5e5",
        first8="8a617c301604492b",
        bytes_used=52,
        deck=numbers(
            "26 10 37 50 6 21 11 23 1 25 0 14 3 31 32 18 36 35 33 19 42 9 13 20 44 12 29 16 "
            "30 38 28 47 41 7 49 2 5 17 8 40 15 39 45 51 43 27 4 22 48 24 46 34"
        ),
        text=(
            "2H QC KH KS 8C TD KC QD 3C AD 2C 3D 5C 7H 8H 7D QH JH 9H 8D 5S JC 2D 9D 7S AC 5H "
            "5D 6H AH 4H TS 4S 9C QS 4C 7C 6D TC 3S 4D 2S 8S AS 6S 3H 6C JD JS KD 9S TH"
        ),
        sha256="8752ccdbc8da52db15e1adf42376ed4138ebf49f8f7e14dc72527d3c3a2bccf5",
    ),
    Vector(
        seed="5c809b7fa491fe13002a2e3e6cc3ba771c3facbdc57d8ab51f5a64f5c6f360e4",
        first8="c1b0c8ff7794e0e2",
        bytes_used=53,
        deck=numbers(
            "33 16 9 29 13 8 46 25 3 27 7 43 10 2 11 50 30 26 44 24 14 28 31 12 49 17 22 45 "
            "19 6 41 20 40 5 34 1 39 18 15 35 51 32 48 38 47 42 36 4 21 0 23 37"
        ),
        text=(
            "9H 5D JC 5H 2D TC 9S AD 5C 3H 9C 6S QC 4C KC KS 6H 2H 7S KD 3D 4H 7H AC QS 6D JD "
            "8S 8D 8C 4S 9D 3S 7C TH 3C 2S 7D 4D JH AS 8H JS AH TS 5S QH 6C TD 2C QD KH"
        ),
        sha256="7be72101178b608633bbc395ce6dd63c190db261775f295f5fb066ee3c526778",
    ),
)

DECK_OF_51 = numbers(
    "8 5 36 29 16 21 45 40 12 10 23 49 15 11 38 37 48 47 9 7 27 20 33 46 18 19 39 43 50 51 1 "
    "2 30 14 32 34 4 28 13 26 44 42 24 6 3 41 22 25 17 31 35"
)

ACE_DRAW = numbers(
    "3 16 40 13 51 1 18 19 14 49 34 37 21 0 8 36 31 20 48 24 10 7 41 23 50 33 22 5 44 30 45 "
    "46 9 17 42 32 43 29 39 26 28 27 15 12 35 6 4 2 47 25 38 11"
)

DECK_OF_FIRST_BOARD = numbers(
    "14 42 4 28 5 21 24 30 18 22 34 43 3 23 29 32 40 45 36 49 48 17 20 51 35 8 9 11 47 44 33 "
    "50 1 37 25 39 6 12 41 10 0 31 16 19 15 13 7 26 46 27 2 38"
)

# S counts from 00 to 1f, E is SHA-256("entropy").
ENTROPY = bytes.fromhex("67671a2f53dd910a8b35840edb6a0a1e751ae5532178ca7f025b823eee317992")
COMMITMENT = "b23d20ed297cf680f0638a1d9ef110503204b8796a24f2611433ef8acfaee78f"
MIXED = bytes.fromhex("b95e683962e6e60ca07333886d68a78c0cf4e8900775dabb285357daf306b7f3")
BOARD_SEEDS = {
    ("ev1/r1/alpha~beta", 1): "b5895874aa7a103f1fdf29d5bc355620041e1664977f5a384243dd69459302f3",
    ("ev1/r1/alpha~beta", 2): "164bd956216c5e065f0ddf579d563e9393951bd8c382078e7502ca78e5093010",
    ("ev1/r2/alpha~gamma", 1): "e3adb9d2dee471329913a8fe72365cea7704a4498b60a99ebadf89b33789e285",
}


def stream_of_shuffle(seed: bytes, *, cards: int, label: str = "deck") -> Stream:
    """Return a stream from which one deck of `cards` has been drawn."""
    stream = Stream(seed, label)
    for n in range(cards, 1, -1):
        stream.below(n)
    return stream


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v.seed[:8])
def test_a_published_seed_deals_its_published_deck(vector: Vector) -> None:
    deck = shuffled(PACK, bytes.fromhex(vector.seed))
    assert deck == vector.deck
    assert as_text(deck) == vector.text
    assert hashlib.sha256(bytes(deck)).hexdigest() == vector.sha256


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v.seed[:8])
def test_a_deck_uses_up_its_published_number_of_bytes(vector: Vector) -> None:
    stream = stream_of_shuffle(bytes.fromhex(vector.seed), cards=52)
    assert stream.bytes_used == vector.bytes_used


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v.seed[:8])
def test_below_256_reads_the_stream_byte_for_byte(vector: Vector) -> None:
    stream = Stream(bytes.fromhex(vector.seed), "deck")
    assert bytes(stream.below(256) for _ in range(8)).hex() == vector.first8
    assert stream.bytes_used == 8


def test_the_second_block_of_a_stream_counts_on_from_the_first() -> None:
    stream = Stream(COUNTING_SEED, "deck")
    drawn = bytes(stream.below(256) for _ in range(64))
    blocks = (
        hmac.digest(COUNTING_SEED, b"hokm-stream-v1\0deck\0" + i, "sha256")
        for i in (b"\0\0\0\0", b"\0\0\0\1")
    )
    assert drawn == b"".join(blocks)


def test_a_stream_has_used_nothing_before_its_first_number() -> None:
    assert Stream(COUNTING_SEED, "deck").bytes_used == 0


def test_51_cards_are_shuffled_from_their_own_ascending_order() -> None:
    assert shuffled(PACK[1:], COUNTING_SEED) == DECK_OF_51
    assert stream_of_shuffle(COUNTING_SEED, cards=51).bytes_used == 54


def test_the_ace_draw_has_a_stream_of_its_own() -> None:
    assert shuffled(PACK, COUNTING_SEED, label="ace") == ACE_DRAW
    assert stream_of_shuffle(COUNTING_SEED, cards=52, label="ace").bytes_used == 57


def test_any_kind_of_card_is_shuffled_alike_and_the_pack_left_alone() -> None:
    pack = [str(card) for card in PACK]
    assert shuffled(pack, COUNTING_SEED) == tuple(str(card) for card in VECTORS[1].deck)
    assert pack == [str(card) for card in PACK]


@pytest.mark.parametrize("cards", [(), ("7H",)])
def test_a_pack_of_less_than_two_cards_stays_as_it_is(cards: tuple[str, ...]) -> None:
    assert shuffled(cards, COUNTING_SEED) == cards


@pytest.mark.parametrize("n", [-1, 0, 1, 257])
def test_numbers_that_one_byte_cannot_serve_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="2 to 256"):
        Stream(COUNTING_SEED, "deck").below(n)


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_seed_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"{length} bytes; it must have 32"):
        shuffled(PACK, bytes(length))


@pytest.mark.parametrize("label", ["تک", "deck\0"])
def test_a_label_that_could_be_read_two_ways_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="zero byte"):
        Stream(COUNTING_SEED, label)


def test_a_published_secret_has_its_published_commitment() -> None:
    assert commitment(COUNTING_SEED).hex() == COMMITMENT


def test_secret_and_entropy_mix_as_published() -> None:
    assert mix(COUNTING_SEED, ENTROPY) == MIXED


def test_an_event_without_entropy_still_has_a_mix_of_its_own() -> None:
    expected = hmac.digest(COUNTING_SEED, b"hokm-mix-v1\0", "sha256")
    assert mix(COUNTING_SEED, b"") == expected != MIXED


@pytest.mark.parametrize(("match_id", "board"), BOARD_SEEDS)
def test_boards_have_their_published_seeds(match_id: str, board: int) -> None:
    assert board_seed(MIXED, match_id, board).hex() == BOARD_SEEDS[match_id, board]


def test_the_first_published_board_has_its_published_deck() -> None:
    assert shuffled(PACK, board_seed(MIXED, "ev1/r1/alpha~beta", 1)) == DECK_OF_FIRST_BOARD


def test_number_0_which_draws_the_first_hakem_has_a_seed_like_any_board() -> None:
    expected = hmac.digest(MIXED, b"hokm-board-v1\0ev1/r1/alpha~beta/g1\0\0\0\0\0", "sha256")
    assert board_seed(MIXED, "ev1/r1/alpha~beta/g1", 0) == expected


def test_a_match_of_persian_names_is_seeded_by_its_utf8() -> None:
    expected = hmac.digest(MIXED, "hokm-board-v1\0ev1/r1/بی.بی~شاه\0\0\0\0\1".encode(), "sha256")
    assert board_seed(MIXED, "ev1/r1/بی.بی~شاه", 1) == expected


@pytest.mark.parametrize("board", [-1, 2**32])
def test_a_board_number_without_four_bytes_is_refused(board: int) -> None:
    with pytest.raises(ValueError, match="board number"):
        board_seed(MIXED, "ev1/r1/alpha~beta", board)


def test_a_match_id_that_could_be_read_two_ways_is_refused() -> None:
    with pytest.raises(ValueError, match="zero byte"):
        board_seed(MIXED, "ev1/r1/alpha~beta\0", 1)


@pytest.mark.parametrize("digits", [COUNTING_SEED.hex(), COUNTING_SEED.hex().upper()])
def test_64_hex_digits_are_the_secret_itself(digits: str) -> None:
    assert secret_from_text(digits) == COUNTING_SEED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "شنبه",
        "0" * 63,
        "0" * 65,
        "0" * 64 + "\n",
        " " + "00" * 32,
        "g" * 64,
        "\u0660" * 64,
    ],
)
def test_any_other_text_is_hashed_to_a_secret(text: str) -> None:
    assert secret_from_text(text) == hashlib.sha256(text.encode()).digest()


def test_the_example_in_the_module_runs_as_printed() -> None:
    outcome = doctest.testmod(hokm.deck)
    assert outcome.attempted == 1
    assert outcome.failed == 0


@pytest.mark.rule("8.51")
def test_case_51_shuffles_put_every_card_everywhere_as_chance_would() -> None:
    """Rulebook case 51, with the seeds of the boards of one match of the vectors, from 1 on:
    60,000, or as many as SHUFFLES says (`make shuffles`: a million).

    A permutation puts each card once and each place once, so the sum over the 52 x 52 table has
    mean 52 x 51; times 51/52 it is compared with chi-square on 51 x 51 = 2,601 degrees of freedom.
    Its 0.05 % and 99.95 % points are from scipy.stats.chi2.ppf. 60,000 decks give 2,558.0, a
    million 2,617.1; `byte % n` without rejection gives 8,036.8 with 60,000.
    """
    decks = int(os.environ.get("SHUFFLES", "60000"))
    seen = Counter[tuple[int, int]]()
    for board in range(1, decks + 1):
        seen.update(enumerate(shuffled(PACK, board_seed(MIXED, "ev1/r1/alpha~beta", board))))
    expected = decks / 52
    table = sum((seen[place, card] - expected) ** 2 / expected for place in PACK for card in PACK)
    statistic = table * 51 / 52
    sys.stdout.write(f"{decks:,} shuffles: chi-square {statistic:.1f}, 2,601 expected\n")
    assert 2370.20 < statistic < 2844.90
