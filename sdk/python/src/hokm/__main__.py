"""``python -m hokm``: a self-check of this installation; ``python -m hokm run FILE``: the bot in a
file.

The self-check plays one board in this process and needs no arena. A bot file is run as an arena
would start it: with an address and a ticket in its environment.
"""

import argparse
import importlib
import inspect
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import hokm
from hokm.bot import Bot
from hokm.cards import Card
from hokm.deck import shuffled
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of
from hokm.testing import play_board, seeds
from hokm.view import View


class Lowest(Bot):
    """Plays the lowest card it may."""

    def play(self, view: View) -> Card:
        """See :class:`~hokm.bot.Bot`."""
        return min(view.playable, key=lambda card: card.rank)


class Highest(Bot):
    """Plays the highest card it may."""

    def play(self, view: View) -> Card:
        """See :class:`~hokm.bot.Bot`."""
        return max(view.playable, key=lambda card: card.rank)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and do it. Raises SystemExit with status 2 for what makes no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m hokm",
        description="Without a command: check this installation by a board played in this process.",
    )
    parser.add_argument("--version", action="version", version=f"hokm-sdk {hokm.__version__}")
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run", help="run the bot in a file, as an arena starts it")
    run.add_argument("file", type=Path, help="a Python file with one Bot class in it")
    chosen = parser.parse_args(arguments)
    if chosen.command == "run":
        hokm.run(bot_in(chosen.file))
    else:
        check()


def check() -> None:
    """Play one board and load the client; print what came of it."""
    # The client's generated code looks at the version of protobuf as it is imported.
    importlib.import_module("hokm.client")
    needs = ", ".join(f"{name} {metadata.version(name)}" for name in ("grpcio", "protobuf"))
    print(f"hokm-sdk {hokm.__version__}, {needs}, Python {platform.python_version()}")
    rules = Rules.of(2)
    deck = shuffled(variant_of(rules).pack, seeds("self-check")(1))
    outcome = play_board([Highest(), Lowest()], rules, deck)
    points = "-".join(map(str, outcome.points))
    print(f"Highest against Lowest, one board for two: {points}. All is well.")


def bot_in(file: Path) -> type[Bot]:
    """The one bot class that a file defines. Raises SystemExit for none, several or no such file.

    What the file itself raises comes through.
    """
    if not file.is_file():
        _refuse(f"there is no file {file}")
    module = _loaded(file)
    # A bot that the file only imports is another file's; a dict, since a class may have two names.
    own = {
        kind: kind.__name__
        for kind in vars(module).values()
        if inspect.isclass(kind)
        and issubclass(kind, Bot)
        and not inspect.isabstract(kind)
        and kind.__module__ == module.__name__
    }
    if not own:
        _refuse(f"{file} defines no bot: expected a class that inherits from Bot and has play()")
    if len(own) > 1:
        _refuse(
            f"{file} defines several bots, {', '.join(own.values())}: leave one, or end the file "
            "with run(THE_ONE) and start it as a program"
        )
    return next(iter(own))


def _loaded(file: Path) -> ModuleType:
    # Not by the file's own name, which may be that of a module somebody needs: random.py, say.
    name = "hokm_bot"
    loader = SourceFileLoader(name, str(file))
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # where dataclasses and pickle look for it
    sys.path.insert(0, str(file.resolve().parent))  # as if it had been started as a program
    loader.exec_module(module)
    return module


def _refuse(text: str) -> NoReturn:
    sys.stderr.write(f"hokm: {text}\n")
    sys.exit(2)


if __name__ == "__main__":
    main()
