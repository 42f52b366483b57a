"""The ladder's service, without a wire: one method a call, values in and values out.

Every method begins with who asks (`_enter`), so that none can be reached by somebody who may not.
Two rules keep hidden what is to be hidden. Nothing is told of a match before it is decided, all its
rooms over and its row committed: not its log, not its record, not that it is being played. And of
what an owner sent, of reports, of logs and of notes in a record there is only one's own; of others'
it is not even told whether it is there.

Records of decided matches are given while their event goes on, because that is what keeps an
operator from inventing results (docs/fair-deals.md): the deals of every match and every attempt are
its own, and a record has the seeds of its own boards; the secret, from which the others follow, is
in it only once the event is over.

All of it is called by one thread, and none takes long. What does comes back undone, to be done in
another thread: a fit of standings, a look for logs, a record that is read, and an archive that is
(:meth:`arena.service.intake.Upload.checked`).
"""

import logging
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Final

from arena.ladder.bots.entrants import Entrant
from arena.ladder.bots.shelf import ShelfError
from arena.ladder.errors import LadderError, NameTakenError
from arena.ladder.facts import WITHDRAWN, Bot, Owner, Scope, Submission, SubmissionState
from arena.ladder.ladder import Ladder
from arena.ladder.ratings.evidence import owner_folded
from arena.ladder.ratings.standings import Standings
from arena.ladder.store.listing import Decided, Kept
from arena.service import accounts, quotas, values
from arena.service.errors import Fault, ServiceError
from arena.service.intake import Intake, Upload
from arena.service.quotas import Buckets, Quotas
from arena.service.values import Caller
from arena.wording import counted, stamp
from hokm.errors import quoted
from hokm.records import deal_id, from_json, load, with_notes_of
from hokm.records.files import file_bytes, read_bounded

PAGE: Final = 100
"""Rows in a page, at most."""
STANDINGS_SECONDS: Final = 5.0
"""How long standings are told again before they are fitted anew: that takes a while of a core."""
_NO_NUMBER: Final = 2**31 - 1
"""The largest that every database has a place for; no submission has it."""
_REPORT_CHARACTERS: Final = 256 * 1024
_NOTES: Final = b'"notes'
"""Begins the keys of notes in a record."""

_ON_THE_WAY: Final = (SubmissionState.WAITING, SubmissionState.VALIDATING)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Openness:
    """What an operator lets strangers do."""

    may_register: bool = False
    """Anybody may become an owner."""
    is_private: bool = False
    """Standings, results and records are for owners alone."""


class LadderService:
    """The service of one ladder. `now` is the time, with its zone; `draw` gives so many random
    bytes; `status` says what the ladder is doing.

    Every method raises ServiceError for what it does not do, and LadderError as a ladder's do.
    """

    def __init__(
        self,
        ladder: Ladder,
        *,
        now: Callable[[], datetime],
        draw: Callable[[int], bytes],
        status: Callable[[], values.ServiceStatus] | None = None,
        limits: Quotas | None = None,
        openness: Openness | None = None,
    ) -> None:
        self.intake = Intake(ladder.folder, ladder.bundles)
        self._ladder = ladder
        self._accounts = ladder.store.accounts
        self._now = now
        self._draw = draw
        self._status = status
        self._limits = limits or Quotas()
        self._openness = openness or Openness()
        self._of_owners = Buckets(self._limits.of_an_owner)
        self._of_hosts = Buckets(self._limits.of_an_address)
        self._uploading: list[Upload] = []
        self._removing: set[str] = set()
        """The digests of archives that are being removed."""
        self._standings: tuple[float, Standings] | None = None

    # -- for owners

    def register_owner(self, caller: Caller, ask: values.RegisterOwner) -> values.Registered:
        """Make an owner, if the operator lets anybody become one."""
        if not self._openness.may_register:
            problem = "this ladder takes owners through its operator alone"
            raise ServiceError(Fault.PERMISSION, problem, remedy="ask there for a token")
        self._take(self._of_hosts, caller.host, cost=quotas.COST_OF_AN_OWNER)
        since = self._yesterday()
        if sum(owner.registered > since for owner in self._accounts.owners()) >= (
            self._limits.new_owners_a_day
        ):
            problem = f"{counted(self._limits.new_owners_a_day, 'new owner')} in 24 hours, which "
            problem += "is the most here"
            remedy = "try again tomorrow, or ask the operator of this ladder for a token"
            raise ServiceError(Fault.QUOTA, problem, remedy=remedy)
        owner = accounts.register(
            self._accounts, ask.name, at=self._at(), entered=self._ladder.store.bots()
        )
        token = accounts.issue(
            self._accounts,
            owner,
            label=accounts.FIRST_LABEL,
            scopes=accounts.ALL_SCOPES,
            random=self._draw(32),
            at=self._at(),
            most=self._limits.tokens,
        )
        return values.Registered(owner.name, token)

    def begin_upload(
        self, caller: Caller, header: values.SubmitHeader
    ) -> Upload | values.Submitted:
        """Begin to take an archive: what is returned is to be written to, and then handed to
        :meth:`finish_upload`, and in any case to :meth:`end_upload`. What is here already need not
        be sent.
        """
        owner = self._enter(caller, Scope.SUBMIT, cost=quotas.COST_OF_AN_UPLOAD)
        if (known := self._known(owner, header.digest)) is not None:
            return known
        if header.digest in self._removing:
            problem = "what was taken back of it is just being removed"
            raise ServiceError(Fault.NOT_NOW, problem, remedy="send it again in a moment")
        own = [upload for upload in self._uploading if upload.owner == owner.number]
        if len(own) >= self._limits.uploads_of_an_owner:
            problem = "another upload of yours is under way"
            raise ServiceError(Fault.QUOTA, problem, remedy="wait for its end, then try again")
        if len(self._uploading) >= self._limits.uploads:
            problem = "as many uploads as may be are under way"
            raise ServiceError(Fault.NOT_NOW, problem, remedy="try again in a minute")
        upload = self.intake.begin(header.digest, header.size_bytes)
        upload.owner = owner.number
        self._uploading.append(upload)
        return upload

    def accept_upload(
        self, caller: Caller, upload: Upload, entrant: Entrant
    ) -> values.Submitted | None:
        """Look at what :meth:`~arena.service.intake.Upload.checked` found in an upload: None if it
        is to be taken in, and may be kept (:meth:`~arena.service.intake.Upload.keep`, which may
        take a while) and finished.
        """
        owner = self._enter(caller, Scope.SUBMIT, cost=0)
        if owner.number != upload.owner:
            raise ServiceError(Fault.PERMISSION, "this upload is another's", remedy="begin anew")
        if entrant.owner != owner.name:
            problem = f"bot.toml says owner = {quoted(entrant.owner)}, and this token is of "
            problem += f"{owner.name}"
            remedy = f'write owner = "{owner.name}", or take the token of that owner'
            raise ServiceError(Fault.PERMISSION, problem, remedy=remedy)
        if (known := self._known(owner, entrant.digest)) is not None:
            return known
        self._refuse_name(owner, entrant)
        self._refuse_version(entrant, program=upload.program)
        self._refuse_while_another_comes(owner, entrant)
        # Last: what is wrong with it would be so tomorrow as well.
        self._refuse_beyond_quotas(owner, upload.size_bytes)
        return None

    def finish_upload(self, caller: Caller, upload: Upload, entrant: Entrant) -> values.Submitted:
        """Take in an upload that was accepted, if it still is; it is kept, if it is not yet."""
        if (known := self.accept_upload(caller, upload, entrant)) is not None:
            return known
        upload.keep()
        submission = self._accounts.submit(
            owner=upload.owner,
            name=entrant.name,
            version=entrant.version,
            digest=entrant.digest,
            size_bytes=upload.size_bytes,
            at=self._at(),
        )
        return values.Submitted(values.Shown(submission), was_here=False)

    def end_upload(self, upload: Upload) -> None:
        """An upload is over, however it went. If it was kept, see :meth:`removal_of`."""
        upload.close()
        self._uploading.remove(upload)

    def removal_of(self, digest: str) -> Callable[[], None] | None:
        """What removes an archive that nobody will ask for, and that no quota counts; None where
        somebody may. Until it was called, which is to be done, and may be done by another thread,
        nobody can send that archive again.
        """
        is_coming = any(upload.digest == digest for upload in self._uploading)
        if is_coming or digest in self._removing or digest in self._accounts.kept_digests():
            return None
        # In a store elsewhere another ladder may have its own: only what was sent in here is ours.
        is_ours = digest in self._accounts.refused_digests()
        self._removing.add(digest)

        def remove() -> None:
            try:
                if is_ours:
                    self.intake.bundles.remove(digest)
                else:
                    self.intake.bundles.own.remove(digest)
            except ShelfError as error:  # the next start does it
                _log.warning("an archive could not be removed: %s", error)
            finally:
                self._removing.discard(digest)

        return remove

    def get_submission(self, caller: Caller, ask: values.GetSubmission) -> values.Shown:
        """What has become of a submission of one's own, with its report."""
        owner = self._enter(caller, Scope.READ)
        if ask.number is None:
            own = self._accounts.submissions(owner.number)
            found = own[-1] if own else None
        else:
            found = self._accounts.submission(min(ask.number, _NO_NUMBER))
        if found is None or found.owner != owner.number:
            which = "" if ask.number is None else f" {ask.number}"
            problem = f"{owner.name} has no submission{which} here"
            raise ServiceError(Fault.NOT_FOUND, problem, remedy="arena status lists them")
        return self._shown(found, report=(found.report or "")[:_REPORT_CHARACTERS])

    def list_submissions(
        self, caller: Caller, ask: values.ListSubmissions
    ) -> values.SubmissionPage:
        """All submissions of one's own, the last first, without their reports."""
        owner = self._enter(caller, Scope.READ)
        size = _page_size(ask.page_size)
        before = _number_in(ask.page_token)
        own = [
            one
            for one in reversed(self._accounts.submissions(owner.number))
            if before is None or one.number < before
        ]
        page = tuple(self._shown(one) for one in own[:size])
        return values.SubmissionPage(page, str(own[size - 1].number) if len(own) > size else "")

    def list_bots(self, caller: Caller, _: values.ListBots) -> values.OwnBots:
        """One's own bots, and what one may have."""
        owner = self._enter(caller, Scope.READ)
        usage = self._accounts.usage(owner.number, since=self._yesterday())
        bots = self._own(owner)
        allowance = values.Allowance(
            active_bots=sum(bot.is_active for bot in bots) + len(self._on_the_way(owner)),
            most_active_bots=self._limits.active_bots,
            submissions=usage.submissions,
            most_submissions=self._limits.submissions_a_day,
            kept_bytes=usage.kept_bytes,
            most_kept_bytes=self._limits.kept_bytes,
        )
        return values.OwnBots(tuple(map(self._own_bot, bots)), allowance)

    def withdraw_bot(self, caller: Caller, ask: values.WithdrawBot) -> values.Withdrawn:
        """Take a bot of one's own out, or take back a submission that waits: then its archive is to
        be removed, see :meth:`removal_of`.
        """
        owner = self._enter(caller, Scope.SUBMIT)
        own = {bot.name: bot for bot in self._own(owner)}
        if ask.name not in own:
            if (taken := self._taken_back(owner, ask.name)) is not None:
                return taken
            names = ", ".join(own) or "none yet"
            problem = f"{owner.name} has no bot {quoted(ask.name)} here"
            raise ServiceError(Fault.NOT_FOUND, problem, remedy=f"yours: {names}")
        bot = own[ask.name]
        if not bot.is_retired:
            bot = self._ladder.withdraw(bot.name)
        return values.Withdrawn(self._own_bot(bot))

    def _taken_back(self, owner: Owner, name: str) -> values.Withdrawn | None:
        """A submission that is named so, or so with its version, and taken back; None if none is on
        its way. Of several it is the last one.
        """
        named = [
            one
            for one in self._on_the_way(owner)
            if name in (one.name, f"{one.name}-{one.version}")
        ]
        if not named:
            return None
        waiting = [one for one in named if one.state is SubmissionState.WAITING]
        if not waiting:
            problem = f"submission {named[-1].number} is being validated"
            remedy = "withdraw it once it is accepted"
            raise ServiceError(Fault.NOT_NOW, problem, remedy=remedy)
        last = waiting[-1]
        self._accounts.set_state(last.number, SubmissionState.WITHDRAWN, at=self._at())
        return values.Withdrawn(
            values.OwnBot(last.name, last.version, last.digest, WITHDRAWN, is_rated=True)
        )

    def get_log(self, caller: Caller, ask: values.GetLog) -> Iterator[values.FileSent]:
        """What one's own bots printed in a decided match, a file for each process. Going through
        them reads records, and may be done by another thread.
        """
        owner = self._enter(caller, Scope.READ)
        match = self._decided(ask.match)
        own = {bot.number: bot for bot in self._own(owner)}
        seated = {
            place: own[number] for place, number in enumerate(match.entrants) if number in own
        }
        if not seated:
            problem = f"no bot of {owner.name} played in {match.id}"
            remedy = "logs are shown to the owner of the bot alone"
            raise ServiceError(Fault.PERMISSION, problem, remedy=remedy)
        attempts = self._ladder.store.listing.attempts(match.id)
        return (file for attempt in attempts for file in self._logs(match, attempt, seated))

    # -- for everybody, unless the ladder is private

    def get_status(self, caller: Caller, _: values.GetStatus) -> values.ServiceStatus:
        """Whether the ladder plays."""
        self._enter_public(caller)
        if self._status is not None:
            return self._status()
        event = self._ladder.store.event_under_way()
        found = [one.state for one in self._accounts.in_state(*_ON_THE_WAY)]
        return values.ServiceStatus(
            ladder=self._ladder.settings.name,
            event="" if event is None else event.name,
            waiting=found.count(SubmissionState.WAITING),
            validating=found.count(SubmissionState.VALIDATING),
        )

    def get_standings(self, caller: Caller, _: values.GetStandings) -> Callable[[], Standings]:
        """Who stands where, as it was a few seconds ago at the most. What is returned fits them
        when it is called, which may be done by another thread.
        """
        self._enter_public(caller)
        now, known = self._seconds(), self._standings
        if known is not None and 0 <= now - known[0] < STANDINGS_SECONDS:
            return lambda: known[1]

        def fitted() -> Standings:
            found = self._ladder.standings()
            self._standings = now, found
            return found

        return fitted

    def list_results(self, caller: Caller, ask: values.ListResults) -> values.ResultPage:
        """Decided matches, the last first."""
        self._enter_public(caller)
        size = _page_size(ask.page_size)
        bots = self._ladder.store.bots()
        of = [bot.number for bot in bots if bot.name == ask.bot]
        if ask.bot and not of:
            problem = f"no bot {quoted(ask.bot)} is entered here"
            raise ServiceError(Fault.NOT_FOUND, problem, remedy="the standings have their names")
        found = self._ladder.store.listing.page(
            most=size + 1, before=_place_in(ask.page_token), of=of
        )
        names = {bot.number: bot.name for bot in bots}
        last = found[size - 1] if len(found) > size else None
        return values.ResultPage(
            tuple(
                values.MatchResult(
                    one.id,
                    f"ev{one.event}",
                    one.round,
                    tuple(names[number] for number in one.entrants),
                    one.totals or (),
                    one.because,
                )
                for one in found[:size]
            ),
            "" if last is None else f"{last.round}.{last.place}",
        )

    def get_record(self, caller: Caller, ask: values.GetRecord) -> Callable[[], values.FileSent]:
        """The record of a decided match, with the notes of one's own bots and of no others. What is
        returned reads it when it is called, which may be done by another thread.
        """
        owner = self._enter_public(caller)
        match = self._decided(ask.match)
        attempts = {one.number: one for one in self._ladder.store.listing.attempts(match.id)}
        number = max(attempts, default=0) if ask.attempt is None else ask.attempt
        if number not in attempts:
            which = f"attempt {number}" if number else "record"
            problem = f"{match.id} has no {which}"
            raise ServiceError(Fault.NOT_FOUND, problem, remedy="it was never played")
        kept = attempts[number]
        path = self._ladder.records_folder / kept.record
        size = _size_of(path)
        if size is None:
            problem = f"the record of {match.id} is not there any more"
            raise ServiceError(Fault.NOT_NOW, problem, remedy="tell the operator of this ladder")
        own = set() if owner is None else {bot.number for bot in self._own(owner)}
        places = [place for place, entrant in enumerate(match.entrants) if entrant in own]

        def read() -> values.FileSent:
            data = None
            with self._readable(match):
                whole = read_bounded(path)
                if _NOTES in whole:  # most have none, and are not gone through
                    record = from_json(whole)
                    shown = with_notes_of(record, places)
                    data = None if shown is record else file_bytes(path, shown)
            length = size if data is None else len(data)
            header = values.RecordHeader(number, kept.record, kept.digest, length)
            return values.FileSent(header, path, data)

        return read

    # -- who asks

    def owner_of(self, caller: Caller, scope: Scope) -> Owner:
        """The owner whose token this is, for another service of this ladder. Raises ServiceError
        for a token that is not good for `scope`, and for who asks too often.
        """
        return self._enter(caller, scope)

    def refuse_former(self, digest: str, scope: Scope) -> None:
        """Raises ServiceError if the token of that digest is good for `scope` no more. For who was
        let in by it and is still there: it costs nothing.
        """
        accounts.identified_by(self._accounts, digest, scope=scope)

    def _enter(self, caller: Caller, scope: Scope, *, cost: int = 1) -> Owner:
        """The owner who asks, who may, and not too often."""
        if not caller.token:
            self._take(self._of_hosts, caller.host)
            problem = "this needs a token"
            remedy = "the operator of the ladder gives it, or arena register where that is allowed"
            raise ServiceError(Fault.UNAUTHENTICATED, problem, remedy=remedy)
        owner = self._identified(caller, scope)
        self._take(self._of_owners, str(owner.number), cost=cost)
        return owner

    def _enter_public(self, caller: Caller) -> Owner | None:
        """Somebody asks for what everybody may see, unless the ladder is private; the owner, where
        one asks.
        """
        if caller.token or self._openness.is_private:
            return self._enter(caller, Scope.READ)
        self._take(self._of_hosts, caller.host)
        return None

    def _identified(self, caller: Caller, scope: Scope) -> Owner:
        self._take(self._of_hosts, caller.host, cost=0)
        try:
            return accounts.identified(self._accounts, caller.token, scope=scope)
        except ServiceError as error:
            if error.fault is Fault.UNAUTHENTICATED:
                cost = quotas.COST_OF_A_WRONG_TOKEN
                self._of_hosts.charge(caller.host, now=self._seconds(), cost=cost)
            raise

    def _take(self, buckets: Buckets, key: str, *, cost: int = 1) -> None:
        now = self._seconds()
        # One that costs nothing is let in unless nothing at all is left.
        wait = (
            buckets.wait_seconds(key, now=now, cost=cost) if cost else buckets.empty(key, now=now)
        )
        if wait:
            problem = "this is asked too often"
            raise ServiceError(Fault.QUOTA, problem, remedy=f"wait {ceil(wait)} s, then try again")

    # -- below

    def _known(self, owner: Owner, digest: str) -> values.Submitted | None:
        """The answer to a bot that was sent before, as long as what came of it stands."""
        last = self._accounts.last_of(owner.number, digest=digest)
        if last is None or last.state in (SubmissionState.FAILED, SubmissionState.WITHDRAWN):
            return None
        if last.state is SubmissionState.ACCEPTED:
            bot = next((bot for bot in self._own(owner) if bot.number == last.bot), None)
            if bot is not None and bot.is_disabled:
                problem = f"{bot.name} is {bot.inactive_because}"
                remedy = "ask the operator of this ladder"
                raise ServiceError(Fault.PERMISSION, problem, remedy=remedy)
            if bot is not None and not bot.is_active:
                return None  # it was taken out, and is to come back
        return values.Submitted(self._shown(last), was_here=True)

    def _refuse_name(self, owner: Owner, entrant: Entrant) -> None:
        """Raise for the name of a bot that another owner's has, or one that looks like it."""
        folded = owner_folded(entrant.name)
        for bot in self._ladder.store.bots():
            if owner_folded(bot.name) == folded and not accounts.is_of(bot, owner):
                problem = f"a bot named {bot.name} is entered here by another owner"
                remedy = "give yours another name in bot.toml"
                raise ServiceError(Fault.TAKEN, problem, remedy=remedy)

    def _refuse_version(self, entrant: Entrant, *, program: str) -> None:
        """Raise for what would be refused after its validation, whatever that came to."""
        try:
            self._ladder.refuse_version(entrant, program=program)
        except LadderError as error:
            if not (error.__cause__ is None or isinstance(error.__cause__, ValueError)):
                raise  # the database
            fault = Fault.TAKEN if isinstance(error, NameTakenError) else Fault.INVALID
            raise ServiceError(fault, str(error), remedy="") from error

    def _refuse_while_another_comes(self, owner: Owner, entrant: Entrant) -> None:
        """Raise for other files by a name and version of which some are on their way: one of the
        two would be refused after its validation.
        """
        for one in self._on_the_way(owner):
            if (one.name, one.version) == (entrant.name, entrant.version):
                problem = f"{one.name} {one.version} is on its way with other files, as submission "
                problem += f"{one.number}"
                remedy = "a changed byte is another version: give it a new one in bot.toml"
                if one.state is SubmissionState.WAITING:
                    back = shlex.quote(f"{one.name}-{one.version}")
                    remedy += f", or take that one back first: arena withdraw {back}"
                raise ServiceError(Fault.TAKEN, problem, remedy=remedy)

    def _refuse_beyond_quotas(self, owner: Owner, size_bytes: int) -> None:
        usage = self._accounts.usage(owner.number, since=self._yesterday())
        limits = self._limits
        if usage.submissions >= limits.submissions_a_day:
            problem = (
                f"{counted(usage.submissions, 'submission')} in 24 hours, which is the most here"
            )
            raise ServiceError(Fault.QUOTA, problem, remedy="try again tomorrow")
        if usage.kept_bytes + size_bytes > limits.kept_bytes:
            problem = f"{_mebibytes(usage.kept_bytes)} of archives are kept for {owner.name}, and "
            problem += f"{_mebibytes(limits.kept_bytes)} is the most"
            remedy = "send smaller ones, or ask the operator for more"
            raise ServiceError(Fault.QUOTA, problem, remedy=remedy)
        active = [bot.name for bot in self._own(owner) if bot.is_active]
        coming = self._on_the_way(owner)
        if len(active) + len(coming) >= limits.active_bots:
            problem = f"{owner.name} has {counted(len(active), 'active bot')} and {len(coming)} on "
            problem += f"the way, and {limits.active_bots} is the most"
            remedy = (
                "wait for those" if not active else f"arena withdraw one of {', '.join(active)}"
            )
            raise ServiceError(Fault.QUOTA, problem, remedy=remedy)

    def _own_bot(self, bot: Bot) -> values.OwnBot:
        has_played = bool(self._ladder.store.listing.page(most=1, of=[bot.number]))
        return values.OwnBot.of(bot, has_played=has_played)

    def _own(self, owner: Owner) -> list[Bot]:
        return [bot for bot in self._ladder.store.bots() if accounts.is_of(bot, owner)]

    def _on_the_way(self, owner: Owner) -> list[Submission]:
        found = self._accounts.in_state(*_ON_THE_WAY)
        return [one for one in found if one.owner == owner.number]

    def _shown(self, submission: Submission, *, report: str = "") -> values.Shown:
        bots = {bot.number: bot for bot in self._ladder.store.bots()}
        bot = None if submission.bot is None else bots.get(submission.bot)
        if bot is not None and bot.is_retired:
            submission = replace(submission, state=SubmissionState.WITHDRAWN)
        return values.Shown(submission, "" if bot is None else bot.name, report)

    def _decided(self, id_: str) -> Decided:
        match = self._ladder.store.listing.match(id_)
        if match is None:
            problem = f"no match {quoted(id_)} is decided here"
            remedy = "the results have the ids of those that are"
            raise ServiceError(Fault.NOT_FOUND, problem, remedy=remedy)
        return match

    def _logs(
        self, match: Decided, attempt: Kept, seated: dict[int, Bot]
    ) -> Iterator[values.FileSent]:
        """The logs of some entrants, by place. Whose a log is follows from where its process sat,
        which the record says, and not from the name of the file: names can be alike.
        """
        with self._readable(match):
            record = load(self._ladder.records_folder / attempt.record)
        folder = self._ladder.folder / "logs" / deal_id(match.id, attempt=attempt.number)
        for room in record.rooms:
            for seat, place in enumerate(room.seating):
                if place not in seated:
                    continue
                stem = f"room{room.number}-seat{seat}-{record.entrants[place].name}"
                for start, path in _starts(folder, stem):
                    if (size := _size_of(path)) is not None:
                        header = values.LogHeader(
                            attempt=attempt.number,
                            room=room.number,
                            seat=seat,
                            bot=seated[place].name,
                            start=start,
                            size_bytes=size,
                        )
                        yield values.FileSent(header, path)

    @contextmanager
    def _readable(self, match: Decided) -> Iterator[None]:
        from hokm.records import RecordError

        try:
            yield
        except (OSError, RecordError) as error:
            problem = f"the record of {match.id} cannot be read"
            remedy = "tell the operator of this ladder"
            raise ServiceError(Fault.NOT_NOW, problem, remedy=remedy) from error

    def _at(self) -> str:
        return stamp(self._now())

    def _yesterday(self) -> str:
        return stamp(self._now() - timedelta(days=1))

    def _seconds(self) -> float:
        return self._now().timestamp()


def _starts(folder: Path, stem: str) -> Iterator[tuple[int, Path]]:
    """The logs of the processes that sat in one seat, by the how manieth each was."""
    pattern = re.compile(rf"{re.escape(stem)}(?:\.([0-9]{{1,9}}))?\.log")
    try:
        names = [entry.name for entry in folder.iterdir() if not entry.is_symlink()]
    except OSError:  # logs may be removed, and a bot that came from elsewhere has none
        return
    found = [(pattern.fullmatch(name), name) for name in names]
    yield from sorted(
        (int(match[1] or 1), folder / name) for match, name in found if match is not None
    )


def _size_of(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _page_size(asked: int) -> int:
    return min(asked, PAGE) if asked > 0 else PAGE


def _number_in(token: str) -> int | None:
    if not token:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", token):
        raise _no_page(token)
    return int(token)


def _place_in(token: str) -> tuple[int, int] | None:
    if not token:
        return None
    if not re.fullmatch(r"[0-9]{1,9}\.[0-9]{1,9}", token):
        raise _no_page(token)
    round_, place = token.split(".")
    return int(round_), int(place)


def _no_page(token: str) -> ServiceError:
    problem = f"{quoted(token)} is the token of no page"
    return ServiceError(Fault.INVALID, problem, remedy="begin without one")


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.1f} MiB"
