"""The import table: which module may know what. Read from the source; nothing is imported here.

Cores compute, shells wait. A module that is not named among the shells is a core; a technology that
is named in the table stays where the table says. Both lists are short on purpose: a new line in one
of them is a decision, and belongs in the same commit as its reason.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The modules that wait: for a bot, a clock, a disk, a person. A name covers all that is below it.
HOKM_SHELLS = ("hokm.client", "hokm.home", "hokm.bot", "hokm.testing", "hokm.__main__")
ARENA_SHELLS = (
    "arena.cli",
    "arena.conformance.checks",
    "arena.conformance.fuzz",
    "arena.conformance.kit",
    "arena.conformance.talk",
    "arena.logs",
    "arena.referee.host",
    "arena.referee.lobby",
    "arena.referee.pulse",
    "arena.referee.session",
    "arena.referee.tick",
    "arena.referee.bridge",
    "arena.referee.testing",
    "arena.ladder.events.playing",
    "arena.ladder.bots.environments",
    "arena.ladder.matches.experiment",
    "arena.ladder.processes.cgroups",
    "arena.ladder.processes.invitations",
    "arena.ladder.processes.launcher",
    "arena.ladder.processes.players",
    "arena.ladder.processes.remote",
    "arena.ladder.matches.room",
    "arena.ladder.matches.runner",
    "arena.ladder.testing",
    "arena.repro.feeding",
    "arena.repro.foreground",
    "arena.service.answering",
    "arena.service.child",
    "arena.service.casual",
    "arena.service.homes",
    "arena.service.seats",
    "arena.service.standing",
    "arena.service.validator",
    "arena.tuning.study",
    "arena.validation.validate",
)

# What may be imported only in the modules beside it.
ONLY_IN = {
    "grpc": (
        "hokm.client",
        "hokm.home",
        "arena.referee.bridge",
        "arena.referee.probes",
        "arena.service.client",
        "hokm.v1",
    ),
    # Of an extra: whoever serves on no network need not have them.
    "grpc_health": ("arena.referee.probes",),
    "grpc_reflection": ("arena.referee.probes",),
    "arena.referee.probes": ("arena.referee.bridge", "arena.cli"),
    "prometheus_client": ("arena.metrics",),
    "pythonjsonlogger": ("arena.logs",),
    "arena.metrics": ("arena.cli",),
    "duckdb": ("arena.export.parquet",),
    "arena.export.parquet": ("arena.cli",),
    "obstore": ("arena.ladder.bots.objects",),
    "arena.ladder.bots.objects": ("arena.cli",),
    "matplotlib": ("arena.analysis.picture", "arena.graph", "arena.tuning.picture"),
    "arena.graph": ("arena.analysis.picture", "arena.cli", "arena.tuning.picture"),
    "arena.analysis.picture": ("arena.cli",),
    "arena.tuning.picture": ("arena.cli",),
    # Of an extra, and asyncio comes with it: the program it makes has nothing else to do.
    "textual": ("arena.tui.screen", "arena.cli.stepping"),
    "arena.tui.screen": ("arena.cli",),
    "asyncio": ("arena.referee.bridge",),
    # Of an extra; its shared library alone is loaded, for to import the package takes seconds.
    "endplay": (),
    # Of an extra, for who learns: bots and the rest of the SDK do without them.
    "pettingzoo": ("hokm.env.aec",),
    "gymnasium": ("hokm.env.aec",),
    "numba": ("hokm.env",),
    # It learns on what the environment has compiled, and compiles its inputs beside it.
    "hokm.env.kernels": ("hokm.env", "sample_bots.learned.train"),
    "trio": ARENA_SHELLS,
    # The conformance kit puts what no version has yet into batches, which the wire does not say.
    # The ladder's service has a wire of its own: bots do without it, and so does the SDK.
    "hokm.v1": (
        "hokm.wire",
        "hokm.v1",
        "arena.conformance.strangers",
        "arena.service.messages",
    ),
    "google.protobuf": (
        "hokm.wire",
        "hokm.v1",
        "arena.conformance.strangers",
        "arena.service.messages",
    ),
    "sqlalchemy": ("arena.ladder.store", "arena.ladder.migrations"),
    "alembic": ("arena.ladder.store", "arena.ladder.migrations"),
    # Of an extra, like the dialect that asks for it.
    "psycopg": ("arena.ladder.store.postgresql",),
    "typer": ("arena.cli",),
    "rich": ("arena.cli",),
    # 0.06 s to import: only where rating lists are fitted.
    "numpy": (
        "arena.ladder.ratings.bradley_terry",
        "arena.ladder.ratings.comparison",
        "arena.ladder.ratings.crosstable",
        "arena.ladder.ratings.fitted",
        "arena.ladder.events.pairing",
        "arena.ladder.ratings.played",
        "arena.ladder.schedules",
        "arena.ladder.store",
        "hokm.env",
        "sample_bots.learned",
    ),
    "rustworkx": ("arena.ladder.schedules.swiss",),
    # A process that has used gRPC must not fork; processes are started as commands.
    "multiprocessing": (),
}

# The clock and chance. A core takes the time and the random number as arguments.
IMPURE_MODULES = ("random", "secrets", "time", "os.urandom", "uuid")
IMPURE_CALLS = ("os.urandom", "datetime.now", "datetime.utcnow", "datetime.today", "date.today")

# Whole packages: what each may import besides the standard library and itself. A package within
# another has a line of its own.
PACKAGES = {
    "hokm": ("grpc", "google.protobuf"),
    "hokm.env": ("hokm", "gymnasium", "numba", "numpy", "pettingzoo"),
    "sample_bots": ("hokm",),
    # A network is NumPy's work; the arena has it anyway.
    "sample_bots.learned": ("hokm", "numpy"),
}


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: its dotted name, what it imports and the dotted names it mentions."""

    name: str
    path: Path
    imports: frozenset[str]
    mentions: frozenset[str]

    def importing(self, technology: str) -> list[str]:
        """The imports of this module that belong to `technology`."""
        return sorted(name for name in self.imports if covers(technology, name))


def covers(name: str, other: str) -> bool:
    """Is `other` the module `name`, or inside it?"""
    return other == name or other.startswith(name + ".")


def any_covers(names: tuple[str, ...], other: str) -> bool:
    return any(covers(name, other) for name in names)


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the repository that the table speaks about."""
    sources = [(ROOT / "sdk/python/src", "hokm"), (ROOT, "arena"), (ROOT, "sample_bots")]
    return tuple(
        read_module(path, path.relative_to(source))
        for source, package in sources
        for path in sorted((source / package).rglob("*.py"))
    )


def read_module(path: Path, relative: Path) -> Module:
    parts = relative.with_suffix("").parts
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    home = name if is_package else name.rpartition(".")[0]
    return Module(name, path, frozenset(imports_of(tree, home)), frozenset(mentions_of(tree)))


def imports_of(tree: ast.AST, home: str) -> Iterator[str]:
    """All that a module in package `home` imports, at the top or inside a function.

    `from a import b` counts as `a.b`, which may be a module.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = home.split(".")[: len(home.split(".")) - node.level + 1] if node.level else []
            parts = [*base, *filter(None, [node.module])]
            yield from (".".join([*parts, alias.name]) for alias in node.names)


def mentions_of(tree: ast.AST) -> Iterator[str]:
    """Every dotted name in a module, such as `datetime.datetime.now`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def complain(offences: list[str], rule: str) -> None:
    assert not offences, "\n".join([rule, *offences])


def test_there_is_something_to_read() -> None:
    assert {"hokm", "arena"} <= {module.name for module in modules()}


def test_the_sdk_never_imports_the_arena() -> None:
    offences = [
        f"{module.name} imports {name}"
        for module in modules()
        if covers("hokm", module.name)
        for name in module.importing("arena")
    ]
    complain(offences, "hokm is the game and stands alone; arena imports hokm, never the reverse:")


@pytest.mark.parametrize("technology", ONLY_IN)
def test_a_technology_stays_behind_its_seam(technology: str) -> None:
    allowed = ONLY_IN[technology]
    offences = [
        f"{module.name} imports {name}"
        for module in modules()
        if not any_covers(allowed, module.name)
        for name in module.importing(technology)
    ]
    complain(offences, f"{technology} may be imported in {', '.join(allowed) or 'no module'} only:")


def test_a_core_has_no_clock_and_no_chance() -> None:
    shells = (*HOKM_SHELLS, *ARENA_SHELLS, "sample_bots")
    offences = [
        f"{module.name} uses {name}"
        for module in modules()
        if not any_covers(shells, module.name)
        for name in impurities_of(module)
    ]
    complain(
        offences, "a module that is not named as a shell takes times and chances as arguments:"
    )


def impurities_of(module: Module) -> list[str]:
    imported = {name for name in module.imports if any_covers(IMPURE_MODULES, name)}
    called = {
        name
        for name in module.mentions
        if any(name == call or name.endswith("." + call) for call in IMPURE_CALLS)
    }
    return sorted(imported | called)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_needs_no_more_than_it_says(package: str) -> None:
    allowed = (package, *PACKAGES[package], *sys.stdlib_module_names)
    offences = [
        f"{module.name} imports {name}"
        for module in modules()
        if package_of(module) == package
        for name in sorted(module.imports)
        if not any_covers((*allowed, *siblings_of(module)), name)
    ]
    complain(
        offences, f"{package} may import {', '.join(PACKAGES[package])} and the standard library:"
    )


def package_of(module: Module) -> str:
    """The innermost package of the table that a module is in; empty for none."""
    return max((name for name in PACKAGES if covers(name, module.name)), key=len, default="")


def siblings_of(module: Module) -> Iterator[str]:
    """The modules beside a bot's file: its folder is where it runs."""
    if covers("sample_bots", module.name):
        yield from (path.stem for path in module.path.parent.glob("*.py"))


def test_the_table_names_modules_that_exist() -> None:
    named = {*HOKM_SHELLS, *ARENA_SHELLS, *(name for names in ONLY_IN.values() for name in names)}
    present = {name for name in named for module in modules() if covers(name, module.name)}
    complain(sorted(named - present), "a name without a module is a door left open:")
