"""`arena repro` with real processes: the bytes that the bridge writes to a bot are those of its
match, and a bot that does otherwise is found out.
"""

import os
from pathlib import Path

import pytest

from arena.cli.app import main
from arena.referee.bridge import GrpcConnection
from arena.referee.connection import Written
from hokm.records import load
from hokm.session import GameStart, Welcome
from hokm.wire import decode_from_referee, encode_from_referee

if os.name != "posix":
    pytest.skip("the arena runs bots on POSIX systems", allow_module_level=True)

BOT = """
from hokm import Bot, run

class Noting(Bot):
    def play(self, view):
        self.note("one of them", choices=len(view.playable))
        return view.playable[{which}]

run(Noting)
"""

MANIFEST = """
schema = 1
name = "{name}"
owner = "maryam"
version = "1"
command = ["python", "bot.py"]
protocol = 1
variants = [2, 3, 4]
"""


def make_bot(home: Path, name: str, *, which: int) -> Path:
    folder = home / name
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST.format(name=name))
    (folder / "bot.py").write_text(BOT.format(which=which))
    return folder


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[int, bytes]:
    """What the bridge was given to write, by stream, one batch after another."""
    streams: dict[int, bytes] = {}
    kept: list[GrpcConnection] = []

    def post(stream: GrpcConnection, payload: bytes, written: Written | None = None) -> None:
        kept.append(stream)  # or another may have its id
        streams[id(stream)] = streams.get(id(stream), b"") + payload
        honest(stream, payload, written)

    honest = GrpcConnection.post
    monkeypatch.setattr(GrpcConnection, "post", post)
    return streams


def after_the_welcome(stream: bytes) -> bytes:
    """The bytes but for the token."""
    welcome = decode_from_referee(stream)[0]
    assert isinstance(welcome, Welcome)
    head = encode_from_referee([welcome])
    assert stream.startswith(head)
    return stream[len(head) :]


def test_a_bot_is_told_the_bytes_of_its_match_and_one_that_plays_otherwise_is_found_out(
    written: dict[int, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    low, high = make_bot(tmp_path, "low", which=0), make_bot(tmp_path, "high", which=-1)
    record = tmp_path / "m.json"
    asked = ["match", str(low), str(high), "--players", "2", "--boards", "2"]
    assert main([*asked, "--record", str(record), "--seed", "1"]) == 0
    assert load(record).rooms[0].games[0].notes

    def is_lows(stream: bytes) -> bool:
        starts = [one for one in decode_from_referee(stream) if isinstance(one, GameStart)]
        return [(one.game, one.seat, one.players) for one in starts] == [
            (number, 0, ("low", "high")) for number in (1, 2)
        ]

    [then] = [stream for stream in written.values() if is_lows(stream)]
    written.clear()
    capsys.readouterr()
    assert main(["repro", str(record), "--seat", "0", "--bot", str(low)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("the same: ")
    assert said.out.endswith(" decisions of low, seat 0 of room 1, in 2 games\n")
    assert said.err == ""
    [now] = written.values()
    assert after_the_welcome(now) == after_the_welcome(then)

    assert main(["repro", str(record), "--seat", "0", "--bot", str(high), "--first"]) == 1
    said = capsys.readouterr()
    assert "room 1, game 1, hand 1, play " in said.out
    assert "\n  on record  play " in said.out
    assert "(one of them; choices " in said.out
    assert "paste into `arena replay -`:\n    hokm 2 hakem " in said.out
    assert said.out.splitlines()[-1].startswith("1 difference in ")
    assert "is not what played as low" in said.err
