"""A short soak: that it plays, measures and leaves nothing. What it finds over a thousand matches
is on the page of the zoo; `make soak` plays them.
"""

import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import trio

from hokm.outcome import Ending
from tests.zoo.soak import Size, Soak, soak

MATCHES = 20

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read in /proc"),
]


def test_matches_with_the_zoo_among_good_bots_leave_nothing(tmp_path: Path) -> None:
    found = trio.run(partial(soak, tmp_path, matches=MATCHES, at_once=2, seed=1, share=0.4))
    assert found.left == ()
    assert [size.matches for size in found.sizes] == [10, 20]
    assert found.endings.total() == 2 * MATCHES
    assert found.endings[Ending.COMPLETED.name] > MATCHES
    # So few say nothing about a kibibyte, but four sessions that are kept are a hundred objects.
    assert found.objects_a_match < 40


def test_growth_is_measured_once_it_is_warm() -> None:
    sizes = [
        Size(
            matches=10 * look,
            resident_kib=100.0 * look if look < 20 else 2000.0,
            objects=50 * look,
            files=9,
        )
        for look in range(100)
    ]
    found = Soak(tuple(sizes), Counter(), seconds=1.0, left=())
    assert found.kib_a_match == pytest.approx(0.0)
    assert found.objects_a_match == pytest.approx(5.0)
