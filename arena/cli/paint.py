"""Lines of spans on a console: styled on a terminal, bare elsewhere."""

from rich.console import Console
from rich.text import Text

from arena.telling import Line


def put(console: Console, line: Line) -> None:
    """Print a line; a terminal breaks it where it must."""
    if console.is_terminal:
        spans = [(span.text, span.style) for span in line.spans]
        console.print(Text.assemble(*spans), soft_wrap=True)
    else:
        print(line, file=console.file)


def has_suits(console: Console) -> bool:
    """Whether ♣♦♥♠ can be written there."""
    try:
        "♣♦♥♠".encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return True
