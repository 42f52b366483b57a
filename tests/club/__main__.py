"""``python -m tests.club``: the story of a club's ladder, told as it happens.

What fails is that something was learned or left, and that nothing shows whether it was.
"""

import sys
import tempfile
from pathlib import Path

from tests.club.story import CURIOUS, faults_of, tell, why_unconfined


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unconfined = why_unconfined(folder / "tried")
        home = folder / "c"
        home.mkdir()
        seen = tell(home, say=lambda line: print(line, flush=True), unconfined=unconfined)
    print(f"\n# What {CURIOUS} found")
    print("\n".join(seen.curious_logs[:1]) or "it played nothing")
    for name, why in seen.without.items():
        print(f"left out: {name}, since {why}")
    if unconfined:
        print(f"not shown: what {CURIOUS} would learn in a sandbox, since {unconfined}")
    faults = faults_of(seen)
    print("\n".join(faults) or "nothing was left behind" + ("" if unconfined else ", or learned"))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
