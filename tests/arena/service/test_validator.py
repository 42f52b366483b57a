"""What was sent in is validated: whose turn it is, what comes of it, what failed. Virtual time."""

import errno
import json
import os
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from arena.ladder.bots.archive import pack
from arena.ladder.bots.entrants import load_bot
from arena.ladder.bots.shelf import Bundles, FolderShelf, ShelfError
from arena.ladder.errors import LadderError
from arena.ladder.facts import Controls, Submission, SubmissionState
from arena.ladder.ladder import Ladder
from arena.ladder.settings import Settings
from arena.service import child
from arena.service.child import Ended
from arena.service.operating import Verbs
from arena.service.quotas import CHECK_MINUTES, MOST_CHECK_MINUTES
from arena.service.standing import Gate
from arena.service.validator import (
    TRIES,
    Checked,
    Judged,
    Validator,
    checked,
    checking_by_process,
    command_of,
    environment_of,
    next_of,
)

NOW = datetime(2026, 3, 21, 12, 0, 0, tzinfo=UTC)
AT = "2026-03-21T12:00:00Z"
CHECK_SECONDS = 30.0

T = TypeVar("T")

WAITING, VALIDATING = SubmissionState.WAITING, SubmissionState.VALIDATING
ACCEPTED, REFUSED, FAILED = (
    SubmissionState.ACCEPTED,
    SubmissionState.REFUSED,
    SubmissionState.FAILED,
)


def said(judged: Judged, **more: object) -> Checked:
    return Checked(judged, json.dumps({"schema": 1, "verdict": judged.value} | more))


class World:
    """A ladder to which owners send bots, and a check that says what it is told to."""

    def __init__(self, ladder: Ladder, bot_folder) -> None:
        self.ladder = ladder
        self.accounts = ladder.store.accounts
        self.gate = Gate()
        self.said: list[str] = []
        self.answers: dict[str, deque[Checked | Exception]] = {}
        self.checked: list[str] = []
        self.under_way = self.most_at_once = 0
        self._bot_folder = bot_folder
        self.is_over = False

    def submit(self, name: str, owner: str = "ada", *, version: str = "1.0", **options) -> int:
        """Send a bot in; the number of its submission."""
        folder = Path(self._bot_folder(name, owner=owner, **options))
        manifest = folder / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"1.0"', f'"{version}"'))
        entrant = load_bot(folder)
        archives = self.ladder.folder / "submissions"
        archives.mkdir(exist_ok=True)
        pack(folder, into=archives)
        known = self.accounts.owner_named(owner)
        if known is None:
            known = self.accounts.register(name=owner, family=owner, at=AT)
            assert known is not None
        return self.accounts.submit(
            owner=known.number,
            name=name,
            version=version,
            digest=entrant.digest,
            size_bytes=1,
            at=AT,
        ).number

    def answer(self, number: int, *answers: Checked | Exception) -> None:
        """What checks of a submission come to, one after the other; else it is accepted."""
        self.answers[self.of(number).digest] = deque(answers)

    def of(self, number: int) -> Submission:
        found = self.accounts.submission(number)
        assert found is not None
        return found

    def states(self) -> list[SubmissionState]:
        return [one.state for one in self.accounts.in_state(*SubmissionState)]

    def cause(self, number: int) -> str:
        report = json.loads(self.of(number).report or "{}")
        return f"{report['verdict']}: {report.get('cause')}"

    async def check(self, archive: Path) -> Checked:
        under_way = {one.digest: one.name for one in self.accounts.in_state(VALIDATING)}
        self.checked.append(under_way[archive.stem])
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await trio.sleep(CHECK_SECONDS)
        finally:
            self.under_way -= 1
        answers = self.answers.get(archive.stem, deque())
        answer = answers.popleft() if answers else said(Judged.ACCEPTED)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def until_decided(self) -> None:
        with trio.fail_after(3600):
            while not all(state.is_decided for state in self.states()):  # noqa: ASYNC110
                await trio.sleep(1)


@pytest.fixture
def world(tmp_path: Path, bot_folder) -> Iterator[World]:
    with Ladder.init(tmp_path / "club", Settings.of("club", length=1)) as made:
        yield World(made, bot_folder)


@asynccontextmanager
async def validating(world: World, *, at_once: int = 1) -> AsyncIterator[Validator]:
    async def at_once_here(act: Callable[[], T], *, abandon_on_cancel: bool = False) -> T:
        return act()

    validator = Validator(
        world.ladder,
        check=world.check,
        at_once=at_once,
        say=world.said.append,
        now=lambda: NOW,
        in_thread=at_once_here,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(validator.run, world.gate)
        yield validator
        world.gate.stop()
        validator.stop()


# -- whose turn it is, as a function of values


def waiting(*owners: int) -> list[Submission]:
    return [
        Submission(number, owner, "b", "1", f"{number}", 1, AT)
        for number, owner in enumerate(owners, start=1)
    ]


@pytest.mark.parametrize(
    ("owners", "served", "not_before", "number"),
    [
        ((), {}, {}, None),
        ((1, 1, 2), {}, {}, 1),
        ((1, 1, 2), {1: 1}, {}, 3),
        ((1, 1, 2), {1: 1, 2: 2}, {}, 1),
        ((1, 1, 2, 3), {1: 3, 2: 1, 3: 2}, {}, 3),
        ((1, 2), {}, {1: 10.0}, 2),
        ((1, 2), {}, {1: 10.0, 2: 11.0}, None),
        ((1, 2), {}, {1: 5.0}, 1),
    ],
)
def test_owners_take_turns(owners, served, not_before, number: int | None) -> None:
    found = next_of(waiting(*owners), served=served, not_before=not_before, now=5.0)
    assert (found and found.number) == number


# -- what a check came to


@pytest.mark.parametrize(
    ("status", "out", "judged"),
    [
        (0, '{"verdict": "accepted"}', Judged.ACCEPTED),
        (1, '{"verdict": "refused", "cause": "x"}', Judged.REFUSED),
        (3, '{"verdict": "undecided"}', Judged.UNDECIDED),
        (0, '{"verdict": "refused"}', Judged.UNDECIDED),
        (1, '{"verdict": "accepted"}', Judged.UNDECIDED),
        (2, '{"verdict": "refused"}', Judged.UNDECIDED),
        (-9, '{"verdict": "accepted"}', Judged.UNDECIDED),
        (0, "", Judged.UNDECIDED),
        (0, "[]", Judged.UNDECIDED),
        (0, '{"verdict": ["accepted"]}', Judged.UNDECIDED),
        (0, "[" * 100_000, Judged.UNDECIDED),
        (0, "\udcff", Judged.UNDECIDED),
    ],
)
def test_a_verdict_is_one_that_the_exit_status_and_the_report_agree_on(
    status: int, out: str, judged: Judged
) -> None:
    found = checked(Ended(returncode=status, out=out.encode("utf-8", "surrogateescape"), err=b""))
    assert found.judged is judged
    assert json.loads(found.report)["verdict"] == judged.value


def test_a_check_that_was_cut_off_is_no_verdict() -> None:
    out = b'{"verdict": "accepted"}'
    for ended in (
        Ended(returncode=0, out=out, err=b"", is_cut=True),
        Ended(returncode=0, out=out, err=b"", is_overdue=True),
    ):
        assert checked(ended).judged is Judged.UNDECIDED


def test_the_command_is_that_of_an_author_by_the_clock_of_the_ladder(world: World) -> None:
    words = command_of(Path("/x/y.zip"), ladder=world.ladder, is_confined=True)
    assert words[1:6] == ["-m", "arena", "bot", "check", "/x/y.zip"]
    assert words[6:] == [
        *("--json", "--move-time", "1", "--bank", "30", "--limit", "1800", "--sandbox"),
    ]


@pytest.mark.parametrize("minutes", [1, CHECK_MINUTES, MOST_CHECK_MINUTES])
def test_the_command_has_the_limit_of_the_operator(world: World, minutes: int) -> None:
    words = command_of(
        Path("/x/y.zip"), ladder=world.ladder, is_confined=True, limit_seconds=60.0 * minutes
    )
    assert words[words.index("--limit") + 1] == str(60 * minutes)


async def test_a_check_has_a_quarter_of_an_hour_besides_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[float] = []

    async def run(words: list[str], *, seconds: float, **_: object) -> Ended:
        given.append(seconds)
        return Ended(returncode=0, out=b'{"verdict": "accepted"}', err=b"")

    monkeypatch.setattr(child, "run", run)
    check = checking_by_process(lambda _: ["true"], limit_seconds=600.0)
    assert (await check(Path("/x/y.zip"))).judged is Judged.ACCEPTED
    assert given == [600.0 + 900.0]


@pytest.mark.parametrize("minutes", [1, MOST_CHECK_MINUTES])
def test_the_command_is_one_that_is_understood(world: World, minutes: int) -> None:
    words = command_of(
        world.ladder.folder / "none.zip",
        ladder=world.ladder,
        is_confined=False,
        limit_seconds=60.0 * minutes,
    )
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "none.zip" in done.stdout + done.stderr
    assert "--limit" not in done.stderr


# -- what comes of it


def test_a_check_sees_no_secret_of_the_arena() -> None:
    kept = {"PATH": "/bin", "HOKM_ARENA_WHEELS": "/wheels"}
    secret = ["HOKM_ARENA_TOKEN", "AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY"]
    secret += ["GOOGLE_SERVICE_ACCOUNT_KEY", "PGPASSWORD", "UV_PUBLISH_PASSWORD", "WHATEVER"]
    assert environment_of(kept | dict.fromkeys(secret, "x")) == kept


def test_a_check_can_install_packages_as_this_machine_does() -> None:
    needed = ["PIP_INDEX_URL", "UV_INDEX_URL", "https_proxy", "HTTP_PROXY", "SSL_CERT_FILE"]
    needed += ["XDG_CACHE_HOME", "TMPDIR", "LC_ALL", "VIRTUAL_ENV", "HOME"]
    assert environment_of(dict.fromkeys(needed, "x")).keys() == set(needed)


async def test_what_is_accepted_plays_and_what_is_refused_has_its_report(
    autojump_clock, world: World
) -> None:
    good, bad = world.submit("good"), world.submit("bad", "bob")
    world.answer(bad, said(Judged.REFUSED, cause="it plays a card that it has not"))
    async with validating(world):
        await world.until_decided()
    assert world.states() == [ACCEPTED, REFUSED]
    [bot] = world.ladder.store.bots()
    assert (bot.name, bot.owner, bot.is_active) == ("good", "ada", True)
    assert world.of(good).bot == bot.number
    assert world.of(good).decided == AT
    assert world.cause(bad) == "refused: it plays a card that it has not"
    assert world.said == [
        "submission 1 (good 1.0): accepted, and plays as good",
        "submission 2 (bad 1.0): refused",
    ]


async def test_nobody_keeps_others_waiting(autojump_clock, world: World) -> None:
    for number in range(4):
        world.submit(f"many{number}", "ada")
    world.submit("one", "bob")
    world.submit("another", "cyd")
    async with validating(world):
        await world.until_decided()
    assert world.checked == ["many0", "one", "another", "many1", "many2", "many3"]
    assert world.most_at_once == 1


async def test_several_are_validated_at_once_if_the_operator_says_so(
    autojump_clock, world: World
) -> None:
    for number in range(5):
        world.submit(f"bot{number}", f"o{number}")
    began = trio.current_time()
    async with validating(world, at_once=2):
        await world.until_decided()
        assert trio.current_time() - began <= 3 * CHECK_SECONDS + 3
    assert world.most_at_once == 2
    assert sorted(world.checked) == [f"bot{number}" for number in range(5)]


async def test_a_later_version_is_entered_beside_the_first(autojump_clock, world: World) -> None:
    numbers = [world.submit("ace", code="print(1)", version="1")]
    numbers.append(world.submit("ace", code="print(2)", version="2"))
    numbers.append(world.submit("ace", code="print(3)", version="2"))
    numbers.append(world.submit("ace", "bob", code="print(4)"))
    async with validating(world):
        await world.until_decided()
    assert [bot.name for bot in world.ladder.store.bots()] == ["ace", "ace-2"]
    assert [world.of(number).state for number in numbers] == [ACCEPTED, ACCEPTED, REFUSED, REFUSED]
    assert "give it a new one in bot.toml" in world.cause(numbers[2])
    assert "is entered already, with other files" in world.cause(numbers[3])
    # And it plays under that name.
    second = world.ladder.entered("ace-2")
    assert world.ladder.thawed(second).name == "ace-2"


async def test_the_same_program_stands_for_its_owner_and_is_refused_to_others(
    autojump_clock, world: World
) -> None:
    first = world.submit("ace", code="print(1)", version="1")
    same = world.submit("ace", code="print(1)", version="2")
    copied = world.submit("mine", "bob", code="print(1)")
    async with validating(world):
        await world.until_decided()
    assert [world.of(number).state for number in (first, same, copied)] == [
        ACCEPTED,
        ACCEPTED,
        REFUSED,
    ]
    assert world.of(first).bot == world.of(same).bot == 1
    assert world.cause(copied) == "refused: it is the same program as ace of ada"


async def test_a_bot_that_the_operator_disabled_does_not_come_back_by_being_sent_again(
    autojump_clock, world: World
) -> None:
    world.submit("ace")
    async with validating(world):
        await world.until_decided()
    Verbs(world.ladder, actor="m", now=lambda: NOW).disable("ace", because="it cheated")
    world.gate = Gate()
    again = world.submit("ace")
    async with validating(world):
        await world.until_decided()
    assert world.of(again).state is REFUSED
    assert "disabled by the operator: it cheated" in world.cause(again)
    assert not world.ladder.entered("ace").is_active


async def test_another_version_number_leaves_no_rating_behind(autojump_clock, world: World) -> None:
    world.submit("ace", code="print(1)", version="1")
    async with validating(world):
        await world.until_decided()
    world.ladder.withdraw("ace")
    world.gate = Gate()
    again = world.submit("ace", code="print(1)", version="2")
    async with validating(world):
        await world.until_decided()
    assert (world.of(again).state, world.of(again).bot) == (ACCEPTED, 1)
    assert [(bot.name, bot.is_active) for bot in world.ladder.store.bots()] == [("ace", True)]
    # Nor is a bot that was disabled brought back so.
    Verbs(world.ladder, actor="m", now=lambda: NOW).disable("ace", because="it cheated")
    world.gate = Gate()
    again = world.submit("other", code="print(1)", version="3")
    async with validating(world):
        await world.until_decided()
    assert "disabled by the operator: it cheated" in world.cause(again)
    assert [(bot.name, bot.is_active) for bot in world.ladder.store.bots()] == [("ace", False)]


async def test_of_an_owner_who_is_barred_nothing_is_validated(autojump_clock, world: World) -> None:
    number = world.submit("ace")
    world.accounts.bar(1, because="spam")
    async with validating(world):
        await world.until_decided()
    assert world.cause(number) == "refused: its owner is barred: spam"
    assert world.checked == []


async def test_what_is_validated_as_its_owner_is_barred_is_not_entered(
    autojump_clock, world: World
) -> None:
    number = world.submit("ace")
    async with validating(world):
        await trio.sleep(CHECK_SECONDS / 2)
        world.accounts.bar(1, because="spam")
        await world.until_decided()
    assert world.cause(number) == "refused: its owner is barred: spam"
    assert world.ladder.store.bots() == ()


async def test_a_bot_that_cannot_be_entered_here_is_refused_with_what_to_do(
    autojump_clock, world: World
) -> None:
    number = world.submit("ace", variants=(2,))
    async with validating(world):
        await world.until_decided()
    assert world.of(number).state is REFUSED
    assert "does not play with 4" in world.cause(number)


# -- what failed


async def test_what_nobody_knows_is_tried_again_later_and_others_go_first(
    autojump_clock, world: World
) -> None:
    number = world.submit("ace")
    world.submit("other")
    world.answer(number, said(Judged.UNDECIDED), OSError(11, "Resource temporarily unavailable"))
    began = trio.current_time()
    async with validating(world):
        await world.until_decided()
        assert trio.current_time() - began >= 3 * CHECK_SECONDS + 60 + 120
    assert world.checked == ["ace", "other", "ace", "ace"]
    assert world.states() == [ACCEPTED, ACCEPTED]


def has(world: World, number: int) -> bool:
    """Whether the archive of a submission is kept, here or elsewhere."""
    bundles, digest = world.ladder.bundles, world.of(number).digest
    there = bundles.elsewhere is not None and bundles.elsewhere.has(digest)
    return there or bundles.own.has(digest)


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_the_archive_of_what_is_refused_is_removed_at_once(
    world: World, tmp_path: Path, autojump_clock: trio.testing.MockClock, is_elsewhere: bool
) -> None:
    good, bad, unlucky = (world.submit(name) for name in ("good", "bad", "unlucky"))
    world.answer(bad, said(Judged.REFUSED, cause="x"))
    world.answer(unlucky, *[said(Judged.UNDECIDED, cause="x")] * TRIES)
    if is_elsewhere:
        bundles = Bundles(world.ladder.folder / "submissions", FolderShelf(tmp_path / "elsewhere"))
        for number in (good, bad, unlucky):
            digest = world.of(number).digest
            file = bundles.own.file_of(digest)
            bundles.put(digest, file)
            file.unlink()
        world.ladder.bundles = bundles
    async with validating(world):
        await world.until_decided()
        await trio.sleep(1)
        assert [has(world, number) for number in (good, bad, unlucky)] == [True, False, True]


async def test_a_refused_archive_that_another_submission_needs_stays(
    world: World, autojump_clock: trio.testing.MockClock
) -> None:
    number = world.submit("bad")
    world.answer(number, said(Judged.REFUSED, cause="x"))
    first = world.of(number)
    again = world.accounts.submit(
        owner=first.owner, name="bad", version="1.0", digest=first.digest, size_bytes=1, at=AT
    ).number
    async with validating(world):
        await world.until_decided()
        assert world.of(again).state is ACCEPTED
        assert has(world, again)


async def test_a_store_that_removes_nothing_keeps_no_verdict_back(
    world: World, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(digest: str) -> None:
        raise ShelfError("s3://x", "is away", remedy="mend that")

    monkeypatch.setattr(world.ladder.bundles, "remove", fail)
    bad, good = world.submit("bad"), world.submit("good")
    world.answer(bad, said(Judged.REFUSED, cause="x"))
    async with validating(world):
        await world.until_decided()
        assert [world.of(bad).state, world.of(good).state] == [REFUSED, ACCEPTED]


async def test_a_folder_that_nothing_can_be_written_to_is_no_word_about_a_bot(
    world: World, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = world.submit("ace")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as read_only:
        read_only.setattr("arena.service.intake.tempfile.TemporaryDirectory", fail)
        async with validating(world):
            await trio.sleep(10)
            assert world.of(number).state is WAITING
            assert "Read-only file system" in world.cause(number)
            read_only.undo()
            await world.until_decided()
    assert world.of(number).state is ACCEPTED


class Away(FolderShelf):
    """A store elsewhere, which is away at first."""

    failures = 1

    def get(self, digest: str, file: Path) -> bool:
        if self.failures:
            self.failures -= 1
            raise ShelfError("s3://bundles", "is away", remedy="mend it", is_passing=True)
        return super().get(digest, file)


async def test_a_store_that_is_away_is_asked_again_and_its_address_is_the_operators_business(
    autojump_clock, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    number = world.submit("ace")
    folder = world.ladder.folder / "submissions"
    elsewhere = folder.rename(world.ladder.folder.parent / "elsewhere")
    world.ladder.bundles = Bundles(folder, Away(elsewhere))
    async with validating(world):
        with trio.fail_after(3600):
            while world.of(number).report is None:  # noqa: ASYNC110
                await trio.sleep(1)
        assert world.of(number).state is WAITING
        assert world.cause(number) == (
            "undecided: its archive could not be fetched from where the ladder keeps it"
        )
        assert world.checked == []
        await world.until_decided()
    assert world.of(number).state is ACCEPTED
    assert world.checked == ["ace"]
    assert "s3://bundles: is away; mend it" in caplog.text
    assert "s3:" not in "".join([*world.said, world.of(number).report or ""])
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("is_there", [True, False])
async def test_what_the_ladder_lost_or_damaged_is_no_word_about_the_bot(
    autojump_clock, world: World, is_there: bool
) -> None:
    number = world.submit("ace")
    file = world.ladder.bundles.own.file_of(world.of(number).digest)
    if is_there:
        file.write_bytes(b"PK")
    else:
        file.unlink()
    async with validating(world):
        await world.until_decided()
    assert world.of(number).state is FAILED
    assert world.cause(number).startswith("undecided: its archive could not be fetched")
    assert world.checked == []


async def test_what_the_arena_fails_at_three_times_is_given_up(
    autojump_clock, world: World
) -> None:
    number = world.submit("ace")
    world.answer(number, *[said(Judged.UNDECIDED, cause="no sandbox")] * 3)
    async with validating(world):
        await world.until_decided()
    assert world.of(number).state is FAILED
    assert world.cause(number) == "undecided: no sandbox"
    assert world.checked == ["ace"] * 3


async def test_a_disk_that_is_full_as_a_bot_is_entered_is_no_word_about_the_bot(
    autojump_clock, world: World, monkeypatch
) -> None:
    number = world.submit("ace")
    add, fails = world.ladder.add, [True]

    def sometimes(*arguments, **options):
        if fails:
            fails.pop()
            full = LadderError("bots", "cannot be copied (No space left)", remedy="mend that")
            raise full from OSError(28, "No space left")
        return add(*arguments, **options)

    monkeypatch.setattr(world.ladder, "add", sometimes)
    async with validating(world):
        await world.until_decided()
    assert world.of(number).state is ACCEPTED


async def test_a_database_that_fails_for_a_while_loses_no_verdict(
    autojump_clock, world: World, monkeypatch
) -> None:
    number = world.submit("ace")
    set_state, failures = world.accounts.set_state, [3]

    def sometimes(*arguments, **options):
        if arguments[1] is ACCEPTED and failures[0]:
            failures[0] -= 1
            raise LadderError("ladder.db", "another program holds it", remedy="end it")
        return set_state(*arguments, **options)

    monkeypatch.setattr(world.accounts, "set_state", sometimes)
    async with validating(world):
        await world.until_decided()
    assert world.of(number).state is ACCEPTED
    assert world.checked == ["ace"]


async def test_what_was_interrupted_waits_again(autojump_clock, world: World) -> None:
    number = world.submit("ace")
    async with validating(world) as validator:
        await trio.sleep(CHECK_SECONDS / 2)
        assert (world.of(number).state, validator.working) == (VALIDATING, 1)
    assert world.of(number).state is WAITING
    world.accounts.set_state(number, VALIDATING, at=AT)  # as a kill leaves it
    world.gate = Gate()
    async with validating(world):
        await world.until_decided()
    assert world.of(number).state is ACCEPTED


async def test_a_kill_between_entry_and_verdict_enters_nothing_twice(
    autojump_clock, world: World, bot_folder
) -> None:
    number = world.submit("ace")
    world.ladder.add(bot_folder("ace", owner="ada"), is_version=True)
    world.accounts.set_state(number, VALIDATING, at=AT)
    async with validating(world):
        await world.until_decided()
    assert [bot.name for bot in world.ladder.store.bots()] == ["ace"]
    assert world.of(number).bot == 1


# -- the gate


async def test_a_drain_lets_what_is_under_way_be_decided_and_begins_no_other(
    autojump_clock, world: World
) -> None:
    world.submit("one")
    world.submit("two")
    async with validating(world) as validator:
        await trio.sleep(CHECK_SECONDS / 2)
        world.gate.heed(Controls(draining=""))
        await trio.sleep(CHECK_SECONDS * 2)
        assert world.states() == [ACCEPTED, WAITING]
        assert validator.working == 0
        assert validator.waiting == 1


async def test_nothing_is_begun_while_it_is_paused(autojump_clock, world: World) -> None:
    world.gate.heed(Controls(paused=""))
    world.submit("one")
    async with validating(world):
        await trio.sleep(100)
        assert world.states() == [WAITING]
        world.gate.heed(Controls())
        await world.until_decided()
