"""Owners and their tokens: who may be one, and whose a token is. Times and chance are given.

The operator makes owners on the ladder's own machine, or lets anybody register. Either way a name
that looks like another is taken, so that no bot passes for somebody else's.
"""

from collections.abc import Iterable
from typing import Final

from arena.ladder.bots.entrants import checked_name
from arena.ladder.facts import Bot, Owner, Scope, SubmissionState, Token
from arena.ladder.ratings.evidence import owner_folded
from arena.ladder.store.accounts import Accounts
from arena.service.errors import Fault, ServiceError
from arena.service.tokens import digest_of, is_same, is_token, token_of
from hokm.errors import quoted

ALL_SCOPES: Final = frozenset(Scope)
ARENA: Final = "hokm-arena"
"""The owner of the bundled bots, as their manifests say."""
FIRST_LABEL: Final = "first"
LABEL_CHARACTERS: Final = 40

_ANOTHER: Final = "ask the operator of this ladder for another"


def register(accounts: Accounts, name: str, *, at: str, entered: Iterable[Bot] = ()) -> Owner:
    """A new owner. Whose bots are ``entered`` already is not to be claimed: the operator alone may
    make that owner, by naming none of them here.

    Raises ServiceError for what is no name, or a name that is taken.
    """
    try:
        name = checked_name(name)
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        raise ServiceError(Fault.INVALID, f"{quoted(name)} {problem}", remedy=remedy) from error
    family = owner_folded(name)
    if family == owner_folded(ARENA):
        problem = f"{name} is the owner of the arena's own bots"
        raise ServiceError(Fault.TAKEN, problem, remedy="take another name")
    if any(owner_folded(bot.owner) == family for bot in entered):
        problem = f"bots of {name} are entered here already"
        remedy = "if you are that owner, ask the operator for a token; else take another name"
        raise ServiceError(Fault.TAKEN, problem, remedy=remedy)
    # What was kept of an owner may have been folded otherwise, by an older release.
    is_taken = any(owner_folded(known.name) == family for known in accounts.owners())
    owner = None if is_taken else accounts.register(name=name, family=family, at=at)
    if owner is None:
        problem = f"{name} is an owner here already, or looks like one"
        raise ServiceError(Fault.TAKEN, problem, remedy="take another name")
    return owner


def issue(
    accounts: Accounts,
    owner: Owner,
    *,
    label: str,
    scopes: frozenset[Scope],
    random: bytes,
    at: str,
    most: int,
) -> str:
    """A new token of an owner, which is told once and kept nowhere. ``random`` are 32 bytes.

    Raises ServiceError for a label that is none or was given already, and beyond ``most`` tokens.
    """
    if not (label.strip() and len(label) <= LABEL_CHARACTERS and label.isprintable()):
        problem = (
            f"{quoted(label)} is no label: 1 to {LABEL_CHARACTERS} characters that can be seen"
        )
        raise ServiceError(Fault.INVALID, problem, remedy="name the machine it is for, say")
    if not scopes:
        raise ServiceError(Fault.INVALID, "a token for nothing", remedy="give it a scope")
    if len(accounts.tokens(owner.number)) >= most:
        problem = f"{owner.name} has had {most} tokens, which is the most"
        raise ServiceError(Fault.QUOTA, problem, remedy="use one of those")
    token = token_of(random)
    kept = Token(digest_of(token), owner.number, label, scopes, at)
    if not accounts.add_token(kept):
        problem = f"{owner.name} has had a token labelled {quoted(label)}"
        raise ServiceError(Fault.TAKEN, problem, remedy="give this one another label")
    return token


def identified(accounts: Accounts, token: str, *, scope: Scope | None = None) -> Owner:
    """Whose token this is, if it is good for ``scope``.

    Raises ServiceError, which does not tell a token that never was from one that was revoked.
    """
    if not is_token(token):
        problem = "this is no token: one is hokm_ and 43 characters"
        raise ServiceError(Fault.UNAUTHENTICATED, problem, remedy="copy it whole")
    return identified_by(accounts, digest_of(token), scope=scope)


def identified_by(accounts: Accounts, digest: str, *, scope: Scope | None = None) -> Owner:
    """Whose token has this digest, if it is good for ``scope``: for who was let in by it and stays,
    so that the token itself need not be kept. Raises as :func:`identified` does.
    """
    unknown = ServiceError(
        Fault.UNAUTHENTICATED, "this token is not known here, or was revoked", remedy=_ANOTHER
    )
    kept = accounts.token(digest)
    # The search is by the digest, of which nobody can choose a part; compared whole all the same.
    if kept is None or not is_same(kept.digest, digest) or kept.revoked is not None:
        raise unknown
    owner = accounts.owner(kept.owner)
    if owner is None:
        raise unknown
    if owner.barred_because is not None:
        problem = f"{owner.name} is barred from this ladder ({owner.barred_because})"
        raise ServiceError(Fault.PERMISSION, problem, remedy="ask its operator")
    if scope is not None and scope not in kept.scopes:
        has = ", ".join(one.value for one in Scope if one in kept.scopes)
        problem = f"this token is not good for {scope.value}, but for {has}"
        raise ServiceError(Fault.PERMISSION, problem, remedy=_ANOTHER)
    return owner


def bar(accounts: Accounts, owner: Owner, *, because: str, at: str) -> int:
    """Bar an owner: no token is good any more, and what waits is refused. What was entered stays.
    How many submissions were refused.
    """
    accounts.bar(owner.number, because=because)
    waiting = [
        one for one in accounts.in_state(SubmissionState.WAITING) if one.owner == owner.number
    ]
    for one in waiting:
        accounts.set_state(one.number, SubmissionState.REFUSED, at=at)
    return len(waiting)


def is_of(bot: Bot, owner: Owner) -> bool:
    """Whether a bot is an owner's, by name as owners are compared. The arena's own are nobody's."""
    return not bot.reference and owner_folded(bot.owner) == owner_folded(owner.name)
