"""The documents say what is so: their code runs, and what they name is there.

Blocks are taken by the language after their fence. Those of one page run in order in one namespace,
as a reader would go through them; a block that begins with the comment ``# folder/file`` is that
file as well. The tables that list what there is are compared with the code.
"""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from google.protobuf import text_format

import arena.ladder.bots.entrants
import hokm
from arena.cli.app import app
from hokm.cards import Seat
from hokm.errors import Reason
from hokm.outcome import Ending
from hokm.rules.options import OPTIONS, Play, Rules
from hokm.testing import duel
from hokm.v1 import referee_service_pb2, session_pb2
from hokm.view import View
from hokm.wire import decode_from_bot, decode_from_referee

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "sdk/python/README.md",
    ]
)
TUTORIAL = "docs/write-a-bot.md"
"""It goes on from a folder that a command makes: its code is run in test_tutorial.py."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [code for found, code in BLOCK.findall(text_of(page)) if found == language]


# -- code


def write_files(page: str, folder: Path) -> None:
    """The files a page shows, as they are after it: a later block replaces an earlier one."""
    for code in blocks(page, "toml") + blocks(page, "python"):
        if named := re.match(r"# (\S+/\S+)\n", code):
            file = folder / named[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code, encoding="utf-8")


def executed(code: str, name: str) -> dict[str, Any]:
    """What a program defines; ``if __name__ == "__main__"`` is not so."""
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(code, name, "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python") and page != TUTORIAL]
)
def test_python_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(page, tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "mybot")
    monkeypatch.delitem(sys.modules, "bot", raising=False)
    namespace = executed("\n".join(blocks(page, "python")), "a_page")
    monkeypatch.delitem(sys.modules, "bot", raising=False)
    for name, value in namespace.items():
        if name.startswith("test_"):
            value()


def test_the_bot_of_the_readme_beats_greedy() -> None:
    own = [code for code in blocks("README.md", "python") if code.startswith("# mybot/bot.py\n")]
    mine = executed(own[-1], "mine")["MyBot"]
    greedy = executed(text_of("sample_bots/greedy/bot.py"), "greedy")["Greedy"]
    assert sum(duel(mine, greedy, boards=60)) > 0


def test_the_bot_of_the_readme_plays_in_the_arena(tmp_path: Path) -> None:
    write_files("README.md", tmp_path)
    match = "arena match ./mybot greedy --boards 1 --record match.json.gz"
    printed = run(match, folder=tmp_path)
    assert "2 COMPLETED" in printed
    for page in ("README.md", TUTORIAL):
        shown = headings(text_of(page))
        assert headings(printed) <= shown, f"{page} shows a match as it was once"
    assert "match.json.gz: ok" in run("arena verify match.json.gz", folder=tmp_path)


def headings(text: str) -> set[str]:
    """The columns of every table that a command printed, those of one table as one text."""
    return {" ".join(line.split()) for line in re.findall(r"^(.+)\n─+ *$", text, re.MULTILINE)}


def modules_of_hokm() -> list[str]:
    found = pkgutil.walk_packages(hokm.__path__, prefix="hokm.")
    return ["hokm", *(one.name for one in found if not re.search(r"\.v1|__main__", one.name))]


@pytest.mark.parametrize("name", modules_of_hokm())
def test_examples_in_the_docstrings_of_the_sdk_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_example_exchange_is_messages_that_either_side_reads() -> None:
    exchange = blocks("docs/protocol.md", "textproto")
    assert len(exchange) > 10
    for text in exchange:
        if text.startswith("# PlayRequest\n"):
            request = text_format.Parse(text, referee_service_pb2.PlayRequest())
            assert decode_from_bot(request.SerializeToString())
        else:
            assert text.startswith("# PlayResponse\n")
            response = text_format.Parse(text, referee_service_pb2.PlayResponse())
            assert decode_from_referee(response.SerializeToString())


# -- commands

COMMAND = re.compile(r"^(?:arena|python -m hokm)\b.*$", re.MULTILINE)


def commands() -> Iterator[tuple[str, str]]:
    """Every command line that a page shows, in a block or as a whole between backticks."""
    for page in PAGES:
        text = text_of(page)
        shown = [line for _, code in BLOCK.findall(text) for line in COMMAND.findall(code)]
        shown += re.findall(r"`((?:arena|python -m hokm) [^`\n]+)`", text)
        yield from ((page, line) for line in dict.fromkeys(shown))


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_commands_exist_with_their_options(page: str, line: str) -> None:
    first, *words = shlex.split(line)
    if first == "python":
        assert words[2:] in ([], ["run", "FILE"])
        return
    command = typer.main.get_command(app)
    while inner := getattr(command, "commands", {}):
        # A group may have arguments of its own, which come first.
        own = sum(one.param_type_name == "argument" for one in command.params)
        if words[own : own + 1] == [] or words[own] not in inner:
            break
        command, words = inner[words[own]], words[own + 1 :]
    is_group = bool(getattr(command, "commands", None))
    assert not is_group or words[:1] in ([], ["--help"], ["--version"]), "no such command"
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    options = {word for word in words if re.match(r"--?[a-z]", word)}  # and no negative numbers
    assert options <= known | {"--help"}


@pytest.mark.parametrize(
    "line", ["python -m hokm", "arena --help", "arena match --help", "arena bot list"]
)
def test_cheap_commands_run(line: str, tmp_path: Path) -> None:
    assert run(line, folder=tmp_path)


def run(line: str, *, folder: Path) -> str:
    """What a command prints, run by this environment's interpreter."""
    words = shlex.split(line.removeprefix("python -m "))
    result = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_make_has_the_targets_that_the_pages_name() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"(?:`|^)make ([a-z-]+)", text_of(page), re.MULTILINE)) <= targets


# -- what is named is there

WORD = re.compile(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:py|md|toml|proto|json|txt))`")
BASES = (
    "",
    "sdk/python/src/hokm",
    "sdk/python/src/hokm/rules",
    "sdk/python/src/hokm/records",
    "proto/hokm/v1",
    "arena/referee",
    "arena/ladder",
    "arena/conformance",
    "arena/validation",
    "arena/repro",
    "arena/analysis",
    "arena/tuning",
    "arena/cli",
    "arena/tui",
    "arena/export",
    "arena/service",
    "docs",
)
NOT_HERE = re.compile(
    r"benchmarks/results/|site/|mybot.*|experiment\.json|tuning\.json|best/|confirm/|requirements\.txt|(test_)?bot\.(toml|py)|ladder\.(toml|db)|match\.json\.gz|event\.json|\.\.?/.*|records/.*|r3/.*|logs/|bots/.*|secret/.*|unix:.*|points/(board|pair|hand)|hokm-arena/tokens\.toml|submissions/.*"
)
"""Paths in a reader's own folder or a ladder's, what a command leaves behind, and what is none."""


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page: str) -> None:
    missing = [
        word
        for word in WORD.findall(BLOCK.sub("", text_of(page)))
        if not NOT_HERE.fullmatch(word) and not any((ROOT / base / word).exists() for base in BASES)
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    file = ROOT / page
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (file.parent / path).resolve() if path else file
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), target


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def rows(page: str, heading: str) -> list[str]:
    """The names in the first column of the tables below a heading, up to the next one."""
    part = text_of(page).split(f"\n{heading}\n", 1)[1]
    part = re.split(r"^#", part, maxsplit=1, flags=re.MULTILINE)[0]
    cells = re.findall(r"^\| (`[^|]*)\|", part, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_table_of_the_view_is_whole() -> None:
    view = View(Rules.of(4), Seat(0))
    public = {name for name in (*vars(view), *vars(View)) if not name.startswith("_")}
    named = {name.partition("(")[0] for name in rows("docs/bot-reference.md", "## What a bot sees")}
    assert named == public - {"ask", "apply"}


def test_the_table_of_a_bots_methods_is_whole() -> None:
    methods = {name for name, value in vars(hokm.Bot).items() if callable(value)}
    named = rows("docs/bot-reference.md", "## What a bot is asked")
    assert {name.partition("(")[0] for name in named} == {
        name
        for name in methods - {"note"}
        if not name.startswith("_")  # which it says unasked
    }


def test_the_table_of_the_manifest_is_whole() -> None:
    named = {name.strip("[]") for name in rows("docs/bot-reference.md", "## bot.toml")}
    assert named == set(arena.ladder.bots.entrants._KEYS)


def test_the_table_of_options_is_whole_and_has_their_defaults() -> None:
    assert rows("docs/rules.md", "## Options") == list(OPTIONS)
    table = text_of("docs/rules.md").split("\n## 1. ")[0]
    defaults = dict(re.findall(r"^\| `(\w+)` \|[^|\n]*\|([^|\n]*)\|", table, re.MULTILINE))
    for players in (2, 3, 4):
        for play in Play:
            for name, text in Rules.of(players, play=play).options().items():
                assert text in re.findall(r"\w+", defaults[name]), name


@pytest.mark.parametrize(
    ("heading", "kinds"), [("### 7.1 Refusals", Reason), ("### 7.5 Endings", Ending)]
)
def test_reasons_and_endings_are_all_told_in_their_order(
    heading: str, kinds: type[Reason] | type[Ending]
) -> None:
    assert rows("docs/rules.md", heading) == [kind.name for kind in kinds]


def test_every_clause_that_the_code_cites_is_in_the_rulebook() -> None:
    rulebook = text_of("docs/rules.md")
    clauses = set(re.findall(r"^(?:\*\*|#+ )(\d(?:\.\d+)?)\b", rulebook, re.MULTILINE))
    sources = [*(ROOT / "sdk").rglob("*.py"), *(ROOT / "arena").rglob("*.py")]
    sources += [*(ROOT / "proto").rglob("*.proto")]
    cited = {
        clause
        for source in sources
        for text in [source.read_text(encoding="utf-8")]
        for clause in [
            *re.findall(r'clause="([\d.]+)"', text),
            *re.findall(r"rulebook (\d(?:\.\d+)?)", text),
        ]
    }
    assert cited
    assert cited <= clauses


def test_every_message_and_field_of_a_session_is_told() -> None:
    page = text_of("docs/protocol.md")
    words = set(re.findall(r"`([a-z_]+)`", page)) | set(re.findall(r"\b[a-z_]+\b", page))
    for message in session_pb2.DESCRIPTOR.message_types_by_name.values():
        for field in message.fields:
            assert field.name in words, f"{message.name}.{field.name}"


def test_every_module_has_its_line_in_the_architecture() -> None:
    page = text_of("docs/architecture.md")
    packages = (
        "analysis",
        "repro",
        "referee",
        "ladder",
        "conformance",
        "validation",
        "service",
        "cli",
        "export",
        "tui",
        "tuning",
    )
    for package in ("sdk/python/src/hokm", *(f"arena/{one}" for one in packages)):
        for module in (ROOT / package).rglob("*.py"):
            path = module.relative_to(ROOT / package)
            if path.name != "__init__.py" and path.parts[0] not in ("v1", "migrations"):
                assert f"`{path}`" in page, module
