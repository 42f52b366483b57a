"""What `arena match` says of a network that cannot be meant, before anything listens or plays."""

import sys
from pathlib import Path

import pytest

import arena
import arena.referee
from arena.cli.listening import inviting, listening
from arena.ladder.processes.invitations import Invitations
from arena.referee.serving import Network
from tests.arena.cli.conftest import FakeRunner, RunCommand
from tests.arena.referee.certificates import Authority, authority

LISTEN = ("--listen", "127.0.0.1:0")


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(authority(), tmp_path)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("remote:a", "greedy"), "remote:a comes over a network: say where, with --listen"),
        (("greedy", "random", *LISTEN), "--listen is for bots that come over a network"),
        (("greedy", "random", "--insecure"), "--insecure is of no use without --listen"),
        (("greedy", "random", "--tickets", "x"), "--tickets is of no use without --listen"),
        (("greedy", "random", "--client-ca", "x"), "--client-ca is of no use without --listen"),
        (("remote:a", "greedy", *LISTEN, "--tls-cert", "x"), "--tls-cert and --tls-key belong"),
        (("remote:a", "greedy", *LISTEN, "--client-ca", "x"), "--client-ca needs TLS"),
        (("remote:a", "greedy", "--listen", "7117"), "no HOST:PORT to listen at"),
        (("remote:a", "greedy", "--listen", "0.0.0.0:0"), "without TLS tickets and cards travel"),
        (("remote:a", "greedy", *LISTEN, "--advertise", "a:1"), "no name by which a machine"),
        (("remote:", "greedy", *LISTEN), "remote:: the name has 0 characters"),
        (("remote:a b", "greedy", *LISTEN), "take letters, digits"),
        (
            ("remote:a", "greedy", *LISTEN, "--tls-cert", "no.pem", "--tls-key", "no.pem"),
            "no.pem: No such file or directory; name PEM files",
        ),
        (("greedy", "random", "--metrics", "9117"), "--metrics '9117' is no HOST:PORT"),
        (("greedy", "random", "--drain", "-1"), "--drain is from 0"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    run: RunCommand, runner: FakeRunner, words: tuple[str, ...], says: str
) -> None:
    ran = run("match", *words)
    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert not runner.played


def test_a_key_that_is_none_of_the_certificate_is_one_line(
    run: RunCommand, runner: FakeRunner, ours: Authority
) -> None:
    cert, _ = ours.issue("one", "localhost")
    _, key = ours.issue("two", "localhost")
    words = ("remote:a", "greedy", *LISTEN, "--tls-cert", cert, "--tls-key", key)
    ran = run("match", *words)
    assert ran.status == 2
    assert "are no certificate and its key" in ran.err
    ran = run("match", *words, "--insecure")
    assert "give one of them" in ran.err


@pytest.mark.parametrize(
    ("option", "module"),
    [(LISTEN, "grpc_health"), (("--metrics", "127.0.0.1:0"), "prometheus_client")],
)
def test_packages_that_are_missing_are_named_with_what_brings_them(
    run: RunCommand,
    runner: FakeRunner,
    monkeypatch: pytest.MonkeyPatch,
    option: tuple[str, ...],
    module: str,
) -> None:
    for name in [*sys.modules]:
        if name.startswith(("arena.referee.probes", "arena.metrics", module)):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(arena, "metrics", raising=False)
    monkeypatch.delattr(arena.referee, "probes", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    bots = ("remote:a", "greedy") if option is LISTEN else ("greedy", "random")
    ran = run("match", *bots, *option)
    assert ran.status == 2
    assert f"{option[0]} needs {module}" in ran.err
    assert "pip install 'hokm-arena[server]'" in ran.err


def test_json_logs_without_their_package_are_one_line(
    run: RunCommand, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [*sys.modules]:
        if name.startswith("pythonjsonlogger"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pythonjsonlogger", None)
    ran = run("match", "greedy", "random", "--log-format", "json")
    assert ran.status == 2
    assert "--log-format json needs pythonjsonlogger" in ran.err


def test_a_match_without_a_remote_bot_opens_no_network(run: RunCommand, runner: FakeRunner) -> None:
    assert run("match", "greedy", "random", "--boards", "1").status == 0
    assert runner.settings["network"] is None
    assert runner.settings["invitations"] is None
    assert runner.settings["hello_seconds"] == 10.0


def test_a_remote_bot_has_a_minute_and_every_room_is_played_together(
    run: RunCommand, runner: FakeRunner, ours: Authority
) -> None:
    cert, key = ours.issue("one", "localhost")
    tls = ("--tls-cert", cert, "--tls-key", key, "--client-ca", ours.roots)
    words = ("--listen", "0.0.0.0:7117", "--advertise", "arena.example", *tls)
    ran = run("match", "remote:a", "greedy", "random", "--boards", "1", *words)
    assert ran.status == 0
    network, invitations = runner.settings["network"], runner.settings["invitations"]
    assert isinstance(network, Network)
    assert network.reached_at == "arena.example"
    assert network.tls is not None
    assert network.tls.client_ca is not None
    assert isinstance(invitations, Invitations)
    assert not invitations.folder.exists()  # nobody named it, so it is gone
    assert invitations.folder.name.startswith("hokm-arena-")  # and would be found after a kill
    assert runner.settings["hello_seconds"] == 60.0
    concurrency = runner.settings["concurrency"]
    assert isinstance(concurrency, int)
    assert concurrency >= 3
    assert runner.played[0].resume_seconds == 30.0
    run("match", "remote:a", "greedy", "--boards", "1", "--policy", "rated", *words)
    assert runner.played[1].resume_seconds == 0.0


def test_the_tickets_folder_that_was_named_stays(tmp_path: Path) -> None:
    asked = listening(
        ("remote:a", "greedy"),
        listen="127.0.0.1:0",
        advertise=None,
        tls_cert=None,
        tls_key=None,
        client_ca=None,
        tickets=tmp_path / "tickets",
        insecure=False,
    )
    told: list[str] = []
    with inviting(asked, say=told.append):
        pass
    assert (tmp_path / "tickets").is_dir()
    assert told == ["no TLS: tickets and cards can be read on the way"]


def test_an_advertised_name_that_is_not_in_the_certificate_is_said_at_the_start(
    run: RunCommand, runner: FakeRunner, ours: Authority
) -> None:
    cert, key = ours.issue("one", "localhost")
    words = ("remote:a", "greedy", "--boards", "1", *LISTEN, "--tls-cert", cert, "--tls-key", key)
    assert "bots may not come in" not in run("match", *words, "--advertise", "localhost").err
    ran = run("match", *words, "--advertise", "arena.example")
    assert ran.status == 0
    assert "bots may not come in: Hostname mismatch" in ran.err


def test_logs_are_not_offered_where_no_bot_ran_here(run: RunCommand, runner: FakeRunner) -> None:
    runner.troubled = [0]
    ran = run("match", "remote:a", "remote:b", "--boards", "1", *LISTEN)
    assert "fault: a CRASH" in ran.err
    assert "logs of the bots" not in ran.err
    assert "logs of the bots" in run("match", "remote:a", "greedy", "--boards", "1", *LISTEN).err
