"""Calls of the ladder's service, from the bridge, answered one task each.

A call is read into a value, handed to :class:`~arena.service.handlers.LadderService`, and its
answer is written, or the reason why there is none. What takes a while (a fit, an archive, a long
record) is done in a thread, so that no match waits for it. Tokens go through here, and into no log.
"""

import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import BinaryIO, Final

import trio

from arena.ladder.errors import LadderError
from arena.ladder.ratings.standings import Standings
from arena.referee.calls import Call, CallGone, CallLimits, Services, Status
from arena.service import messages, values
from arena.service.errors import Fault, ServiceError
from arena.service.handlers import LadderService
from arena.service.intake import Upload
from arena.service.values import Caller
from hokm.wire import WireError

SERVICES: Final = Services(methods={messages.SERVICE: messages.METHODS}, limits=CallLimits())
"""What the bridge is to serve beside the referee."""

PIECE_BYTES: Final = 1 << 18
"""Of a file that is sent to a caller, at a time."""
LEAST_BYTES: Final = 64 * 2**10
LEAST_SECONDS: Final = 10.0
"""An upload brings so much in so long, until it is whole. There are few at once, and one that comes
byte by byte would keep those of others out until its call has lasted as long as one may. It is a
tenth of what an archive of the largest size needs to come in time anyway, and one message of
`arena submit`.
"""
LONGEST_DETAILS: Final = 1000
"""Characters of the line that says why not: it travels in the headers, which have 8 KiB."""
THREADS: Final = 2
"""At once, for what takes a while. Matches have the cores before those who look on."""

STATUS: Final = {
    Fault.UNAUTHENTICATED: Status.UNAUTHENTICATED,
    Fault.PERMISSION: Status.PERMISSION_DENIED,
    Fault.NOT_FOUND: Status.NOT_FOUND,
    Fault.TAKEN: Status.ALREADY_EXISTS,
    Fault.QUOTA: Status.RESOURCE_EXHAUSTED,
    Fault.INVALID: Status.INVALID_ARGUMENT,
    Fault.NOT_NOW: Status.UNAVAILABLE,
}
FAULT_OF_OURS: Final = "the ladder failed at this; tell its operator, who finds it in the log"
"""What is said of a failure that is no caller's. Where its files are is the operator's business."""

_log = logging.getLogger(__name__)


async def answer_calls(
    calls: AsyncIterable[Call],
    service: LadderService,
    *,
    threads: int = THREADS,
    others: Mapping[str, Callable[[Call], Awaitable[None]]] | None = None,
) -> None:
    """Answer every call, several at once, until there are no more; those of other services, by
    full name, are for the others to answer, and to end.
    """
    limiter = trio.CapacityLimiter(threads)
    async with trio.open_nursery() as nursery:
        async for call in calls:
            if others is not None and call.service in others:
                nursery.start_soon(others[call.service], call)
            else:
                nursery.start_soon(answer, call, service, limiter)


async def answer(call: Call, service: LadderService, limiter: trio.CapacityLimiter) -> None:
    """Answer one call, and end it, whatever comes."""
    status, details = Status.UNAVAILABLE, "the arena is going away; try again when it is back"
    try:
        await _answered(call, service, limiter)
        status, details = Status.OK, ""
    except CallGone:
        _log.debug("a caller left", extra={"method": call.method, "host": call.host})
    except ServiceError as error:
        status, details = STATUS[error.fault], str(error)
        _log.debug(
            "refused a call",
            extra={"method": call.method, "host": call.host, "reason": error.fault.value},
        )
    except WireError as error:
        status, details = Status.INVALID_ARGUMENT, str(error)
    except LadderError as error:
        status, details = Status.UNAVAILABLE, FAULT_OF_OURS
        _log.error("a call could not be answered: %s", error, extra={"method": call.method})
    except Exception:
        status, details = Status.INTERNAL, FAULT_OF_OURS
        _log.exception("a call failed", extra={"method": call.method})
    finally:
        call.end(status, one_line(details))


async def _answered(call: Call, service: LadderService, limiter: trio.CapacityLimiter) -> None:
    caller = Caller(call.host, call.metadata(messages.TOKEN_METADATA))
    if call.method == messages.SUBMIT:
        await call.send(messages.encode_reply(await _submitted(call, caller, service, limiter)))
        return
    request = messages.decode_request(call.method, await _only(call))
    in_thread = partial(trio.to_thread.run_sync, limiter=limiter)
    match request:
        case values.GetRecord():
            record: values.FileSent = await in_thread(service.get_record(caller, request))
            await _send_file(call, record)
        case values.GetLog():
            for file in await in_thread(tuple, service.get_log(caller, request)):
                await _send_file(call, file)
        case values.GetStandings():
            standings: Standings = await in_thread(service.get_standings(caller, request))
            await call.send(messages.encode_reply(standings))
        case values.RegisterOwner():
            await call.send(messages.encode_reply(service.register_owner(caller, request)))
        case values.GetSubmission():
            await call.send(messages.encode_reply(service.get_submission(caller, request)))
        case values.ListSubmissions():
            await call.send(messages.encode_reply(service.list_submissions(caller, request)))
        case values.ListBots():
            await call.send(messages.encode_reply(service.list_bots(caller, request)))
        case values.WithdrawBot():
            withdrawn = service.withdraw_bot(caller, request)
            await _remove_unclaimed(service, withdrawn.bot.digest)
            await call.send(messages.encode_reply(withdrawn))
        case values.GetStatus():
            await call.send(messages.encode_reply(service.get_status(caller, request)))
        case values.ListResults():
            await call.send(messages.encode_reply(service.list_results(caller, request)))


async def _only(call: Call) -> bytes:
    """The one request of a call."""
    request = await call.receive()
    if request is None:
        raise WireError("a call without a request")
    return request


async def _submitted(
    call: Call, caller: Caller, service: LadderService, limiter: trio.CapacityLimiter
) -> values.Submitted:
    """An upload, from its header to what came of it."""
    header = messages.decode_submit_part(await _only(call))
    if not isinstance(header, values.SubmitHeader):
        raise WireError("an upload begins with a header")
    begun = service.begin_upload(caller, header)
    if isinstance(begun, values.Submitted):
        return begun
    try:
        await _receive_pieces(call, begun)
        # Not abandoned: its files are in use until it is done.
        entrant = await trio.to_thread.run_sync(begun.checked, limiter=limiter)
        if (known := service.accept_upload(caller, begun, entrant)) is not None:
            return known
        # It may wait for a network. So it takes no thread from what others ask, uploads being few,
        # and is abandoned at an end: what is half done on a shelf is not there.
        await trio.to_thread.run_sync(begun.keep, abandon_on_cancel=True)
        return service.finish_upload(caller, begun, entrant)
    finally:
        service.end_upload(begun)
        if begun.is_kept:  # and then refused, as what another upload was quicker with
            await _remove_unclaimed(service, begun.digest)


async def _remove_unclaimed(service: LadderService, digest: str) -> None:
    """Remove an archive if nobody will ask for it: storage that no quota counts is not used."""
    remove = service.removal_of(digest)
    if remove is not None:
        # Abandoned at an end, as what waits for a network is: the next start does it.
        await trio.to_thread.run_sync(remove, abandon_on_cancel=True)


async def _receive_pieces(call: Call, upload: Upload) -> None:
    """What is sent after the header. Raises ServiceError where it comes too slowly."""
    due_bytes, until = LEAST_BYTES, trio.current_time() + LEAST_SECONDS
    while True:
        with trio.move_on_at(until) as waited:
            data = await call.receive()
        if waited.cancelled_caught:
            problem = f"an upload brings {LEAST_BYTES // 2**10} KiB in {LEAST_SECONDS:.0f} s, and "
            problem += "this one did not"
            remedy = "try again over a faster connection, or with a smaller archive"
            raise ServiceError(Fault.QUOTA, problem, remedy=remedy)
        if data is None:
            return
        piece = messages.decode_submit_part(data)
        if not isinstance(piece, values.Piece):
            raise WireError("an upload has one header")
        upload.write(piece.data)
        if upload.received_bytes >= min(due_bytes, upload.size_bytes):
            due_bytes = upload.received_bytes + LEAST_BYTES
            until = trio.current_time() + LEAST_SECONDS


async def _send_file(call: Call, file: values.FileSent) -> None:
    """A header and the file after it, which may have been removed meanwhile."""
    header = file.header
    encode: Callable[[values.Piece], bytes]
    if isinstance(header, values.LogHeader):
        await call.send(messages.encode_log_part(header))
        encode = messages.encode_log_part
    else:
        await call.send(messages.encode_record_part(header))
        encode = messages.encode_record_part
    left = header.size_bytes
    with suppress(FileNotFoundError), _opened(file) as stream:
        while left and (data := stream.read(min(left, PIECE_BYTES))):
            left -= len(data)
            await call.send(encode(values.Piece(data)))


def _opened(file: values.FileSent) -> BinaryIO:
    return file.path.open("rb") if file.data is None else BytesIO(file.data)


def one_line(text: str) -> str:
    """What may stand in the details of a status."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DETAILS else f"{line[:LONGEST_DETAILS]}…"
