"""The picture of what decisions cost."""

import re
from pathlib import Path

import pytest

from arena.analysis.losses import losses_of
from arena.analysis.picture import draw
from arena.analysis.values import Kind
from tests.arena.analysis.test_losses import hand, moment

LOSSES = losses_of(
    [hand(1, moment("play 1", 0, Kind.LEAD, 2.0, fair=0.5)), hand(2, left_out=((Kind.DRAW, 1),))],
    entrants=2,
)


def test_a_picture_names_bots_and_kinds_and_is_the_same_bytes_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    for file in (one, two):
        draw(LOSSES, ("ada", "علی"), file, title="a match")
    assert one.read_bytes() == two.read_bytes()
    found = re.findall(r"<text[^>]*>([^<]*)</text>", one.read_text(encoding="utf-8"))
    texts = {text.replace("\u200e", "").strip() for text in found}
    assert {"ada", "علی", "a match", "lead", "against what was known", "game"} <= texts


def test_of_a_single_game_a_point_shows_what_was_lost(tmp_path: Path) -> None:
    one = losses_of([hand(1, moment("play 1", 0, Kind.LEAD, 2.0, fair=0.5))], entrants=2)
    drawn = tmp_path / "one.svg"
    draw(one, ("ada", "bob"), drawn, title="a game")
    marks = re.findall(r"<use [^>]*fill: (#\w+)", drawn.read_text(encoding="utf-8"))
    assert {"#1f77b4", "#ff7f0e"} <= set(marks)


def test_a_name_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither"):
        draw(LOSSES, ("a", "b"), tmp_path / "one.txt", title="")
