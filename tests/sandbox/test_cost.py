"""What a start in the sandbox costs: printed at the end of the tests (`conftest.py`); what is
asserted is no more than that it starts.
"""

from collections.abc import Callable

import pytest

from benchmarks import sandbox as bench


@pytest.mark.usefixtures("made_sandbox")  # skipped without one
def test_what_a_start_costs_is_measured(record_property: Callable[[str, object], None]) -> None:
    starts = bench.measure(rounds=7)
    record_property("cost of a start in the sandbox", bench.report(starts))
    assert not isinstance(starts, str)
    assert all(one.added_seconds < 5 for one in starts)  # a guard; it may be below 0
