"""`make zoo`: visits every member a few times, one after the other, and writes docs/zoo.md."""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import trio

from tests.zoo.keeper import visit, wrong_with
from tests.zoo.members import BY_NAME, MEMBERS
from tests.zoo.page import PAGE, page_of, soak_of


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("--visits", type=int, default=3)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of members; the page stays")
    given = parser.parse_args()
    members = [BY_NAME[name] for name in given.names] or MEMBERS
    visits = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.visits):
            see = partial(visit, Path(folder, str(number)), members, at_once=1)
            visits.append(trio.run(see))
    problems = [f"left at the end: {left}" for one in visits for left in one.left]
    problems += [
        f"{sighting.member.name}: {wrong}"
        for one in visits
        for sighting in one.sightings
        for wrong in wrong_with(sighting)
    ]
    if problems:
        print("\n".join(problems))
        sys.exit(1)
    if not given.names:
        before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(
            page_of([one.sightings for one in visits], soaked=soak_of(before)), encoding="utf-8"
        )
        print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
