"""The folder of a ladder, and what can be done with it but for playing.

    ladder.toml   what is played, fixed when the ladder was made
    ladder.db     bots, schedule, results, ratings; or they are on the server that
                  secret/database names
    bots/         every entrant as it was entered, by digest
    records/      every match, by event and round
    logs/         what bots wrote while they played
    secret/       where the deals of each event come from; open to the owner alone
    submissions/  the archives that were sent in, unless they are kept elsewhere
    lock          held by whoever plays

Bots may be added while matches are played: they are in the next cycle. How an event is played is
the business of `arena.ladder.events.playing`.
"""

import difflib
import fcntl
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.ladder.bots.archive import unpack
from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.entrants import (
    SAMPLES,
    Entrant,
    checked_name,
    find_bot,
    load_bot,
    program_digest,
)
from arena.ladder.bots.environments import Environments
from arena.ladder.bots.frozen import freeze, thaw
from arena.ladder.bots.shelf import FOLDER, Bundles, Shelf, ShelfError
from arena.ladder.errors import LadderError, NameTakenError
from arena.ladder.facts import WITHDRAWN, Bot, Event
from arena.ladder.files import part_of, unwritable, write_part, write_whole
from arena.ladder.ratings.evidence import are_sisters, owner_folded
from arena.ladder.settings import SETTINGS_FILE, Settings, parse_settings, read_settings
from arena.ladder.store import Store
from arena.ladder.store.address import (
    DATABASE_FILE,
    Server,
    address_file,
    address_of,
    keep_address,
    proof_file,
)
from arena.ladder.store.sqlite import remove
from hokm.deck import commitment
from hokm.session import PROTOCOL

if TYPE_CHECKING:
    from arena.ladder.ratings.standings import Standings
    from arena.ladder.schedules import Place

UNRATED_SAMPLES: Final = ("random",)
"""Bundled bots that are entered unrated unless one says otherwise. Random play stands over 1,200
Elo below the weakest of the others: a match with it says nothing about either, and bends the fit.
"""

LONGEST_NAMES_BYTES: Final = 220
"""The names of a match and a little more make that of its record, and file names end at 255 bytes.
"""

FOLDERS: Final = ("bots", "records", "logs", "secret")
_RESTORE: Final = "restore it from a backup"


class Entry(Enum):
    """What adding a bot came to."""

    NEW = "new"
    ALREADY_IN = "already in"
    """The very same bot is entered and active; nothing was changed."""
    BACK = "back"
    """It was entered and inactive, and is active again."""
    SAME_PROGRAM = "same program"
    """Another bot that runs the very same is entered: that one stands for both."""


@dataclass(frozen=True, slots=True)
class Added:
    """A bot that is entered now, and how that came about; `sisters` are the bots that it is never
    rated against, because they have its owner.
    """

    bot: Bot
    entry: Entry
    sisters: tuple[Bot, ...] = ()


class Ladder:
    """A ladder in its folder; made by `init` or `open`, and to be closed.

    Every method raises LadderError for a ladder that is damaged or in use, saying where, what and
    what to do next.
    """

    def __init__(
        self,
        folder: Path,
        *,
        settings: Settings,
        store: Store,
        environments: Environments,
        shelf: Shelf | None = None,
    ) -> None:
        self.bundles = Bundles(folder / FOLDER, shelf)
        self.environments = environments
        self.folder = folder
        self.settings = settings
        self.store = store
        self.bots_folder = folder / "bots"
        self.records_folder = folder / "records"

    @classmethod
    def init(cls, folder: Path, settings: Settings, *, database: Server | None = None) -> "Ladder":
        """Make a ladder in a folder that does not exist or is empty, or holds no more than what an
        `init` that was interrupted has left there. Its database is a file in the folder, or a
        schema of `database` that holds no ladder yet.
        """
        settings_file = folder / SETTINGS_FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if settings_file.exists():
                remedy = "go on with it, or give a new folder"
                raise LadderError(folder, "is a ladder already", remedy=remedy)
            if part_of(settings_file).exists():
                remove(folder / DATABASE_FILE)
            elif any(folder.iterdir()):
                remedy = "give a new folder, or an empty one"
                raise LadderError(folder, "is not empty", remedy=remedy)
            # First, since it says that what is here is being made, and renamed last, since it is
            # what makes a ladder of the folder.
            part = write_part(settings_file, settings.toml().encode(), mode=0o644)
            for name in FOLDERS:
                (folder / name).mkdir(mode=0o700 if name == "secret" else 0o777, exist_ok=True)
            (folder / "lock").touch()
            address = database or folder / DATABASE_FILE
            keep_address(folder, address)
            Store.create(address, settings=settings.toml(), proof=proof_file(folder)).close()
            part.replace(settings_file)
        except OSError as error:
            raise unwritable(error, folder) from error
        return cls.open(folder)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        environments: Environments | None = None,
        shelf: Shelf | None = None,
        is_in_place: bool = True,
    ) -> "Ladder":
        """Open a ladder; `environments` makes what its bots need besides their files, `shelf` has
        the archives that were sent in, where its folder has not. One that is not `is_in_place` may
        yet be made again.
        """
        file = folder / SETTINGS_FILE
        settings = read_settings(file)
        address = address_of(folder)
        store = Store.open(address)
        try:
            if is_in_place:
                store.made(proof=proof_file(folder))
            where = address_file(folder) if isinstance(address, Server) else address
            made_with = parse_settings(store.settings(), where=where)
        except BaseException:
            store.close()
            raise
        if settings != made_with:
            store.close()
            now, then = _first_difference(settings.toml(), made_with.toml())
            remedy = "put that back, or make another ladder"
            raise LadderError(file, f"says {now}, but was made with {then}", remedy=remedy)
        return cls(
            folder,
            settings=settings,
            store=store,
            environments=environments or Environments(),
            shelf=shelf,
        )

    def close(self) -> None:
        """Let go of the database."""
        self.store.close()

    def __enter__(self) -> "Ladder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, bot: str, *, rated: bool | None = None, is_version: bool = False) -> Added:
        """Enter a bot: a folder, or the name of a bundled one. It plays from the next cycle on.

        `rated` defaults to True, but for `UNRATED_SAMPLES`. An unrated bot plays like any other; no
        match of it moves a rating.

        The same bot again changes nothing, but for one that was inactive: it is active again. A
        changed byte makes another bot, which needs another name; where nothing but its manifest is
        other than that of an active bot, it is the same program, and that bot stands for both. Only
        bundled bots and the anchor take the place of one that runs the same. Where that bot is
        inactive and of the same owner, it is active again: no rating is left behind by another
        version number.

        One that `is_version` of a bot that its owner has here under its name is entered beside it,
        as `name-version`.

        Raises BotError for a bot that cannot be entered anywhere, LadderError for one that cannot
        be entered here.
        """
        entrant = load_bot(find_bot(bot))
        program = program_digest(entrant)
        with self._entering():
            if (left := self._left(entrant, program=program)) is not None:
                return self._take_back(left, rated=rated)
            if is_version:
                entrant = _version_named(entrant, self.store.bots())
            self._refuse_unfit(entrant)
            return self._enter(entrant, program=program, rated=rated)

    def refuse_version(self, entrant: Entrant, *, program: str) -> None:
        """Raise LadderError for a bot that `add` would not take as a version, as far as its
        manifest and the digest of its program tell; its files need not be there.
        """
        bots = self.store.bots()
        if any(bot.digest == entrant.digest for bot in bots):
            return
        if (left := self._left(entrant, program=program)) is not None:
            _refuse_disabled(left)
            return
        entrant = _version_named(entrant, bots)
        self._refuse_unfit(entrant)
        for known in bots:
            _refuse_like(known, entrant)

    def add_remote(self, name: str, *, owner: str, version: str) -> Bot:
        """Enter a bot that stays where its owner has it; the very same again changes nothing. It is
        rated. Another version is another bot, `name-version` where the name is taken by one of the
        same owner.

        Raises LadderError for one that cannot be entered here, ValueError for what is no name.
        """
        from arena.ladder.processes.remote import remote_entrant  # what plays comes with it

        entrant = remote_entrant(name, owner=owner, version=version)
        with self._entering():
            bots = self.store.bots()
            for known in bots:
                if known.digest == entrant.digest:
                    return known
            entrant = _named_apart(entrant, bots)
            self._refuse_unfit(entrant)
            for known in bots:
                _refuse_like(known, entrant)
            if entrant.name == self.settings.anchor:
                problem = "is the anchor of this ladder, which is always there"
                raise LadderError(entrant.name, problem, remedy="take another name")
            self.store.add_bot(
                name=entrant.name,
                owner=entrant.owner,
                version=entrant.version,
                digest=entrant.digest,
                rated=True,
                remote=True,
            )
            return self._bot(entrant.name)

    @contextmanager
    def _entering(self) -> Iterator[None]:
        """One bot is entered at a time: who is like whom is looked at before it is."""
        try:
            descriptor = os.open(self.bots_folder, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise unwritable(error, self.bots_folder) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _enter(self, entrant: Entrant, *, program: str, rated: bool | None) -> Added:
        bots = self.store.bots()
        for known in bots:
            if known.digest == entrant.digest:
                return self._add_again(known, entrant, rated=rated)
            _refuse_like(known, entrant)
        twin = _twin(bots, program=program)
        is_reference = entrant.folder.parent == SAMPLES
        if twin is not None and not (is_reference or entrant.name == self.settings.anchor):
            return Added(twin, Entry.SAME_PROGRAM)
        if rated is None:
            rated = not (is_reference and entrant.name in UNRATED_SAMPLES)
        if not rated and entrant.name == self.settings.anchor:
            problem = "is the anchor of this ladder, and an anchor is rated"
            raise LadderError(entrant.name, problem, remedy="enter it as rated")
        self.environments.prepared(entrant)
        freeze(entrant, bots=self.bots_folder)
        self.store.add_bot(
            name=entrant.name,
            owner=entrant.owner,
            version=entrant.version,
            digest=entrant.digest,
            program=program,
            reference=is_reference,
            rated=rated,
        )
        if twin is not None:  # a copy does not keep out the arena's own bots, nor the anchor
            because = f"the same program as {entrant.name}"
            self.store.deactivate(twin.number, because=because)
        entered = self._bot(entrant.name)
        sisters = tuple(known for known in bots if are_sisters(known, entered))
        return Added(entered, Entry.NEW, sisters)

    def withdraw(self, name: str) -> Bot:
        """Take a bot out: it is paired no more, and what is still to be played of it is void. What
        it has played still counts, and it may be added again.

        Raises LadderError for a bot that is not entered.
        """
        known = self.entered(name)
        if known.is_disabled:
            return known  # or who took it out could be undone by who takes it back
        self.store.deactivate(known.number, because=WITHDRAWN)
        return self._bot(name)

    def entered(self, name: str) -> Bot:
        """The bot of that name. Raises LadderError for one that is not entered."""
        known = {bot.name: bot for bot in self.store.bots()}
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else "arena ladder standings shows them"
            raise LadderError(name, "is not entered here", remedy=remedy)
        return known[name]

    def standings(self) -> "Standings":
        """Who stands where, from what is played so far; also while it is being played."""
        from arena.ladder.ratings.standings import standings  # numpy with it, 0.16 s

        # Elo first: a round that closes meanwhile is then not yet in it, like any other. Bots last:
        # whoever has played by then is among them.
        closed, elo = self.store.rounds_closed(), self.store.ratings()
        pairs, forfeits = self.store.pairs(), self.store.forfeits()
        try:
            return standings(
                self.settings,
                self.store.bots(),
                pairs,
                elo=elo,
                forfeits=forfeits,
                rounds_closed=closed,
                matches_void=self.store.matches_void(),
            )
        except ValueError as error:
            problem = f"holds what no arena writes ({error})"
            raise LadderError(self.store.where, problem, remedy=_RESTORE) from error

    @contextmanager
    def reading_of(self, event: Event, *, remedy: str = _RESTORE) -> Iterator[None]:
        """Have it raised as LadderError if the database says of an event what cannot be."""
        try:
            yield
        except (KeyError, ValueError) as error:
            problem = f"says what cannot be of {event.name} ({type(error).__name__}: {error})"
            raise LadderError(self.store.where, problem, remedy=remedy) from error

    def ranking(self, event: Event) -> "tuple[tuple[str, Place], ...]":
        """Who won an event, by name and with what, best first, as far as it has come; empty for one
        that is played for the ratings alone.
        """
        from arena.ladder.events.pairing import ranking  # numpy with it, 0.16 s

        return ranking(self.store, event, settings=self.settings)

    # -- for whoever plays

    def thawed(self, bot: Bot) -> Entrant:
        """A bot as it was entered, every byte compared, with the environment it needs. Of a remote
        one there is nothing to compare.

        Raises BotError if that cannot be made any more.
        """
        if bot.remote:
            from arena.ladder.processes.remote import remote_entrant

            entrant = remote_entrant(bot.name, owner=bot.owner, version=bot.version)
            return replace(entrant, digest=bot.digest)
        entrant = self.environments.prepared(thaw(bot.digest, bots=self.bots_folder))
        return entrant if entrant.name == bot.name else replace(entrant, name=bot.name)

    def prepare(self) -> None:
        """Make whatever a bot needs that plays and that is not there: it was removed, or this is
        another machine. Raises as `thawed`.
        """
        for bot in self.store.bots():
            if bot.is_active:
                self.refrozen(bot)
                self.thawed(bot)

    def refrozen(self, bot: Bot) -> None:
        """Make the copy of a bot again that was removed, of its archive, if there is one. It may
        ask a store elsewhere, which takes a while; without an answer nothing is changed.
        """
        if bot.remote or (self.bots_folder / bot.digest).exists():
            return
        with (
            suppress(BotError, LadderError, OSError, ShelfError),  # then thawing it says what is so
            tempfile.TemporaryDirectory(prefix=".again-", dir=self.folder) as there,
        ):
            file = self.bundles.fetch(bot.digest, into=Path(there))
            freeze(unpack(file, Path(there) / "bot", digest=bot.digest), bots=self.bots_folder)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the ladder for playing; nobody else may meanwhile. It ends with the process."""
        file = self.folder / "lock"
        try:
            # Not inherited by bots, so that a stray one cannot keep the ladder held.
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unwritable(error, file) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                problem = f"is being played by process {holder or 'unknown'}"
                remedy = "wait until that is done, or stop it; the same command then goes on"
                raise LadderError(self.folder, problem, remedy=remedy) from None
            with suppress(OSError):  # who holds it is told to others only
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            with self.store.held():
                yield
        finally:
            os.close(descriptor)

    def keep_secret(self, event: Event, secret: bytes) -> None:
        """Keep the secret of an event where its owner alone can read it."""
        file = self.folder / "secret" / event.name
        try:
            write_whole(file, f"{secret.hex()}\n".encode(), mode=0o600)
        except OSError as error:
            raise unwritable(error, file) from error

    def secret_of(self, event: Event) -> bytes:
        """The secret of an event, which must be the one that was committed to."""
        file = self.folder / "secret" / event.name
        remedy = "restore it from a backup: no other secret deals the boards of this event"
        try:
            secret = bytes.fromhex(file.read_text())
            is_committed = commitment(secret) == event.commitment
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
            raise LadderError(file, problem, remedy=remedy) from error
        except ValueError as error:
            raise LadderError(file, "holds no secret", remedy=remedy) from error
        if not is_committed:
            problem = f"is not the secret that {event.name} was announced with"
            raise LadderError(file, problem, remedy=remedy)
        return secret

    # -- below

    def _bot(self, name: str) -> Bot:
        return next(bot for bot in self.store.bots() if bot.name == name)

    def _left(self, entrant: Entrant, *, program: str) -> Bot | None:
        """The inactive bot of the same owner that runs what this one does, by other bytes of its
        manifest, where nobody active does.
        """
        if entrant.folder.parent == SAMPLES or entrant.name == self.settings.anchor:
            return None
        bots = self.store.bots()
        if _twin(bots, program=program) is not None:
            return None
        own = owner_folded(entrant.owner)
        found = [
            bot
            for bot in bots
            if bot.program == program
            and not (bot.remote or bot.reference)
            and owner_folded(bot.owner) == own
        ]
        if any(bot.digest == entrant.digest for bot in found):
            return None
        return found[0] if found else None

    def _take_back(self, known: Bot, *, rated: bool | None) -> Added:
        """Have a bot play again as it was entered. Raises as `add`."""
        _refuse_other_rating(known, rated=rated)
        self.refrozen(known)
        self.thawed(known)
        return self._back(known)

    def _add_again(self, known: Bot, entrant: Entrant, *, rated: bool | None) -> Added:
        _refuse_other_rating(known, rated=rated)
        self.environments.prepared(entrant)
        freeze(entrant, bots=self.bots_folder)  # makes a copy that was removed anew
        if known.is_active:
            return Added(known, Entry.ALREADY_IN)
        return self._back(known)

    def _back(self, known: Bot) -> Added:
        _refuse_disabled(known)
        if (twin := _twin(self.store.bots(), program=known.program)) is not None:
            return Added(twin, Entry.SAME_PROGRAM)
        self.store.activate(known.number)
        return Added(self._bot(known.name), Entry.BACK)

    def _refuse_unfit(self, entrant: Entrant) -> None:
        players = self.settings.rules.players
        if players not in entrant.variants:
            problem = f"does not play with {players} (variants = {list(entrant.variants)})"
            remedy = f"if it can, add {players} to its variants; else take another ladder"
            raise LadderError(entrant.name, problem, remedy=remedy)
        if entrant.protocol != PROTOCOL:
            problem = f"speaks protocol {entrant.protocol}, this arena {PROTOCOL}"
            remedy = "build it with an SDK of that protocol"
            raise LadderError(entrant.name, problem, remedy=remedy)
        longest = LONGEST_NAMES_BYTES // self.settings.sides
        if len(entrant.name.encode()) > longest:
            problem = f"has a name of more than {longest} bytes"
            raise LadderError(entrant.name, problem, remedy="give it a shorter one in bot.toml")


def _refuse_disabled(known: Bot) -> None:
    if known.is_disabled:
        problem = f"is {known.inactive_because}"
        remedy = "its operator can bring it back, with arena operate"
        raise LadderError(known.name, problem, remedy=remedy)


def _refuse_other_rating(known: Bot, *, rated: bool | None) -> None:
    if rated is not None and rated != known.rated:
        problem = f"is entered already, as {'rated' if known.rated else 'unrated'}"
        remedy = "that stays so as long as the ladder"
        raise LadderError(known.name, problem, remedy=remedy)


def _twin(bots: Sequence[Bot], *, program: str) -> Bot | None:
    """The active bot that runs a program."""
    return next((bot for bot in bots if bot.is_active and bot.program == program), None)


def _version_named(entrant: Entrant, bots: Sequence[Bot]) -> Entrant:
    """A version by the name that it has here; no two of one owner have one name and one version."""
    folded = owner_folded(entrant.owner)
    for known in bots:
        if known.digest != entrant.digest and owner_folded(known.owner) == folded:
            names = (entrant.name, f"{entrant.name}-{entrant.version}")
            if known.name in names and known.version == entrant.version and not known.remote:
                raise _version_taken(entrant)
    return _named_apart(entrant, bots)


def _version_taken(entrant: Entrant) -> LadderError:
    problem = f"is entered already, and so is its version {entrant.version}, with other files"
    remedy = "a changed byte is another version: give it a new one in bot.toml"
    return NameTakenError(entrant.name, problem, remedy=remedy)


def _named_apart(entrant: Entrant, bots: Sequence[Bot]) -> Entrant:
    """The bot by a name of its own, if its owner has another one here of its name."""
    for known in bots:
        if known.digest == entrant.digest:
            return replace(entrant, name=known.name)
    folded = owner_folded(entrant.owner)
    if not any(b.name == entrant.name and owner_folded(b.owner) == folded for b in bots):
        return entrant
    name = f"{entrant.name}-{entrant.version}"
    try:
        checked_name(name)
    except ValueError as error:
        problem = f"is entered already, and the name of another version, {name}, {error}"
        remedy = "give it another version in bot.toml"
        raise LadderError(entrant.name, problem, remedy=remedy) from error
    if any(bot.name == name for bot in bots):
        raise _version_taken(entrant)
    return replace(entrant, name=name)


def _refuse_like(known: Bot, entrant: Entrant) -> None:
    if known.name == entrant.name:
        problem = f"is entered already, with other files ({known.digest[:12]}…)"
        remedy = "a changed byte is another bot: give it another name in bot.toml"
        raise NameTakenError(entrant.name, problem, remedy=remedy)
    if known.name.casefold() == entrant.name.casefold():  # their records could be one file
        problem = f"differs from {known.name} in capitals only"
        raise NameTakenError(entrant.name, problem, remedy="give it another name in bot.toml")
    if owner_folded(known.name) == owner_folded(entrant.name):  # a reader would take it for that
        problem = f"looks like {known.name}"
        raise NameTakenError(entrant.name, problem, remedy="give it another name in bot.toml")


def _first_difference(text: str, other: str) -> tuple[str, str]:
    pairs = zip(text.splitlines(), other.splitlines(), strict=False)
    return next((a, b) for a, b in pairs if a != b)
