"""Makes the documentation site: `make docs`.

The pages in `docs/` and the README are written to be read in the repository, with links to files of
it. For the site each is copied, the README as its first page, and what they link to elsewhere in
the repository becomes a page as well, so that a link leads somewhere in both. The reference of the
SDK is a page for each module that the navigation in `zensical.toml` names. Then zensical builds it.
Warnings are errors, those of the tools and what would have a reader ask another host for anything.
"""

import ast
import itertools
import logging
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from tools.docstrings import markdown_of

ROOT: Final = Path(__file__).resolve().parent.parent
SETTINGS: Final = ROOT / "zensical.toml"
SDK: Final = ROOT / "sdk" / "python" / "src"
STYLE: Final = ROOT / "tools" / "documentation.css"

_RENAMED: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages whose place on the site is not what `docs/` or `_ELSEWHERE` makes of it."""

_ELSEWHERE: Final = "repository"
"""The folder on the site for what is linked to and lies neither in `docs/` nor among those."""

_INDEXES: Final = ("hokm", "hokm.env")
"""Packages whose names stand in their modules, and are told there."""

_LANGUAGES: Final = {".json": "json", ".mjs": "js", ".proto": "protobuf", ".py": "python"}

_LEFT: Final = re.compile(r"(^|/)(\.|__pycache__/)")
"""What tools leave in a folder, and is no part of it: hidden, or Python's."""

_FENCE: Final = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?:\[(?P<file>[\w-]+\.md))?\]\((?P<to>[^)\s]+)\)")
_COMMENT: Final = re.compile(r"^(<!--.*-->)$", re.MULTILINE)
_CODE: Final = re.compile(r"<code>([^<]*)</code>")
_OPTION: Final = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_LONG: Final = 40  # characters
_FOREIGN: Final = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="?(?:https?:)?//[^>]*>"""
    r"""|<link\b(?=[^>]*\brel="?(?:stylesheet|preload|preconnect|icon))[^>]*\bhref="?(?:https?:)?//[^>]*>"""
)
"""What a browser asks another host for by itself."""


def navigation(settings: Path = SETTINGS) -> dict[str, str | None]:
    """The pages that the navigation has, in its order, and the name it gives to each, if any."""
    project = tomllib.loads(settings.read_text(encoding="utf-8"))["project"]
    return dict(_pages(project["nav"]))


def _pages(entry: object, name: str | None = None) -> Iterator[tuple[str, str | None]]:
    match entry:
        case str():
            yield entry, name
        case list():
            for inner in entry:
                yield from _pages(inner)
        case dict():
            for key, inner in entry.items():
                yield from _pages(inner, key)


def place(file: PurePosixPath) -> PurePosixPath:
    """Where a file or folder of the repository is on the site; both from their roots.

    A file in `docs/` that is no page is there for programs, and is on the site what it is.
    """
    if (renamed := _RENAMED.get(str(file))) is not None:
        return PurePosixPath(renamed)
    if file.is_relative_to("docs"):
        return file.relative_to("docs")
    there = _ELSEWHERE / file
    return there if there.suffix == ".md" else there.with_name(there.name + ".md")


def linked(
    text: str, *, file: PurePosixPath, names: Mapping[str, str | None]
) -> tuple[str, set[PurePosixPath]]:
    """A page of the repository as it is on the site, with the files and folders it links to.

    A link whose text is the file it leads to has on the site the page's name, out of `names`.
    Raises ValueError for a link that leads out of the repository.
    """
    found: set[PurePosixPath] = set()
    here = place(file).parent

    def moved(link: "re.Match[str]") -> str:
        path, mark, anchor = link["to"].partition("#")
        if not path or "://" in link["to"]:
            return link[0]
        target = PurePosixPath(os.path.normpath(file.parent / path))
        if target.parts[0] == "..":
            raise ValueError(f"{file}: {link['to']} leads out of the repository")
        found.add(target)
        name = names.get(str(place(target))) or link["file"]
        shown = f"[{name}" if link["file"] == target.name else link[0].partition("]")[0]
        return f"{shown}]({os.path.relpath(place(target), here)}{mark}{anchor})"

    parts = _FENCE.split(text)
    # What is split by is at every other place: code, which has no links. A comment is one to this
    # Markdown only if it stands alone, and the table below it a table.
    parts[::2] = [_COMMENT.sub(r"\n\1\n", _LINK.sub(moved, part)) for part in parts[::2]]
    return "".join(parts), found


def write_pages(root: Path, into: Path, *, names: Mapping[str, str | None]) -> None:
    """Write all that the site is made of: the pages in `names`, and what they link to."""
    shutil.rmtree(into, ignore_errors=True)
    waiting = [PurePosixPath(name) for name in _RENAMED]
    waiting += [PurePosixPath(page.relative_to(root)) for page in root.glob("docs/**/*.md")]
    written: set[PurePosixPath] = set()
    while waiting:
        file = waiting.pop()
        if file in written:
            continue
        written.add(file)
        if not (root / file).exists():
            raise FileNotFoundError(f"{file}: a page links to it, and it is not there")
        if file.is_relative_to("docs") and file.suffix != ".md" and (root / file).is_file():
            text = (root / file).read_text(encoding="utf-8")  # for a program, and so as it is
        elif file.suffix == ".md":
            text, also = linked((root / file).read_text(encoding="utf-8"), file=file, names=names)
            waiting += also
        else:
            text = f"# {file}\n\n" + "\n".join(_shown(root, file))
            pages = (page.relative_to(root) for page in root.glob(f"{file}/**/*.md"))
            waiting += [PurePosixPath(page) for page in pages if not _LEFT.search(str(page))]
        _write(into / place(file), text)
    for name in names:
        if name.startswith("api/"):
            module = PurePosixPath(name).stem
            _write(into / name, _reference(module))


def _reference(module: str) -> str:
    heading = f"# {module} {{ #{module} }}\n\n"  # the anchor that references to a module lead to
    if module not in _INDEXES:
        return f"{heading}::: {module}\n"
    init = (SDK / module.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    names = {
        alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(init))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.module not in ("typing", module)
    }
    links = "\n".join(
        f"* [`{name}`][{full}]: {summary(full)}" for name, full in sorted(names.items())
    )
    return f"{heading}::: {module}\n    options:\n      members: false\n\n{links}\n"


def summary(name: str) -> str:
    """The first sentence of the docstring of a class, a function or a value of the SDK.

    Raises LookupError for what is not there or has none.
    """
    module, _, inner = name.rpartition(".")
    file = SDK / (module.replace(".", "/") + ".py")
    body = ast.parse(file.read_text(encoding="utf-8")).body
    for node, after in itertools.pairwise([*body, ast.Pass()]):
        match node, after:
            case ((ast.ClassDef() | ast.FunctionDef()), _) if node.name == inner:
                told = ast.get_docstring(node)
            case ast.Assign(targets=[ast.Name(id=target)]), ast.Expr(
                value=ast.Constant(value=str(told))
            ) if target == inner:
                pass
            case _:
                continue
        if told:
            first = re.split(r"(?<=[^.]\.)\s|\n\n", told, maxsplit=1)[0]
            return markdown_of(" ".join(first.split()), full_name=lambda known: known)
    raise LookupError(f"{name} has no docstring")


def _shown(root: Path, file: PurePosixPath) -> Iterator[str]:
    """A file that is no page, or all files of a folder, as Markdown."""
    if (root / file).is_dir():
        for inner in sorted((root / file).rglob("*")):
            if inner.is_file() and not _LEFT.search(str(inner.relative_to(root))):
                path = PurePosixPath(inner.relative_to(root))
                yield f"## {path.relative_to(file)}\n"
                if path.suffix == ".md":
                    page = os.path.relpath(place(path), place(file).parent)
                    yield f"[A page of its own]({page}).\n"
                else:
                    yield from _shown(root, path)
        return
    data = (root / file).read_bytes()
    try:
        text = data.decode().rstrip("\n")
    except UnicodeDecodeError:
        yield f"{len(data):,} bytes that are no text.\n"
        return
    yield f"````{_LANGUAGES.get(file.suffix, 'text')}\n{text}\n````\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def unbroken(html: str) -> str:
    """A page whose lines break nowhere within an option of a command: `--json`, not `--` `json`.

    Code too long for the column of a table is marked as such; the style says what comes of both.
    """

    def marked(code: "re.Match[str]") -> str:
        mark = ' class="long"' if len(code[1]) > _LONG else ""
        told = _OPTION.sub(r'<span class="option">\g<0></span>', code[1])
        return f"<code{mark}>{told}</code>"

    return _CODE.sub(marked, html)


def foreign(html: str) -> list[str]:
    """What in a page has a browser ask another host for something."""
    return _FOREIGN.findall(html)


class _Counting(logging.Handler):
    """Prints warnings and counts them: zensical is strict about links, not about docstrings."""

    warnings = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.warnings += 1
        print(f"{record.levelname.lower()}: {record.getMessage()}", file=sys.stderr)


def main() -> int:
    """Build the site, and return the exit status."""
    # The environment of the site has these, and no other.
    from zensical.main import cli

    counting = _Counting(level=logging.WARNING)
    logging.getLogger().addHandler(counting)
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["project"]
    pages, site = ROOT / settings["docs_dir"], ROOT / settings["site_dir"]
    try:
        write_pages(ROOT, pages, names=navigation())
        shutil.copy(STYLE, pages)
        shutil.rmtree(site, ignore_errors=True)
        os.chdir(ROOT)
        cli(["build", "--clean", "--strict", "--config-file", str(SETTINGS)], standalone_mode=False)
    except (OSError, ValueError, RuntimeError) as error:
        # Of zensical, a RuntimeError: it has said by then what it found.
        print(f"error: {error}", file=sys.stderr)
        return 1
    asking: list[str] = []
    for page in sorted(site.rglob("*.html")):
        html = page.read_text(encoding="utf-8")
        page.write_text(unbroken(html), encoding="utf-8")
        asking += [f"{page.relative_to(site)}: {tag}" for tag in foreign(html)]
    for line in asking:
        print(f"asks another host: {line}", file=sys.stderr)
    return 1 if asking or counting.warnings else 0


if __name__ == "__main__":
    sys.exit(main())
