"""What a program that is no bot may ask on a network: ``grpc.health.v1``, and reflection.

Both come from gRPC's own packages (the extra ``server``), so this module is imported only where a
network is served. It knows nothing of bots; it counts its callers, because both calls last as long
as the caller likes.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

Context = grpc.aio.ServicerContext[object, object]


class Probes:
    """Health and reflection of a server; ``services`` are those whose health is told beside the
    server's own. At most ``most`` calls last at once; ``turned_away`` hears of each one more.
    """

    def __init__(
        self,
        server: grpc.aio.Server,
        services: tuple[str, ...],
        *,
        most: int,
        turned_away: Callable[[], None],
    ) -> None:
        self._services = ("", *services)
        self._most = most
        self._turned_away = turned_away
        self._count = 0
        self._health = _Health(self)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = (*services, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(_Reflection(self, names), server)

    async def tell(self, *, is_serving: bool) -> None:
        """Say whether matches are accepted, to those who watch as well."""
        kinds = health_pb2.HealthCheckResponse
        for service in self._services:
            await self._health.set(service, kinds.SERVING if is_serving else kinds.NOT_SERVING)

    @contextmanager
    def counted(self) -> Iterator[bool]:
        """One more call while this is open; whether there is room for it."""
        has_room = self._count < self._most
        self._count += 1
        try:
            if not has_room:
                self._turned_away()
            yield has_room
        finally:
            self._count -= 1


async def _refuse(context: Context) -> None:
    await context.abort(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "too many health watches and reflection calls"
    )


class _Health(health.aio.HealthServicer):  # type: ignore[misc]  # the package has no types
    def __init__(self, probes: Probes) -> None:
        super().__init__()
        self._probes = probes

    async def Watch(  # noqa: N802  # as gRPC's package names it
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> None:
        with self._probes.counted() as has_room:
            if not has_room:
                await _refuse(context)
            await super().Watch(request, context)


class _Reflection(reflection.aio.ReflectionServicer):  # type: ignore[misc]  # the package has no types
    def __init__(self, probes: Probes, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self._probes = probes

    async def ServerReflectionInfo(  # noqa: N802  # as gRPC's package names it
        self, requests: AsyncIterator[object], context: Context
    ) -> AsyncIterator[object]:
        with self._probes.counted() as has_room:
            if not has_room:
                await _refuse(context)
            async for response in super().ServerReflectionInfo(requests, context):
                yield response
