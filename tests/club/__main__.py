"""``python -m tests.club``: the story of a club's ladder, told as it happens."""

import sys
import tempfile
from pathlib import Path

from tests.club.story import tell


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        seen = tell(Path(folder), say=lambda line: print(line, flush=True))
    print("\n# What the curious bot found")
    print("\n".join(seen.curious_logs[:1]))
    for name, why in seen.without.items():
        print(f"left out: {name}, since {why}")
    found = seen.written or any("GOT " in log for log in seen.curious_logs)
    print(
        f"it learned {'SOMETHING' if found else 'nothing'}; left behind: {seen.left or 'nothing'}"
    )
    if found or seen.left:
        sys.exit(1)


if __name__ == "__main__":
    main()
