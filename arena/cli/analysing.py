"""What ``arena analyse`` does: reads a record, shows how far it is, and prints what was found."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from arena.analysis.fair import fair_points_lost
from arena.analysis.hands import Decided, analyse_hand
from arena.analysis.losses import EntrantLosses, Loss, costliest, losses_of, up_to
from arena.analysis.values import HandAnalysis, Kind, Moment, Spot
from arena.cli import show
from arena.cli.errors import Misuse
from arena.cli.places import entrants_named
from arena.cli.show import named_columns, print_line
from arena.wording import NOT_THERE, counted, kept_apart, plain, printable, told_apart
from hokm.notation import hand_text
from hokm.records import (
    GameRecord,
    HandRecord,
    MatchRecord,
    RoomRecord,
    load,
    substance_digest,
)
from hokm.solver import is_available

_SILENCE_SECONDS: Final = 10
"""Where there is no terminal to draw a bar on, a line says so often how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What was asked of ``arena analyse``; None chooses all."""

    file: Path
    bot: str | None
    room: int | None
    game: int | None
    hand: int | None
    top: int
    samples: int
    out: Path | None
    is_json: bool


def analyse_file(ask: Ask) -> None:
    """Do what was asked. Raises Misuse, RecordError, ReplayError, OSError."""
    record = load(ask.file)
    labels = told_apart([(one.name, one.version) for one in record.entrants])
    every = range(len(labels))
    shown = every if ask.bot is None else entrants_named(record, ask.bot, option="--bot")
    chosen = list(_chosen(record, ask))
    if not chosen:
        raise Misuse(f"{ask.file} has no such hand")
    if record.rules.players == 4 and not is_available():
        raise Misuse(
            "arena analyse of a record of four seats needs a solver: "
            "pip install 'hokm-arena[solver]'"
        )
    hands = _analysed(record, chosen, ask)
    losses = [loss for loss in losses_of(hands, entrants=len(labels)) if loss.entrant in shown]
    moments = [
        (hand, moment)
        for hand, moment in costliest(hands, top=sum(len(hand.moments) for hand in hands))
        if moment.entrant in shown
    ][: ask.top]
    if ask.out is not None:
        _draw(record, losses, labels, ask.out)
    if ask.is_json:
        show.print_json(_json(record, hands, losses, moments, labels, ask))
    else:
        _print(record, hands, losses, moments, labels, ask, show.results())


def _chosen(record: MatchRecord, ask: Ask) -> Iterator[tuple[RoomRecord, GameRecord, HandRecord]]:
    for room in record.rooms:
        for game in room.games:
            for hand in game.hands:
                here = (ask.room, room.number), (ask.game, game.number), (ask.hand, hand.number)
                if all(wanted in (None, number) for wanted, number in here):
                    yield room, game, hand


def _analysed(
    record: MatchRecord, chosen: Sequence[tuple[RoomRecord, GameRecord, HandRecord]], ask: Ask
) -> list[HandAnalysis]:
    # The same record is sampled in the same way whenever it is analysed.
    digest = substance_digest(record)

    def fair(decided: Decided, spot: Spot) -> float | None:
        """Points lost against what was known, over deals that the record and the place give."""
        return fair_points_lost(decided, Random(f"{digest} {spot}"), samples=ask.samples)

    console = show.errors()
    progress = Progress(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("hands"),
        TimeElapsedColumn(),
        TextColumn("to go"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    if not console.is_terminal:
        show.print_line(console, f"{counted(len(chosen), 'hand')} to analyse")
    found: list[HandAnalysis] = []
    said = time.monotonic()
    with progress:
        for room, game, hand in progress.track(chosen):
            found.append(analyse_hand(record, room, game, hand, fair=fair if ask.samples else None))
            if not console.is_terminal and time.monotonic() - said > _SILENCE_SECONDS:
                said = time.monotonic()
                show.print_line(console, f"{len(found)} of {len(chosen)} analysed")
    return found


def _draw(
    record: MatchRecord, losses: Sequence[EntrantLosses], labels: Sequence[str], out: Path
) -> None:
    from arena.cli.operating import extra

    with extra("--out", name="graph"):
        from arena.analysis import picture
    names = [labels[loss.entrant] for loss in losses]
    picture.draw(losses, names, out, title=f"{record.match}: what decisions cost")


# -- as JSON


def _json(
    record: MatchRecord,
    hands: Sequence[HandAnalysis],
    losses: Sequence[EntrantLosses],
    moments: Sequence[tuple[HandAnalysis, Moment]],
    labels: Sequence[str],
    ask: Ask,
) -> dict[str, object]:
    shown = {loss.entrant for loss in losses}
    return {
        "match": record.match,
        "players": record.rules.players,
        "samples": ask.samples,
        "hands": len(hands),
        "entrants": [
            {
                "bot": labels[loss.entrant],
                "hands": loss.hands,
                "points_lost_error": loss.error,
                "total": _loss_json(loss.total),
                "by_kind": {kind.value: _loss_json(its) for kind, its in loss.by_kind.items()},
            }
            for loss in losses
        ],
        "costliest": [
            {**_moment_json(moment, labels), "text": _text(record, hand, moment)}
            for hand, moment in moments
        ],
        "moments": [
            _moment_json(moment, labels)
            for hand in hands
            for moment in hand.moments
            if moment.entrant in shown
        ],
    }


def _loss_json(loss: Loss) -> dict[str, object]:
    return {
        "choices": loss.choices,
        "not_analysed": loss.left_out,
        "tricks_lost": loss.tricks,
        "points_lost": loss.points,
        "fair_points_lost": loss.fair_points,
    }


def _moment_json(moment: Moment, labels: Sequence[str]) -> dict[str, object]:
    return {
        "room": moment.spot.room,
        "game": moment.spot.game,
        "hand": moment.spot.hand,
        "step": moment.spot.step,
        "seat": moment.seat,
        "bot": labels[moment.entrant],
        "kind": moment.kind.value,
        "choice": moment.choice,
        "better": [] if moment.choice in moment.better else list(moment.better),
        "tricks_lost": moment.tricks_lost,
        "points_lost": moment.points_lost,
        "fair_points_lost": moment.fair_points_lost,
        "tricks": {option.name: option.tricks for option in moment.options},
    }


# -- for a person


def _print(
    record: MatchRecord,
    hands: Sequence[HandAnalysis],
    losses: Sequence[EntrantLosses],
    moments: Sequence[tuple[HandAnalysis, Moment]],
    labels: Sequence[str],
    ask: Ask,
    console: Console,
) -> None:
    players = f"{record.rules.players} players"
    print_line(console, f"{printable(record.match)}: {players}, {counted(len(hands), 'hand')}")
    console.print()
    console.print(_table(losses, labels))
    for line in _notes(losses, ask):
        print_line(console, line)
    for hand, moment in moments:
        console.print()
        print_line(console, _text(record, hand, moment).rstrip())


def _table(losses: Sequence[EntrantLosses], labels: Sequence[str]) -> Table:
    every = [loss for losing in losses for loss in losing.by_kind.values()]
    is_any_left_out = any(loss.left_out for loss in every)
    is_any_fair = any(loss.fair_points is not None for loss in every)
    table = named_columns("bot", "decision")
    headings = (
        "choices",
        *(["not analysed"] if is_any_left_out else []),
        "tricks/hand",
        "points/hand",
        *(["fair points/hand"] if is_any_fair else []),
    )
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for losing in losses:
        rows: list[tuple[str, Loss, float | None]]
        rows = [(kind.value, loss, None) for kind, loss in losing.by_kind.items()]
        rows.append(("all", losing.total, losing.error))
        for place, (name, loss, error) in enumerate(rows):
            points = plain(_each(loss.points, losing.hands), 2)
            fair = None if loss.fair_points is None else _each(loss.fair_points, losing.hands)
            has_choices = loss.choices > 0
            cells = [str(loss.choices)]
            if is_any_left_out:
                cells.append(str(loss.left_out or ""))
            cells.append(plain(_each(loss.tricks, losing.hands), 2) if has_choices else NOT_THERE)
            shown = points if error is None else f"{points} ± {error:.2f}"
            cells.append(shown if has_choices else NOT_THERE)
            if is_any_fair:
                cells.append(plain(fair, 2) if has_choices else NOT_THERE)
            table.add_row(kept_apart(labels[losing.entrant]) if place == 0 else "", name, *cells)
    return table


def _each(total: float, hands: int) -> float | None:
    return total / hands if hands else None


def _notes(losses: Sequence[EntrantLosses], ask: Ask) -> Iterator[str]:
    yield "against open cards; points: a side's less the mean of the others'; ± at 95 %"
    if ask.samples:
        yield f"fair: against what the seat knew, over {ask.samples} deals that fit it"
    left_out = {kind for losing in losses for kind, loss in losing.by_kind.items() if loss.left_out}
    if left_out & {Kind.LEAD, Kind.FOLLOW, Kind.DISCARD}:
        yield "not analysed: cards before the end of a hand, for which no solver is quick enough"
    if left_out & {Kind.DECLARATION, Kind.LAYING, Kind.DRAW}:
        yield "not analysed: what comes before the tricks, but for four seats"


def _text(record: MatchRecord, hand: HandAnalysis, moment: Moment) -> str:
    """A moment as a text to paste: comments that tell it, and the hand up to it."""
    spot = moment.spot
    lines = [
        f"{spot}: seat {moment.seat}, {moment.kind.value}",
        f"{moment.choice} cost {_cost(moment)}; better: {' '.join(moment.better)}",
    ]
    comments = "".join(f"# {line}\n" for line in lines)
    return comments + hand_text(record.rules, up_to(hand.record, spot.step))


def _cost(moment: Moment) -> str:
    points = f"{moment.points_lost:g}"
    text = f"{points} {'point' if points == '1' else 'points'}"
    text += f" and {counted(moment.tricks_lost, 'trick')}"
    if moment.fair_points_lost is not None:
        text += f" (fair: {plain(moment.fair_points_lost, 2)} points)"
    return text
