"""The draws of a schedule: even, of any size, and the same for whoever has the secret."""

from collections import Counter

import pytest

from arena.ladder.schedules.chance import drawn_from, in_drawn_order
from hokm.deck import Stream

MIXED = bytes(range(32))


def test_the_draws_are_those_of_the_stream_with_its_label():
    draw = drawn_from(MIXED, first_round=17)
    stream = Stream(MIXED, "hokm-sched-v1/r17")
    assert [draw(n) for n in (10, 256, 2, 100)] == [stream.below(n) for n in (10, 256, 2, 100)]


def test_a_large_number_is_made_of_bytes_from_the_left():
    draw, stream = drawn_from(MIXED, first_round=1), Stream(MIXED, "hokm-sched-v1/r1")
    high, low = stream.below(256), stream.below(256)
    assert draw(65536) == 256 * high + low


def test_nothing_is_drawn_where_there_is_no_choice():
    draw, fresh = drawn_from(MIXED, first_round=1), drawn_from(MIXED, first_round=1)
    assert [draw(1) for _ in range(5)] == [0] * 5
    assert draw(1000) == fresh(1000)


@pytest.mark.parametrize("n", [2, 3, 200, 256, 257, 300, 44_850, 40_000])
def test_every_number_below_is_as_likely(n):
    draw = drawn_from(MIXED, first_round=1)
    bins = min(n, 20)
    counts = Counter(draw(n) * bins // n for _ in range(20_000))
    # χ² with 19 degrees of freedom or fewer; 50 comes once in a hundred thousand.
    shares = [sum(1 for x in range(n) if x * bins // n == k) / n for k in range(bins)]
    chi2 = sum(
        (counts[k] - 20_000 * share) ** 2 / (20_000 * share) for k, share in enumerate(shares)
    )
    assert chi2 < 50
    assert max(counts) == bins - 1


def test_each_answer_has_draws_of_its_own():
    draws = [drawn_from(MIXED, first_round=number) for number in range(1, 30)]
    assert len({draw(2**32) for draw in draws}) == 29


def test_all_orders_are_drawn_as_often():
    draw = drawn_from(MIXED, first_round=1)
    orders = Counter("".join(in_drawn_order("abc", draw)) for _ in range(6000))
    assert len(orders) == 6
    assert all(abs(count - 1000) < 150 for count in orders.values())
