"""A part of a page in docs/ that a program writes: what stands between its two markers."""

from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def markers(name: str) -> tuple[str, str]:
    """The lines before and after the part `name`; Markdown does not show them."""
    return f"<!-- {name}: written by `python -m simulations {name} --page` -->", f"<!-- {name} -->"


def with_part(text: str, part: str, *, name: str) -> str:
    """The text of a page with `part` between the markers of `name`.

    Raises ValueError for a page without them, which are two lines of their own.
    """
    first, last = (f"{marker}\n" for marker in markers(name))
    before, has_first, rest = text.partition(first)
    _, has_last, after = rest.partition(last)
    if not has_first or not has_last:
        raise ValueError(f"the page has not the two markers of {name!r}: {first}{last}")
    return f"{before}{first}{part.strip()}\n{last}{after}"


def write_part(page: str, part: str, *, name: str) -> Path:
    """The same with the file `page` of docs/."""
    path = DOCS / page
    text = with_part(path.read_text(encoding="utf-8"), part, name=name)
    path.write_text(text, encoding="utf-8")
    return path
