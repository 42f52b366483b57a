"""Submissions that must not become active: each writes a folder or an archive, and says at which
stage it is refused and by which words its author learns why.

They are what authors send in by mistake, and a few what somebody might on purpose.
"""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent

from arena.validation.values import Stage
from hokm.session import ClockRules

GOOD = """
    from hokm import Bot, run

    class Mine(Bot):
        def play(self, view):
            return view.playable[0]
"""

RUN = """
    run(Mine)
"""

HELLO = ("hello",)
HANDS = ("hello", "four-seats", "three-seats", "two-seats")
RACES = ("hello", "four-seats", "four-race")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A submission: how it is written, and what is to be said of it.

    Args:
        write: makes it in a folder, and says where it is.
        stage: the one that refuses it.
        cause: words of the report's cause.
        checks: of the kit; those that are not needed would take their time.
        exit_code: of its process, where it is known.
        told: words that stand in its log or exchange.
        clock: of its matches.
    """

    write: Callable[[Path], Path]
    stage: Stage
    cause: str
    checks: Sequence[str] = HELLO
    exit_code: int | None = None
    told: str = ""
    clock: ClockRules = field(default_factory=ClockRules)


# -- how they are written


def manifest(claims: Mapping[str, object] | None = None) -> str:
    """A good ``bot.toml``, but for those values."""
    good: dict[str, object] = {
        "schema": 1,
        "name": "mine",
        "owner": "maryam",
        "version": "1",
        "command": ["python", "bot.py"],
        "protocol": 1,
        "variants": [2, 3, 4],
    }
    return "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in (good | dict(claims or {})).items()
    )


def folder(
    *,
    files: dict[str, str] | None = None,
    without: str = "",
    more: str = "",
    claims: Mapping[str, object] | None = None,
) -> Callable[[Path], Path]:
    """A folder of a good bot, but for those files and claims; ``more`` ends its manifest."""

    def write(place: Path) -> Path:
        mine = place / "mine"
        mine.mkdir()
        good = {"bot.toml": manifest(claims) + more, "bot.py": dedent(GOOD) + dedent(RUN)}
        for path, text in (good | (files or {})).items():
            if path != without:
                (mine / path).write_text(text, encoding="utf-8")
        return mine

    return write


def program(
    change: str, *, run: str = RUN, claims: Mapping[str, object] | None = None
) -> Callable[[Path], Path]:
    """A good bot with something after its class, and before it runs."""
    source = "".join(map(dedent, (GOOD, change, run)))
    return folder(files={"bot.py": source}, claims=claims)


def method(
    body: str, *, name: str = "play", claims: Mapping[str, object] | None = None
) -> Callable[[Path], Path]:
    """A good bot with another method: what it does instead, or before it goes on."""
    lines = indent(dedent(body).strip(), "    ")
    signature = "self, view" if name != "hand_ended" else "self, view, result"
    rest = "    return view.playable[0]\n" if name == "play" else ""
    change = f"def method({signature}):\n{lines}\n{rest}\nMine.{name} = method\n"
    source = dedent(GOOD) + change + dedent(RUN)
    return folder(files={"bot.py": source}, claims=claims)


def archive(*more: tuple[str, bytes, int], name: str = "mine.zip") -> Callable[[Path], Path]:
    """An archive of a good bot with more in it: paths, contents, modes of Unix."""

    def write(place: Path) -> Path:
        file = place / name
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for path, text in (("bot.toml", manifest()), ("bot.py", dedent(GOOD) + dedent(RUN))):
                packed.writestr(path, text)
            for path, content, mode in more:
                info = zipfile.ZipInfo(path)
                info.create_system = 3
                info.external_attr = mode << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(info, content)
        return file

    return write


def too_large(place: Path) -> Path:
    """A file with a hole in it: 60 MiB of nothing."""
    mine = folder()(place)
    with (mine / "weights.bin").open("wb") as stream:
        stream.truncate(60 << 20)
    return mine


# -- what they do

SPEAKS_ANOTHER_PROTOCOL = """
    import hokm.player as player
    from dataclasses import replace
    hello = player.Player.hello
    player.Player.hello = lambda self: replace(hello(self), protocol=2)
"""
NEVER_SAYS_HELLO = """
    import time
    print("loading my weights")
    time.sleep(600)
"""
FLOODS_ITS_LOG = """
    import sys
    for _ in range(3000):
        sys.stderr.write("\\x1b]0;owned\\x07\\x1b[2J" + "\\u202e" * 1000)
    raise SystemExit("\\nout of \\x1b[31mideas")
"""
READS_THE_NETWORK = """
    import socket
    socket.create_connection(("127.0.0.1", 1), timeout=5)
"""
GOES_TO_THE_BACKGROUND = """
    import subprocess, sys
    if "--really" not in sys.argv:
        subprocess.Popen([sys.executable, "bot.py", "--really"], start_new_session=True)
        raise SystemExit
"""
SENDS_GARBAGE = """
    import hokm.client, hokm.wire
    whole = hokm.wire.encode_from_bot
    def encode(messages):
        messages = list(messages)
        named = [type(one).__name__ for one in messages]
        return b"\\xff" * 100 if "Answer" in named else whole(messages)
    hokm.client.encode_from_bot = encode
"""
FLOODS_THE_REFEREE = """
    import hokm.player as player
    answers = player.Player._answers
    def flood(self):
        for one in answers(self):
            yield from [one] * (5000 if type(one).__name__ == "Answer" else 1)
    player.Player._answers = flood
"""
LOOKS_FOR_ITS_OPPONENT = """
    import hokm.player as player
    start = player.Player._start
    def seat(self, message):
        names = message.match.rpartition("/")[2].split("~")
        opponent = [name for name in names if name != "mine"][0]
        start(self, message)
    player.Player._start = seat
"""
LEAVES_WITH_A_CODE = """
    import atexit, os
    atexit.register(lambda: os._exit(5))
"""

ZOO: dict[str, Broken] = {
    # -- its files
    "has no manifest": Broken(
        write=folder(without="bot.toml"), stage=Stage.BUNDLE, cause="has no bot.toml"
    ),
    "has an unknown key": Broken(
        write=folder(more='varients = "all"\n'),
        stage=Stage.BUNDLE,
        cause="varients: is not a known key; did you mean variants?",
    ),
    "has no such file": Broken(
        write=folder(without="bot.py"),
        stage=Stage.BUNDLE,
        cause="there is no file bot.py in the bot's folder",
    ),
    "is of another protocol": Broken(
        write=folder(claims={"protocol": 2}),
        stage=Stage.BUNDLE,
        cause="protocol: 2 is not spoken here",
    ),
    "asks for the whole machine": Broken(
        write=folder(more="[limits]\nmemory_mib = 1000000\n"),
        stage=Stage.BUNDLE,
        cause="limits.memory_mib: asks for 1000000, and nobody gets more than",
    ),
    "is too large": Broken(
        write=too_large, stage=Stage.BUNDLE, cause="The largest: weights.bin 60.0 MiB"
    ),
    "leads out of its folder": Broken(
        write=archive(("../evil.py", b"print('out')", 0o100644)),
        stage=Stage.BUNDLE,
        cause="'../evil.py': is not a path inside the bot's folder",
    ),
    "has a link in it": Broken(
        write=archive(("passwords", b"/etc/passwd", 0o120777)),
        stage=Stage.BUNDLE,
        cause="'passwords': is a symbolic link",
    ),
    "bursts": Broken(
        write=archive(("zeros.bin", bytes(40 << 20), 0o100644)),
        stage=Stage.BUNDLE,
        cause="unpacks to more than 200 times its length",
    ),
    "is another bot than its name says": Broken(
        write=archive(name=f"{'0123456789abcdef' * 4}.zip"),
        stage=Stage.BUNDLE,
        cause="holds another bot",
    ),
    # -- what it needs
    "requires what there is not": Broken(
        write=folder(files={"requirements.txt": "nowhere-to-be==1\n"}),
        stage=Stage.ENVIRONMENT,
        cause="nowhere-to-be==1 cannot be installed",
        told="nowhere-to-be",
    ),
    "cannot be built": Broken(
        write=folder(more='[build]\ncommand = ["sh", "-c", "echo no rule; exit 7"]\n'),
        stage=Stage.ENVIRONMENT,
        cause="cannot be built",
        told="no rule",
    ),
    # -- its start
    "has a syntax error": Broken(
        write=program("class Other(Bot)"),
        stage=Stage.CONFORMANCE,
        cause="hello: its process ended (exit code 1): SyntaxError: expected ':'",
        exit_code=1,
        told="class Other(Bot)",
    ),
    "imports what is not there": Broken(
        write=program("import nowhere_to_be"),
        stage=Stage.CONFORMANCE,
        cause="ModuleNotFoundError: No module named 'nowhere_to_be'",
        exit_code=1,
        told="import nowhere_to_be",
    ),
    "exits at once": Broken(
        write=program("raise SystemExit(3)"),
        stage=Stage.CONFORMANCE,
        cause="hello: its process ended (exit code 3)",
        exit_code=3,
    ),
    "reads the network": Broken(
        write=program(READS_THE_NETWORK),
        stage=Stage.CONFORMANCE,
        cause="ConnectionRefusedError",
        exit_code=1,
        told="create_connection",
    ),
    "goes to the background": Broken(
        write=program(GOES_TO_THE_BACKGROUND),
        stage=Stage.CONFORMANCE,
        cause="hello: its process ended (exit code 0)",
        exit_code=0,
    ),
    "floods its log": Broken(
        write=program(FLOODS_ITS_LOG),
        stage=Stage.CONFORMANCE,
        cause="hello: its process ended (exit code 1): out of \ufffd[31mideas",
        exit_code=1,
        told="out of \ufffd[31mideas",
    ),
    "never says hello": Broken(
        write=program(NEVER_SAYS_HELLO),
        stage=Stage.CONFORMANCE,
        cause="hello: it did not connect",
        told="loading my weights",
    ),
    "speaks another protocol": Broken(
        write=program(SPEAKS_ANOTHER_PROTOCOL),
        stage=Stage.CONFORMANCE,
        cause="it speaks protocol 2, and its bot.toml says 1",
    ),
    # -- its play
    "plays what it may not": Broken(
        write=method("return view.hand[-1]"),
        stage=Stage.CONFORMANCE,
        cause="MUST_FOLLOW_SUIT",
        checks=HANDS,
        told="answer to game",
    ),
    "sends what is no message": Broken(
        write=program(SENDS_GARBAGE),
        stage=Stage.CONFORMANCE,
        cause="it sent what is no message of the protocol",
        checks=("hello", "four-seats"),
    ),
    "floods the referee": Broken(
        write=program(FLOODS_THE_REFEREE),
        stage=Stage.CONFORMANCE,
        cause="four-seats: it ",
        checks=("hello", "four-seats"),
    ),
    "hangs": Broken(
        write=method("import time; time.sleep(600)"),
        stage=Stage.CONFORMANCE,
        cause="four-seats: it said nothing for 1.0 s",
        checks=("hello", "four-seats"),
        told="decision",
    ),
    "crashes in the third hand": Broken(
        write=method("assert view.hand_number < 3, 'a third hand'"),
        stage=Stage.CONFORMANCE,
        cause="AssertionError: a third hand",
        checks=RACES,
        exit_code=1,
        told="hand 3 starts",
    ),
    "crashes with three": Broken(
        write=method("return {2: view.playable, 4: view.playable}[view.variant.seats][0]"),
        stage=Stage.CONFORMANCE,
        cause="three-seats: its stream ended (exit code 1): KeyError: 3",
        checks=HANDS,
        exit_code=1,
        told="KeyError: 3",
    ),
    "knows no races": Broken(
        write=method(
            "assert result.winner == 0 or view.rules.target_points is None", name="hand_ended"
        ),
        stage=Stage.CONFORMANCE,
        cause="its stream ended (exit code 1): AssertionError",
        checks=RACES,
        exit_code=1,
        told="AssertionError",
    ),
    "leaves with a code": Broken(
        write=program(LEAVES_WITH_A_CODE),
        stage=Stage.CONFORMANCE,
        cause="hello: its process ended (exit code 5)",
        exit_code=5,
    ),
    # -- its matches
    "meets itself and dies": Broken(
        write=program(LOOKS_FOR_ITS_OPPONENT, claims={"variants": [4]}),
        stage=Stage.MATCHES,
        cause="goodbye (exit code 1): IndexError: list index out of range",
        checks=("hello", "four-seats"),
        exit_code=1,
        told="IndexError: list index out of range",
    ),
    "is too slow": Broken(
        write=method("import time; time.sleep(0.06)", claims={"variants": [2]}),
        stage=Stage.MATCHES,
        cause="2-boards: TIME: ",
        clock=ClockRules(move_seconds=0.01, bank_seconds=0.1),
        told="hokm 2 hakem",
    ),
}
"""By what is wrong with them."""
