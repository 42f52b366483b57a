"""The page of the zoo: what was seen, as a table that the next visit is compared with.

Names, endings, seats and causes are the same on every machine, and a test compares them; times are
those of the machine that the page was written on.
"""

import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from hokm.outcome import Ending
from tests.zoo.keeper import HELLO_SECONDS, Sighting
from tests.zoo.members import MEMBERS, Limit, Member
from tests.zoo.neighbour import THINKING_SECONDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "zoo.md"

ALLOWED_SECONDS = 0.25
"""How much longer than a limit anybody may have to wait: less than one notices."""

HEAD = """\
# The zoo

Bots that do what no bot should: {members} of them, each a real process that plays a real match through the
arena, against a good bot that writes down what it is told. The table says what came of each, which seat was named
and what the others were told. For each it was also seen that the games that two more bots played beside it
were completed, with no move late, and that no process, thread, socket, note or file was left.

`make zoo` writes this page. Every run of the tests sees all of them again, and compares all but the times.
What they do is in `tests/zoo/bot.py`, what is expected of them in `tests/zoo/members.py`.

A limit says how long the others may have to wait at most:

| limit | counts from | here |
|---|---|---|
| {none} | what the bot does | 0 s |
| {hello} | the start of its process | {hello_seconds:g} s |
| {move} | the writing of the decision that it does not answer | 1 s |
| {cap} | the start of its match | 2 s |

*Waited* is how long after the limit the good bot's own code heard of the end; it is empty where nothing ended early.
*Beside* is the longest that a move in the games beside was charged, of which {thinking:.0f} ms are that bot's own: a
move has 1 s there, and then a bank. Both are in milliseconds, as median and maximum of {visits} visits{where};
each visit is a match of one room or two.

{verdict}

"""

SOAK = """\
## The soak

`make soak` plays many matches on one runner, two at once, each one board for two seats with 0.2 s a move and no
bank, and in half of them sits a member of the zoo, drawn by lot. After every tenth match it waits until nothing is
under way, collects garbage, has the C library hand back what is free, and looks at the arena's own process. Growth is
the slope of a line through what it saw once a fifth of the matches had been played. The caches of card tuples, whose
size is bounded, are filled before.

Python asks the system for a megabyte at a time. Where it asks once more after the first fifth, a thousand matches
show that as +0.5 to +1.9 KiB a match, whatever they leave: look at whether the size goes on growing afterwards.

```text
{lines}
```
"""

COLUMNS = ("bot", "what it does", "ending", "named", "the others were told", "limit")
TIMES = ("waited", "beside")


def page_of(visits: Sequence[Sequence[Sighting]], *, soaked: str) -> str:
    """The page of some visits to every member. ``soaked`` is its part about the soak."""
    sightings = {
        member.name: [one for visit in visits for one in visit if one.member == member]
        for member in MEMBERS
    }
    head = HEAD.format(
        members=len(MEMBERS),
        none=Limit.NONE.value,
        hello=Limit.HELLO.value,
        move=Limit.MOVE.value,
        cap=Limit.CAP.value,
        hello_seconds=HELLO_SECONDS,
        thinking=1000 * THINKING_SECONDS,
        visits=len(visits),
        where=_where(),
        verdict=_verdict(sightings),
    )
    rows = [
        (
            *row(member),
            _times(_waits(sightings[member.name])),
            _times(_beside(sightings[member.name])),
        )
        for member in MEMBERS
    ]
    return head + _table([(*COLUMNS, *TIMES), *rows]) + "\n" + soaked


def row(member: Member) -> tuple[str, ...]:
    """What is on the page of a member whatever the machine."""
    endings = " or ".join(f"`{ending.name}`" for ending in member.endings)
    if member.is_harmless:
        return member.name, member.what, endings, "nobody", "the result", ""
    told = member.told or "that the match is over"
    named = "its seat, unless nobody" if Ending.COMPLETED in member.endings else "its seat"
    return member.name, member.what, endings, named, told, member.limit.value


def rows_of(page: str) -> list[tuple[str, ...]]:
    """The rows of the zoo's table, without times."""
    table = page.split(f"| {COLUMNS[0]} |", 1)[1].split("\n\n", 1)[0]
    lines = table.splitlines()[2:]
    return [tuple(cell.strip() for cell in line.split("|")[1:-1])[: len(COLUMNS)] for line in lines]


def soak_of(page: str) -> str:
    """The page's part about the soak, empty where there is none."""
    found = re.search(r"^## The soak\n.*", page, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def with_soak(page: str, lines: Iterable[str]) -> str:
    """The page with what a soak has found."""
    return (
        page.removesuffix(soak_of(page)).rstrip("\n") + "\n\n" + SOAK.format(lines="\n".join(lines))
    )


def _where() -> str:
    """What the times depend on. A load above the number of cores is other work."""
    load = f"{os.getloadavg()[0]:.0f}"
    cores = f"{os.cpu_count()} cores with a load of {load}"
    return f" ({platform.system()}, Python {platform.python_version()}, {cores})"


def _verdict(sightings: dict[str, list[Sighting]]) -> str:
    waits = {name: times for name, seen in sightings.items() if (times := _waits(seen))}
    slow = [name for name, times in waits.items() if median(times) > ALLOWED_SECONDS]
    once = [name for name, times in waits.items() if max(times) > ALLOWED_SECONDS]
    allowed = f"the limit and {1000 * ALLOWED_SECONDS:.0f} ms"
    rooms = f"{sum(map(len, waits.values()))} rooms"
    if slow:
        verdict = f"**Longer than {allowed}, in the median, the others waited for {_names(slow)}.**"
    else:
        verdict = f"**In the median the others waited for no bot longer than {allowed}.**"
    if once:
        return f"{verdict} Of {rooms} single ones were slower, with {_names(once)}."
    return f"{verdict} In none of {rooms} did they."


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _waits(seen: Sequence[Sighting]) -> list[float]:
    waits = [room.beyond_seconds for sighting in seen for room in sighting.rooms]
    return [seconds for seconds in waits if seconds is not None]


def _beside(seen: Sequence[Sighting]) -> list[float]:
    return [sighting.slowest_seconds for sighting in seen]


def _times(seconds: Sequence[float]) -> str:
    if not seconds:
        return ""
    return f"{1000 * median(seconds):.0f} / {1000 * max(seconds):.0f}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body]) + "\n"
