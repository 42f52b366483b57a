"""What a bot is given holds no seed: not its messages, its environment, its folder or its log."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from arena.ladder.matches.boards import Secret
from hokm.deck import mix
from hokm.records import MatchRecord, Policy
from tests.system.processes import Notes, plan, runner, write_bot

# It writes down everything it is given: environment, command line, folder, every byte it is sent.
SPY = """
    import os, sys
    import hokm.client
    from hokm import Bot, run

    given = open("given.bin", "wb")
    given.write(repr((dict(os.environ), sys.argv, os.getcwd())).encode())
    for folder, folders, files in os.walk(os.getcwd()):
        given.write(repr((folder, folders, files)).encode())
    decode = hokm.client.decode_from_referee

    def spied(data):
        given.write(data)
        given.flush()
        return decode(data)

    hokm.client.decode_from_referee = spied

    class Spy(Bot):
        def play(self, view):
            return view.playable[0]

    run(Spy)
"""


def spellings(value: bytes) -> Iterator[bytes]:
    """The ways in which 32 bytes may be written down."""
    yield value
    yield value.hex().encode()
    yield value.hex().upper().encode()
    yield base64.b64encode(value).rstrip(b"=")
    yield base64.urlsafe_b64encode(value).rstrip(b"=")
    yield str(int.from_bytes(value, "big")).encode()


def secrets_of(record: MatchRecord) -> list[bytes]:
    assert record.secret is not None
    assert record.entropy is not None
    mixed = mix(record.secret, record.entropy)
    return [record.secret, mixed, *(seed.value for seed in record.seeds)]


async def test_no_seed_is_in_anything_that_a_bot_is_given(tmp_path: Path) -> None:
    spies = [write_bot(tmp_path / name, SPY) for name in ("spy", "other")]
    entropy = sha256(b"the beacon of this test").digest()
    secret = Secret(sha256(b"the secret of this test").digest(), entropy)
    match = replace(plan(*spies, length=3, policy=Policy.CASUAL), secret=secret)
    async with runner(tmp_path) as running:
        record = await running.play(match, watcher=Notes())
    secrets = secrets_of(record)
    assert len(secrets) == 5
    given = [(tmp_path / name / "given.bin").read_bytes() for name in ("spy", "other")]
    assert all(match.match.encode() in one for one in given)  # it did write down what it was sent
    logs = [file for file in (tmp_path / "logs").rglob("*") if file.is_file()]
    read = [*given, *(file.read_bytes() for file in logs), *(str(file).encode() for file in logs)]
    found = [
        spelt for one in read for secret in secrets for spelt in spellings(secret) if spelt in one
    ]
    assert not found
