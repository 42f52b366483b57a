"""Who may be an owner, and whose a token is."""

from dataclasses import replace

import pytest

from arena.ladder.facts import Scope, SubmissionState
from arena.service import accounts
from arena.service.errors import Fault, ServiceError
from arena.service.tokens import digest_of, token_of
from tests.arena.service.worlds import World

AT = "2026-03-21T12:00:00Z"


def refusal(call, *args, **options) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 41, "a\u200cb", "../x", "a\n"])
def test_what_is_no_name_is_no_owner(world: World, name: str) -> None:
    error = refusal(accounts.register, world.ladder.store.accounts, name, at=AT)
    assert error.fault is Fault.INVALID


@pytest.mark.parametrize("name", ["o-ada", "O-ADA", "ｏ-ada", "hokm-arena", "Hokm-Arena"])
def test_a_name_that_looks_like_another_is_taken(world: World, name: str) -> None:
    error = refusal(accounts.register, world.ladder.store.accounts, name, at=AT)
    assert error.fault in (Fault.TAKEN, Fault.INVALID)


def test_an_owner_whom_an_older_release_folded_otherwise_is_known(world: World) -> None:
    """The name was kept as that release compared it: with the letter of an Arabic keyboard."""
    typed, spelt_otherwise = "\u0639\u0644\u064a", "\u0639\u0644\u06cc"
    store = world.ladder.store.accounts
    owner = store.register(name=typed, family=typed, at=AT)
    assert owner is not None
    error = refusal(accounts.register, store, spelt_otherwise, at=AT)
    assert error.fault is Fault.TAKEN
    bot = replace(world.ladder.store.bots()[0], owner=spelt_otherwise, reference=False)
    assert accounts.is_of(bot, owner)


def test_whose_bots_are_here_is_made_by_the_operator_alone(world: World) -> None:
    store, bots = world.ladder.store.accounts, world.ladder.store.bots()
    error = refusal(accounts.register, store, "O-cyd", at=AT, entered=bots)
    assert error.fault is Fault.TAKEN
    assert accounts.register(store, "o-cyd", at=AT).name == "o-cyd"


def test_a_token_is_known_again_and_kept_nowhere(world: World) -> None:
    store = world.ladder.store.accounts
    assert accounts.identified(store, world.tokens["ada"]) == world.owners["ada"]
    assert accounts.identified(store, world.tokens["bob"], scope=Scope.PLAY) == world.owners["bob"]
    for token in world.tokens.values():
        for file in world.ladder.folder.rglob("*"):
            assert not file.is_file() or token.encode() not in file.read_bytes()


def test_who_is_not_known_is_not_told_why(world: World) -> None:
    store = world.ladder.store.accounts
    never = refusal(accounts.identified, store, token_of(bytes(32)))
    token = world.tokens["ada"]
    store.revoke(digest_of(token), at=AT)
    revoked = refusal(accounts.identified, store, token)
    assert str(never) == str(revoked)
    assert {never.fault, revoked.fault} == {Fault.UNAUTHENTICATED}
    assert refusal(accounts.identified, store, "hokm_x").fault is Fault.UNAUTHENTICATED


def test_a_token_is_good_for_its_scopes_alone(world: World) -> None:
    store = world.ladder.store.accounts
    token = world.issue("ada", frozenset({Scope.READ}), label="reads")
    assert accounts.identified(store, token, scope=Scope.READ) == world.owners["ada"]
    error = refusal(accounts.identified, store, token, scope=Scope.SUBMIT)
    assert error.fault is Fault.PERMISSION
    assert "good for submit, but for read" in str(error)


def test_who_is_barred_may_nothing_and_is_told_why(world: World) -> None:
    store = world.ladder.store.accounts
    world.submit("ada", world.packed("new"))
    assert accounts.bar(store, world.owners["ada"], because="three of the same", at=AT) == 1
    error = refusal(accounts.identified, store, world.tokens["ada"])
    assert error.fault is Fault.PERMISSION
    assert "three of the same" in str(error)
    assert store.in_state(SubmissionState.WAITING) == ()
    assert accounts.identified(store, world.tokens["bob"]) == world.owners["bob"]


@pytest.mark.parametrize(
    ("label", "scopes", "most", "fault"),
    [
        ("all", frozenset(Scope), 20, Fault.TAKEN),
        ("", frozenset(Scope), 20, Fault.INVALID),
        ("a\x1bb", frozenset(Scope), 20, Fault.INVALID),
        ("x" * 41, frozenset(Scope), 20, Fault.INVALID),
        ("new", frozenset(), 20, Fault.INVALID),
        ("new", frozenset(Scope), 1, Fault.QUOTA),
    ],
)
def test_a_token_that_is_not_issued(world: World, label, scopes, most, fault) -> None:
    error = refusal(
        accounts.issue,
        world.ladder.store.accounts,
        world.owners["ada"],
        label=label,
        scopes=scopes,
        random=bytes(32),
        at=AT,
        most=most,
    )
    assert error.fault is fault
    assert token_of(bytes(32)) not in str(error)
