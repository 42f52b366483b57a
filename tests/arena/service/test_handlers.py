"""The ladder's service by values: who may what, what is shown to whom, and how much of it."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

import pytest

from arena.ladder.facts import Event, Match, Scope, SubmissionState
from arena.ladder.ratings.evidence import owner_folded
from arena.service import values
from arena.service.accounts import is_of
from arena.service.errors import Fault, ServiceError
from arena.service.handlers import LadderService, Openness
from arena.service.intake import Upload
from arena.service.quotas import Rate
from arena.service.tokens import digest_of
from arena.service.values import Caller
from hokm.records import (
    MatchRecord,
    from_json,
    load,
    save,
    substance_digest,
    verify,
    with_notes_of,
)
from tests.arena.noted import with_notes_in
from tests.arena.service.worlds import World

Ask = Callable[[LadderService, Caller, "World"], object]


def begun(service: LadderService, caller: Caller, digest: str = "ab" * 32) -> object:
    upload = service.begin_upload(caller, values.SubmitHeader(digest, 100))
    if isinstance(upload, Upload):
        service.end_upload(upload)
    return upload


def logs_of(service: LadderService, caller: Caller, match: str) -> tuple[values.FileSent, ...]:
    return tuple(service.get_log(caller, values.GetLog(match)))


ASKS: Final[dict[str, Ask]] = {
    "submit": lambda service, caller, _: begun(service, caller),
    "submission": lambda service, caller, _: service.get_submission(
        caller, values.GetSubmission(1)
    ),
    "last submission": lambda service, caller, _: service.get_submission(
        caller, values.GetSubmission()
    ),
    "submissions": lambda service, caller, _: service.list_submissions(
        caller, values.ListSubmissions()
    ),
    "bots": lambda service, caller, _: service.list_bots(caller, values.ListBots()),
    "withdraw": lambda service, caller, _: service.withdraw_bot(caller, values.WithdrawBot("ada")),
    "log": lambda service, caller, world: logs_of(service, caller, world.match_of("ada", "cyd")),
    "shared log": lambda service, caller, world: logs_of(
        service, caller, world.match_of("ada", "bob")
    ),
}
"""What an owner may ask, as ada would ask it of hers."""

PUBLIC: Final[dict[str, Ask]] = {
    "status": lambda service, caller, _: service.get_status(caller, values.GetStatus()),
    "standings": lambda service, caller, _: service.get_standings(caller, values.GetStandings())(),
    "results": lambda service, caller, _: service.list_results(caller, values.ListResults()),
    "record": lambda service, caller, world: service.get_record(
        caller, values.GetRecord(world.match_of("ada", "bob"))
    ),
}

SCOPES: Final = dict.fromkeys((*ASKS, *PUBLIC), Scope.READ) | {
    "submit": Scope.SUBMIT,
    "withdraw": Scope.SUBMIT,
}


def fault_of(ask: Callable[[], object]) -> Fault:
    with pytest.raises(ServiceError) as caught:
        ask()
    text = str(caught.value)
    assert "\n" not in text
    assert "hokm_" not in text
    return caught.value.fault


@pytest.fixture
def full(world: World) -> World:
    """Where ada has sent something, with a report, and everybody has logs."""
    world.submit("ada", world.packed("secretive"))
    world.decide(1, SubmissionState.REFUSED)
    for match in (world.match_of("ada", "bob"), world.match_of("ada", "cyd")):
        world.write_logs(match)
    return world


# -- who may what


@pytest.mark.parametrize("name", ASKS)
def test_nothing_of_an_owners_is_told_without_a_token(full: World, name: str) -> None:
    ask = ASKS[name]
    assert fault_of(lambda: ask(full.service, Caller("10.0.0.9"), full)) is Fault.UNAUTHENTICATED
    wrong = Caller("10.0.0.9", full.tokens["ada"][:-1] + "A")
    assert fault_of(lambda: ask(full.service, wrong, full)) is Fault.UNAUTHENTICATED


@pytest.mark.parametrize("name", [*ASKS, *PUBLIC])
def test_a_revoked_token_and_a_barred_owner_are_told_nothing(full: World, name: str) -> None:
    ask = (ASKS | PUBLIC)[name]
    full.ladder.store.accounts.bar(1, because="spam")
    assert fault_of(lambda: ask(full.service, full.caller("ada"), full)) is Fault.PERMISSION
    full.ladder.store.accounts.bar(1, because=None)
    full.ladder.store.accounts.revoke(digest_of(full.tokens["ada"]), at="2026-03-21T12:00:00Z")
    assert fault_of(lambda: ask(full.service, full.caller("ada"), full)) is Fault.UNAUTHENTICATED


@pytest.mark.parametrize("name", [*ASKS, *PUBLIC])
def test_a_token_of_other_scopes_is_not_enough(full: World, name: str) -> None:
    ask = (ASKS | PUBLIC)[name]
    token = full.issue("ada", frozenset(Scope) - {SCOPES[name]}, label="other")
    assert fault_of(lambda: ask(full.service, Caller("h", token), full)) is Fault.PERMISSION
    token = full.issue("ada", frozenset({SCOPES[name]}), label="same")
    assert ask(full.service, Caller("h", token), full) is not None


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_needs_a_token_where_the_ladder_is_private(full: World, name: str) -> None:
    ask = PUBLIC[name]
    assert ask(full.service, Caller("10.0.0.9"), full)
    private = full.open(Openness(is_private=True))
    assert fault_of(lambda: ask(private, Caller("10.0.0.9"), full)) is Fault.UNAUTHENTICATED
    assert ask(private, full.caller("bob"), full)


# -- nothing of others


def all_that_is_told(service: LadderService, caller: Caller, world: World) -> Iterator[object]:
    """Whatever a caller gets by asking everything there is about everything of anybody's."""
    asks: list[Callable[[], object]] = [
        partial(ask, service, caller, world) for ask in ASKS.values()
    ]
    numbers = (*range(5), 2**31, 2**63, 2**64 - 1)
    asks += [partial(service.get_submission, caller, values.GetSubmission(n)) for n in numbers]
    matches = [one.match for one in world.ladder.store.results()]
    asks += [partial(logs_of, service, caller, match) for match in matches]
    pages = [values.ListSubmissions(9, token) for token in ("", "1", "2", "9")]
    asks += [partial(service.list_submissions, caller, page) for page in pages]
    for ask in asks:
        with suppress(ServiceError):
            yield ask()


def test_an_owner_is_told_nothing_of_anothers(full: World) -> None:
    token = full.caller("bob")
    told = list(all_that_is_told(full.service, token, full))
    text = repr(told)
    assert "secretive" not in text
    assert "secret of its owner" not in text
    files = [file for one in told if isinstance(one, tuple) for file in one]
    assert files, "bob has logs of his own"
    for file in files:
        assert file.header.bot == "bob"
        assert file.path.read_text(encoding="utf-8").startswith("printed by bob")
    assert "secretive" in repr(list(all_that_is_told(full.service, full.caller("ada"), full)))


def test_whether_another_has_something_is_not_told_either(full: World) -> None:
    def said(number: int) -> str:
        with pytest.raises(ServiceError) as caught:
            full.service.get_submission(full.caller("bob"), values.GetSubmission(number))
        return str(caught.value).replace(str(number), "N")

    assert said(1) == said(7)
    sent = full.submit("bob", full.packed("other", owner="o-bob"))
    assert sent.shown.submission.number == 2


def test_nobody_withdraws_anothers_bot_nor_the_arenas_own(full: World) -> None:
    for name in ("ada", "cyd", "nobody"):
        ask = partial(full.service.withdraw_bot, full.caller("bob"), values.WithdrawBot(name))
        assert fault_of(ask) is Fault.NOT_FOUND
    assert all(bot.is_active for bot in full.ladder.store.bots())


def test_a_bot_of_a_name_that_is_like_anothers_log_gets_none_of_them(full: World) -> None:
    match = full.match_of("ada", "bob")
    folder = next((full.ladder.folder / "logs").rglob("*~bob"))
    # As a bot of bob's called "ada.7" would have it, in a seat of ada's.
    ada = next(folder.glob("*-ada.log"))
    ada.with_name(ada.name.replace("-ada.log", "-bob.log")).write_text("printed by ada")
    files = logs_of(full.service, full.caller("ada"), match)
    assert {file.path.read_text().split(",")[0].strip() for file in files} == {"printed by ada"}
    assert all(
        file.path.name.startswith(ada.name[:11]) or "-ada" in file.path.name for file in files
    )


# -- matches that are live


def scheduled(world: World) -> str:
    """The id of a match that is to be played, or being played."""
    event = Event(2, schedule='{"kind": "round-robin", "cycles": 1}', commitment=bytes(32))
    world.ladder.store.begin_event(event)
    last = world.ladder.store.last_numbers()[1]
    match = Match(f"ev2/r{last + 1}/ada~bob", last + 1, 1, (1, 2))
    world.ladder.store.add_cycle(event, 2, [match])
    folder = world.ladder.folder / "logs" / match.id
    folder.mkdir(parents=True)
    (folder / "room1-seat0-ada.log").write_text("my cards are")
    return match.id


def test_nothing_is_told_of_a_match_before_it_is_decided(world: World) -> None:
    live = scheduled(world)
    service, ada = world.service, world.caller("ada")
    for match in (live, "ev9/r9/ada~bob", "", "../ladder.toml"):
        for ask in (
            partial(service.get_log, ada, values.GetLog(match)),
            partial(service.get_record, ada, values.GetRecord(match)),
            partial(service.get_record, ada, values.GetRecord(match, 1)),
        ):
            assert fault_of(ask) is Fault.NOT_FOUND
    assert live not in repr(service.list_results(ada, values.ListResults()))


# -- logs and records


def test_an_owner_gets_the_logs_of_every_process_of_his_bot(full: World) -> None:
    match = full.match_of("ada", "bob")
    files = logs_of(full.service, full.caller("ada"), match)
    headers = [file.header for file in files if isinstance(file.header, values.LogHeader)]
    assert len(headers) == 8  # two rooms, two seats of a side in each, started twice
    assert {(one.attempt, one.bot) for one in headers} == {(1, "ada")}
    assert [one.start for one in headers] == [1, 2] * 4
    assert {one.room for one in headers} == {1, 2}
    for file in files:
        assert file.path.read_text().startswith("printed by ada")
        assert file.header.size_bytes == file.path.stat().st_size


def test_logs_that_are_gone_or_are_links_are_none(full: World) -> None:
    match = full.match_of("ada", "bob")
    for file in (full.ladder.folder / "logs").rglob("*-ada*.log"):
        file.unlink()
        file.symlink_to(full.ladder.folder / "ladder.toml")
    assert logs_of(full.service, full.caller("ada"), match) == ()


def test_whose_bot_was_not_there_has_no_log_of_a_match(full: World) -> None:
    ask = values.GetLog(full.match_of("ada", "cyd"))
    assert fault_of(lambda: full.service.get_log(full.caller("bob"), ask)) is Fault.PERMISSION


def test_a_record_is_the_file_that_the_row_names(world: World) -> None:
    match = world.match_of("ada", "bob")
    (kept,) = world.ladder.store.listing.attempts(match)
    for attempt in (None, 1):
        file = world.service.get_record(Caller("h"), values.GetRecord(match, attempt))()
        assert file.data is None
        assert file.path == world.ladder.records_folder / kept.record
        assert file.header == values.RecordHeader(
            1, kept.record, kept.digest, file.path.stat().st_size
        )
    assert (
        fault_of(lambda: world.service.get_record(Caller("h"), values.GetRecord(match, 2)))
        is Fault.NOT_FOUND
    )
    file.path.unlink()
    ask = values.GetRecord(match)
    assert fault_of(lambda: world.service.get_record(Caller("h"), ask)) is Fault.NOT_NOW


def shown_to(world: World, caller: Caller, match: str) -> tuple[MatchRecord, values.FileSent]:
    """A record as somebody is sent it."""
    file = world.service.get_record(caller, values.GetRecord(match))()
    data = file.path.read_bytes() if file.data is None else file.data
    assert isinstance(file.header, values.RecordHeader)
    assert file.header.size_bytes == len(data)
    assert file.path.suffix == ".gz"
    return from_json(gzip.decompress(data)), file


@pytest.mark.parametrize("is_private", [False, True])
def test_an_owner_is_sent_the_notes_of_the_own_bots_and_nobody_elses(
    world: World, is_private: bool
) -> None:
    world.open(Openness(is_private=is_private))
    match = world.match_of("ada", "bob")
    (kept,) = world.ladder.store.listing.attempts(match)
    path = world.ladder.records_folder / kept.record
    record = with_notes_in(load(path))
    save(path, record)
    names = [entrant.name for entrant in record.entrants]
    for name in ("ada", "bob"):
        shown, file = shown_to(world, world.caller(name), match)
        assert shown == with_notes_of(record, [names.index(name)])
        assert shown not in (record, with_notes_of(record, []))
        assert file.header.substance_digest == substance_digest(shown)  # type: ignore[union-attr]
        assert verify(shown) == verify(record)
    strangers = [world.caller("dara")] if not is_private else []
    world.own("eve")  # an owner whose bots are not in it
    for caller in [*strangers, world.caller("eve")]:
        shown, _ = shown_to(world, caller, match)
        assert shown == with_notes_of(record, [])
    assert load(path) == record


# -- owners


def test_nobody_registers_where_the_operator_does_not_let_them(world: World) -> None:
    ask = values.RegisterOwner("dara")
    assert fault_of(lambda: world.service.register_owner(Caller("h"), ask)) is Fault.PERMISSION
    assert world.ladder.store.accounts.owner_named("dara") is None


def test_who_registers_gets_a_token_that_is_good_for_all(world: World) -> None:
    service = world.open(Openness(may_register=True))
    made = service.register_owner(Caller("h"), values.RegisterOwner("dara"))
    assert made.name == "dara"
    assert made.token not in repr(made)
    caller = Caller("h", made.token)
    assert made.token not in repr(caller)
    assert service.list_bots(caller, values.ListBots()).bots == ()
    assert begun(service, caller)


@pytest.mark.parametrize("name", ["o-ada", "O-Cyd", "hokm-arena"])
def test_nobody_registers_as_whose_bots_are_here(world: World, name: str) -> None:
    service = world.open(Openness(may_register=True))
    ask = values.RegisterOwner(name)
    assert fault_of(lambda: service.register_owner(Caller("h"), ask)) is Fault.TAKEN


def test_who_asks_too_often_is_told_a_wait_that_is_long_enough(world: World) -> None:
    service = world.open(of_an_address=Rate(burst=1, every_seconds=0.4))
    service.get_status(Caller("h"), values.GetStatus())
    with pytest.raises(ServiceError, match="wait 1 s"):
        service.get_status(Caller("h"), values.GetStatus())


def test_a_clock_that_jumps_back_a_day_keeps_nobody_out_for_long(world: World) -> None:
    service = world.open(
        Openness(may_register=True),
        new_owners_a_day=1,
        submissions_a_day=1,
        of_an_owner=Rate(burst=11, every_seconds=1.0),
    )
    world.submit("ada", world.packed("new"))
    service.register_owner(Caller("h"), values.RegisterOwner("dara"))
    ask = values.ListSubmissions()
    fault_of(lambda: [service.list_submissions(world.caller("ada"), ask) for _ in range(9)])
    world.later(hours=-24)
    assert fault_of(lambda: service.list_submissions(world.caller("ada"), ask)) is Fault.QUOTA
    world.later(seconds=30)
    assert len(service.list_submissions(world.caller("ada"), ask).submissions) == 1
    assert service.get_standings(world.caller("ada"), values.GetStandings())().rows
    # What was counted by the clock that was fast counts for two days at most.
    world.later(hours=48)
    assert not world.submit("ada", world.packed("newer")).was_here
    assert service.register_owner(Caller("h"), values.RegisterOwner("dina")).name == "dina"


def test_no_more_than_so_many_register_in_a_day(world: World) -> None:
    service = world.open(Openness(may_register=True), new_owners_a_day=2)

    def registers(number: int) -> str:
        caller = Caller(f"10.0.1.{number}")
        return service.register_owner(caller, values.RegisterOwner(f"many-{number}")).name

    assert [registers(1), registers(2)] == ["many-1", "many-2"]
    with pytest.raises(
        ServiceError, match=r"2 new owners in 24 hours.*ask the operator"
    ) as refused:
        registers(3)
    assert refused.value.fault is Fault.QUOTA
    world.later(hours=24)
    assert registers(3) == "many-3"


def test_an_address_registers_a_few_owners_at_once(world: World) -> None:
    service = world.open(Openness(may_register=True))
    for number in range(3):
        service.register_owner(Caller("h"), values.RegisterOwner(f"many-{number}"))
    ask = values.RegisterOwner("many-3")
    assert fault_of(lambda: service.register_owner(Caller("h"), ask)) is Fault.QUOTA
    service.register_owner(Caller("another"), ask)
    world.later(seconds=60)
    service.register_owner(Caller("h"), values.RegisterOwner("many-4"))


# -- submissions


def test_what_is_sent_waits_and_its_archive_is_kept(world: World) -> None:
    packed = world.packed("new")
    sent = world.submit("ada", packed)
    one = sent.shown.submission
    assert not sent.was_here
    assert (one.name, one.version, one.owner, one.state) == (
        "new",
        "1.0",
        1,
        SubmissionState.WAITING,
    )
    assert (one.received, one.digest) == ("2026-03-21T12:00:00Z", packed.entrant.digest)
    kept = world.ladder.bundles.own.file_of(one.digest)
    assert kept.read_bytes() == packed.file.read_bytes()
    assert world.ladder.store.accounts.in_state(SubmissionState.WAITING) == (one,)


@pytest.mark.parametrize(
    "state", [SubmissionState.WAITING, SubmissionState.VALIDATING, SubmissionState.REFUSED]
)
def test_the_same_again_is_the_same_submission(world: World, state: SubmissionState) -> None:
    packed = world.packed("new")
    world.submit("ada", packed)
    world.decide(1, state)
    again = world.submit("ada", packed)
    assert again.was_here
    assert (again.shown.submission.number, again.shown.submission.state) == (1, state)
    assert len(world.ladder.store.accounts.submissions(1)) == 1


def test_what_the_arena_failed_at_may_be_sent_again(world: World) -> None:
    packed = world.packed("new")
    world.submit("ada", packed)
    world.decide(1, SubmissionState.FAILED)
    again = world.submit("ada", packed)
    assert (again.was_here, again.shown.submission.number) == (False, 2)


def test_a_bot_that_was_taken_out_comes_back_by_being_sent_again(world: World) -> None:
    packed = world.packed("ada")
    (entered,) = [bot for bot in world.ladder.store.bots() if bot.name == "ada"]
    world.submit("ada", packed)
    world.decide(1, SubmissionState.ACCEPTED, bot=entered.number)
    assert world.submit("ada", packed).was_here
    out = world.service.withdraw_bot(world.caller("ada"), values.WithdrawBot("ada"))
    assert out.bot.inactive_because == "withdrawn"
    assert not world.submit("ada", packed).was_here


def test_what_became_a_bot_that_is_withdrawn_is_shown_so(world: World) -> None:
    caller = world.caller("ada")
    (entered,) = [bot for bot in world.ladder.store.bots() if bot.name == "ada"]
    world.submit("ada", world.packed("ada"))
    world.decide(1, SubmissionState.ACCEPTED, bot=entered.number)
    world.service.withdraw_bot(caller, values.WithdrawBot("ada"))
    (one,) = world.service.list_submissions(caller, values.ListSubmissions()).submissions
    assert (one.submission.state, one.bot) == (SubmissionState.WITHDRAWN, "ada")
    world.ladder.store.activate(entered.number)
    shown = world.service.get_submission(caller, values.GetSubmission(1))
    assert shown.submission.state is SubmissionState.ACCEPTED


@pytest.mark.parametrize("name", ["new", "new-1.0"])
def test_what_waits_is_taken_back_and_may_be_sent_again(world: World, name: str) -> None:
    packed, caller = world.packed("new"), world.caller("ada")
    world.submit("ada", packed)
    ask = values.WithdrawBot(name)
    assert fault_of(lambda: world.service.withdraw_bot(world.caller("bob"), ask)) is Fault.NOT_FOUND
    world.decide(1, SubmissionState.VALIDATING)
    assert fault_of(lambda: world.service.withdraw_bot(caller, ask)) is Fault.NOT_NOW
    world.decide(1, SubmissionState.WAITING)
    out = world.service.withdraw_bot(caller, ask).bot
    assert (out.name, out.inactive_because) == ("new", "withdrawn")
    store = world.ladder.store.accounts
    assert [one.state for one in store.submissions(1)] == [SubmissionState.WITHDRAWN]
    assert store.usage(1, since="").kept_bytes == 0
    assert store.refused_digests() == {packed.entrant.digest}
    assert fault_of(lambda: world.service.withdraw_bot(caller, ask)) is Fault.NOT_FOUND
    again = world.submit("ada", packed)
    assert (again.was_here, again.shown.submission.number) == (False, 2)


def test_a_bot_whose_owner_is_another_than_the_tokens_is_refused(world: World) -> None:
    packed = world.packed("new", owner="o-bob")
    with pytest.raises(ServiceError) as caught:
        world.submit("ada", packed)
    assert caught.value.fault is Fault.PERMISSION
    assert 'write owner = "o-ada"' in str(caught.value)
    assert list(world.service.intake.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["bob", "BOB"])
def test_the_name_of_anothers_bot_is_taken(world: World, name: str) -> None:
    with pytest.raises(ServiceError) as caught:
        world.submit("ada", world.packed(name, code="print('mine')\n"))
    assert caught.value.fault is Fault.TAKEN


def test_a_later_version_of_ones_own_is_taken_in(world: World) -> None:
    better = world.packed("ada", code="print('better')\n", version="2")
    assert not world.submit("ada", better).was_here


REFUSED_AT_ONCE: Final = {
    "a version with other files": ("ada", "1.0", Fault.TAKEN, "give it a new one in bot.toml"),
    "a version that makes no name": ("ada", "1/2", Fault.INVALID, "give it another version"),
    "capitals": ("ADA", "2", Fault.TAKEN, "differs from ada in capitals only"),
    "another's": ("bob", "1.0", Fault.TAKEN, "entered here by another owner"),
}


@pytest.mark.parametrize("name", REFUSED_AT_ONCE)
@pytest.mark.parametrize("most", [5, 0])
def test_what_is_known_at_once_is_refused_at_once_and_before_any_quota(
    world: World, name: str, most: int
) -> None:
    world.open(active_bots=most, submissions_a_day=most)
    bot, version, fault, text = REFUSED_AT_ONCE[name]
    with pytest.raises(ServiceError) as caught:
        world.submit("ada", world.packed(bot, code="print('other')\n", version=version))
    assert caught.value.fault is fault
    assert text in str(caught.value)
    assert world.ladder.store.accounts.submissions(1) == ()
    assert list(world.service.intake.folder.iterdir()) == []


@pytest.mark.parametrize("state", [SubmissionState.WAITING, SubmissionState.VALIDATING])
def test_a_version_of_which_other_files_are_on_their_way_is_refused(
    world: World, state: SubmissionState
) -> None:
    world.submit("ada", world.packed("new"))
    world.decide(1, state)
    other = world.packed("new", code="print('other')\n")
    with pytest.raises(ServiceError) as caught:
        world.submit("ada", other)
    assert caught.value.fault is Fault.TAKEN
    assert "with other files, as submission 1" in str(caught.value)
    assert ("withdraw new-1.0" in str(caught.value)) is (state is SubmissionState.WAITING)
    world.submit("ada", world.packed("new", code="print('other')\n", version="2"))
    world.decide(1, SubmissionState.REFUSED)
    assert not world.submit("ada", other).was_here


def test_a_program_that_was_withdrawn_may_come_as_any_version(world: World) -> None:
    world.ladder.withdraw("ada")
    assert not world.submit(
        "ada", world.packed("ada", code="print('ada')\n", version="9/9")
    ).was_here


def test_who_was_barred_or_revoked_while_sending_is_refused_at_the_end(world: World) -> None:
    packed = world.packed("new")
    data = packed.file.read_bytes()
    caller = world.caller("ada")
    upload = world.service.begin_upload(
        caller, values.SubmitHeader(packed.entrant.digest, len(data))
    )
    assert isinstance(upload, Upload)
    upload.write(data)
    world.ladder.store.accounts.bar(1, because="spam")
    entrant = upload.checked()
    finish = world.service.finish_upload
    assert fault_of(lambda: finish(caller, upload, entrant)) is Fault.PERMISSION
    with pytest.raises(ServiceError, match="this upload is another's"):
        finish(world.caller("bob"), upload, entrant)
    world.service.end_upload(upload)
    assert world.ladder.store.accounts.submissions(1) == ()


def test_the_arenas_own_bots_are_nobodys(world: World) -> None:
    world.ladder.add("greedy")
    (greedy,) = [bot for bot in world.ladder.store.bots() if bot.reference]
    owner = world.ladder.store.accounts.register(
        name=greedy.owner, family=owner_folded(greedy.owner), at="2026-03-01T00:00:00Z"
    )
    assert owner is not None
    assert not is_of(greedy, owner)


# -- quotas


def test_active_bots_and_those_on_their_way_are_counted(world: World) -> None:
    world.open(active_bots=2)
    world.submit("ada", world.packed("one"))
    with pytest.raises(ServiceError) as caught:
        world.submit("ada", world.packed("two"))
    assert caught.value.fault is Fault.QUOTA
    assert "o-ada has 1 active bot and 1 on the way, and 2 is the most" in str(caught.value)
    assert "arena withdraw" in str(caught.value)
    world.service.withdraw_bot(world.caller("ada"), values.WithdrawBot("ada"))
    world.submit("ada", world.packed("two"))
    world.submit("bob", world.packed("three", owner="o-bob"))


def test_submissions_are_counted_by_the_day(world: World) -> None:
    world.open(submissions_a_day=2, active_bots=99)
    for name in ("one", "two"):
        world.submit("ada", world.packed(name))
        world.later(hours=1)
    with pytest.raises(ServiceError, match="24 hours"):
        world.submit("ada", world.packed("three"))
    world.later(hours=22, seconds=1)
    world.submit("ada", world.packed("three"))


def test_what_is_kept_is_bounded_and_what_was_refused_is_not_counted(world: World) -> None:
    first = world.packed("one")
    world.open(kept_bytes=first.file.stat().st_size + 100, active_bots=99)
    world.submit("ada", first)
    with pytest.raises(ServiceError, match="archives"):
        world.submit("ada", world.packed("two"))
    world.decide(1, SubmissionState.REFUSED)
    world.submit("ada", world.packed("two"))


def test_uploads_at_once_are_bounded(world: World) -> None:
    world.open(uploads=2)
    service = world.service
    world.own("dara")
    header = values.SubmitHeader("ab" * 32, 100)
    first = service.begin_upload(world.caller("ada"), header)
    assert fault_of(lambda: service.begin_upload(world.caller("ada"), header)) is Fault.QUOTA
    second = service.begin_upload(world.caller("bob"), header)
    assert fault_of(lambda: service.begin_upload(world.caller("dara"), header)) is Fault.NOT_NOW
    for upload in (first, second):
        assert isinstance(upload, Upload)
        service.end_upload(upload)
    assert begun(service, world.caller("dara"))


def test_an_owner_sees_what_is_used(world: World) -> None:
    world.submit("ada", world.packed("one"))
    found = world.service.list_bots(world.caller("ada"), values.ListBots())
    assert [bot.name for bot in found.bots] == ["ada"]
    kept = world.ladder.bundles.own.file_of(world.packed("one").entrant.digest)
    size = kept.stat().st_size
    assert found.allowance == values.Allowance(
        active_bots=2,
        most_active_bots=5,
        submissions=1,
        most_submissions=20,
        kept_bytes=size,
        most_kept_bytes=500 * 2**20,
    )


# -- how often


def test_an_owner_asks_so_often_from_wherever(world: World) -> None:
    service = world.open(of_an_owner=Rate(burst=2, every_seconds=1.0))
    asks = [
        partial(service.list_bots, world.caller("ada", host=host), values.ListBots())
        for host in ("a", "b", "c")
    ]
    for ask in asks[:2]:
        ask()
    assert fault_of(asks[2]) is Fault.QUOTA
    service.list_bots(world.caller("bob"), values.ListBots())
    world.later(seconds=1)
    asks[2]()


def test_who_has_no_token_asks_so_often_by_address(world: World) -> None:
    service = world.open(of_an_address=Rate(burst=2, every_seconds=1.0))
    for _ in range(2):
        service.get_status(Caller("a"), values.GetStatus())
    assert fault_of(lambda: service.get_status(Caller("a"), values.GetStatus())) is Fault.QUOTA
    service.get_status(Caller("b"), values.GetStatus())


def test_wrong_tokens_cost_more_and_then_right_ones_are_not_heard(world: World) -> None:
    service = world.open(of_an_address=Rate(burst=10, every_seconds=1.0))
    wrong = Caller("a", "hokm_" + "A" * 43)
    faults = [fault_of(lambda: service.get_status(wrong, values.GetStatus())) for _ in range(3)]
    assert faults == [Fault.UNAUTHENTICATED, Fault.UNAUTHENTICATED, Fault.QUOTA]
    right = world.caller("ada", host="a")
    assert fault_of(lambda: service.list_bots(right, values.ListBots())) is Fault.QUOTA
    service.list_bots(replace(right, host="b"), values.ListBots())
    world.later(seconds=2)
    service.list_bots(right, values.ListBots())


# -- pages, standings, status


def test_results_go_by_pages_the_last_first(world: World) -> None:
    service, anybody = world.service, Caller("h")
    first = service.list_results(anybody, values.ListResults(page_size=2))
    assert len(first.results) == 2
    rest = service.list_results(
        anybody, values.ListResults(page_size=2, page_token=first.next_page_token)
    )
    assert rest.next_page_token == ""
    ids = [one.match for one in (*first.results, *rest.results)]
    assert ids == [one.match for one in reversed(world.ladder.store.results())]
    assert first.results[0].event == "ev1"
    assert set(first.results[0].bots) <= {"ada", "bob", "cyd"}
    assert len(service.list_results(anybody, values.ListResults("ada")).results) == 2
    ask = values.ListResults("nobody")
    assert fault_of(lambda: service.list_results(anybody, ask)) is Fault.NOT_FOUND


@pytest.mark.parametrize("token", ["x", "1", "1.", "1.2.3", "-1.2", "9" * 40, "1.2\n", "１.２"])
def test_the_token_of_no_page_is_refused(world: World, token: str) -> None:
    ask = values.ListResults(page_token=token)
    assert fault_of(lambda: world.service.list_results(Caller("h"), ask)) is Fault.INVALID


def test_submissions_go_by_pages_the_last_first(world: World) -> None:
    for name in ("one", "two", "three"):
        world.submit("ada", world.packed(name))
    ada = world.caller("ada")
    page = world.service.list_submissions(ada, values.ListSubmissions(2))
    assert [one.submission.number for one in page.submissions] == [3, 2]
    rest = world.service.list_submissions(ada, values.ListSubmissions(2, page.next_page_token))
    assert [one.submission.number for one in rest.submissions] == [1]
    assert rest.next_page_token == ""
    ask = values.ListSubmissions(2, "x")
    assert fault_of(lambda: world.service.list_submissions(ada, ask)) is Fault.INVALID


def test_standings_are_fitted_once_in_a_while(world: World) -> None:
    service, anybody = world.service, Caller("h")
    first = service.get_standings(anybody, values.GetStandings())()
    assert first == world.ladder.standings()
    world.ladder.withdraw("ada")
    assert service.get_standings(anybody, values.GetStandings())() is first
    world.later(seconds=5)
    assert service.get_standings(anybody, values.GetStandings())() == world.ladder.standings()


def test_the_status_counts_what_waits_and_the_loop_may_say_more(world: World) -> None:
    world.submit("ada", world.packed("new"))
    found = world.service.get_status(Caller("h"), values.GetStatus())
    assert found == values.ServiceStatus(ladder="club", waiting=1)
    said = values.ServiceStatus(ladder="club", is_paused=True, alarm="it rains")
    service = LadderService(
        world.ladder, now=lambda: world.now, draw=world.draw, status=lambda: said
    )
    assert service.get_status(Caller("h"), values.GetStatus()) == said
