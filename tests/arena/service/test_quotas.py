"""Buckets: a burst, then one at a time, each for itself."""

from arena.service.quotas import Buckets, Rate

RATE = Rate(burst=3, every_seconds=2.0)


def test_a_burst_then_one_at_a_time() -> None:
    buckets = Buckets(RATE)
    assert [buckets.wait_seconds("a", now=0.0) for _ in range(4)] == [0, 0, 0, 2.0]
    assert buckets.wait_seconds("a", now=1.0) == 1.0
    assert buckets.wait_seconds("a", now=2.0) == 0
    assert buckets.wait_seconds("a", now=2.0) == 2.0


def test_each_has_a_bucket_of_its_own() -> None:
    buckets = Buckets(RATE)
    for _ in range(3):
        buckets.wait_seconds("a", now=0.0)
    assert buckets.wait_seconds("a", now=0.0) > 0
    assert buckets.wait_seconds("b", now=0.0) == 0


def test_what_costs_more_waits_longer_and_takes_nothing_meanwhile() -> None:
    buckets = Buckets(RATE)
    assert buckets.wait_seconds("a", now=0.0, cost=2) == 0
    assert buckets.wait_seconds("a", now=0.0, cost=3) == 4.0
    assert buckets.wait_seconds("a", now=0.0) == 0


def test_nothing_is_saved_up_beyond_a_burst() -> None:
    buckets = Buckets(RATE)
    buckets.wait_seconds("a", now=0.0)
    assert [buckets.wait_seconds("a", now=1e6) for _ in range(4)] == [0, 0, 0, 2.0]


def test_a_clock_that_is_set_back_gives_nothing() -> None:
    buckets = Buckets(RATE)
    for _ in range(3):
        buckets.wait_seconds("a", now=1000.0)
    assert buckets.wait_seconds("a", now=0.0) == 2.0


def test_a_clock_that_is_set_back_keeps_nobody_out_until_it_is_as_late_again() -> None:
    buckets = Buckets(RATE)
    for _ in range(3):
        buckets.wait_seconds("a", now=86_400.0)
    assert buckets.empty("a", now=0.0) == 2.0
    assert buckets.wait_seconds("a", now=1.0) == 1.0
    assert buckets.wait_seconds("a", now=2.0) == 0


def test_a_charge_takes_what_there_is() -> None:
    buckets = Buckets(RATE)
    buckets.charge("a", now=0.0, cost=100)
    assert buckets.empty("a", now=0.0) == 2.0
    assert buckets.empty("a", now=2.0) == 0
    assert buckets.empty("b", now=0.0) == 0


def test_who_asked_longest_ago_is_forgotten_first() -> None:
    buckets = Buckets(RATE, most_keys=2)
    for key in "aab":
        buckets.wait_seconds(key, now=0.0)
    buckets.wait_seconds("a", now=0.0)
    buckets.wait_seconds("c", now=0.0)
    assert len(buckets._left) == 2
    assert buckets.wait_seconds("a", now=0.0) > 0
