"""An event that is true is found to be so; whatever is changed in it is found and named."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.ladder.facts import State
from arena.ladder.matches.boards import joined_names
from arena.ladder.proof.checks import (
    contradictions,
    document_findings,
    schedule_findings,
    succession,
    unchecked,
)
from arena.ladder.proof.document import (
    EVENT_FILE,
    EventDocument,
    MatchEntry,
    Nonce,
    Stage,
    schedule_text,
)
from arena.ladder.proof.entropy import Source
from arena.ladder.proof.folder import check_event, load_event
from arena.ladder.proof.replanning import replanned
from hokm.outcome import Ending
from hokm.records import Format, Policy, load, save, substance_digest
from hokm.rules.options import Rules
from hokm.session import ClockRules
from tests.arena.ladder.proof.events import NAMES, keep, publish

Change = Callable[..., dict[str, Any]]

BEACON = ("drand quicknet, round 1000000", "4 8 15 16 23 42")
TOTALS = {"none": (0, 0)}
NONCES = {"ada": b"\1" * 32, "cyd": b"\0" * 32}


def told(folder: Path, *, earlier: EventDocument | None = None) -> list[str]:
    return [str(finding) for finding in check_event(folder, earlier=earlier).findings]


def document(folder: Path) -> EventDocument:
    return load_event(folder / EVENT_FILE)


def with_match(event: EventDocument, index: int, **changes: object) -> EventDocument:
    (stage,) = event.stages
    matches = list(stage.matches)
    matches[index] = replace(matches[index], **changes)  # type: ignore[arg-type]
    return replace(event, stages=(replace(stage, matches=tuple(matches)),))


def scheduled(event: EventDocument, schedule: dict[str, Any]) -> EventDocument:
    text = schedule_text(schedule)
    assert event.beginning is not None
    return replace(
        event,
        announcement=replace(event.announcement, schedule=text),
        beginning=replace(event.beginning, schedule=text),
    )


def placeholder(number: int) -> MatchEntry:
    """What says in which round the next stage begins."""
    return MatchEntry(match="none", round=number, entrants=())


def rewrite(folder: Path, index: int, **changes: object) -> None:
    """Change a record, and the digest that the document has of it, as a forger would."""
    event = document(folder)
    match = event.matches[index]
    file = folder / f"{match.match.partition('/')[2]}.json.gz"
    record = replace(load(file), **changes)  # type: ignore[arg-type]
    save(file, record)
    (attempt,) = match.attempts
    attempt = replace(attempt, digest=substance_digest(record))
    publish(folder, with_match(event, index, attempts=(attempt,)))


# -- what is true


@pytest.mark.parametrize("players", [4, 3, 2])
def test_a_true_event_of_boards_has_nothing_against_it(make_event, players: int) -> None:
    folder = make_event(players=players)
    report = check_event(folder)
    assert not report.findings
    matches, rooms = (1, 3) if players == 3 else (3, 2)
    assert (report.records, report.games, report.hands) == (
        matches,
        matches * rooms * 2,
        matches * rooms * 2,
    )


def test_a_true_event_of_races_has_nothing_against_it(make_event) -> None:
    report = check_event(make_event(its_format=Format.CLASSIC))
    assert not report.findings
    assert report.hands > report.games == 6


@pytest.mark.parametrize("source", [{"nonces": NONCES}, {"beacon": BEACON}, {}])
def test_entropy_may_come_from_nonces_a_beacon_or_nothing(make_event, source) -> None:
    assert not told(make_event(**source))


def test_attempts_that_were_voided_are_checked_like_the_one_that_counts(make_event) -> None:
    host = (Ending.HOST_FAULT, None)
    faults = {
        ("ev1/r1/bob~cyd", 1): host,
        ("ev1/r2/ada~bob", 1): (Ending.NEVER_STARTED, 1),
        **{("ev1/r3/ada~cyd", attempt): host for attempt in (1, 2, 3)},
    }
    report = check_event(make_event(faults=faults))
    assert not report.findings
    assert report.records == 2 + 1 + 3
    assert [line for line in report.unchecked if "void" in line] == [
        "whether ev1/r2/ada~bob had to be void: NEVER_STARTED on order",
        "whether ev1/r3/ada~cyd had to be void: HOST_FAULT on order",
    ]


def test_it_is_told_how_far_the_check_has_come(make_event) -> None:
    steps: list[tuple[int, int]] = []
    check_event(make_event(), checked=lambda done, of: steps.append((done, of)))
    assert steps == [(1, 3), (2, 3), (3, 3)]


# -- secret and entropy


@pytest.mark.parametrize(
    ("source", "change", "expected"),
    [
        ({}, {"secret": bytes(32)}, "the secret is not the one that was committed to"),
        (
            {"nonces": NONCES},
            {"nonces": (Nonce(entrant="ada", value=NONCES["ada"]),)},
            "from nonces its entropy is",
        ),
        (
            {"nonces": NONCES},
            {"nonces": ()},
            "its entropy comes from nonces, and should from nothing",
        ),
        (
            {"beacon": BEACON},
            {"nonces": (Nonce(entrant="ada", value=bytes(32)),)},
            "a beacon was announced, and there are nonces as well",
        ),
    ],
)
def test_a_secret_or_entropy_of_another_origin_is_found(
    make_event, source, change, expected: str
) -> None:
    event = replace(document(make_event(**source)), **change)
    assert any(str(finding).startswith(expected) for finding in document_findings(event))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"beacon_value": "4 8 15 16 23 43"}, "from beacon its entropy is"),
        ({"entropy": bytes(32)}, "not 0000"),
        ({"source": Source.NOTHING}, "a beacon's value belongs to an entropy from a beacon"),
        (
            {"source": Source.NOTHING, "beacon_value": None, "entropy": b""},
            "its entropy comes from nothing, and should from beacon",
        ),
    ],
)
def test_a_beginning_that_does_not_follow_is_found(make_event, change, expected: str) -> None:
    event = document(make_event(beacon=BEACON))
    assert event.beginning is not None
    event = replace(event, beginning=replace(event.beginning, **change))
    assert any(expected in str(finding) for finding in document_findings(event))


def test_a_nonce_of_one_that_was_entered_later_is_found(make_event) -> None:
    event = document(make_event(nonces=NONCES))
    assert event.beginning is not None
    event = replace(event, beginning=replace(event.beginning, entrants=2))
    findings = [str(finding) for finding in document_findings(event)]
    assert findings == ["cyd was entered later, and has a nonce"]
    lines = unchecked(event, totals={})
    assert any(line.endswith("have known the deals: cyd") for line in lines)


# -- the schedule


def test_a_match_that_was_left_out_is_found(make_event) -> None:
    folder = make_event()
    event = document(folder)
    (stage,) = event.stages
    publish(folder, replace(event, stages=(replace(stage, matches=stage.matches[1:]),)))
    findings = told(folder)
    assert findings[-1] == "there is a file r1/bob~cyd.json.gz that it does not name"
    assert any(finding.startswith("the schedule has ") for finding in findings[:-1])


def test_a_match_that_is_there_twice_is_found(make_event) -> None:
    event = document(make_event())
    (stage,) = event.stages
    twice = replace(stage, matches=(stage.matches[0], *stage.matches))
    findings = [str(one) for one in document_findings(replace(event, stages=(twice,)))]
    assert "ev1/r1/bob~cyd: it is scheduled 2 times" in findings
    assert "bob plays 2 times in round 1" in findings


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"match": "ev1/r1/bob~eve"}, "by its round and entrants its id is 'ev1/r1/bob~cyd'"),
        ({"match": "ev2/r1/bob~cyd"}, "by its round and entrants its id is 'ev1/r1/bob~cyd'"),
        ({"round": 2}, "by its round and entrants its id is 'ev1/r2/bob~cyd'"),
        ({"match": "ev1/r1/cyd~bob"}, "by its round and entrants its id is 'ev1/r1/bob~cyd'"),
    ],
)
def test_ids_that_were_chosen_by_hand_are_found(make_event, change, expected: str) -> None:
    event = with_match(document(make_event()), 0, **change)
    assert any(finding.what == expected for finding in document_findings(event))


def test_pairings_of_ones_own_and_another_order_are_found(make_event) -> None:
    event = document(make_event(names=("ada", "bob", "cyd", "dan")))
    (stage,) = event.stages
    totals = {match.match: (1, 0) for match in event.matches}
    assert not list(schedule_findings(event, totals=totals))
    turned = with_match(event, 0, entrants=event.matches[0].entrants[::-1])
    assert [str(one) for one in schedule_findings(turned, totals=totals)] == [
        "the schedule has ada against dan in round 1, and stage 1 has not",
        "ev1/r1/ada~dan: the schedule does not have it in stage 1",
    ]
    first, second, *others = stage.matches
    event = replace(event, stages=(replace(stage, matches=(second, first, *others)),))
    assert [str(one) for one in schedule_findings(event, totals=totals)] == [
        "the matches of stage 1 stand in another order"
    ]


def test_an_event_that_ended_early_is_said_so_and_one_that_went_on_is_found(make_event) -> None:
    event = document(make_event())
    totals = {match.match: (1, 0) for match in event.matches}
    longer = scheduled(event, {"kind": "round-robin", "cycles": 2})
    assert not list(schedule_findings(longer, totals=totals))
    assert "why it ended before its schedule did" in list(unchecked(longer, totals=totals))
    (stage,) = event.stages
    again = replace(
        stage,
        number=2,
        matches=tuple(
            replace(one, round=one.round + 3, match=one.match.replace("/r", "/r1"))
            for one in stage.matches
        ),
    )
    event = replace(event, stages=(stage, again))
    assert [one.what for one in schedule_findings(event, totals=totals)] == [
        "the schedule does not have it in stage 2"
    ] * 3


@pytest.mark.parametrize(
    "schedule",
    [
        {"kind": "swiss", "rounds": 2, "order": list(NAMES)},
        {"kind": "knock-out", "order": list(NAMES)},
        {"kind": "gauntlet", "seeds": ["ada"]},
    ],
)
def test_other_schedules_are_asked_again_with_what_was_played(make_event, schedule) -> None:
    """The stages are made as an event would, each from the results of those before it."""
    event = scheduled(document(make_event()), schedule)
    event = replace(event, stages=())
    totals: dict[str, tuple[int, ...]] = {}
    number = 1
    for stage in range(1, 6):
        empty = Stage(number=stage, field=NAMES, matches=(placeholder(number),))
        *_, planned = replanned(
            replace(event, stages=(*event.stages, empty)), totals=TOTALS | totals
        )
        if not planned.matches:
            break
        matches = tuple(
            MatchEntry(
                match=f"ev1/r{round_}/{joined_names(names)}",
                round=round_,
                entrants=names,
                state=State.PLAYED,
            )
            for round_, names in planned.matches
        )
        totals |= {match.match: (3, 1) for match in matches}
        event = replace(event, stages=(*event.stages, replace(empty, matches=matches)))
        number = matches[-1].round + 1
    assert len(event.stages) >= 1
    assert not list(schedule_findings(event, totals=totals))
    lines = list(unchecked(event, totals=totals))
    assert not any("schedule" in line for line in lines)
    turned = {match: points[::-1] for match, points in totals.items()}
    if schedule["kind"] != "gauntlet":  # whose pairings no result changes
        assert list(schedule_findings(event, totals=turned))
    event = replace(event, stages=(replace(event.stages[0], matches=()), *event.stages[1:]))
    assert list(schedule_findings(event, totals=totals))


def test_a_schedule_that_cannot_be_made_again_is_said_so(make_event) -> None:
    event = document(make_event())
    for schedule, expected in (
        ({"kind": "dice"}, "'dice' is no kind of schedule"),
        ({"kind": "adaptive", "matches": 3}, "it rests on the ratings of the whole ladder"),
    ):
        changed = scheduled(event, schedule)
        assert not list(schedule_findings(changed, totals={}))
        lines = list(unchecked(changed, totals={}))
        assert any(
            line.startswith("whether the matches are") and expected in line for line in lines
        )


def numbers(event: EventDocument) -> list[str]:
    """What is found of an event by its document, and that it ended early where that is said."""
    early = "why it ended before its schedule did"
    return [
        *(str(finding) for finding in document_findings(event)),
        *(line for line in unchecked(event, totals={}) if line == early),
    ]


def test_an_adaptive_event_has_as_many_matches_as_its_schedule_void_ones_among_them(
    make_event,
) -> None:
    event = document(make_event(faults={("ev1/r2/ada~bob", 1): (Ending.NEVER_STARTED, 1)}))
    assert any(match.state is State.VOID for match in event.matches)
    assert not numbers(scheduled(event, {"kind": "adaptive", "matches": 3}))
    longer = scheduled(event, {"kind": "adaptive", "matches": 2})
    assert numbers(longer) == ["its schedule has 2 matches, and it has 3"]


@pytest.mark.parametrize("players", [4, 3])
def test_an_adaptive_event_whose_last_matches_are_left_out_is_found(make_event, players) -> None:
    event = document(make_event(players=players))
    (stage,) = event.stages
    event = scheduled(event, {"kind": "adaptive", "matches": 5})
    there = len(stage.matches)
    found = [f"it is over with {there} of the 5 matches of its schedule"]
    assert numbers(event) == found
    assert numbers(replace(event, stages=())) == [found[0].replace(str(there), "0", 1)]
    assert not numbers(replace(event, secret=None))  # under way
    assert not numbers(replace(event, beginning=None, stages=()))  # called off


@pytest.mark.parametrize("players", [4, 3])
def test_an_adaptive_event_that_nobody_could_go_on_with_is_said_to_have_ended(
    make_event, players: int
) -> None:
    event = document(make_event(players=players))
    early = ["why it ended before its schedule did"]
    played = 2 if players == 4 else 1
    kind = {"kind": "adaptive", "matches": 5}
    assert numbers(scheduled(event, kind | {"most": played})) == early
    assert numbers(scheduled(event, kind | {"most": played + 1})) != early
    (stage,) = event.stages
    event = scheduled(event, kind)

    def void(ending: Ending) -> EventDocument:
        attempts = (replace(stage.matches[0].attempts[0], voided_by=ending),)
        return with_match(event, 0, state=State.VOID, because="of that", attempts=attempts)

    assert numbers(void(Ending.HOST_FAULT)) != early
    withdrawn = with_match(event, 0, state=State.VOID, because="it is inactive", attempts=())
    assert numbers(withdrawn) == early
    failed = void(Ending.NEVER_STARTED)
    assert numbers(failed) == early
    # Who failed and was there again in a later stage had not been taken out.
    later = replace(stage, number=2, matches=(placeholder(number=9),))
    gone_on = replace(failed, stages=(*failed.stages, later))
    assert early[0] not in numbers(gone_on)


def test_a_match_of_three_needs_three_who_may_meet(make_event) -> None:
    event = document(make_event(players=3))
    event = replace(
        scheduled(event, {"kind": "adaptive", "matches": 3}),
        entrants=(*event.entrants[:2], replace(event.entrants[2], owner=event.entrants[1].owner)),
        stages=(replace(event.stages[0], matches=()),),
    )
    assert numbers(event) == ["why it ended before its schedule did"]


def test_bots_of_one_owner_keep_no_event_going_unless_they_meet(make_event) -> None:
    event = scheduled(document(make_event()), {"kind": "adaptive", "matches": 3})
    spellings = ("Ann", "ANN", "\N{FULLWIDTH LATIN CAPITAL LETTER A}nn")
    family = tuple(
        replace(entrant, owner=owner)
        for entrant, owner in zip(event.entrants, spellings, strict=True)
    )
    event = replace(event, entrants=family)
    (stage,) = event.stages
    none_met = replace(event, stages=(replace(stage, matches=()),))
    assert numbers(none_met) == ["why it ended before its schedule did"]
    one_met = replace(event, stages=(replace(stage, matches=stage.matches[:1]),))
    assert numbers(one_met) == ["it is over with 1 of the 3 matches of its schedule"]


def test_what_was_left_open_may_be_settled_and_nothing_else(make_event) -> None:
    event = document(make_event())
    announced = schedule_text({"kind": "swiss", "rounds": None, "order": []})
    event = replace(event, announcement=replace(event.announcement, schedule=announced))
    assert event.beginning is not None

    def began(schedule: dict[str, Any]) -> EventDocument:
        assert event.beginning is not None
        text = schedule_text(schedule)
        return replace(event, beginning=replace(event.beginning, schedule=text))

    seeded = began({"kind": "swiss", "rounds": None, "order": list(NAMES)})
    assert not list(document_findings(seeded))
    assert any(line.startswith("why they are seeded") for line in unchecked(seeded, totals={}))
    other = began({"kind": "gauntlet", "seeds": ["ada"]})
    assert [str(one) for one in document_findings(other)] == [
        "its schedule began with another kind than was announced"
    ]
    fixed = schedule_text({"kind": "swiss", "rounds": 2, "order": []})
    event = replace(event, announcement=replace(event.announcement, schedule=fixed))
    longer = began({"kind": "swiss", "rounds": 3, "order": list(NAMES)})
    assert [str(one) for one in document_findings(longer)] == [
        "its schedule began with another rounds than was announced"
    ]


def test_lots_are_drawn_again_once_the_secret_is_revealed(make_event) -> None:
    event = scheduled(document(make_event()), {"kind": "swiss", "order": list(NAMES)})
    lines = list(unchecked(replace(event, secret=None), totals=TOTALS))
    assert any("the secret is not revealed yet" in line for line in lines if "whether" in line)


def test_stages_and_rounds_go_on_from_one_event_to_the_next(make_event) -> None:
    event = document(make_event())
    (stage,) = event.stages
    first = replace(stage.matches[0], round=4)
    after = replace(event, stages=(Stage(number=2, field=stage.field, matches=(first,)),))
    assert not list(succession(event, after))
    assert [str(one) for one in succession(event, event)] == [
        "it begins with stage 1; the event before ends with 1",
        "it begins with round 1; the event before ends with 3",
    ]


def test_stages_and_rounds_that_do_not_follow_each_other_are_found(make_event) -> None:
    event = scheduled(document(make_event()), {"kind": "adaptive", "matches": 3})
    event = replace(event, secret=None)  # under way, so that matches may be missing at its end
    (stage,) = event.stages
    first, second, third = (
        replace(stage, number=number, matches=(match,))
        for number, match in zip((1, 2, 3), stage.matches, strict=True)
    )
    assert not list(document_findings(replace(event, stages=(first, second, third))))
    assert [str(one) for one in document_findings(replace(event, stages=(first, third)))] == [
        "stage 3 follows stage 1",
        "round 3 follows round 1",
    ]


def test_a_field_in_another_order_or_without_a_player_is_found(make_event) -> None:
    event = document(make_event())
    (stage,) = event.stages
    event = replace(event, stages=(replace(stage, field=("bob", "ada")),))
    findings = [str(one) for one in document_findings(event)]
    assert "the field of stage 1 does not stand in the order in which bots were entered" in findings
    assert "ev1/r1/bob~cyd: cyd is not in the field of stage 1" in findings


# -- attempts and results


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"state": State.VOID, "because": "I say so"}, "it is said to be void, and an attempt"),
        ({"state": State.SCHEDULED}, "the event is over, and it was not played"),
        ({"attempts": ()}, "it is said to be played, and no attempt counts"),
        ({"attempts": (), "state": State.VOID}, "it is void, and it is not said why"),
    ],
)
def test_a_state_that_its_attempts_do_not_make_is_found(make_event, change, expected) -> None:
    event = with_match(document(make_event()), 1, **change)
    assert any(finding.what.startswith(expected) for finding in document_findings(event))


def test_a_result_that_was_thrown_away_is_found(make_event) -> None:
    """The operator says that a fault of his voided it, and has it played again."""
    folder = make_event(faults={("ev1/r1/bob~cyd", 1): (Ending.HOST_FAULT, None)})
    keep(folder, replace(load(folder / "r1/bob~cyd!2.json.gz"), attempt=1))
    findings = told(folder)
    assert any("its record has the substance digest" in one for one in findings)
    assert "ev1/r1/bob~cyd: by its record it counts, not is void by HOST_FAULT" in findings


def test_more_attempts_than_there_can_be_are_found(make_event) -> None:
    event = document(make_event())
    (attempt,) = event.matches[0].attempts
    void = [replace(attempt, number=n, voided_by=Ending.HOST_FAULT) for n in (1, 2, 3)]
    four = (*void, replace(attempt, number=4))
    assert [one.what for one in document_findings(with_match(event, 0, attempts=four))] == [
        "it has 4 attempts; 3 are the most"
    ]


def test_what_an_attempt_decided_is_not_still_to_be_played(make_event) -> None:
    event = replace(document(make_event()), secret=None)
    event = with_match(event, 0, state=State.SCHEDULED)
    assert [one.what for one in document_findings(event)] == [
        "an attempt decided it, and it is still to be played"
    ]


def test_an_attempt_that_is_missing_or_follows_a_result_is_found(make_event) -> None:
    event = document(make_event())
    (attempt,) = event.matches[0].attempts
    second = replace(attempt, number=2)
    for attempts, expected in (
        ((second,), "its attempts are numbered [2], not 1, 2, 3 and so on"),
        ((attempt, second), "another attempt follows, and no fault of the host voided this one"),
    ):
        findings = list(document_findings(with_match(event, 0, attempts=attempts)))
        assert expected in [finding.what for finding in findings]


# -- what the operator struck out


def struck(event: EventDocument, **changes: object) -> EventDocument:
    """The event, its first match struck out; and another attempt at it, say."""
    (attempt,) = event.matches[0].attempts
    void = {
        "state": State.VOID,
        "because": "a wrong card",
        "attempts": (replace(attempt, struck="a wrong card"),),
    }
    return with_match(event, 0, **(void | changes))


def test_what_was_struck_out_openly_is_told_and_nothing_against_the_event(make_event) -> None:
    folder = make_event()
    kept = document(folder)
    publish(folder, struck(kept))
    report = check_event(folder, earlier=kept)
    assert report.findings == ()
    assert report.records == 3
    [told] = [line for line in report.unchecked if "ev1/r1/bob~cyd" in line]
    assert told == "whether ev1/r1/bob~cyd had to be struck out by the operator: a wrong card"


def test_another_attempt_may_follow_one_that_was_struck_out_while_the_event_goes_on(
    make_event,
) -> None:
    whole = document(make_event())
    event = under_way(whole)
    (attempt,) = event.matches[0].attempts
    attempts = (replace(attempt, struck="a wrong card"), replace(attempt, number=2))
    again = struck(event, state=State.PLAYED, because=None, attempts=attempts)
    waiting = struck(event, state=State.SCHEDULED, because=None)
    for later in (again, waiting):
        assert not list(document_findings(later))
        assert not list(contradictions(event, later))
    assert not list(contradictions(waiting, again))
    # But once its secret is known nothing more of it is played.
    found = list(contradictions(whole, replace(again, secret=whole.secret)))
    assert "it went on after its secret was revealed" in [finding.what for finding in found]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"state": State.PLAYED, "because": None}, "it is said to be played, and no attempt"),
        ({"because": None}, "it is void, and it is not said why"),
        ({"state": State.SCHEDULED}, "the event is over, and it was not played"),
    ],
)
def test_a_state_that_a_strike_does_not_make_is_found(make_event, change, expected: str) -> None:
    event = struck(document(make_event()), **change)
    assert any(finding.what.startswith(expected) for finding in document_findings(event))


def test_what_is_not_only_struck_out_is_found_by_whoever_kept_a_copy(make_event) -> None:
    event = document(make_event())
    (attempt,) = event.matches[0].attempts
    other = replace(attempt, digest="0" * 64, struck="why")
    now = struck(event)
    for earlier, later in (
        (event, struck(event, attempts=(other,))),  # its record is another
        (event, struck(event, attempts=())),  # it is gone
        (now, event),  # the strike was taken back
        (now, struck(event, attempts=(replace(attempt, struck="another reason"),))),
    ):
        found = [finding.what for finding in contradictions(earlier, later)]
        assert "its attempts were others earlier" in found


# -- records


def test_a_record_that_is_missing_damaged_or_another_is_found(make_event) -> None:
    folder = make_event()
    (folder / "r1/bob~cyd.json.gz").unlink()
    torn, other = folder / "r2/ada~bob.json.gz", folder / "r3/ada~cyd.json.gz"
    other.write_bytes(torn.read_bytes())
    torn.write_bytes(torn.read_bytes()[:100])
    (folder / "r3/notes.txt").write_text("hello")
    (folder / "r3/.ada~bob.json.gz.7.part").write_text("broken off")
    first, second, *others, last = told(folder)
    assert first == "ev1/r1/bob~cyd: its record bob~cyd.json.gz is missing"
    assert second.startswith("ev1/r2/ada~bob: its record is damaged (the compressed file is torn")
    assert "ev1/r3/ada~cyd: by its record the id is 'ev1/r2/ada~bob'" in "\n".join(others)
    assert last == "there is a file r3/notes.txt that it does not name"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (lambda r: {"games": 1}, "the number of games is 1, not 2"),
        (lambda r: {"event": "ev9"}, "the event is 'ev9', not 'ev1'"),
        (lambda r: {"policy": Policy.CASUAL}, "the policy is 'casual', not 'rated'"),
        (lambda r: {"clock": ClockRules(move_seconds=9.0)}, "the clock is"),
        (
            lambda r: {"rules": Rules.of(4, options={"pause_after": "first_round"})},
            "the rules is",
        ),
        (
            lambda r: {"entrants": (replace(r.entrants[0], digest="0" * 64), r.entrants[1])},
            "the entrants is",
        ),
        (lambda r: {"entrants": r.entrants[::-1]}, "the entrants is"),
        (lambda r: {"seeds": r.seeds[1:]}, "game 1: its seed is not revealed"),
        (lambda r: {"seeds": (*r.seeds, r.seeds[0])}, "its seed is there 2 times"),
        (lambda r: {"secret": None}, "the event is over, and its record does not reveal"),
        (lambda r: {"secret": bytes(32)}, "its record has another secret than the event"),
        (lambda r: {"entropy": bytes(32)}, "its record has another entropy than the event"),
        (
            lambda r: {"rooms": (replace(r.rooms[0], games=r.rooms[0].games[:1]), r.rooms[1])},
            "room 1, game 2: this game is missing",
        ),
        (
            lambda r: {"rooms": (replace(r.rooms[0], games=r.rooms[0].games[:1] * 2), r.rooms[1])},
            "room 1, game 1: this game is there 2 times",
        ),
        (lambda r: {"score": (99, 99)}, "the score is"),
    ],
)
def test_a_record_that_was_changed_with_its_digest_is_found(
    make_event, changes: Change, expected: str
) -> None:
    folder = make_event()
    file = folder / "r1/bob~cyd.json.gz"
    rewrite(folder, 0, **changes(load(file)))
    assert any(expected in one for one in told(folder))


def test_seeds_are_held_to_the_events_secret_also_where_a_record_reveals_none(make_event) -> None:
    folder = make_event()
    file = folder / "r1/bob~cyd.json.gz"
    seeds = load(file).seeds
    rewrite(folder, 0, secret=None, seeds=(replace(seeds[0], value=bytes(32)), *seeds[1:]))
    assert any("its seed is not the secret's for this match" in one for one in told(folder))


def test_other_deals_are_found_though_their_record_is_consistent(make_event) -> None:
    """The match is played with decks that somebody likes better; only the seeds are not theirs."""
    folder = make_event(nonces=NONCES)
    true = load(folder / "r1/bob~cyd.json.gz")
    other = load(make_event(nonces={"ada": bytes(32)}) / "r1/bob~cyd.json.gz")
    make_event(nonces=NONCES)
    assert other.seeds != true.seeds
    rewrite(folder, 0, seeds=other.seeds, rooms=other.rooms, score=other.score)
    findings = told(folder)
    assert "ev1/r1/bob~cyd: game 1, hand 1: its seed is not the secret's for this match" in findings


# -- under way, and what was kept of it


def under_way(event: EventDocument) -> EventDocument:
    event = replace(event, secret=None)
    return with_match(event, 2, state=State.SCHEDULED, attempts=())


def test_an_event_under_way_is_checked_as_far_as_it_goes(make_event) -> None:
    folder = make_event()
    publish(folder, under_way(document(folder)))
    for file in folder.glob("r*/*"):
        save(file, replace(load(file), secret=None, entropy=None))
    report = check_event(folder)
    assert not report.findings
    assert report.records == 2
    assert "the secret is not revealed yet" in "\n".join(report.unchecked)
    assert report.unchecked[-1].endswith("played since it was published: 1")
    (folder / "r1/ada~eve.json.gz").write_bytes(b"")
    assert told(folder) == ["there is a file r1/ada~eve.json.gz that it does not name"]


def test_an_event_that_goes_on_while_it_is_checked_is_not_blamed(make_event) -> None:
    folder = make_event()
    true = scheduled(document(folder), {"kind": "adaptive", "matches": 3})
    early = replace(true, secret=None)
    (stage,) = early.stages
    publish(folder, replace(early, stages=(replace(stage, matches=stage.matches[:1]),)))
    report = check_event(folder, checked=lambda *_: publish(folder, true))
    assert not report.findings
    assert report.unchecked[-1].endswith("played since it was published: 2")


def test_records_may_reveal_the_secret_before_the_document_does(make_event) -> None:
    folder = make_event()
    publish(folder, replace(document(folder), secret=None))
    assert told(folder) == []
    file = folder / "r1/bob~cyd.json.gz"
    save(file, replace(load(file), secret=bytes(32)))
    assert "the secret is not the one that was committed to" in "\n".join(told(folder))


def test_what_was_only_announced_has_nothing_against_it(make_event) -> None:
    event = document(make_event(beacon=BEACON))
    event = replace(event, beginning=None, stages=(), secret=None)
    assert not list(document_findings(event))


def test_a_document_that_only_adds_contradicts_nothing(make_event) -> None:
    event = document(make_event(nonces=NONCES))
    announced = replace(event, nonces=(), beginning=None, stages=(), secret=None)
    for earlier in (announced, under_way(event), event):
        assert not list(contradictions(earlier, event))


def test_nothing_is_added_to_an_event_whose_secret_is_known(make_event) -> None:
    event = document(make_event())
    called_off = replace(event, beginning=None, stages=())
    for earlier in (called_off, replace(event, stages=())):
        [finding] = contradictions(earlier, event)
        assert finding.what == "it went on after its secret was revealed"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda e: {"announcement": replace(e.announcement, commitment=bytes(32))},
            "what was announced is not what was announced earlier",
        ),
        (lambda e: {"entrants": e.entrants[::-1]}, "its first entrants are not those"),
        (lambda e: {"nonces": e.nonces[1:]}, "the nonce of ada was 0101"),
        (
            lambda e: {"nonces": (*e.nonces, Nonce(entrant="bob", value=bytes(32)))},
            "a nonce was added after the entropy was fixed",
        ),
        (
            lambda e: {"beginning": replace(e.beginning, entropy=bytes(32))},
            "its entropy, or what it came from, was another earlier",
        ),
        (lambda e: {"secret": None}, "its secret was another earlier"),
        (lambda e: {"stages": ()}, "stages of the earlier document are missing"),
        (
            lambda e: {"stages": (replace(e.stages[0], field=()),)},
            "stage 1 had another field earlier",
        ),
        (
            lambda e: {"stages": (replace(e.stages[0], matches=e.matches[1:]),)},
            "stage 1 had 3 matches earlier",
        ),
        (
            lambda e: {"stages": with_match(e, 0, state=State.VOID, because="").stages},
            "it was played earlier",
        ),
        (
            lambda e: {"stages": with_match(e, 0, attempts=()).stages},
            "its attempts were others earlier",
        ),
        (
            lambda e: {"stages": with_match(e, 0, entrants=("cyd", "bob")).stages},
            "its round, or the order of its entrants, was another",
        ),
    ],
)
def test_what_was_taken_back_is_found_by_whoever_kept_a_copy(
    make_event, change: Change, expected: str
) -> None:
    folder = make_event(nonces=NONCES)
    kept = document(folder)
    publish(folder, replace(kept, **change(kept)))
    assert any(expected in one for one in told(folder, earlier=kept))


def test_who_took_no_part_in_a_stage_is_told_with_what_it_may_be(make_event) -> None:
    event = document(make_event())
    first = event.stages[0]
    without = replace(event, stages=(replace(first, field=first.field[1:]), *event.stages[1:]))
    assert (
        f"why stage 1 was planned without {first.field[0]}: entered later, withdrawn, disabled or "
        "away, as the operator says"
    ) in list(unchecked(without, totals={}))
