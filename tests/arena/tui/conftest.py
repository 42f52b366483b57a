"""Reels of records and of pasted hands, as `arena replay` makes them."""

from collections.abc import Callable

import pytest

from arena.cli.stepping import reel_of_hands, reel_of_match
from arena.tui.reel import Reel
from hokm.notation import parse_hands
from hokm.records import MatchRecord
from tests.hokm.records.conftest import make_match_record

MakeReel = Callable[..., Reel]


def reel_of(record: MatchRecord) -> Reel:
    return reel_of_match(record, [(room, game) for room in record.rooms for game in room.games])


def reel_of_text(text: str) -> Reel:
    return reel_of_hands("pasted", parse_hands(text))


@pytest.fixture
def make_reel() -> MakeReel:
    """Makes a reel of a match of random play; takes what `make_match_record` takes."""

    def make_reel(*args: object, **kwargs: object) -> Reel:
        return reel_of(make_match_record(*args, **kwargs))  # type: ignore[arg-type]

    return make_reel
