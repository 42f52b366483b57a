"""The wire of the ladder's service: what is said comes through, and what is none is refused."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.facts import Submission, SubmissionState
from arena.ladder.ratings.standings import Flag, Row, Standings
from arena.ladder.settings import Settings
from arena.service import messages, values
from hokm.v1 import ladder_service_pb2
from hokm.wire import WireError
from tests.arena.service.worlds import World

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
WHOLES = st.integers(0, 2**31)
REAL = st.none() | st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.none() | st.integers(1, 2**31)

REQUESTS = st.one_of(
    st.builds(values.RegisterOwner, TEXTS),
    st.builds(values.GetSubmission, NUMBERS),
    st.builds(values.ListSubmissions, WHOLES, TEXTS),
    st.builds(values.ListBots),
    st.builds(values.WithdrawBot, TEXTS),
    st.builds(values.GetLog, TEXTS),
    st.builds(values.GetStatus),
    st.builds(values.GetStandings),
    st.builds(values.ListResults, TEXTS, WHOLES, TEXTS),
    st.builds(values.GetRecord, TEXTS, NUMBERS),
)
SUBMISSIONS = st.builds(
    Submission,
    WHOLES,
    st.just(0),  # whose it is does not travel: it is one's own
    TEXTS,
    TEXTS,
    TEXTS,
    WHOLES,
    TEXTS,
    st.sampled_from(SubmissionState),
    st.none() | st.text(min_size=1, max_size=20).filter(str.isascii),
)
SHOWN = st.builds(values.Shown, SUBMISSIONS, TEXTS)
BOTS = st.builds(values.OwnBot, TEXTS, TEXTS, TEXTS, TEXTS, st.booleans(), st.booleans())
ALLOWANCES = st.builds(
    values.Allowance,
    active_bots=WHOLES,
    most_active_bots=WHOLES,
    submissions=WHOLES,
    most_submissions=WHOLES,
    kept_bytes=WHOLES,
    most_kept_bytes=WHOLES,
)
ROWS = st.builds(
    Row,
    NUMBERS,
    st.none() | st.tuples(WHOLES, WHOLES),
    *[TEXTS] * 3,
    *[REAL] * 3,
    *[WHOLES] * 7,
    REAL,
    REAL,
    WHOLES,
    st.lists(st.sampled_from(Flag), max_size=3).map(tuple),
    TEXTS,
)
STANDINGS = st.builds(
    Standings,
    st.just(Settings.of("club", length=3, anchor="house")),
    st.none() | TEXTS.filter(bool),
    *[WHOLES] * 3,
    st.lists(ROWS, max_size=3).map(tuple),
)
RESULTS = st.builds(
    values.MatchResult,
    TEXTS,
    TEXTS,
    WHOLES,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.lists(st.integers(-1000, 1000), max_size=3).map(tuple),
    st.none() | TEXTS,
)
REPLIES: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "registered": (st.builds(values.Registered, TEXTS, TEXTS), messages.decode_registered),
    "submitted": (st.builds(values.Submitted, SHOWN, st.booleans()), messages.decode_submitted),
    "shown": (
        st.builds(values.Shown, SUBMISSIONS, TEXTS, TEXTS),
        messages.decode_shown,
    ),
    "submissions": (
        st.builds(values.SubmissionPage, st.lists(SHOWN, max_size=3).map(tuple), TEXTS),
        messages.decode_submissions,
    ),
    "bots": (
        st.builds(values.OwnBots, st.lists(BOTS, max_size=3).map(tuple), ALLOWANCES),
        messages.decode_bots,
    ),
    "withdrawn": (st.builds(values.Withdrawn, BOTS), messages.decode_withdrawn),
    "status": (
        st.builds(
            values.ServiceStatus,
            ladder=TEXTS,
            is_paused=st.booleans(),
            event=TEXTS,
            waiting=WHOLES,
            validating=WHOLES,
            rated=TEXTS,
            alarm=TEXTS,
            paused_because=TEXTS,
        ),
        messages.decode_status,
    ),
    "standings": (STANDINGS, messages.decode_standings),
    "results": (
        st.builds(values.ResultPage, st.lists(RESULTS, max_size=3).map(tuple), TEXTS),
        messages.decode_results,
    ),
}
LOG_HEADERS = st.builds(
    values.LogHeader,
    attempt=WHOLES,
    room=WHOLES,
    seat=WHOLES,
    bot=TEXTS,
    start=WHOLES,
    size_bytes=WHOLES,
)
PIECES = st.builds(values.Piece, st.binary(max_size=20))
PARTS: dict[str, tuple[st.SearchStrategy[Any], Any, Any]] = {
    "submit": (
        st.builds(values.SubmitHeader, TEXTS, WHOLES) | PIECES,
        messages.encode_submit_part,
        messages.decode_submit_part,
    ),
    "log": (LOG_HEADERS | PIECES, messages.encode_log_part, messages.decode_log_part),
    "record": (
        st.builds(values.RecordHeader, WHOLES, TEXTS, TEXTS, WHOLES) | PIECES,
        messages.encode_record_part,
        messages.decode_record_part,
    ),
}


@given(REQUESTS)
def test_what_is_asked_comes_through(request: values.Request) -> None:
    method, data = messages.encode_request(request)
    assert method in messages.METHODS
    assert messages.decode_request(method, data) == request


@pytest.mark.parametrize("name", REPLIES)
@given(data=st.data())
def test_what_is_answered_comes_through(name: str, data: st.DataObject) -> None:
    replies, decode = REPLIES[name]
    reply = data.draw(replies)
    assert decode(messages.encode_reply(reply)) == reply


@pytest.mark.parametrize("name", PARTS)
@given(data=st.data())
def test_parts_of_files_come_through(name: str, data: st.DataObject) -> None:
    parts, encode, decode = PARTS[name]
    part = data.draw(parts)
    assert decode(encode(part)) == part


def test_every_method_of_the_proto_is_there_and_no_other() -> None:
    service = ladder_service_pb2.DESCRIPTOR.services_by_name["LadderService"]
    assert service.full_name == messages.SERVICE
    assert {method.name for method in service.methods} == messages.METHODS


def test_every_state_and_flag_has_its_twin() -> None:
    assert set(messages._STATES) == set(SubmissionState)
    assert set(messages._FLAGS) == set(Flag)


def test_standings_of_a_ladder_come_through_whole(world: World) -> None:
    standings = world.ladder.standings()
    assert messages.decode_standings(messages.encode_reply(standings)) == standings


@pytest.mark.parametrize(
    "request_", [values.GetLog("x" * 1001), values.WithdrawBot("a\0b"), values.ListResults("\0")]
)
def test_texts_out_of_bounds_are_refused(request_: values.Request) -> None:
    with pytest.raises(WireError):
        messages.decode_request(*messages.encode_request(request_))


@pytest.mark.parametrize(
    "request_", [values.GetSubmission(-1), values.GetSubmission(2**64), values.GetLog("\ud800")]
)
def test_what_has_no_form_on_the_wire_is_not_sent(request_: values.Request) -> None:
    with pytest.raises(WireError, match="cannot be sent"):
        messages.encode_request(request_)


def test_a_part_that_is_neither_is_refused() -> None:
    for decode in (
        messages.decode_submit_part,
        messages.decode_log_part,
        messages.decode_record_part,
    ):
        with pytest.raises(WireError, match="neither"):
            decode(b"")


@pytest.mark.parametrize("figure", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["elo", "mle", "bar", "points_per_board", "los_next"])
def test_figures_that_are_no_numbers_are_refused(world: World, name: str, figure: float) -> None:
    standings = world.ladder.standings()
    row = replace(standings.rows[0], **{name: figure})  # type: ignore[arg-type]
    data = messages.encode_reply(replace(standings, rows=(row,)))
    with pytest.raises(WireError, match="no numbers"):
        messages.decode_standings(data)


def test_a_state_that_is_not_known_is_said(world: World) -> None:
    made = world.submit("ada", world.packed("new")).shown
    data = messages.encode_reply(made)
    message = ladder_service_pb2.GetSubmissionResponse.FromString(data)
    message.submission.state = 77  # type: ignore[assignment]  # of a later version
    with pytest.raises(WireError, match="newer ladder"):
        messages.decode_shown(message.SerializeToString())
    assert messages.decode_shown(data).submission == replace(made.submission, owner=0)
