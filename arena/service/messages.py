"""The values of the ladder's service as bytes and back: the one module here that names message
classes.

What comes from a caller is judged: bytes that are no message, and texts out of bounds, are a
:class:`~hokm.wire.WireError`; whether what is asked for is there is not known here. Fields that
this version does not know are ignored; kinds it does not know are not. The same holds the other way
round, for a client of a later ladder.
"""

from collections.abc import Callable, Iterable
from math import isfinite
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from google.protobuf.message import DecodeError, Message

from arena.ladder.errors import LadderError
from arena.ladder.facts import Submission, SubmissionState
from arena.ladder.ratings.standings import Flag, Row, Standings
from arena.ladder.settings import parse_settings
from arena.service import values
from hokm.v1 import ladder_service_pb2 as pb
from hokm.wire import TOKEN_METADATA as TOKEN_METADATA
from hokm.wire import WireError

SERVICE: Final = "hokm.v1.LadderService"
SUBMIT: Final = "Submit"

LONGEST_TEXT: Final = 1000
"""Characters of a name, an id or the token of a page that are read at all; none has so many."""

SubmitPart: TypeAlias = values.SubmitHeader | values.Piece

M = TypeVar("M", bound=Message)
R = TypeVar("R")

# -- requests


def encode_request(request: values.Request) -> tuple[str, bytes]:
    """The method that is to be called, and its request. Raises WireError for a number or a text
    that has no form on the wire.
    """
    try:
        message = _request(request)
    except ValueError as error:
        raise WireError(f"this {type(request).__name__} cannot be sent: {error}") from error
    return type(request).__name__, message.SerializeToString(deterministic=True)


def decode_request(method: str, data: bytes) -> values.Request:
    """What is asked by a call of a method with one request. Raises WireError for what is none."""
    return _TAKE_REQUEST[method](data)


def _request(request: values.Request) -> Message:
    match request:
        case values.RegisterOwner(name):
            return pb.RegisterOwnerRequest(name=name)
        case values.GetSubmission(number):
            return pb.GetSubmissionRequest(number=number or 0)
        case values.ListSubmissions(size, token):
            return pb.ListSubmissionsRequest(page_size=size, page_token=token)
        case values.ListBots():
            return pb.ListBotsRequest()
        case values.WithdrawBot(name):
            return pb.WithdrawBotRequest(name=name)
        case values.GetLog(match):
            return pb.GetLogRequest(match=match)
        case values.GetStatus():
            return pb.GetStatusRequest()
        case values.GetStandings():
            return pb.GetStandingsRequest()
        case values.ListResults(bot, size, token):
            return pb.ListResultsRequest(bot=bot, page_size=size, page_token=token)
        case values.GetRecord(match, attempt):
            return pb.GetRecordRequest(match=match, attempt=attempt or 0)


def _register_owner(data: bytes) -> values.Request:
    return values.RegisterOwner(_text(_parsed(pb.RegisterOwnerRequest(), data).name))


def _get_submission(data: bytes) -> values.Request:
    return values.GetSubmission(_parsed(pb.GetSubmissionRequest(), data).number or None)


def _list_submissions(data: bytes) -> values.Request:
    message = _parsed(pb.ListSubmissionsRequest(), data)
    return values.ListSubmissions(message.page_size, _text(message.page_token))


def _list_bots(data: bytes) -> values.Request:
    _parsed(pb.ListBotsRequest(), data)
    return values.ListBots()


def _withdraw_bot(data: bytes) -> values.Request:
    return values.WithdrawBot(_text(_parsed(pb.WithdrawBotRequest(), data).name))


def _get_log(data: bytes) -> values.Request:
    return values.GetLog(_text(_parsed(pb.GetLogRequest(), data).match))


def _get_status(data: bytes) -> values.Request:
    _parsed(pb.GetStatusRequest(), data)
    return values.GetStatus()


def _get_standings(data: bytes) -> values.Request:
    _parsed(pb.GetStandingsRequest(), data)
    return values.GetStandings()


def _list_results(data: bytes) -> values.Request:
    message = _parsed(pb.ListResultsRequest(), data)
    return values.ListResults(_text(message.bot), message.page_size, _text(message.page_token))


def _get_record(data: bytes) -> values.Request:
    message = _parsed(pb.GetRecordRequest(), data)
    return values.GetRecord(_text(message.match), message.attempt or None)


_TAKE_REQUEST: Final[dict[str, Callable[[bytes], values.Request]]] = {
    "RegisterOwner": _register_owner,
    "GetSubmission": _get_submission,
    "ListSubmissions": _list_submissions,
    "ListBots": _list_bots,
    "WithdrawBot": _withdraw_bot,
    "GetLog": _get_log,
    "GetStatus": _get_status,
    "GetStandings": _get_standings,
    "ListResults": _list_results,
    "GetRecord": _get_record,
}

METHODS: Final = frozenset({SUBMIT, *_TAKE_REQUEST})
"""All methods of the service; all but an upload take one request."""

# -- replies


def encode_reply(reply: values.Reply) -> bytes:
    """A reply that is one message."""
    return _reply(reply).SerializeToString(deterministic=True)


def _reply(reply: values.Reply) -> Message:
    match reply:
        case values.Registered(name, token):
            return pb.RegisterOwnerResponse(name=name, token=token)
        case values.Submitted(shown, was_here):
            return pb.SubmitResponse(submission=_submission_message(shown), was_here=was_here)
        case values.Shown():
            return pb.GetSubmissionResponse(
                submission=_submission_message(reply), report_json=reply.report
            )
        case values.SubmissionPage(submissions, token):
            return pb.ListSubmissionsResponse(
                submissions=map(_submission_message, submissions), next_page_token=token
            )
        case values.OwnBots(bots, allowance):
            return pb.ListBotsResponse(
                bots=map(_bot_message, bots),
                allowance=pb.Allowance(
                    active_bots=allowance.active_bots,
                    most_active_bots=allowance.most_active_bots,
                    submissions=allowance.submissions,
                    most_submissions=allowance.most_submissions,
                    kept_bytes=allowance.kept_bytes,
                    most_kept_bytes=allowance.most_kept_bytes,
                ),
            )
        case values.Withdrawn(bot):
            return pb.WithdrawBotResponse(bot=_bot_message(bot))
        case values.ServiceStatus():
            return pb.GetStatusResponse(
                ladder=reply.ladder,
                is_paused=reply.is_paused,
                paused_because=reply.paused_because,
                event=reply.event,
                waiting=reply.waiting,
                validating=reply.validating,
                rated=reply.rated,
                alarm=reply.alarm,
            )
        case Standings():
            return pb.GetStandingsResponse(
                settings_toml=reply.settings.toml(),
                anchor=reply.anchor or "",
                rounds_closed=reply.rounds_closed,
                matches_played=reply.matches_played,
                matches_void=reply.matches_void,
                rows=map(_row_message, reply.rows),
            )
        case values.ResultPage(results, token):
            return pb.ListResultsResponse(
                results=map(_result_message, results), next_page_token=token
            )


def decode_registered(data: bytes) -> values.Registered:
    """The reply of RegisterOwner. Raises WireError for what is none, as all of these."""
    message = _parsed(pb.RegisterOwnerResponse(), data)
    return values.Registered(message.name, message.token)


def decode_submitted(data: bytes) -> values.Submitted:
    """The reply of Submit."""
    message = _parsed(pb.SubmitResponse(), data)
    return values.Submitted(_shown(message.submission), message.was_here)


def decode_shown(data: bytes) -> values.Shown:
    """The reply of GetSubmission."""
    message = _parsed(pb.GetSubmissionResponse(), data)
    return _shown(message.submission, report=message.report_json)


def decode_submissions(data: bytes) -> values.SubmissionPage:
    """The reply of ListSubmissions."""
    message = _parsed(pb.ListSubmissionsResponse(), data)
    return values.SubmissionPage(tuple(map(_shown, message.submissions)), message.next_page_token)


def decode_bots(data: bytes) -> values.OwnBots:
    """The reply of ListBots."""
    message = _parsed(pb.ListBotsResponse(), data)
    allowance = message.allowance
    return values.OwnBots(
        tuple(map(_bot, message.bots)),
        values.Allowance(
            active_bots=allowance.active_bots,
            most_active_bots=allowance.most_active_bots,
            submissions=allowance.submissions,
            most_submissions=allowance.most_submissions,
            kept_bytes=allowance.kept_bytes,
            most_kept_bytes=allowance.most_kept_bytes,
        ),
    )


def decode_withdrawn(data: bytes) -> values.Withdrawn:
    """The reply of WithdrawBot."""
    return values.Withdrawn(_bot(_parsed(pb.WithdrawBotResponse(), data).bot))


def decode_status(data: bytes) -> values.ServiceStatus:
    """The reply of GetStatus."""
    message = _parsed(pb.GetStatusResponse(), data)
    return values.ServiceStatus(
        ladder=message.ladder,
        is_paused=message.is_paused,
        event=message.event,
        waiting=message.waiting,
        validating=message.validating,
        rated=message.rated,
        alarm=message.alarm,
        paused_because=message.paused_because,
    )


def decode_standings(data: bytes) -> Standings:
    """The reply of GetStandings."""
    message = _parsed(pb.GetStandingsResponse(), data)
    try:
        settings = parse_settings(message.settings_toml, where=Path("ladder.toml"))
    except LadderError as error:
        raise WireError(f"standings of a ladder that this arena does not know: {error}") from error
    return Standings(
        settings,
        message.anchor or None,
        message.rounds_closed,
        message.matches_played,
        message.matches_void,
        tuple(map(_row, message.rows)),
    )


def decode_results(data: bytes) -> values.ResultPage:
    """The reply of ListResults."""
    message = _parsed(pb.ListResultsResponse(), data)
    return values.ResultPage(tuple(map(_result, message.results)), message.next_page_token)


# -- files, up and down


def encode_submit_part(part: SubmitPart) -> bytes:
    """A part of an upload. Raises WireError for a size that has no form on the wire."""
    try:
        match part:
            case values.Piece(data):
                message = pb.SubmitRequest(piece=data)
            case values.SubmitHeader(digest, size):
                message = pb.SubmitRequest(header=pb.SubmitHeader(digest=digest, size_bytes=size))
    except ValueError as error:
        raise WireError(f"this part cannot be sent: {error}") from error
    return message.SerializeToString(deterministic=True)


def decode_submit_part(data: bytes) -> SubmitPart:
    """A part of an upload. Raises WireError for what is none."""
    message = _parsed(pb.SubmitRequest(), data)
    match message.WhichOneof("part"):
        case "header":
            return values.SubmitHeader(_text(message.header.digest), message.header.size_bytes)
        case "piece":
            return values.Piece(message.piece)
        case None:
            raise WireError("a part of an upload that is neither a header nor a piece")


def encode_log_part(part: values.LogHeader | values.Piece) -> bytes:
    """A part of the reply of GetLog."""
    match part:
        case values.Piece(data):
            message = pb.GetLogResponse(piece=data)
        case values.LogHeader():
            message = pb.GetLogResponse(
                header=pb.LogHeader(
                    attempt=part.attempt,
                    room=part.room,
                    seat=part.seat,
                    bot=part.bot,
                    start=part.start,
                    size_bytes=part.size_bytes,
                )
            )
    return message.SerializeToString(deterministic=True)


def decode_log_part(data: bytes) -> values.LogHeader | values.Piece:
    """A part of the reply of GetLog. Raises WireError for what is none."""
    message = _parsed(pb.GetLogResponse(), data)
    match message.WhichOneof("part"):
        case "header":
            header = message.header
            return values.LogHeader(
                attempt=header.attempt,
                room=header.room,
                seat=header.seat,
                bot=header.bot,
                start=header.start,
                size_bytes=header.size_bytes,
            )
        case "piece":
            return values.Piece(message.piece)
        case None:
            raise WireError("a part of a log that is neither a header nor a piece")


def encode_record_part(part: values.RecordHeader | values.Piece) -> bytes:
    """A part of the reply of GetRecord."""
    match part:
        case values.Piece(data):
            message = pb.GetRecordResponse(piece=data)
        case values.RecordHeader(attempt, file, digest, size):
            message = pb.GetRecordResponse(
                header=pb.RecordHeader(
                    attempt=attempt, file=file, substance_digest=digest, size_bytes=size
                )
            )
    return message.SerializeToString(deterministic=True)


def decode_record_part(data: bytes) -> values.RecordHeader | values.Piece:
    """A part of the reply of GetRecord. Raises WireError for what is none."""
    message = _parsed(pb.GetRecordResponse(), data)
    match message.WhichOneof("part"):
        case "header":
            header = message.header
            return values.RecordHeader(
                header.attempt, header.file, header.substance_digest, header.size_bytes
            )
        case "piece":
            return values.Piece(message.piece)
        case None:
            raise WireError("a part of a record that is neither a header nor a piece")


# -- below


def _parsed(message: M, data: bytes) -> M:
    try:
        message.ParseFromString(data)
    except DecodeError:
        name = message.DESCRIPTOR.name
        raise WireError(f"{len(data)} bytes that are no {name} of hokm.v1") from None
    return message


def _text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise WireError(f"a text of {len(text)} characters, where none has over {LONGEST_TEXT}")
    if "\0" in text:  # which not every database takes
        raise WireError("a text with a NUL in it")
    return text


_STATES: Final = {
    SubmissionState.WAITING: pb.SUBMISSION_STATE_WAITING,
    SubmissionState.VALIDATING: pb.SUBMISSION_STATE_VALIDATING,
    SubmissionState.ACCEPTED: pb.SUBMISSION_STATE_ACCEPTED,
    SubmissionState.REFUSED: pb.SUBMISSION_STATE_REFUSED,
    SubmissionState.FAILED: pb.SUBMISSION_STATE_FAILED,
    SubmissionState.WITHDRAWN: pb.SUBMISSION_STATE_WITHDRAWN,
}
_FLAGS: Final = {
    Flag.PROVISIONAL: pb.STANDINGS_FLAG_PROVISIONAL,
    Flag.NOT_CONNECTED: pb.STANDINGS_FLAG_NOT_CONNECTED,
    Flag.UNRATED: pb.STANDINGS_FLAG_UNRATED,
    Flag.INACTIVE: pb.STANDINGS_FLAG_INACTIVE,
    Flag.RETIRED: pb.STANDINGS_FLAG_RETIRED,
    Flag.FORFEITS: pb.STANDINGS_FLAG_FORFEITS,
    Flag.REMOTE: pb.STANDINGS_FLAG_REMOTE,
}


def _kind_of(kinds: Iterable[tuple[R, int]], number: int, what: str) -> R:
    for kind, own in kinds:
        if own == number:
            return kind
    raise WireError(f"{number} is no {what} that is known here: a newer ladder? update the arena")


def _submission_message(shown: values.Shown) -> pb.Submission:
    one = shown.submission
    return pb.Submission(
        number=one.number,
        name=one.name,
        version=one.version,
        digest=one.digest,
        size_bytes=one.size_bytes,
        received=one.received,
        state=_STATES[one.state],
        decided=one.decided or "",
        bot=shown.bot,
    )


def _shown(message: pb.Submission, *, report: str = "") -> values.Shown:
    """As its owner sees it; numbers of owners and bots do not travel."""
    submission = Submission(
        message.number,
        0,
        message.name,
        message.version,
        message.digest,
        message.size_bytes,
        message.received,
        _kind_of(_STATES.items(), message.state, "state of a submission"),
        message.decided or None,
    )
    return values.Shown(submission, message.bot, report)


def _bot_message(bot: values.OwnBot) -> pb.OwnBot:
    return pb.OwnBot(
        name=bot.name,
        version=bot.version,
        digest=bot.digest,
        inactive_because=bot.inactive_because,
        rated=bot.is_rated,
        has_played=bot.has_played,
    )


def _bot(message: pb.OwnBot) -> values.OwnBot:
    return values.OwnBot(
        message.name,
        message.version,
        message.digest,
        message.inactive_because,
        message.rated,
        message.has_played,
    )


def _row_message(row: Row) -> pb.StandingsRow:
    best, worst = (None, None) if row.ranks is None else row.ranks
    return pb.StandingsRow(
        rank=row.rank,
        rank_best=best,
        rank_worst=worst,
        name=row.name,
        owner=row.owner,
        version=row.version,
        elo=row.elo,
        mle=row.mle,
        mle_error=row.bar,
        matches=row.matches,
        matches_won=row.matches_won,
        matches_drawn=row.matches_drawn,
        matches_lost=row.matches_lost,
        boards_won=row.boards_won,
        boards_drawn=row.boards_drawn,
        boards_lost=row.boards_lost,
        points_per_board=row.points_per_board,
        los_next=row.los_next,
        forfeits=row.forfeits,
        flags=[_FLAGS[flag] for flag in row.flags],
        note=row.note,
    )


def _row(message: pb.StandingsRow) -> Row:
    has = message.HasField
    figures = (message.elo, message.mle, message.mle_error, message.points_per_board)
    if not all(map(isfinite, (*figures, message.los_next))):
        raise WireError("a row of standings with figures that are no numbers")
    return Row(
        rank=message.rank if has("rank") else None,
        ranks=(message.rank_best, message.rank_worst) if has("rank_best") else None,
        name=message.name,
        owner=message.owner,
        version=message.version,
        elo=message.elo if has("elo") else None,
        mle=message.mle if has("mle") else None,
        bar=message.mle_error if has("mle_error") else None,
        matches=message.matches,
        matches_won=message.matches_won,
        matches_drawn=message.matches_drawn,
        matches_lost=message.matches_lost,
        boards_won=message.boards_won,
        boards_drawn=message.boards_drawn,
        boards_lost=message.boards_lost,
        points_per_board=message.points_per_board if has("points_per_board") else None,
        los_next=message.los_next if has("los_next") else None,
        forfeits=message.forfeits,
        flags=tuple(_kind_of(_FLAGS.items(), flag, "flag of standings") for flag in message.flags),
        note=message.note,
    )


def _result_message(result: values.MatchResult) -> pb.MatchResult:
    return pb.MatchResult(
        match=result.match,
        event=result.event,
        round=result.round,
        bots=result.bots,
        totals=result.totals,
        void_because=result.void_because,
    )


def _result(message: pb.MatchResult) -> values.MatchResult:
    return values.MatchResult(
        message.match,
        message.event,
        message.round,
        tuple(message.bots),
        tuple(message.totals),
        message.void_because if message.HasField("void_because") else None,
    )
