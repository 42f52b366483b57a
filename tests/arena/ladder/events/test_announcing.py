"""An event from its announcement to its first card: each step once, whatever interrupts it."""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.audit import check
from arena.ladder.errors import LadderError
from arena.ladder.events.announcing import (
    announce,
    begin,
    call_off,
    document_of,
    publish,
    republish,
    take_nonce,
)
from arena.ladder.events.playing import EventBegan, EventEnded, Notice, StageBegan, play_event
from arena.ladder.facts import Event
from arena.ladder.ladder import Ladder
from arena.ladder.matches.boards import MatchPlan
from arena.ladder.matches.room import Watcher
from arena.ladder.proof.checks import contradictions, succession
from arena.ladder.proof.document import EVENT_FILE, EventDocument
from arena.ladder.proof.entropy import Source, entropy_of_beacon, entropy_of_nonces
from arena.ladder.proof.folder import check_event, load_event
from arena.ladder.schedules import (
    Adaptive,
    AnySchedule,
    Gauntlet,
    KnockOut,
    RoundRobin,
    Swiss,
    to_text,
)
from arena.ladder.settings import MatchScoring, Settings
from arena.ladder.store import Store
from arena.ladder.testing import InProcessRunner
from hokm.deck import board_seed, commitment, mix
from hokm.outcome import Ending
from hokm.records import MatchRecord, save
from tests.arena.ladder.conftest import OF_FILES, copied
from tests.postgres import ON_POSTGRES

SECRET = bytes(range(32))
BEACON = "drand quicknet, round 14500000"
VALUE = "3f7cca4a5766583414d032a3de51e7c5ac3889159f7f2fba2fa71b659b9da5e5"
NAMES = ("ada", "bob", "cyd", "dan")


@pytest.fixture
def ladder(tmp_path: Path, bot_folder) -> Iterator[Ladder]:
    with Ladder.init(tmp_path / "club", Settings.of("club", length=1)) as made:
        for name in NAMES:
            made.add(bot_folder(name))
        yield made


def announced(
    ladder: Ladder, schedule: AnySchedule | None = None, *, beacon: str | None = None
) -> Event:
    return announce(ladder, schedule=schedule or RoundRobin(), beacon=beacon, secret=SECRET)


async def play(
    ladder: Ladder,
    *,
    value: str | None = None,
    schedule: AnySchedule | None = None,
    tell: Callable[[Notice], None] = lambda _: None,
) -> Event:
    return await play_event(
        ladder,
        InProcessRunner(),
        schedule=schedule or RoundRobin(),
        beacon_value=value,
        tell=tell,
        at_once=1,
        draw=lambda _: SECRET,
    )


def published(ladder: Ladder, event: str = "ev1") -> EventDocument:
    return load_event(ladder.records_folder / event / EVENT_FILE)


def complaint(call: Callable[[], object]) -> str:
    with pytest.raises(LadderError) as caught:
        call()
    return str(caught.value)


# -- announcing


def test_an_announcement_binds_the_deals_and_plays_nothing(ladder: Ladder) -> None:
    event = announced(ladder, RoundRobin(2), beacon=BEACON)
    assert not event.has_begun
    assert ladder.store.event_under_way() == event
    document = published(ladder)
    assert document.announcement.commitment == commitment(SECRET)
    assert document.announcement.beacon == BEACON
    assert document.announcement.schedule == '{"cycles":2,"kind":"round-robin"}'
    assert [entrant.name for entrant in document.entrants] == list(NAMES)
    assert (document.beginning, document.stages, document.secret) == (None, (), None)
    assert SECRET.hex() not in (ladder.records_folder / "ev1" / EVENT_FILE).read_text()
    assert check(ladder) == []


def test_the_same_words_again_publish_again_and_other_words_are_refused(ladder: Ladder) -> None:
    event = announced(ladder, beacon=BEACON)
    (ladder.records_folder / "ev1" / EVENT_FILE).unlink()  # as a kill in between leaves it
    again = announce(ladder, schedule=RoundRobin(), beacon=BEACON, secret=bytes(32))
    assert again == event
    assert published(ladder).announcement.commitment == commitment(SECRET)
    for other in (lambda: announced(ladder), lambda: announced(ladder, Swiss(), beacon=BEACON)):
        said = complaint(other)
        assert "ev1: is announced already, in other words; play it, or call it off" in said


async def test_nothing_is_announced_while_an_event_is_played(ladder: Ladder) -> None:
    event = announced(ladder)
    begin(ladder, event, beacon_value=None, settle=lambda fixed: fixed.schedule)
    assert "ev1: has begun; play it to its end first" in complaint(lambda: announced(ladder))
    await play(ladder)
    assert announced(ladder).name == "ev2"


@pytest.mark.parametrize("beacon", ["", " x", "one\ntwo"])
def test_a_beacon_that_is_no_line_is_refused(ladder: Ladder, beacon: str) -> None:
    assert complaint(lambda: announced(ladder, beacon=beacon)).startswith("--beacon: ")
    assert ladder.store.events() == ()


def test_what_no_field_could_play_is_not_announced(tmp_path: Path) -> None:
    with Ladder.init(tmp_path / "threes", Settings.of("threes", players=3, length=1)) as threes:
        for schedule in (Swiss(), KnockOut()):
            said = complaint(lambda schedule=schedule: announced(threes, schedule))  # type: ignore[misc]
            assert "take another --schedule" in said
        assert threes.store.events() == ()
        announced(threes, RoundRobin())  # who plays it may still be entered


async def test_who_plays_may_be_entered_after_the_announcement(ladder: Ladder, bot_folder) -> None:
    announced(ladder, Gauntlet(("eve",)), beacon=BEACON)
    with pytest.raises(LadderError, match="eve"):
        await play(ladder, value=VALUE)
    is_fixed = ladder.store.event(1).has_begun
    assert not is_fixed  # so the value could still be another
    ladder.add(bot_folder("eve"))
    republish(ladder)
    assert [entrant.name for entrant in published(ladder).entrants] == [*NAMES, "eve"]
    assert (await play(ladder, value=VALUE)).is_over
    assert published(ladder).late == ()
    assert not check_event(ladder.records_folder / "ev1").findings


async def test_who_is_entered_when_the_entropy_is_fixed_is_late(ladder: Ladder, bot_folder) -> None:
    def enter(notice: Notice) -> None:
        if isinstance(notice, EventBegan):
            ladder.add(bot_folder("eve"))

    announced(ladder, RoundRobin(), beacon=BEACON)
    await play(ladder, value=VALUE, tell=enter)
    assert published(ladder).late == ("eve",)
    report = check_event(ladder.records_folder / "ev1")
    assert not report.findings
    assert any("may have known the deals: eve" in line for line in report.unchecked)


# -- calling off


async def test_an_announcement_that_is_called_off_is_revealed_and_keeps_its_number(
    ladder: Ladder,
) -> None:
    announced(ladder, Gauntlet(("nobody",)), beacon=BEACON)
    event = call_off(ladder)
    assert (event.secret, event.is_over, event.has_begun) == (SECRET, True, False)
    report = check_event(ladder.records_folder / "ev1")
    assert not report.findings
    assert report.event.secret == SECRET
    assert any(line.startswith("why it was called off") for line in report.unchecked)
    assert check(ladder) == []
    assert "no event is announced" in complaint(lambda: call_off(ladder))
    assert announced(ladder).name == "ev2"
    assert (await play(ladder)).is_over
    assert check(ladder) == []


def test_what_has_begun_is_not_called_off(ladder: Ladder) -> None:
    event = announced(ladder)
    begin(ladder, event, beacon_value=None, settle=lambda fixed: fixed.schedule)
    assert "ev1: has begun: its entropy is fixed; play it" in complaint(lambda: call_off(ladder))


# -- nonces


def test_a_nonce_is_published_and_stays_as_it_is(ladder: Ladder) -> None:
    announced(ladder)
    take_nonce(ladder, "cyd", nonce=b"\2" * 32)
    take_nonce(ladder, "ada", nonce=b"\1" * 32)
    take_nonce(ladder, "ada", nonce=b"\1" * 32)
    assert [(one.entrant, one.value[0]) for one in published(ladder).nonces] == [
        ("ada", 1),
        ("cyd", 2),
    ]
    said = complaint(lambda: take_nonce(ladder, "ada", nonce=bytes(32)))
    assert said.startswith("ada: has brought its nonce for ev1 already; it stays")
    assert check(ladder) == []


async def test_a_nonce_that_nothing_awaits_is_refused(ladder: Ladder, bot_folder) -> None:
    def bring(bot: str = "ada") -> str:
        return complaint(lambda: take_nonce(ladder, bot, nonce=bytes(32)))

    assert "no event is announced; announce one with" in bring()
    announced(ladder, beacon=BEACON)
    assert f"ev1: takes no nonces: its entropy comes from {BEACON}" in bring()
    await play(ladder, value=VALUE)
    event = announced(ladder)
    assert "nobody: is not entered here" in bring("nobody")
    ladder.withdraw("dan")
    assert "dan: is inactive (withdrawn)" in bring("dan")
    begin(ladder, event, beacon_value=None, settle=lambda fixed: fixed.schedule)
    assert "ev2: has begun: its entropy is fixed" in bring()


# -- the beginning


async def test_the_deals_follow_from_the_nonces(ladder: Ladder) -> None:
    announced(ladder)
    nonces = {"ada": b"\1" * 32, "cyd": b"\0" * 32}
    for name, nonce in nonces.items():
        take_nonce(ladder, name, nonce=nonce)
    told: list[Notice] = []
    event = await play(ladder, tell=told.append)
    assert event.entropy == entropy_of_nonces(nonces.values())
    assert str(told[0]).endswith(", with entropy from the nonces of its entrants")
    beginning = published(ladder).beginning
    assert beginning is not None
    assert (beginning.source, beginning.entrants) == (Source.NONCES, 4)
    assert not check_event(ladder.records_folder / "ev1").findings
    assert check(ladder) == []


async def test_the_deals_follow_from_what_the_beacon_published(ladder: Ladder) -> None:
    announced(ladder, beacon=BEACON)
    told: list[Notice] = []
    event = await play(ladder, value="۴ ۸ ۱۵", tell=told.append)
    assert event.entropy == entropy_of_beacon("۴ ۸ ۱۵")
    assert str(told[0]).endswith(f", with entropy from {BEACON}")
    beginning = published(ladder).beginning
    assert beginning is not None
    assert (beginning.source, beginning.beacon_value) == (Source.BEACON, "۴ ۸ ۱۵")
    assert not check_event(ladder.records_folder / "ev1").findings


async def test_what_is_announced_without_anything_brought_begins_without_entropy(
    ladder: Ladder,
) -> None:
    announced(ladder)
    told: list[Notice] = []
    event = await play(ladder, tell=told.append)
    assert event.entropy == b""
    assert "without entropy (fine among friends" in str(told[0])
    report = check_event(ladder.records_folder / "ev1")
    assert not report.findings
    assert any("the operator's word alone" in line for line in report.unchecked)


async def test_an_event_is_played_by_the_schedule_it_was_announced_with(ladder: Ladder) -> None:
    announced(ladder, Swiss(rounds=1))
    await play(ladder, schedule=RoundRobin(3))
    document = published(ladder)
    assert len(document.matches) == 2
    assert document.announcement.schedule == '{"kind":"swiss","order":[],"rounds":1}'
    assert document.beginning is not None
    assert '"order":["ada","bob","cyd","dan"]' in document.beginning.schedule
    assert not check_event(ladder.records_folder / "ev1").findings


@pytest.mark.parametrize(
    ("beacon", "value", "said"),
    [
        (BEACON, None, f"ev1: needs what {BEACON} has published; give it with --entropy"),
        (BEACON, "two\nlines", "--entropy: "),
        (None, VALUE, "ev1: was announced without a beacon; leave --entropy out"),
    ],
)
async def test_a_value_that_is_missing_or_belongs_to_nothing_begins_nothing(
    ladder: Ladder, beacon: str | None, value: str | None, said: str
) -> None:
    event = announced(ladder, beacon=beacon)
    with pytest.raises(LadderError) as caught:
        await play(ladder, value=value)
    assert str(caught.value).startswith(said)
    assert ladder.store.event_under_way() == event
    assert published(ladder).beginning is None


async def test_a_value_without_an_announcement_is_refused(ladder: Ladder) -> None:
    with pytest.raises(LadderError, match="--entropy: no event is announced"):
        await play(ladder, value=VALUE)
    assert ladder.store.events() == ()


def test_an_event_that_has_begun_keeps_its_entropy(ladder: Ladder) -> None:
    event = announced(ladder, beacon=BEACON)

    def start(value: str | None) -> Event:
        now = ladder.store.event(event.number)
        return begin(ladder, now, beacon_value=value, settle=lambda fixed: fixed.schedule)

    begun = start(VALUE)
    assert begun.entropy == bytes.fromhex(VALUE)
    assert start(None) == start(VALUE) == begun == ladder.store.event(1)
    assert f"ev1: has begun with {VALUE}" in complaint(lambda: start("another"))


def test_the_schedule_is_settled_with_the_entropy_that_will_be(ladder: Ladder) -> None:
    event = announced(ladder, beacon=BEACON)
    seen: list[Event] = []

    def settle(fixed: Event) -> str:
        seen.append(fixed)
        return to_text(RoundRobin(7))

    begun = begin(ladder, event, beacon_value=VALUE, settle=settle)
    assert seen == [replace(begun, settled=None)]
    assert begun.settled == to_text(RoundRobin(7))


# -- what is published


async def test_each_document_only_adds_to_the_one_before(ladder: Ladder, monkeypatch) -> None:
    kept: list[EventDocument] = []

    def publishing(of: Ladder, event: Event) -> EventDocument:
        kept.append(publish(of, event))
        return kept[-1]

    monkeypatch.setattr("arena.ladder.events.playing.publish", publishing)
    monkeypatch.setattr("arena.ladder.events.announcing.publish", publishing)
    announced(ladder, Swiss(rounds=3))
    take_nonce(ladder, "ada", nonce=bytes(32))
    await play(ladder)
    said = [
        (len(one.nonces), one.beginning is not None, len(one.stages), one.is_over) for one in kept
    ]
    assert said == [
        (0, False, 0, False),
        (1, False, 0, False),
        (1, True, 0, False),
        (1, True, 1, False),
        (1, True, 2, False),
        (1, True, 3, False),
        (1, True, 3, True),
    ]
    for number, earlier in enumerate(kept):
        for later in kept[number:]:
            assert not list(contradictions(earlier, later))


async def test_the_document_is_written_before_the_first_card(ladder: Ladder) -> None:
    seen: list[bool] = []

    class Looking(InProcessRunner):
        async def play(self, plan, *, watcher):
            document = published(ladder)
            seen.append(plan.match in {match.match for match in document.matches})
            assert document.beginning is not None
            assert document.beginning.entropy == plan.secret.entropy == bytes.fromhex(VALUE)
            assert document.secret is None
            return await super().play(plan, watcher=watcher)

    announced(ladder, beacon=BEACON)
    await play_event(
        ladder, Looking(), schedule=RoundRobin(), beacon_value=VALUE, draw=lambda _: SECRET
    )
    assert seen == [True] * 6


async def test_until_the_end_the_secret_is_in_no_file_but_its_own(ladder: Ladder) -> None:
    """Nor is what it is mixed to, nor a seed of a match to come; nor are they in what is told."""
    mixed = mix(SECRET, bytes.fromhex(VALUE))
    last = "ev1/r3/ada~cyd"
    hidden = [SECRET, mixed, board_seed(mixed, last, 1)]
    looks = 0

    def look(*said: object) -> None:
        nonlocal looks
        files = [file for file in ladder.folder.rglob("*") if file.is_file()]
        texts = [file.read_bytes() for file in files if file.parent.name != "secret"]
        texts += [str(file).encode() for file in files]
        texts += [f"{one} {one!r}".encode() for one in said]
        for value in hidden:
            for spelt in (value, value.hex().encode(), value.hex().upper().encode()):
                assert not [text for text in texts if spelt in text]
        looks += 1

    class Looking(InProcessRunner):
        async def play(self, plan, *, watcher):
            look(plan)
            if plan.match == last:
                hidden.pop()
            return await super().play(plan, watcher=watcher)

    def tell(notice: Notice) -> None:
        if not isinstance(notice, EventEnded):
            look(notice)

    look(announced(ladder, beacon=BEACON))
    await play_event(
        ladder,
        Looking(),
        schedule=RoundRobin(),
        beacon_value=VALUE,
        tell=tell,
        at_once=1,
        draw=lambda _: SECRET,
    )
    assert (looks, len(hidden)) == (1 + 1 + 1 + 6 + 6 + 3, 2)
    assert SECRET.hex().encode() in (ladder.records_folder / "ev1" / EVENT_FILE).read_bytes()


async def test_a_document_that_is_lost_damaged_or_edited_is_told_by_the_check(
    ladder: Ladder,
) -> None:
    announced(ladder)
    take_nonce(ladder, "ada", nonce=bytes(32))
    await play(ladder)
    file = ladder.records_folder / "ev1" / EVENT_FILE
    true = file.read_bytes()
    file.unlink()
    assert [str(one) for one in check(ladder)] == [
        f"{file}: is missing; see what changed it, or restore it from a backup"
    ]
    file.write_bytes(true[:100])
    assert f"{file}: is damaged (not JSON" in str(check(ladder)[0])
    ladder.store.fix_entropy(ladder.store.event(1), b"\7" * 32)
    file.write_bytes(true)
    assert any(
        "its entropy, or what it came from, was another" in str(one) for one in check(ladder)
    )


@pytest.mark.skipif(ON_POSTGRES, reason=OF_FILES)
async def test_in_a_backup_the_document_may_be_newer_than_the_database(
    ladder: Ladder, tmp_path: Path
) -> None:
    announced(ladder)
    (tmp_path / "backup").mkdir()
    for file in ladder.folder.glob("ladder.*"):
        shutil.copy(file, tmp_path / "backup")
    take_nonce(ladder, "ada", nonce=bytes(32))
    for name in ("records", "bots", "secret"):
        shutil.copytree(ladder.folder / name, tmp_path / "backup" / name)
    with Ladder.open(tmp_path / "backup") as backup:
        assert check(backup) == []


async def test_of_events_that_an_older_arena_played_no_document_is_asked(ladder: Ladder) -> None:
    event = await play(ladder)
    ladder.store.fix_entropy(replace(event, entered=None), b"")
    shutil.rmtree(ladder.records_folder / "ev1")
    assert not any(EVENT_FILE in str(one) for one in check(ladder))


def test_a_disk_that_is_full_is_told_with_the_file(ladder: Ladder, monkeypatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("arena.ladder.events.announcing.write_whole", full)
    said = complaint(lambda: announced(ladder))
    assert said.startswith(
        f"{ladder.records_folder / 'ev1' / EVENT_FILE}: cannot be written (No sp"
    )


async def test_nothing_is_missing_of_an_event_that_an_older_arena_began_and_no_run_went_on_with(
    ladder: Ladder,
) -> None:
    event = announced(ladder)
    event = begin(ladder, event, beacon_value=None, settle=lambda fixed: fixed.schedule)
    (ladder.records_folder / "ev1" / EVENT_FILE).unlink()
    [problem] = check(ladder)
    assert "is missing" in str(problem)
    ladder.store.fix_entropy(replace(event, settled=None), b"")  # as an upgrade leaves it
    assert check(ladder) == []
    await play(ladder)  # which publishes it, before all else
    assert published(ladder).is_over
    (ladder.records_folder / "ev1" / EVENT_FILE).unlink()
    [problem] = check(ladder)
    assert "is missing" in str(problem)


# -- kills


class Interrupted(Exception):
    """The power fails."""


@pytest.mark.parametrize("seed", range(6))
async def test_no_step_is_lost_or_changed_whichever_is_killed(
    ladder: Ladder, tmp_path: Path, monkeypatch, seed: int
) -> None:
    """The same commands again and again, each step of which fails by chance before or after it is
    done, come to the event of one that was left alone.
    """
    copied(ladder, tmp_path / "torn")
    use_nonces = seed % 2 == 0
    value = None if use_nonces else VALUE
    beacon = None if use_nonces else BEACON
    bring = [("bob", b"\3" * 32), ("dan", b"\4" * 32)] if use_nonces else []
    announced(ladder, beacon=beacon)
    for name, nonce in bring:
        take_nonce(ladder, name, nonce=nonce)
    whole = await play(ladder, value=value)
    dice = random.Random(seed)
    faults = 0

    def fragile(step):
        def wrapped(*args, **kwargs):
            nonlocal faults
            if dice.random() < 0.15:
                faults += 1
                raise Interrupted("before")
            result = step(*args, **kwargs)
            if dice.random() < 0.15:
                faults += 1
                raise Interrupted("after")
            return result

        return wrapped

    for name in ("begin_event", "add_nonce", "fix_entropy", "add_cycle", "play", "finish_event"):
        monkeypatch.setattr(Store, name, fragile(getattr(Store, name)))
    monkeypatch.setattr("arena.ladder.events.playing.save", fragile(save))
    monkeypatch.setattr("arena.ladder.events.announcing.write_whole", fragile(_write_whole))
    monkeypatch.setattr(Ladder, "keep_secret", fragile(Ladder.keep_secret))
    kept: list[EventDocument] = []
    steps: list[Callable[[Ladder], object]] = [lambda torn: announced(torn, beacon=beacon)]
    steps += [
        lambda torn, name=name, nonce=nonce: take_nonce(torn, name, nonce=nonce)  # type: ignore[misc]
        for name, nonce in bring
    ]
    for step in steps:
        for _ in range(100):
            with Ladder.open(tmp_path / "torn") as torn:
                try:
                    step(torn)
                    break
                except Interrupted:
                    keep_published(torn, kept)
    for _ in range(200):
        with Ladder.open(tmp_path / "torn") as torn:
            keep_published(torn, kept)
            if any(event.is_over for event in torn.store.events()):
                break  # also when the fault fell after the last commit
            try:
                await play(torn, value=value)
            except* Interrupted:
                pass
    assert faults > 3, f"seed {seed} tried nothing"
    monkeypatch.undo()
    with Ladder.open(tmp_path / "torn") as torn:
        assert check(torn) == []
        assert published(torn) == published(ladder)
        assert torn.store.event(1).entropy == whole.entropy
        for earlier in kept:
            assert not list(contradictions(earlier, published(torn)))


def keep_published(ladder: Ladder, kept: list[EventDocument]) -> None:
    if (ladder.records_folder / "ev1" / EVENT_FILE).exists():
        kept.append(published(ladder))


def _write_whole(file: Path, data: bytes, *, mode: int) -> None:
    from arena.ladder.files import write_whole

    write_whole(file, data, mode=mode)


def test_a_document_says_what_the_store_has_also_if_the_caller_is_behind(ladder: Ladder) -> None:
    event = announced(ladder)
    begin(ladder, event, beacon_value=None, settle=lambda fixed: fixed.schedule)
    assert document_of(ladder, event).beginning is not None


# -- every schedule, made again from what is published


@pytest.mark.parametrize(
    "schedule",
    [
        RoundRobin(2),
        Gauntlet(("ada",), cycles=2),
        Gauntlet(("ada", "cyd"), among=True),
        Swiss(),
        Swiss(rounds=2),
        KnockOut(third=True),
        Adaptive(8),
    ],
    ids=str,
)
async def test_whoever_checks_an_event_comes_to_the_same_matches(
    tmp_path: Path, bot_folder, schedule: AnySchedule
) -> None:
    """Two events, of which the second begins with ratings; in each a bot joins in the middle, one
    is deactivated, and faults of the host have matches played again.
    """
    settings = Settings.of("club", length=2, score=MatchScoring.VP)
    with Ladder.init(tmp_path / "club", settings) as ladder:
        for name in ("ada", "bob", "cyd", "dan", "eve", "fay"):
            ladder.add(bot_folder(name))
        for event, joins in (("ev1", "gil"), ("ev2", "hal")):

            def tell(notice: Notice, joins: str = joins) -> None:
                if isinstance(notice, StageBegan) and notice.number == 1:
                    ladder.add(bot_folder(joins))

            announced(ladder, schedule, beacon=BEACON)
            await play_event(
                ladder,
                Faulty(),
                schedule=RoundRobin(),
                beacon_value=VALUE,
                tell=tell,
                at_once=1,
            )
            ladder.add(bot_folder("dan"))  # takes it back
            folder = ladder.records_folder / event
            report = check_event(folder)
            assert [str(finding) for finding in report.findings] == []
            assert any("void" in line for line in report.unchecked)
            made_again = not any("its schedule makes" in line for line in report.unchecked)
            assert made_again == (not isinstance(schedule, Adaptive))
            assert not any("ended before" in line for line in report.unchecked)
        assert check(ladder) == []
        assert not list(succession(published(ladder, "ev1"), published(ladder, "ev2")))


class Faulty(InProcessRunner):
    """dan never starts, and the first attempt at each match of bob's is a fault of the host."""

    async def play(self, plan: MatchPlan, *, watcher: Watcher) -> MatchRecord:
        names = [entrant.name for entrant in plan.entrants]
        if "dan" in names:
            fault = (Ending.NEVER_STARTED, names.index("dan"))
            self.faults[plan.match, plan.attempt] = fault
        elif "bob" in names and plan.attempt == 1:
            self.faults[plan.match, plan.attempt] = (Ending.HOST_FAULT, None)
        return await super().play(plan, watcher=watcher)


def test_what_is_being_called_off_takes_nothing_more_and_is_not_played(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was killed when its secret was known to all, and its row did not say so yet."""

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    announced(ladder, RoundRobin())
    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish_event", killed)
        with pytest.raises(KeyboardInterrupt):
            call_off(ladder)
    assert published(ladder).secret == SECRET
    with pytest.raises(LadderError, match="is being called off"):
        take_nonce(ladder, "ada", nonce=bytes(32))
    republish(ladder)
    assert published(ladder).secret == SECRET
    with pytest.raises(LadderError, match="is announced already"):
        announced(ladder, RoundRobin())
    call_off(ladder)
    assert ladder.store.event_under_way() is None
    assert check(ladder) == []
