"""What the referee's tests share: the marker that ties a test to the rulebook."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "rule(clause): the clause of the rulebook that a test holds the code to"
    )
