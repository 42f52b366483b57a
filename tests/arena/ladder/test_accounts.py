"""Owners, tokens and submissions as the database keeps them."""

from dataclasses import replace

import pytest

from arena.ladder.errors import LadderError
from arena.ladder.facts import Owner, Scope, Submission, SubmissionState, Token, Usage
from arena.ladder.ladder import Ladder
from arena.ladder.store.accounts import Accounts

NOON = "2026-03-21T12:00:00Z"
LATER = "2026-03-21T12:00:01Z"


@pytest.fixture
def accounts(ladder: Ladder) -> Accounts:
    return ladder.store.accounts


@pytest.fixture
def sara(accounts: Accounts) -> Owner:
    owner = accounts.register(name="Sara", family="sara", at=NOON)
    assert owner is not None
    return owner


def sent(accounts: Accounts, owner: Owner, digest: str, **changes: object) -> Submission:
    values = {"name": "b", "version": "1", "size_bytes": 100, "at": NOON} | changes
    return accounts.submit(owner=owner.number, digest=digest, **values)  # type: ignore[arg-type]


def test_an_owner_is_found_by_number_and_name(accounts: Accounts, sara: Owner) -> None:
    assert sara == Owner(1, "Sara", "sara", NOON)
    assert accounts.owner(1) == accounts.owner_named("Sara") == sara
    assert accounts.owner(2) is accounts.owner_named("sara") is None
    assert accounts.owners() == (sara,)


@pytest.mark.parametrize(("name", "family"), [("Sara", "other"), ("SARA", "sara")])
def test_a_name_that_is_there_or_looks_alike_is_taken(
    accounts: Accounts, sara: Owner, name: str, family: str
) -> None:
    assert accounts.register(name=name, family=family, at=NOON) is None
    assert accounts.owners() == (sara,)


def test_who_is_barred_can_come_back(accounts: Accounts, sara: Owner) -> None:
    accounts.bar(sara.number, because="spam")
    assert accounts.owner(1) == replace(sara, barred_because="spam")
    accounts.bar(sara.number, because=None)
    assert accounts.owner(1) == sara


def test_a_token_is_found_by_its_digest_until_and_after_it_is_revoked(
    accounts: Accounts, sara: Owner
) -> None:
    token = Token("ab" * 32, sara.number, "laptop", frozenset({Scope.READ, Scope.SUBMIT}), NOON)
    assert accounts.add_token(token)
    assert accounts.token(token.digest) == token
    assert accounts.token("cd" * 32) is None
    accounts.revoke(token.digest, at=LATER)
    accounts.revoke(token.digest, at="2027-01-01T00:00:00Z")
    assert accounts.tokens(sara.number) == (replace(token, revoked=LATER),)


def test_a_label_is_given_once(accounts: Accounts, sara: Owner) -> None:
    token = Token("ab" * 32, sara.number, "laptop", frozenset({Scope.READ}), NOON)
    assert accounts.add_token(token)
    assert not accounts.add_token(replace(token, digest="cd" * 32))
    assert accounts.token("cd" * 32) is None


def test_a_token_of_nobody_is_not_kept(accounts: Accounts) -> None:
    with pytest.raises(LadderError):
        accounts.add_token(Token("ab" * 32, 7, "x", frozenset({Scope.READ}), NOON))


def test_submissions_wait_in_the_order_they_came(accounts: Accounts, sara: Owner) -> None:
    first, second = sent(accounts, sara, "aa"), sent(accounts, sara, "bb")
    assert (first.number, second.number) == (1, 2)
    assert accounts.in_state(SubmissionState.WAITING) == (first, second)
    accounts.set_state(1, SubmissionState.VALIDATING, at=LATER)
    assert accounts.in_state(SubmissionState.WAITING) == (second,)
    assert accounts.submission(1) == replace(first, state=SubmissionState.VALIDATING)
    assert accounts.submission(3) is None


def test_what_decides_a_submission_is_kept_with_its_time(accounts: Accounts, sara: Owner) -> None:
    first = sent(accounts, sara, "aa")
    accounts.set_state(1, SubmissionState.REFUSED, at=LATER, report='{"ok": false}')
    assert accounts.submission(1) == replace(
        first, state=SubmissionState.REFUSED, decided=LATER, report='{"ok": false}'
    )


def test_what_a_kill_interrupted_waits_again(accounts: Accounts, sara: Owner) -> None:
    for digest in ("aa", "bb"):
        sent(accounts, sara, digest)
    accounts.set_state(1, SubmissionState.VALIDATING, at=LATER)
    accounts.set_state(2, SubmissionState.ACCEPTED, at=LATER)
    assert accounts.wait_again() == 1
    assert [one.number for one in accounts.in_state(SubmissionState.WAITING)] == [1]


def test_the_last_of_a_digest_and_of_one_owner_alone(accounts: Accounts, sara: Owner) -> None:
    other = accounts.register(name="omid", family="omid", at=NOON)
    assert other is not None
    sent(accounts, sara, "aa")
    again = sent(accounts, sara, "aa")
    theirs = sent(accounts, other, "aa")
    assert accounts.last_of(sara.number, digest="aa") == again
    assert accounts.last_of(sara.number, digest="bb") is None
    assert accounts.submissions(other.number) == (theirs,)


def test_usage_counts_what_is_recent_and_what_is_kept_once(accounts: Accounts, sara: Owner) -> None:
    sent(accounts, sara, "aa", at="2026-03-20T12:00:00Z")
    sent(accounts, sara, "aa", at=LATER)
    sent(accounts, sara, "bb", at=LATER, size_bytes=7)
    sent(accounts, sara, "cc", at=LATER, size_bytes=1000)
    accounts.set_state(4, SubmissionState.REFUSED, at=LATER)
    assert accounts.usage(sara.number, since=NOON) == Usage(3, 107)
    assert accounts.usage(2, since=NOON) == Usage(0, 0)
    assert accounts.kept_digests() == {"aa", "bb"}
    assert accounts.refused_digests() == {"cc"}
    sent(accounts, sara, "cc", at=LATER)  # what was refused may be asked for again
    assert accounts.refused_digests() == frozenset()
