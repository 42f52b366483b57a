"""``arena owner``: who may, by which tokens, on the ladder's own machine."""

import json
import stat

import pytest

from arena.ladder.facts import Scope
from arena.ladder.ladder import Ladder
from arena.service import accounts
from arena.service.errors import ServiceError
from arena.service.tokens import is_token


@pytest.fixture
def club(run, tmp_path):
    folder = tmp_path / "club"
    run("ladder", "init", folder)
    return folder


def owner_of(club, token, scope=None):
    with Ladder.open(club) as ladder:
        return accounts.identified(ladder.store.accounts, token, scope=scope).name


def test_an_owner_is_made_with_a_token_that_is_told_once(run, club):
    ran = run("owner", "add", club, "maryam")
    token = ran.out.strip()
    assert (ran.status, ran.err) == (0, "")
    assert is_token(token)
    assert owner_of(club, token) == "maryam"
    listed = run("owner", "list", club)
    assert "maryam" in listed.out
    assert token not in listed.out + run("owner", "list", club, "--json").out


def test_a_token_goes_into_a_file_for_its_owner_alone(run, club, tmp_path):
    file = tmp_path / "token"
    ran = run("owner", "add", club, "maryam", "--out", file)
    assert (ran.status, ran.out) == (0, f"maryam: the token 'first' is in {file}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert owner_of(club, file.read_text().strip()) == "maryam"
    ran = run("owner", "token", club, "maryam", "--label", "two", "--out", file)
    assert (ran.status, ran.out) == (2, "")
    ran = run("owner", "add", club, "omid", "--out", tmp_path / "no/where")
    assert ran.status == 2
    assert len(json.loads(run("owner", "list", club, "--json").out)["owners"]) == 1


def test_a_token_has_the_scopes_that_were_asked_for(run, club):
    run("owner", "add", club, "maryam")
    words = ("--label", "ci", "--scope", "read", "--scope", "submit")
    token = run("owner", "token", club, "maryam", *words).out.strip()
    assert owner_of(club, token, Scope.SUBMIT) == "maryam"
    with pytest.raises(ServiceError):
        owner_of(club, token, Scope.PLAY)
    ran = run("owner", "token", club, "maryam", "--label", "x", "--scope", "reed")
    assert ran.status == 2
    assert "take submit, read, play" in ran.err


def test_tokens_are_revoked_one_or_all(run, club):
    first = run("owner", "add", club, "maryam").out.strip()
    second = run("owner", "token", club, "maryam", "--label", "two").out.strip()
    ran = run("owner", "revoke", club, "maryam", "--label", "two")
    assert (ran.status, ran.out) == (0, "maryam: two revoked\n")
    assert owner_of(club, first) == "maryam"
    with pytest.raises(ServiceError):
        owner_of(club, second)
    assert run("owner", "revoke", club, "maryam").out == "maryam: first revoked\n"
    with pytest.raises(ServiceError):
        owner_of(club, first)
    assert run("owner", "revoke", club, "maryam").status == 2


def test_an_owner_is_barred_and_may_come_back(run, club, make_bot):
    token = run("owner", "add", club, "maryam").out.strip()
    run("ladder", "add", club, make_bot("mine", owner="maryam"))
    ran = run("owner", "bar", club, "maryam", "--because", "spam")
    assert ran.status == 0
    assert "bots that still play: mine" in ran.out
    with pytest.raises(ServiceError, match="spam"):
        owner_of(club, token)
    assert run("owner", "bar", club, "maryam").status == 2
    ran = run("owner", "unbar", club, "maryam", "--because", "it was a friend")
    assert (ran.status, ran.out) == (0, "maryam: welcome again\n")
    assert owner_of(club, token) == "maryam"
    assert "is not barred" in run("owner", "unbar", club, "maryam").err
    last = run("operate", club, "log", "--last", "1").out
    assert last.endswith(" unbar owner maryam: it was a friend\n")


def test_what_was_done_stands_in_the_audit_log(run, club):
    token = run("owner", "add", club, "maryam").out.strip()
    run("owner", "bar", club, "maryam", "--because", "spam")
    run("owner", "revoke", club, "maryam", "--because", "lost")
    with Ladder.open(club) as ladder:
        deeds = ladder.store.operator.deeds()
    assert [(one.verb, one.subject, one.reason) for one in deeds] == [
        ("add owner", "maryam", ""),
        ("issue token", "maryam: first", ""),
        ("bar owner", "maryam", "spam"),
        ("revoke token", "maryam: first", "lost"),
    ]
    assert all(one.actor for one in deeds)
    assert token not in repr(deeds)


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["add", "a b"], 1, "' '"),
        (["add", "MARYAM"], 1, "looks like one"),
        (["add", "maryam"], 2, "maryam --label TEXT issues another token"),
        (["token", "maryan", "--label", "x"], 2, "did you mean maryam?"),
        (["token", "maryam", "--label", "first"], 1, "another label"),
    ],
)
def test_what_is_refused_is_one_line(run, club, words, status, text):
    run("owner", "add", club, "maryam")
    ran = run("owner", words[0], club, *words[1:])
    assert (ran.status, ran.out) == (status, "")
    assert text in ran.err
    assert ran.err.count("\n") == 1
