"""The bots that three owners have in a club's ladder: five that play, in two languages, one of them
at home; two that are broken; one that plays and looks around.
"""

import json
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).resolve().parents[2]

GOOD = """
    from hokm import Bot, run

    class Mine(Bot):
        name = "{name}"

        def play(self, view):
            return {choice}

    run(Mine{home})
"""

# Whoever plays by the rules is entered, whatever it looks at besides. This one says of each thing
# what came of it, and ends at once where anything did: it would be refused as it is validated.
CURIOUS = """
    import os, pathlib, socket, threading
    from hokm import Bot, run

    class Mine(Bot):
        def play(self, view):
            return view.playable[-1]

    def see(what, look):
        try:
            found = look()
        except Exception as error:
            print("NOT", what, type(error).__name__, flush=True)
        else:
            print("GOT" if found else "NOT", what, found or "nothing", flush=True)
            if found:
                os._exit(3)

    def others():
        own = os.environ["HOKM_TICKET"]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{{pid}}/environ").read_text()
            except OSError:
                continue
            if "HOKM_TICKET=" in words and own not in words:
                yield pid

    def connected(address):
        socket.create_connection(address, timeout=2).close()
        return address

    def look_around():
        for path in {paths}:
            path = pathlib.Path(path)
            see(f"read {{path}}", lambda: os.listdir(path) if path.is_dir() else path.read_bytes())
            see(f"write {{path}}", lambda: path.joinpath("x").write_text("x"))
        see("write its own folder", lambda: pathlib.Path("x").write_text("x"))
        see("tickets of others", lambda: list(others()))
        see("tokens", lambda: [name for name in os.environ if "TOKEN" in name])
        see("the ladder's service", lambda: connected(("127.0.0.1", {port})))
        see("the network", lambda: connected(("192.0.2.1", 80)))
        see("names", lambda: socket.getaddrinfo("example.org", 80))
        print("LOOKED", flush=True)

    threading.Thread(target=look_around, daemon=True).start()
    run(Mine)
"""

ILLEGAL = """
    from hokm import Bot, Card, run

    class Mine(Bot):
        def play(self, view):
            return next(card for card in map(Card, range(52)) if card not in view.hand)

    run(Mine)
"""

UNFINISHED = """
    from hokm import Bot, run

    class Mine(Bot):
        def play(self, view)
            return view.playable[0]

    run(Mine)
"""


def write(folder: Path, source: str, *, owner: str) -> Path:
    """A bot in Python with that source; its folder gives it its name."""
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(f"{dedent(source)}\n# {folder.name}\n", encoding="utf-8")
    _write_manifest(folder, owner=owner, command=["python", "bot.py"], language="Python")
    return folder


def good(folder: Path, *, owner: str, choice: str, home: str = "") -> Path:
    """One that plays, by a plain rule; ``home`` are arguments of its ``run`` besides."""
    source = GOOD.format(name=folder.name, choice=choice, home=home)
    return write(folder, source, owner=owner)


def curious(folder: Path, *, owner: str, paths: list[str], port: int) -> Path:
    """One that plays, and tries to read those paths, and to reach what it should not."""
    return write(folder, CURIOUS.format(paths=json.dumps(paths), port=port), owner=owner)


def in_typescript(folder: Path, *, owner: str) -> Path:
    """The example in TypeScript, built, with what it needs, as an author would send it in.

    Raises RuntimeError where what it needs cannot be had here, saying why; an example that has it
    and cannot be built fails.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise RuntimeError(f"{program} is not on PATH")
    root = folder.parent / f"{folder.name}-repository"
    shutil.copytree(ROOT / "proto", root / "proto")
    made = root / "examples" / "typescript"
    left = shutil.ignore_patterns("node_modules", "dist", "gen")
    shutil.copytree(ROOT / "examples" / "typescript", made, ignore=left)
    for command in ("npm install --no-audit --no-fund", "npm run build", "npm prune --omit=dev"):
        done = subprocess.run(command.split(), cwd=made, capture_output=True, text=True)
        if done.returncode:
            said = f"{command}:\n{indent(done.stdout + done.stderr, '  ')}"
            raise RuntimeError(said) if "install" in command else AssertionError(said)
    made.rename(folder)
    _write_manifest(folder, owner=owner, command=["node", "dist/bot.js"], language="TypeScript")
    return folder


def _write_manifest(folder: Path, *, owner: str, command: list[str], language: str) -> None:
    (folder / "bot.toml").write_text(
        f'schema = 1\nname = "{folder.name}"\nowner = "{owner}"\nversion = "1"\n'
        f'command = {json.dumps(command)}\nlanguage = "{language}"\n'
        "protocol = 1\nvariants = [2]\n",
        encoding="utf-8",
    )
