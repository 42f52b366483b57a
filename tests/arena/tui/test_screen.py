"""The program in a terminal of 80 by 24: what keys do, and what stands where.

Textual has asyncio's loop; tests run it to its end themselves, since pytest's here is trio's.
"""

import asyncio
from collections.abc import Awaitable, Callable

from textual.pilot import Pilot
from textual.widgets import Static

from arena.tui.reel import At, Kind, Unit
from arena.tui.screen import Replay
from hokm.cards import Seat
from hokm.notation import parse_hand
from hokm.records import Format
from tests.arena.cli.test_replay import HAND
from tests.arena.tui.conftest import MakeReel, reel_of_text

Steps = Callable[[Replay, Pilot[None]], Awaitable[None]]


def run(app: Replay, steps: Steps) -> None:
    """Have `steps` use the program, and leave it."""

    async def used() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await steps(app, pilot)
            await pilot.press("q")

    asyncio.run(used())


def rows(app: Replay) -> list[str]:
    """The screen, as somebody reads it."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def part(app: Replay, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).content)


def looking(app: Replay) -> Seat | None:
    return app.eyes


def test_keys_go_by_play_trick_hand_and_game_and_what_is_there_is_shown(make_reel: MakeReel):
    reel = make_reel(kind=Format.CLASSIC, games=2, options={"target_points": "2"})

    async def steps(app: Replay, pilot: Pilot[None]) -> None:
        assert "room 1, game 1   1 of 4 games   local/" in rows(app)[0]
        await pilot.press("right", "right")
        assert reel.moment(app.at).kind is Kind.DECISION
        await pilot.press("down")
        assert (reel.moment(app.at).kind, reel.moment(app.at).trick) == (Kind.TRICK, 1)
        assert "hand 1, trick 1" in rows(app)[0]
        await pilot.press("left", "up")
        assert reel.moment(app.at).trick == 0
        await pilot.press("]", "]")
        assert reel.moment(app.at).hand == 2
        await pilot.press("[", "}")
        assert app.at == At(1, 0)
        await pilot.press("{", "end")
        assert app.at == reel.ends(At(0, 0), last=True)
        assert "ending   COMPLETED" in "\n".join(rows(app))
        await pilot.press("home")
        assert app.at == At(0, 0)
        # All of it fits: the last row has the keys, whole.
        assert rows(app)[-1].endswith("? keys q leave")

    run(Replay(reel, at=At(0, 0)), steps)


def test_one_goes_to_a_place_and_finds_what_one_looks_for(make_reel: MakeReel):
    reel = make_reel()
    card = reel.tapes[0].game.hands[0].plays[-1]

    async def steps(app: Replay, pilot: Pilot[None]) -> None:
        await pilot.press("g", *"2.3", "enter")
        assert app.at == reel.jump(At(0, 0), "2.3")
        await pilot.press("g", "9", "enter")
        assert app.at == reel.jump(At(0, 0), "2.3")
        assert "there is no game 9" in next(one.message for one in app._notifications)
        await pilot.press("slash", *str(card), "enter")
        found = app.at
        assert reel.moment(found).card == card
        await pilot.press("n")
        assert reel.moment(app.at).card == card
        await pilot.press("N")
        assert app.at == found
        await pilot.press("slash", "x")
        await pilot.pause()
        assert rows(app)[-1].split() == ["esc", "back"]
        await pilot.press("escape", "right")
        assert app.at == reel.step(found, Unit.PLAY, onwards=True)

    run(Replay(reel, at=At(0, 0)), steps)


def test_cards_are_closed_but_for_a_seat_and_then_no_text_has_them_all():
    reel = reel_of_text(HAND)

    async def steps(app: Replay, pilot: Pilot[None]) -> None:
        await pilot.press("2")
        assert looking(app) == Seat(2)
        assert "♠5QK" not in part(app, "table")
        await pilot.press("t")
        assert app.texts == []
        await pilot.press("o")
        assert looking(app) is None
        assert "♠5QK" in part(app, "table")
        await pilot.press("o")
        assert looking(app) == Seat(2)

    run(Replay(reel, at=reel.ends(At(0, 0), last=True)), steps)


def test_a_hand_is_copied_as_far_as_it_is_played_or_whole():
    reel = reel_of_text(HAND)

    async def steps(app: Replay, pilot: Pilot[None]) -> None:
        await pilot.press("down", "t")
        assert any("plays 4C KC 9C TC" in row for row in rows(app))
        await pilot.press("escape", "T", "escape")

    app = Replay(reel, at=At(0, 0))
    run(app, steps)
    assert [len(parse_hand(text)[1].plays) for text in app.texts] == [4, 11]
    assert app.clipboard == app.texts[1]


def test_it_begins_where_it_was_asked_to_and_tells_its_keys(make_reel: MakeReel):
    reel = make_reel()
    at = reel.jump(At(0, 0), "2")

    async def steps(app: Replay, pilot: Pilot[None]) -> None:
        await pilot.press("?")
        assert any("end       the beginning and the end" in row for row in rows(app))
        assert rows(app)[-1].split() == ["esc", "back"]
        await pilot.press("escape")
        assert (app.at, app.eyes) == (at, Seat(1))

    run(Replay(reel, at=at, eyes=Seat(1)), steps)
