"""Chance: what a text gives it gives again."""

from arena.conformance.chance import Chance


def draws(text: str) -> list[object]:
    chance = Chance(text)
    return [chance.below(7), chance.below(1000), chance.shuffled(range(9)), chance.seed()]


def test_the_same_text_gives_the_same_draws_and_another_gives_others() -> None:
    assert draws("a") == draws("a")
    assert draws("a") != draws("b")


def test_draws_are_within_their_bounds_and_reach_them() -> None:
    chance = Chance("bounds")
    assert {chance.below(3) for _ in range(100)} == {0, 1, 2}
    assert {chance.below(1) for _ in range(3)} == {0}
    assert all(chance.below(300) < 300 for _ in range(100))
    assert any(chance.below(300) > 255 for _ in range(200))
    assert not any(chance.happens(0) for _ in range(50))
    assert all(chance.happens(100) for _ in range(50))


def test_a_shuffle_has_everything_once() -> None:
    assert sorted(Chance("shuffle").shuffled("hokm")) == sorted("hokm")
