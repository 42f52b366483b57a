"""What :mod:`tools.docstrings` says, told to griffe, which reads the docstrings for the site."""

import sys
from pathlib import Path

import griffe

sys.path.insert(0, str(Path(__file__).parent.parent))  # griffe loads this file by its path alone

from tools.docstrings import markdown_of


class Docstrings(griffe.Extension):
    """Turns every docstring into Markdown once its package is read whole."""

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """All of a package is there, so names in it can be found."""
        _rewrite(pkg)


_PLAIN = {"class-attribute", "instance-attribute", "module-attribute"}
"""Labels that say what anybody sees."""


def _rewrite(thing: griffe.Object) -> None:
    thing.labels -= _PLAIN
    if thing.docstring is not None:
        told = markdown_of(thing.docstring.value, full_name=lambda name: _full_name(thing, name))
        thing.docstring.value = told + _choices(thing)
    for member in thing.members.values():
        if isinstance(member, griffe.Object):  # and no alias: it is rewritten where it is
            _rewrite(member)


def _choices(thing: griffe.Object) -> str:
    """All that an enumeration has, since the reference leaves out what has no docstring."""
    if not isinstance(thing, griffe.Class) or not str(thing.bases[-1:]).count("Enum"):
        return ""
    names = [name for name, member in thing.members.items() if member.is_attribute and member.value]
    return "\n\nOne of " + ", ".join(f"`{name}`" for name in names) + "."


def _full_name(thing: griffe.Object, name: str) -> str:
    """A method is named from within its class, a function from within its module."""
    first, dot, rest = name.partition(".")
    try:
        return f"{thing.resolve(first)}{dot}{rest}"
    except griffe.NameResolutionError:
        return name
