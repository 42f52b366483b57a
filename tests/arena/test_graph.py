"""The picture of ratings: its names, its bytes, and names that do not lie on each other."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from arena.graph import _apart, draw
from arena.ladder.ratings.history import Curve, Point
from arena.ladder.ratings.standings import Row

ROW = Row(
    rank=1,
    ranks=(1, 2),
    name="ada",
    owner="o",
    version="1",
    elo=1510.0,
    mle=1530.0,
    bar=40.0,
    matches=3,
    matches_won=1,
    matches_drawn=1,
    matches_lost=1,
    boards_won=1,
    boards_drawn=1,
    boards_lost=1,
    points_per_board=0.0,
    los_next=0.6,
    forfeits=0,
    flags=(),
    note="",
)


def curve(name: str, *elo: float, rank: int = 1) -> Curve:
    points = tuple(Point(number, value, number) for number, value in enumerate(elo, start=1))
    return Curve(replace(ROW, name=name, rank=rank, elo=elo[-1] if elo else None), points)


CURVES = [curve("ada", 1500, 1520, 1531), curve("علی", 1500, 1480.4, rank=2)]


def texts(file: Path) -> set[str]:
    found = re.findall(r"<text[^>]*>([^<]*)</text>", file.read_text(encoding="utf-8"))
    return {text.replace("\u200e", "").strip() for text in found}


def test_a_picture_has_names_ratings_and_what_is_on_its_axes(tmp_path: Path) -> None:
    file = tmp_path / "club.svg"
    draw(CURVES, file, title="club (4p-boards-16)")
    assert {
        "club (4p-boards-16)",
        "ada 1531",
        "علی 1480",
        "#1 ada",
        "#2 علی",
        "round",
        "Elo, after each round",
        "MLE ± 95 %, now",
    } <= texts(file)


def test_the_same_ratings_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.svg", "other.svg"):
        draw(CURVES, tmp_path / name, title="club")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    assert b"<dc:date>" not in (tmp_path / "one.svg").read_bytes()


def test_a_png_is_one(tmp_path: Path) -> None:
    draw(CURVES, tmp_path / "club.png", title="club")
    assert (tmp_path / "club.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_bots_without_points_or_without_a_rating_are_no_trouble(tmp_path: Path) -> None:
    fresh = Curve(replace(ROW, name="eve", rank=None, mle=None, bar=None), ())
    file = tmp_path / "club.svg"
    draw([curve("ada", 1500), fresh], file, title="club")
    assert "ada 1500" in texts(file)
    assert not any("eve" in text for text in texts(file))
    draw([fresh], file, title="club")


def test_many_bots_make_a_taller_picture(tmp_path: Path) -> None:
    heights = []
    for count in (5, 60):
        file = tmp_path / f"{count}.svg"
        many = [curve(f"b{i}", 1500, 1500 + i / 100, rank=i + 1) for i in range(count)]
        draw(many, file, title="club")
        assert {f"#{i + 1} b{i}" for i in range(count)} <= texts(file)
        found = re.search(r'height="([\d.]+)pt"', file.read_text())
        assert found is not None
        heights.append(float(found[1]))
    assert heights[1] > 2 * heights[0]


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"neither \.svg nor \.png"):
        draw(CURVES, tmp_path / "club.pdf", title="club")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to be had")
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_on_a_full_disk_the_file_is_named_and_no_half_of_it_left(
    suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"ratings{suffix}"
    file.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as raised:
        draw([curve("ada", 1500, 1510)], file, title="club")
    assert raised.value.filename == str(file)
    assert not file.is_symlink()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        draw(CURVES, tmp_path / "nowhere" / "club.svg", title="club")
    assert caught.value.filename == str(tmp_path / "nowhere" / "club.svg")


@pytest.mark.parametrize(
    ("wanted", "placed"),
    [
        ([], []),
        ([3.0, 1.0], [3.0, 1.0]),
        ([1.0, 1.0], [0.5, 1.5]),
        ([5.0, 5.0, 5.0], [4.0, 5.0, 6.0]),
        ([0.0, 0.5, 9.0], [-0.25, 0.75, 9.0]),
        ([0.0, 1.5, 1.6, 1.65], [-0.3125, 0.6875, 1.6875, 2.6875]),
        ([2.0, 1.0, 1.2], [2.4, 0.4, 1.4]),
    ],
)
def test_names_are_moved_apart_and_no_further(wanted: list[float], placed: list[float]) -> None:
    found = _apart(wanted, gap=1.0)
    assert found == pytest.approx(placed)
    assert all(b - a >= 1 - 1e-9 for a, b in pairwise(sorted(found)))
