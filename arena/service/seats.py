"""Calls of homes, from the bridge: a conversation each, read into values, and what is said written.

Who a token is of, and whether that is good for playing, is asked elsewhere, at first and again and
again: a conversation may last for weeks, and a token may be revoked meanwhile. Tokens and tickets
go through here, and into no log.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

import trio

from arena.ladder.errors import LadderError
from arena.ladder.facts import Owner, Scope
from arena.referee.calls import Call, CallGone, Status
from arena.service.answering import FAULT_OF_OURS, STATUS, one_line
from arena.service.casual import Tables
from arena.service.errors import Fault, ServiceError
from arena.service.homes import Homes, Line
from arena.service.tokens import digest_of
from arena.service.values import Caller
from hokm.seats import HomeAlive, HomeAnswer, HomeDraining, HomeHello, ToHome
from hokm.wire import (
    OFFER_SEATS,
    SEAT_SERVICE,
    SIT_DOWN,
    TOKEN_METADATA,
    WireError,
    decode_from_home,
    encode_to_home,
)

METHODS: Final = frozenset({OFFER_SEATS, SIT_DOWN})
LASTING: Final = frozenset(f"{SEAT_SERVICE}/{method}" for method in METHODS)
"""How the bridge is to have them, see :class:`~arena.referee.calls.Services`."""

MOST_UNSAID: Final = 256
"""Messages that a home may have to be told; one that does not read is let go."""
MOST_HEARD: Final = 100
HEARD_SECONDS: Final = 10.0
"""A home says so many things in so long at most: it has 64 seats, and two words to say of each."""
LOOK_SECONDS: Final = 5.0
"""How often it is asked whether the token of who is there is still good."""

_log = logging.getLogger(__name__)


class Hall(Protocol):
    """Where one who has said hello is led to, and what is done with what he says then."""

    def come(self, hello: HomeHello, line: Line) -> None:
        """He is there. Raises ServiceError where he may not be."""

    def heard(self, line: Line, message: HomeAnswer | HomeDraining) -> None:
        """He said something."""

    def left(self, line: Line) -> None:
        """He is gone, whoever ended it."""


class SeatService:
    """Answers calls of homes; there may be none for rated matches. `enter` says who calls, by his
    token, or raises ServiceError; `refuse_former` raises it for the digest of a token that is good
    no more.
    """

    def __init__(
        self,
        homes: Homes | None,
        casual: Tables,
        *,
        enter: Callable[[Caller, Scope], Owner],
        refuse_former: Callable[[str, Scope], None],
    ) -> None:
        self._homes = homes
        self._casual = casual
        self._enter = enter
        self._refuse_former = refuse_former

    async def answer(self, call: Call) -> None:
        """Answer one call, and end it, whatever comes."""
        status, details = Status.UNAVAILABLE, "the arena is going away; come again when it is back"
        try:
            await self._converse(call)
            status, details = Status.OK, ""
        except CallGone:
            _log.debug("a home left", extra={"method": call.method, "host": call.host})
        except ServiceError as error:
            status, details = STATUS[error.fault], str(error)
            _log.debug("a home was let go", extra={"method": call.method, "host": call.host})
        except WireError as error:
            status, details = Status.INVALID_ARGUMENT, str(error)
        except LadderError as error:
            status, details = Status.UNAVAILABLE, FAULT_OF_OURS
            _log.error("a home could not be answered: %s", error, extra={"method": call.method})
        except Exception:
            status, details = Status.INTERNAL, FAULT_OF_OURS
            _log.exception("a home could not be answered", extra={"method": call.method})
        finally:
            call.end(status, one_line(details))

    async def _converse(self, call: Call) -> None:
        hall = self._hall(call)
        token = call.metadata(TOKEN_METADATA)
        digest = digest_of(token) if token else None
        del token
        first = await call.receive()
        hello = None if first is None else decode_from_home(first)
        if not isinstance(hello, HomeHello):
            raise WireError("a home begins with a hello")
        line = _CallLine()
        hall.come(hello, line)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_listen, call, hall, line)
                if digest is not None:
                    nursery.start_soon(self._look, digest, line, nursery.cancel_scope)
                with suppress(CallGone):
                    await line.write(call)
                nursery.cancel_scope.cancel()
        finally:
            hall.left(line)
        if line.error is not None:
            raise line.error

    async def _look(self, digest: str, line: "_CallLine", scope: trio.CancelScope) -> None:
        """End the conversation once its token is good no more, whether what is told is read or
        not.
        """
        while True:
            await trio.sleep(LOOK_SECONDS)
            try:
                self._refuse_former(digest, Scope.PLAY)
            except ServiceError as error:
                line.end(error)
                scope.cancel()
                return
            except LadderError as error:  # it is asked again in a moment
                _log.warning("it cannot be asked whether a token is good: %s", error)

    def _hall(self, call: Call) -> Hall:
        """Who calls is known before anything he says is read."""
        caller = Caller(call.host, call.metadata(TOKEN_METADATA))
        if call.method == SIT_DOWN:
            owner = None
            if caller.token or not self._casual.is_open:
                owner = self._enter(caller, Scope.PLAY)
            return _CasualHall(self._casual, owner, call.host)
        owner = self._enter(caller, Scope.PLAY)
        if self._homes is None:
            problem = "this ladder takes no bots that stay at home"
            raise ServiceError(Fault.PERMISSION, problem, remedy="send yours in: arena submit")
        return _RatedHall(self._homes, owner)


class _RatedHall:
    def __init__(self, homes: Homes, owner: Owner) -> None:
        self._homes = homes
        self._owner = owner

    def come(self, hello: HomeHello, line: Line) -> None:
        if hello.table is not None:
            raise WireError("a table is for SitDown")
        self._homes.come(self._owner, hello, line)

    def heard(self, line: Line, message: HomeAnswer | HomeDraining) -> None:
        self._homes.heard(line, message)

    def left(self, line: Line) -> None:
        self._homes.left(line)


class _CasualHall:
    def __init__(self, casual: Tables, owner: Owner | None, host: str) -> None:
        self._casual = casual
        self._owner = owner
        self._host = host

    def come(self, hello: HomeHello, line: Line) -> None:
        self._casual.sit_down(self._owner, hello, line, host=self._host)

    def heard(self, line: Line, message: HomeAnswer | HomeDraining) -> None:
        if isinstance(message, HomeAnswer):
            self._casual.heard(line, message)

    def left(self, line: Line) -> None:
        self._casual.left(line)


class _CallLine:
    """A :class:`~arena.service.homes.Line` that is a call."""

    def __init__(self) -> None:
        self.error: ServiceError | None = None
        self._send, self._unsaid = trio.open_memory_channel[ToHome](MOST_UNSAID)

    def say(self, message: ToHome) -> None:
        try:
            self._send.send_nowait(message)
        except trio.WouldBlock:
            problem = "nothing is read of what it is told"
            self.end(ServiceError(Fault.QUOTA, problem, remedy="read faster"))
        except trio.ClosedResourceError:
            pass

    def end(self, error: ServiceError | None = None) -> None:
        self.error = self.error or error
        self._send.close()

    async def write(self, call: Call) -> None:
        """Write what is said until there is no more."""
        async for message in self._unsaid:
            await call.send(encode_to_home(message))


async def _listen(call: Call, hall: Hall, line: _CallLine) -> None:
    """Hear what is said until there is no more; then the line ends."""
    count, since = 0, trio.current_time()
    try:
        while (data := await call.receive()) is not None:
            count += 1
            if trio.current_time() >= since + HEARD_SECONDS:
                count, since = 1, trio.current_time()
            if count > MOST_HEARD:
                problem = f"more than {MOST_HEARD} messages in {HEARD_SECONDS:.0f} s"
                line.end(ServiceError(Fault.QUOTA, problem, remedy="say less"))
                return
            match decode_from_home(data):
                case HomeAlive() | None:
                    pass
                case HomeHello():
                    raise WireError("a home says hello once")
                case message:
                    hall.heard(line, message)
    except WireError as error:
        line.end(ServiceError(Fault.INVALID, str(error), remedy=""))
    except LadderError as error:
        _log.error("a home could not be heard: %s", error)
        line.end(ServiceError(Fault.NOT_NOW, FAULT_OF_OURS, remedy=""))
    except CallGone:
        pass
    line.end()
