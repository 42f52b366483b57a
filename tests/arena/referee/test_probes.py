"""Health and reflection, asked by the clients of gRPC's own packages."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import pytest
import trio
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from arena.referee.bridge import Bridge, serve
from arena.referee.meter import TurnedAway
from hokm.v1 import referee_service_pb2
from tests.arena.referee.test_bridge_network import Notes, networked

SERVICE = "hokm.v1.RefereeService"
Status = health_pb2.HealthCheckResponse


@contextmanager
def channel_to(address: str) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel:
        yield channel


def checked(channel: grpc.Channel, service: str) -> int:
    stub = health_pb2_grpc.HealthStub(channel)
    answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
    return int(answer.status)


async def health(bridge: Bridge, service: str = "") -> int:
    with channel_to(bridge.network_address) as channel:
        return await trio.to_thread.run_sync(checked, channel, service)


@pytest.mark.parametrize("service", ["", SERVICE])
async def test_it_serves_until_it_is_drained(service: str) -> None:
    async with networked() as bridge:
        assert await health(bridge, service) == Status.SERVING
        bridge.drain()
        while await health(bridge, service) == Status.SERVING:
            pass  # each question takes its time
        assert await health(bridge, service) == Status.NOT_SERVING


async def test_the_health_of_what_is_not_served_is_not_known() -> None:
    async with networked() as bridge:
        with pytest.raises(grpc.RpcError) as caught:
            await health(bridge, "hokm.v1.Ladder")
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_who_watches_is_told_of_the_drain() -> None:
    async with networked() as bridge:
        with channel_to(bridge.network_address) as channel:
            request = health_pb2.HealthCheckRequest(service=SERVICE)
            watch = health_pb2_grpc.HealthStub(channel).Watch(request, timeout=10)
            assert (await trio.to_thread.run_sync(next, watch)).status == Status.SERVING
            bridge.drain()
            assert (await trio.to_thread.run_sync(next, watch)).status == Status.NOT_SERVING


def described(channel: grpc.Channel) -> tuple[set[str], list[str], list[str]]:
    """By reflection alone: the services, and the fields of both messages of a bot's stream."""
    reflected = ProtoReflectionDescriptorDatabase(channel)
    method = DescriptorPool(reflected).FindServiceByName(SERVICE).FindMethodByName("Play")
    kinds = (method.input_type, method.output_type)
    said, told = map(inner_fields, kinds)
    return set(reflected.get_services()), said, told


def inner_fields(batch: Descriptor) -> list[str]:
    message = batch.fields_by_name["messages"].message_type
    assert message is not None
    return [field.name for field in message.fields]


async def test_the_protocol_is_found_by_reflection() -> None:
    async with networked() as bridge:
        with channel_to(bridge.network_address) as channel:
            services, said, told = await trio.to_thread.run_sync(described, channel)
    assert {SERVICE, "grpc.health.v1.Health"} <= services
    descriptor = referee_service_pb2.DESCRIPTOR.services_by_name["RefereeService"].methods[0]
    assert said == inner_fields(descriptor.input_type)
    assert told == inner_fields(descriptor.output_type)


async def test_bots_on_this_machine_are_served_nothing_else() -> None:
    async with serve("127.0.0.1:0") as bridge:
        with channel_to(bridge.address) as channel, pytest.raises(grpc.RpcError) as caught:
            await trio.to_thread.run_sync(checked, channel, "")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_watches_and_reflections_are_counted_together_and_bounded() -> None:
    meter = Notes()
    async with networked(meter=meter, probes=1) as bridge:
        with channel_to(bridge.network_address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            watch = stub.Watch(health_pb2.HealthCheckRequest(), timeout=10)
            await trio.to_thread.run_sync(next, watch)
            one_more = stub.Watch(health_pb2.HealthCheckRequest(), timeout=10)
            with pytest.raises(grpc.RpcError) as caught:
                await trio.to_thread.run_sync(next, one_more)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            reflected = ProtoReflectionDescriptorDatabase(channel)
            with pytest.raises(grpc.RpcError):
                await trio.to_thread.run_sync(reflected.get_services)
            assert meter.turned == [TurnedAway.PROBES, TurnedAway.PROBES]
            watch.cancel()
            for _ in itertools.count():  # until it is seen to have left there is no room
                last = stub.Watch(health_pb2.HealthCheckRequest(), timeout=10)
                try:
                    await trio.to_thread.run_sync(next, last)
                    break
                except grpc.RpcError:
                    continue
