"""What stands in a message: enough of it to know it by, and never all of something endless."""

import pytest

from hokm.errors import quoted


@pytest.mark.parametrize("value", ["", "AX", "0" * 64, 7, None, ["a", 1], {"a": 1}])
def test_what_is_short_stands_there_whole(value: object) -> None:
    assert quoted(value) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        "x" * 100_000,
        "\0" * 100_000,
        10**4000,
        ["x" * 100_000] * 100_000,
        {f"{number:099}": "x" * 1000 for number in range(1000)},
        [[[["x" * 1000] * 100] * 100] * 100] * 100,
    ],
    ids=["text", "controls", "number", "list", "dict", "nested"],
)
def test_what_is_long_is_cut(value: object) -> None:
    assert len(quoted(value)) < 1000
