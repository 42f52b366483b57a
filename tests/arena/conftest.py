"""What tests of the arena share: a database server, made for them alone."""

from collections.abc import Iterator

import pytest

from tests.postgres import ON_POSTGRES, Cluster, lacking, running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL server of this process alone; where there can be none, a skip says why."""
    if (reason := lacking()) is not None:
        if ON_POSTGRES:  # asked for, so that a run without one would say nothing
            pytest.fail(reason)
        pytest.skip(reason)
    with running() as cluster:
        yield cluster
