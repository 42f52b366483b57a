"""Two worlds that one seat cannot tell apart: whatever it is sent, up to the first lawful
difference, is byte for byte the same (rulebook 6).

A game is played up to some decision. Then every card that the observing seat has not lawfully seen
is exchanged for others, so that the other seats' public actions stay legal (the permutation is that
of :mod:`tests.hokm.permute`); the same actions at the same times drive a second table. Both are
provoked and ended the same way, and the bytes told to the observer are compared.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import pytest
import trio

from arena.referee import table as table_module
from arena.referee.host import Host, _Game
from arena.referee.table import Policy, Table, Tell
from hokm.actions import PLAYS, Action, CutDeck, DeclareTrump, DiscardCards
from hokm.cards import CARDS, Seat, Trump
from hokm.errors import Reason
from hokm.events import Event, PacketDealt
from hokm.notes import Note
from hokm.outcome import Ending
from hokm.rules.game import Game
from hokm.rules.options import Play, Rules
from hokm.session import Answer, Decision, GameEnd, Goodbye, Malformed
from hokm.wire import decode_from_referee, encode_from_bot, encode_from_referee
from tests.arena.referee.moments import TABLES, Moment, Step, moments, name_of, phases
from tests.arena.referee.virtual import CLOCK, Drive, Message, a_game
from tests.arena.referee.worlds import NUMBER, Pause, Posted, Provoke, Room, world
from tests.hokm.permute import other_story

MakeTable = Callable[[Game], Table]


# -- what both worlds are put through


def run(game: Game, steps: Sequence[Step], make: MakeTable) -> Drive:
    drive = Drive(make(game))
    for place, (seat, action) in enumerate(steps):
        assert drive.seat == seat
        drive.answer(action, after=0.125 * (place % 7))
    return drive


Provocation = Callable[[Drive], None]


def tries(seat: Seat, actions: Sequence[Action | Malformed]) -> Provocation:
    """The seat sends these, in answer to what it is asked or, out of turn, to what it was last."""

    def provoke(drive: Drive) -> None:
        asked = drive.table._places[seat].awaited
        for place, action in enumerate(actions):
            decision, attempt = asked[0], asked[1] + place
            drive.answer(action, seat=seat, decision=decision, attempt=attempt)

    return provoke


def runs_out_of_time(drive: Drive) -> None:
    deadline = drive.table.deadline
    assert deadline is not None
    drive.tick(deadline + 0.5 - drive.now)


def crashes(seat: Seat) -> Provocation:
    def provoke(drive: Drive) -> None:
        drive.take(drive.table.lost(seat, drive.now, cause="its stream broke off"))

    return provoke


def is_capped(drive: Drive) -> None:
    drive.take(drive.table.cap(drive.now, cause="the match took 900 s"))


def is_stopped(drive: Drive) -> None:
    drive.take(drive.table.stop(drive.now, ending=Ending.STOPPED, cause="Ctrl-C"))


def provocations(
    observer: Seat, worlds: Sequence[Game], chance: random.Random
) -> list[Provocation]:
    """Two illegal tries of the observer, then an end: those of the observer's doing, of another
    seat's, of nobody's.
    """
    game = worlds[0]
    seats = [Seat(seat) for seat in range(game.variant.seats)]
    others = [seat for seat in seats if seat != observer]
    legal = {action for world in worlds for action in world.legal_actions()}
    # Cards of others, in the stock, played, discarded; its own where they may not be played.
    plays: list[Action | Malformed] = list(
        chance.sample([play for play in PLAYS if play not in legal], 8)
    )
    unheld = [card for card in CARDS if not game.deal.hands[observer] & card.bit]
    odd: list[Action | Malformed] = [
        CutDeck(0),
        CutDeck(52),
        *(action for action in (CutDeck(1), DeclareTrump(Trump.SAR)) if action not in legal),
        DiscardCards(CARDS[:7]),
        Malformed("no action"),
        *(DiscardCards(tuple(chance.sample(unheld, count))) for count in (2, 3)),
    ]
    illegal = [*odd, *plays]
    end = chance.choice(
        [
            runs_out_of_time,
            is_capped,
            is_stopped,
            crashes(chance.choice(seats)),
            tries(observer, chance.sample(illegal, 3)),
            tries(chance.choice(others), [*chance.sample(odd, 2), chance.choice(plays)]),
            tries(chance.choice(others), chance.sample(plays, 3)),
        ]
    )
    return [tries(observer, chance.sample(illegal, 2)), end]


def differences(
    rules: Rules, *, seeds: Iterable[int], make: MakeTable, stride: int, hands: int
) -> tuple[list[str], dict[str, int]]:
    """What an observer could tell two worlds by, and how many moments were compared by phase."""
    found: list[str] = []
    compared: dict[str, int] = {}
    for seed in seeds:
        chance = random.Random(seed)
        for moment in moments(rules, seed, stride=stride, hands=hands):
            other = replace(moment, story=other_story(moment.story, moment.observer, chance))
            if other == moment:  # nothing is hidden that could be otherwise
                continue
            drives = [run(world.game(), world.steps(), make) for world in (moment, other)]
            games = [drive.table.game for drive in drives]
            for provoke in provocations(moment.observer, games, chance):
                for drive in drives:
                    if drive.table.outcome is None:
                        provoke(drive)
            told = [drive.told[moment.observer] for drive in drives]
            assert any(isinstance(message, GameEnd) for message in told[0])
            compared[moment.phase] = compared.get(moment.phase, 0) + 1
            if encode_from_referee(told[0]) != encode_from_referee(told[1]):
                found.append(first_difference(moment, *told))
    return found, compared


def first_difference(moment: Moment, told: Sequence[Message], other: Sequence[Message]) -> str:
    where = (
        f"{name_of(moment.rules)} seed {moment.seed} after {len(moment.steps())}, "
        f"seat {moment.observer}: "
    )
    for one, two in zip(told, other, strict=False):
        if one != two:
            return f"{where}{one}\n  against {two}"
    return f"{where}{len(told)} messages against {len(other)}"


def casual(game: Game) -> Table:
    return Table(game, number=1, clock=CLOCK, policy=Policy.CASUAL)


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_what_a_seat_cannot_see_changes_no_byte_of_what_it_is_sent(rules: Rules) -> None:
    found, compared = differences(rules, seeds=range(8), make=casual, stride=6, hands=2)
    assert found == []
    assert set(compared) == phases(rules)
    assert sum(compared.values()) >= 40


# -- the test must be able to fail


class TableThatShowsEvents(Table):
    """Sends events whole."""

    def _news(self, seat: Seat) -> tuple[Event, ...]:
        place = self._places[seat]
        news = tuple(self._events[place.told :])
        place.told = len(self._events)
        return news


@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_a_table_that_sends_whole_events_is_caught(rules: Rules) -> None:
    def leaky(game: Game) -> Table:
        return TableThatShowsEvents(game, number=1, clock=CLOCK, policy=Policy.CASUAL)

    found, compared = differences(rules, seeds=range(2), make=leaky, stride=6, hands=1)
    assert len(found) > sum(compared.values()) / 2


def test_a_cause_that_says_why_a_card_was_refused_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leaky(reason: Reason) -> str:
        return reason.name

    monkeypatch.setattr(table_module, "_public", leaky)
    found, _ = differences(TABLES[0], seeds=range(40), make=casual, stride=6, hands=1)
    assert found
    assert all("MUST_FOLLOW_SUIT" in difference for difference in found)


# -- at the bridge: bytes, batches and times through the host, sessions and connections


TICK = 0.005


def steadily(_: Decision, place: int) -> float:
    return 0.125 * (place % 7)


def longer_where_there_is_a_choice(decision: Decision, _: int) -> float:
    return min(TICK, 0.0005 + 0.0001 * len(decision.legal))


def says(seat: Seat, payload: bytes) -> Provoke:
    async def provoke(room: Room) -> None:
        room.bots[seat].say_bytes(payload)

    return provoke


def sends(seat: Seat, actions: Sequence[Action]) -> Provoke:
    """The seat sends these one after the other, whether it is asked or not."""

    async def provoke(room: Room) -> None:
        decision, attempt = room.table._places[seat].awaited
        for place, action in enumerate(actions):
            room.bots[seat].say(Answer(NUMBER, decision, attempt + place, action))
            await trio.sleep(0.0003)

    return provoke


def hangs_up(seat: Seat) -> Provoke:
    async def provoke(room: Room) -> None:
        room.bots[seat].hang_up()

    return provoke


def comes_back(seat: Seat) -> Provoke:
    async def provoke(room: Room) -> None:
        if room.sessions[seat].closed is None:
            await room.come_back(seat)

    return provoke


async def time_runs_out(_: Room) -> None:
    await trio.sleep(CLOCK.move_seconds + CLOCK.bank_seconds + 1)


async def the_match_is_capped(room: Room) -> None:
    room.host.cap(room.table, cause="the match took 900 s")


async def the_caller_is_cancelled(room: Room) -> None:
    room.playing.cancel()


def nobody_reads_but(observer: Seat) -> Callable[[Room], None]:
    def deafen(room: Room) -> None:
        for seat, bot in enumerate(room.bots):
            bot.reads = seat == observer

    return deafen


@dataclass(frozen=True)
class Trial:
    """What two worlds are put through once they have come to a moment."""

    provocations: tuple[Provoke, ...]
    policy: Policy = Policy.CASUAL
    resume_seconds: float = 0.0
    before_last: Callable[[Room], None] | None = None


def trials(moment: Moment, worlds: Sequence[Game], chance: random.Random) -> list[Trial]:
    """One of each kind. In all of them the observer tries what it may not, as far as it can."""
    game, observer = worlds[0], moment.observer
    other = Seat(chance.choice([seat for seat in range(len(game.deal.hands)) if seat != observer]))
    legal = {action for world in worlds for action in world.legal_actions()}
    odd: list[Action] = [CutDeck(0), CutDeck(52), DiscardCards(CARDS[:7])]
    odd += [action for action in (CutDeck(1), DeclareTrump(Trump.SAR)) if action not in legal]
    plays = chance.sample([play for play in PLAYS if play not in legal], 8)
    probing = sends(observer, [chance.choice(odd), plays[0]])
    junk = says(other, b"\xff\xff")
    strange = says(other, encode_from_bot([Answer(NUMBER + 1, 1, 1, PLAYS[0])]))
    leaving = says(other, encode_from_bot([Goodbye("a bot's own words")]))
    return [
        Trial((probing, time_runs_out)),
        Trial((probing, hangs_up(other))),
        Trial((probing, leaving)),
        Trial((probing, junk)),
        Trial((probing, strange)),
        Trial((probing, sends(other, plays[1:4]))),
        Trial((probing, sends(other, chance.sample([*odd, *plays], 2)), the_match_is_capped)),
        Trial((probing, the_caller_is_cancelled)),
        Trial((time_runs_out,), before_last=nobody_reads_but(observer)),
        Trial((sends(observer, plays[4:5]),), policy=Policy.RATED),
        Trial((sends(other, plays[5:6]),), policy=Policy.RATED),
        Trial((comes_back(observer), probing, time_runs_out), resume_seconds=3),
        Trial((probing, time_runs_out, comes_back(observer)), resume_seconds=3),
        Trial((comes_back(other), probing, hangs_up(other), time_runs_out), resume_seconds=3),
        Trial((hangs_up(other), comes_back(observer), probing), resume_seconds=3),
    ]


KINDS = range(15)
"""All trials; these two have another seat play what it may not, which ends the game."""
THIRD_REFUSAL, FIRST_REFUSAL = 5, 10


@dataclass
class Compared:
    """What observers could tell two worlds by, and what was compared: phases, and how it ended."""

    differences: list[str] = field(default_factory=list)
    count: int = 0
    phases: set[str] = field(default_factory=set)
    endings: set[Ending] = field(default_factory=set)


def at_the_bridge(
    rules: Rules,
    *,
    a_phase: int,
    pause: Pause = steadily,
    tick_seconds: float = 0.0,
    kinds: Sequence[int] = KINDS,
) -> Compared:
    """Compare at so many moments of each phase, with every kind of trial in turn."""
    compared = Compared()
    seed = TABLES.index(rules)
    chance = random.Random(seed)
    for place, moment in enumerate(some_moments(rules, seed, a_phase=a_phase)):
        other = replace(moment, story=other_story(moment.story, moment.observer, chance))
        if other == moment:
            continue
        games = [run(one.game(), one.steps(), casual).table.game for one in (moment, other)]
        kind = kinds[place % len(kinds)]
        trial = trials(moment, games, chance)[kind]
        posted, posted_there = [
            world(
                one.game(),
                one.steps(),
                pause=pause,
                tick_seconds=tick_seconds,
                provocations=trial.provocations,
                policy=trial.policy,
                resume_seconds=trial.resume_seconds,
                before_last=trial.before_last,
            )[moment.observer]
            for one in (moment, other)
        ]
        compared.count += 1
        compared.phases.add(moment.phase)
        compared.endings |= endings_in(posted)
        if posted != posted_there:
            where = f"trial {kind} of {name_of(rules)}, {moment.phase} of hand "
            where += f"{moment.hand} after {len(moment.steps())}, seat {moment.observer}: "
            compared.differences.append(where + first_posted(posted, posted_there))
    return compared


def endings_in(posted: Sequence[Posted]) -> set[Ending]:
    told = [
        one for _, what in posted if isinstance(what, bytes) for one in decode_from_referee(what)
    ]
    return {message.outcome.ending for message in told if isinstance(message, GameEnd)}


def some_moments(rules: Rules, seed: int, *, a_phase: int) -> list[Moment]:
    """So many of each phase, and in a race half of them in its second hand."""
    chance = random.Random(seed)
    pool: list[Moment] = []
    while len(pool) < 2 * a_phase * len(phases(rules)):
        pool += moments(rules, seed, stride=1, hands=2)
        seed += 1
    by_phase: dict[tuple[str, int], list[Moment]] = {}
    for moment in pool:
        by_phase.setdefault((moment.phase, moment.hand), []).append(moment)
    hands = 1 if rules.play is Play.BOARDS else 2
    return [
        moment
        for several in by_phase.values()
        for moment in chance.sample(several, min(len(several), max(1, a_phase // hands)))
    ]


def first_posted(posted: Sequence[Posted], there: Sequence[Posted]) -> str:
    for one, two in zip(posted, there, strict=False):
        if one != two:
            return f"{one}\n  against {two}"
    return f"{len(posted)} batches against {len(there)}"


EVERY_ENDING = {
    Ending.TIME,
    Ending.CRASH,
    Ending.MALFORMED,
    Ending.ILLEGAL,
    Ending.STALL,
    Ending.STOPPED,
}


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_at_the_bridge_no_byte_batch_or_time_changes_with_hidden_cards(rules: Rules) -> None:
    compared = at_the_bridge(rules, a_phase=12)
    assert compared.differences == []
    assert compared.phases == phases(rules)
    assert compared.endings >= EVERY_ENDING


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", TABLES, ids=name_of)
def test_with_a_tick_how_long_others_think_does_not_show_either(rules: Rules) -> None:
    pause = longer_where_there_is_a_choice
    assert at_the_bridge(rules, a_phase=6, pause=pause, tick_seconds=TICK).differences == []


def worlds_with_notes(rules: Rules) -> list[list[list[Posted]]]:
    """What is posted to every seat of a whole game: without notes, with ones, with what is none."""
    game = a_game(rules, 5)
    game.start()
    chance, steps = random.Random(5), list[Step]()
    while game.to_act is not None and game.hand_number <= 2:
        steps.append((game.to_act, chance.choice(game.legal_actions())))
        game.act(*steps[-1])
    notes = [None, Note("I hold the ace", (("win", 0.75),)), Malformed("no note")]
    return [
        world(a_game(rules, 5), steps, pause=steadily, tick_seconds=TICK, note=note)
        for note in notes
    ]


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", [TABLES[0], TABLES[3], TABLES[6], TABLES[-1]], ids=name_of)
def test_a_note_changes_no_byte_batch_or_time_for_anybody(rules: Rules) -> None:
    silent, noting, failing = worlds_with_notes(rules)
    assert noting == silent
    assert failing == silent


# -- and this test too must be able to fail

EACH_SEATS = [TABLES[0], TABLES[3], TABLES[5]]


def differing(rules: Rules, *, pause: Pause = steadily) -> int:
    return len(at_the_bridge(rules, a_phase=8, pause=pause).differences)


@pytest.mark.parametrize("rules", EACH_SEATS, ids=name_of)
def test_without_a_tick_how_long_others_think_is_caught(rules: Rules) -> None:
    assert differing(rules, pause=longer_where_there_is_a_choice)


@pytest.mark.parametrize("rules", EACH_SEATS, ids=name_of)
def test_a_deal_that_is_shown_is_caught_at_the_bridge(
    monkeypatch: pytest.MonkeyPatch, rules: Rules
) -> None:
    monkeypatch.setattr(PacketDealt, "seen_by", lambda event, _: event)
    assert differing(rules)


def test_a_snapshot_that_shows_events_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def back(table: Table, seat: Seat, now: float) -> list[Tell]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Table, "_news", TableThatShowsEvents._news)
            return honest(table, seat, now)

    honest = Table.back
    monkeypatch.setattr(Table, "back", back)
    compared = at_the_bridge(TABLES[0], a_phase=15)
    assert compared.differences
    assert all("resumed=True" in difference for difference in compared.differences)


def test_a_refusal_that_is_told_to_others_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(table: Table, seat: Seat, *args: object, **kwargs: object) -> list[Tell]:
        tells: list[Tell] = honest(table, seat, *args, **kwargs)
        seats = range(table.game.variant.seats)
        return [*tells, *(replace(tells[0], seat=Seat(one)) for one in seats if one != seat)]

    honest: Callable[..., list[Tell]] = Table._refuse
    monkeypatch.setattr(Table, "_refuse", refuse)
    assert at_the_bridge(TABLES[0], a_phase=80, kinds=[THIRD_REFUSAL]).differences


def test_a_table_that_lets_a_note_be_felt_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(table: Table, *args: object, **kwargs: object) -> list[Tell]:
        tells: list[Tell] = honest(table, *args, **kwargs)
        if kwargs.get("note") is not None:
            for place in table._places:
                place.clock.bank_seconds -= 1e-6
        return tells

    honest: Callable[..., list[Tell]] = Table.answer
    monkeypatch.setattr(Table, "answer", answer)
    silent, noting, failing = worlds_with_notes(TABLES[0])
    assert noting != silent
    assert failing != silent


def test_a_cause_with_the_reason_of_a_refusal_is_caught_at_the_bridge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table_module, "_public", lambda reason: reason.name)
    refusals = [THIRD_REFUSAL, FIRST_REFUSAL]
    compared = at_the_bridge(TABLES[0], a_phase=80, kinds=refusals)
    assert compared.differences
    assert all("MUST_FOLLOW_SUIT" in difference for difference in compared.differences)


def test_a_batch_that_depends_on_the_choice_of_another_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def tell(host: Host, game: _Game, message: Tell) -> None:
        honest(host, game, message)
        if len(game.table.game.legal_actions()) == 1:
            for line in game.lines:
                line.session._connection.post(encode_from_referee([]))

    honest = Host._tell
    monkeypatch.setattr(Host, "_tell", tell)
    assert differing(TABLES[0])
