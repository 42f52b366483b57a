"""The reference staircase is frozen: a bundled bot of one name and version stays the same files.

Ratings and records speak of these bots by name, years later. Whoever changes one gives it a new
version, and where it plays otherwise a new name, and then puts its new digest here.
"""

import pytest

from arena.ladder.bots.bundle import bundle_digest
from arena.ladder.bots.entrants import SAMPLES, load_bot, sample_names

FROZEN = {
    ("batch", "1"): "19a71f2766deb3432292266e2ac0759755740f3d9b60de903259ba2c537b70a0",
    ("greedy", "1"): "fa05e89a4d122d00c60c97ad4af2ad6bddb253192625f4b87c7ae5d5e2627c1a",
    ("house", "1"): "8d7e5bd1b8b3039059f292e59a964e958f12f08d137ac0be5e5166e862239f51",
    ("house-10", "1"): "5089a97a8f9a2aad20abc23fac721e52ac6c2b782dd71ab571c9fadb0fdd320a",
    ("house-30", "1"): "080937b34de38dd29eb59ed2a77c5a1a877b5a1f5f70066b2323a10d2ff49bf4",
    ("learned", "1"): "d6c80a254e2e412fa44cbf56ac4986c81769c76a12160cef88bc1503e8fbddf4",
    ("random", "1"): "027694d061c6f937de294c9b990dd07ce75ae7837440695f6e612396b7821ab4",
    ("search", "1"): "81690be3dcd89ffac25edbf4187a97acf3968030d7db5e0f038bda117b778b0a",
    ("search-20", "1"): "0f95171c90d9e6964ee115baf02c0cd9a7563800e060bc204476c44a0d47407f",
}
"""By name and version, the digest of the folder."""


def test_every_bundled_bot_is_frozen() -> None:
    assert {(name, load_bot(SAMPLES / name).version) for name in sample_names()} == {*FROZEN}


@pytest.mark.parametrize(("name", "version"), FROZEN)
def test_a_frozen_bot_has_not_changed(name: str, version: str) -> None:
    digest = bundle_digest(SAMPLES / name)
    assert digest == FROZEN[name, version], (
        f"{name} is not what version {version} was: give it a new version (a new name where it "
        f"plays otherwise) and put {digest} into this table"
    )
