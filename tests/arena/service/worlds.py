"""A ladder that was played, with two owners who each have a bot in it, and its service."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import trio

from arena.ladder.bots import archive
from arena.ladder.facts import Owner, Scope, SubmissionState
from arena.ladder.ladder import Ladder
from arena.referee.calls import CallGone, Status
from arena.service import accounts, messages, values
from arena.service.handlers import LadderService, Openness
from arena.service.quotas import Quotas
from arena.service.values import Caller
from hokm.records import deal_id, load
from tests.arena.ladder.conftest import MANIFEST, MakeBotFolder

NOON = datetime(2026, 3, 21, 12, tzinfo=UTC)


@dataclass
class World:
    """`ada` and `bob` are owners, each with a bot of that name in the ladder; `ada`'s is number 1.
    The third bot, cyd, has an owner who never registered.
    """

    ladder: Ladder
    folder: MakeBotFolder
    archives: Path
    now: datetime = NOON
    drawn: int = 0
    owners: dict[str, Owner] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    service: LadderService = field(init=False)

    def __post_init__(self) -> None:
        self.open()
        for name in ("ada", "bob"):
            self.own(name)

    def open(self, openness: Openness | None = None, **limits: object) -> LadderService:
        self.service = LadderService(
            self.ladder,
            now=lambda: self.now,
            draw=self.draw,
            limits=Quotas(**limits),  # type: ignore[arg-type]
            openness=openness,
        )
        return self.service

    def draw(self, count: int) -> bytes:
        self.drawn += 1
        return sha256(b"%d" % self.drawn).digest()[:count]

    def own(self, name: str) -> Owner:
        store = self.ladder.store.accounts
        owner = accounts.register(store, f"o-{name}", at="2026-03-01T00:00:00Z")
        self.owners[name] = owner
        self.tokens[name] = self.issue(name, frozenset(Scope), label="all")
        return owner

    def issue(self, name: str, scopes: frozenset[Scope], *, label: str) -> str:
        return accounts.issue(
            self.ladder.store.accounts,
            self.owners[name],
            label=label,
            scopes=scopes,
            random=self.draw(32),
            at="2026-03-01T00:00:00Z",
            most=20,
        )

    def caller(self, name: str = "", *, host: str = "10.0.0.1") -> Caller:
        return Caller(host, self.tokens.get(name, ""))

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)

    def packed(
        self,
        name: str,
        *,
        owner: str = "o-ada",
        code: str | None = None,
        version: str = "1.0",
    ) -> archive.Packed:
        folder = Path(self.folder(name, owner=owner, code=code))
        manifest = folder / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"1.0"', f'"{version}"'))
        return archive.pack(folder, into=self.archives)

    def submit(self, name: str, packed: archive.Packed) -> values.Submitted:
        """All of an upload, as the wire would have it."""
        caller, data = self.caller(name), packed.file.read_bytes()
        header = values.SubmitHeader(packed.entrant.digest, len(data))
        begun = self.service.begin_upload(caller, header)
        if isinstance(begun, values.Submitted):
            return begun
        try:
            begun.write(data)
            return self.service.finish_upload(caller, begun, begun.checked())
        finally:
            self.service.end_upload(begun)

    def decide(self, number: int, state: SubmissionState, *, bot: int | None = None) -> None:
        self.ladder.store.accounts.set_state(
            number,
            state,
            at="2026-03-21T12:30:00Z",
            report='{"said": "secret of its owner"}',
            bot=bot,
        )

    def match_of(self, *bots: str) -> str:
        """The id of the match that bots played."""
        return next(
            one.match
            for one in self.ladder.store.results()
            if sorted(one.match.rpartition("/")[2].split("~")) == sorted(bots)
        )

    def write_logs(self, match: str) -> None:
        """Have every process of a match have printed something, as the arena lays it down."""
        (kept,) = self.ladder.store.listing.attempts(match)
        record = load(self.ladder.records_folder / kept.record)
        folder = self.ladder.folder / "logs" / deal_id(match, attempt=kept.number)
        folder.mkdir(parents=True)
        for room in record.rooms:
            for seat, entrant in enumerate(room.seating):
                name = record.entrants[entrant].name
                for start, dot in ((1, ""), (2, ".2")):
                    file = folder / f"room{room.number}-seat{seat}-{name}{dot}.log"
                    file.write_text(f"printed by {name}, start {start}\n", encoding="utf-8")


def make_folder(home: Path, name: str, *, owner: str) -> str:
    """A bot's folder that stays as long as a session of tests."""
    folder = home / name
    folder.mkdir(parents=True)
    manifest = MANIFEST.format(name=name, owner=owner, protocol=1, variants=[2, 4])
    (folder / "bot.toml").write_text(manifest, encoding="utf-8")
    (folder / "bot.py").write_text(f"print('{name}')\n", encoding="utf-8")
    return str(folder)


class MemoryCall:
    """A call without a wire: what is said to it beforehand, and what it was answered."""

    def __init__(
        self, method: str, *requests: bytes, token: str = "", host: str = "10.0.0.1"
    ) -> None:
        self.service = messages.SERVICE
        self.method = method
        self.host = host
        self.sent: list[bytes] = []
        self.status: Status | None = None
        self.details = ""
        self.leaves_after: int | None = None
        """The caller is gone after so many requests."""
        self._requests = list(requests)
        self._token = token
        self._heard = 0

    def metadata(self, name: str) -> str:
        return self._token if name == messages.TOKEN_METADATA else ""

    async def receive(self) -> bytes | None:
        await trio.lowlevel.checkpoint()
        if self._heard == self.leaves_after:
            raise CallGone
        self._heard += 1
        return self._requests.pop(0) if self._requests else None

    async def send(self, reply: bytes) -> None:
        await trio.lowlevel.checkpoint()
        if self.leaves_after is not None:
            raise CallGone
        self.sent.append(reply)

    def end(self, status: Status = Status.OK, details: str = "") -> None:
        if self.status is None:
            self.status, self.details = status, details


def upload(packed: archive.Packed, *, piece: int = 1 << 16) -> Iterable[bytes]:
    """The messages of an upload."""
    data = packed.file.read_bytes()
    yield messages.encode_submit_part(values.SubmitHeader(packed.entrant.digest, len(data)))
    for start in range(0, len(data), piece):
        yield messages.encode_submit_part(values.Piece(data[start : start + piece]))
