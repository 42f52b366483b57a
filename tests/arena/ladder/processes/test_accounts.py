"""Accounts of bots where root runs the arena: two processes never have the same one."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.ladder.processes.accounts import USERS, Accounts

OTHER = """
import sys
from pathlib import Path
from arena.ladder.processes.accounts import Accounts
accounts = Accounts(Path(sys.argv[1]), most=int(sys.argv[2]))
accounts._next = int(sys.argv[3])
print(*(accounts.next() for _ in range(int(sys.argv[2]))), flush=True)
sys.stdin.read()
"""


@contextmanager
def another(file: Path, *, most: int, first: int) -> Iterator[list[int]]:
    """Another process that has taken so many accounts, beginning with the `first` of all."""
    words = [sys.executable, "-c", OTHER, str(file), str(most), str(first)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield [int(word) for word in process.stdout.readline().split()]
        process.communicate()


def beginning(file: Path, *, most: int, first: int) -> Accounts:
    accounts = Accounts(file, most=most)
    accounts._next = first
    return accounts


def taken(accounts: Accounts, count: int) -> list[int]:
    return [accounts.next() for _ in range(count)]


def test_what_another_process_has_is_passed_over_until_that_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with another(file, most=3, first=2) as others:
        assert others == [*USERS[2:5]]
        own = beginning(file, most=4, first=0)
        assert taken(own, 4) == [USERS[0], USERS[1], USERS[5], USERS[6]]
    more = beginning(file, most=3, first=2)
    assert taken(more, 3) == [*USERS[2:5]]


def test_a_process_takes_so_many_and_then_those_again_that_it_has_not_used_for_longest(
    tmp_path: Path,
) -> None:
    accounts = beginning(tmp_path / "lock", most=3, first=len(USERS) - 1)
    assert taken(accounts, 7) == [USERS[-1], USERS[0], USERS[1]] * 2 + [USERS[-1]]


def test_where_others_have_all_but_one_that_one_is_used(tmp_path: Path) -> None:
    with another(tmp_path / "lock", most=len(USERS) - 1, first=1) as others:
        assert len(set(others)) == len(USERS) - 1
        assert taken(beginning(tmp_path / "lock", most=3, first=9), 3) == [USERS[0]] * 3


def test_where_nothing_can_be_locked_bots_have_accounts_of_their_own_all_the_same(
    tmp_path: Path,
) -> None:
    accounts = beginning(tmp_path / "nowhere/lock", most=3, first=7)
    assert taken(accounts, 4) == [*USERS[7:11]]
