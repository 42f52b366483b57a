"""``--bundles URL``: the shelf there, or a line that says why it cannot be used."""

import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from arena.cli.errors import Misuse
from arena.cli.operating import extra
from arena.ladder.bots.shelf import FolderShelf, Shelf, ShelfError
from arena.wording import printable


def shelf_at(url: str) -> Shelf:
    """The shelf that a person means: a folder for ``file:``, which needs nothing, else a store,
    which is asked at once whether it lets us in. One that is away is said, and may come back.

    Raises Misuse where that cannot mend itself.
    """
    if url.lower().startswith("file:"):
        return FolderShelf(_folder_at(url))
    with extra("--bundles", name="objects"):
        from arena.ladder.bots import objects
    try:
        store = objects.open_store(url)
        store.probe()
    except ShelfError as error:
        if not error.is_passing:
            raise Misuse(f"--bundles: {error}") from error
        print(printable(f"nobody can send bots in for now: {error}"), file=sys.stderr)
    return store


def _folder_at(url: str) -> Path:
    parts = urlsplit(url)
    path = Path(unquote(parts.path))
    if parts.netloc or parts.query or parts.fragment or not path.is_absolute():
        raise Misuse("--bundles: a folder is file:///FOLDER, from the root and nothing else")
    return path
