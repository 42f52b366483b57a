"""Docstrings as Markdown, for the reference on the documentation site.

Ours are text with a little of reStructuredText in it, which reads well in an editor: roles
(``:class:`View```), examples that begin with ``>>>``, and a ``::`` before what is to stand as it
is. Markdown knows none of these. This module knows no tool that reads docstrings.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import dropwhile, takewhile

_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data|exc|obj):`(~?)([\w.]+)`")


def markdown_of(text: str, *, full_name: Callable[[str], str]) -> str:
    """The docstring as Markdown.

    ``full_name`` says what a name in it is called in full; a name becomes a reference, which the
    site turns into a link where it has that name, and into plain code elsewhere.
    """
    lines = _with_fences(text.split("\n"))
    return "\n".join(line if is_code else _told(line, full_name) for line, is_code in lines)


def _told(line: str, full_name: Callable[[str], str]) -> str:
    def reference(role: "re.Match[str]") -> str:
        is_short, name = role.groups()
        shown = name.rpartition(".")[2] if is_short else name
        return f'<autoref identifier="{full_name(name)}" optional><code>{shown}</code></autoref>'

    return _ROLE.sub(reference, line)


def _with_fences(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The lines, each with whether it is code; examples, and what follows ``::``, within fences."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith(">>>"):
            block = list(takewhile(str.strip, lines[at:]))
            yield from _fenced(block, "pycon")
        elif line.rstrip().endswith("::"):
            block = [line, *takewhile(partial(_is_below, _margin(line)), lines[at + 1 :])]
            while _is_blank(block[-1]):
                block.pop()
            if told := line.rstrip().removesuffix("::").rstrip():
                yield told + ":", False
                yield "", False
            yield from _fenced(list(dropwhile(_is_blank, block[1:])), "text")
        else:
            block = [line]
            yield line, False
        at += len(block)


def _is_below(margin: int, line: str) -> bool:
    """Whether a line belongs to the text that is set in below a line of that margin."""
    return _is_blank(line) or _margin(line) > margin


def _is_blank(line: str) -> bool:
    return not line.strip()


def _fenced(block: Sequence[str], language: str) -> Iterator[tuple[str, bool]]:
    margin = " " * min((_margin(line) for line in block if line.strip()), default=0)
    yield f"{margin}```{language}", True
    yield from ((line, True) for line in block)
    yield f"{margin}```", True


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())
