"""A bot whose referee talks nonsense: its session ends by a typed error, nothing else breaks."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hokm import wire
from hokm.actions import Action
from hokm.bot import Asked, Bot
from hokm.cards import Card, Seat
from hokm.errors import Reason
from hokm.outcome import Outcome
from hokm.player import Player, SessionError
from hokm.rules.options import Rules
from hokm.session import (
    ClockRules,
    Decision,
    FromReferee,
    GameEnd,
    GameStart,
    MatchStart,
    Refused,
    Welcome,
)
from hokm.view import View
from hokm.wire import WireError
from tests.fuzz.mutations import check_bounded, examples, mangled
from tests.hokm.test_wire import FROM_REFEREE, clock_views, events, legal_actions, outcomes

TABLES = st.sampled_from([Rules.of(2), Rules.of(3), Rules.of(4)])
FEW = st.integers(0, 2)
CLOCK = ClockRules()


class Curious(Bot):
    """Takes the first legal action, after a look at all that a view has."""

    def play(self, view: View) -> Card:
        raise AssertionError("never asked: decide_many answers")

    @classmethod
    def decide_many(cls, asked: Sequence[Asked]) -> list[tuple[Asked, Action]]:
        for one in asked:
            look(one.view)
        return [(one, one.view.legal[0]) for one in asked]

    def game_started(self, view: View) -> None:
        look(view)

    def game_ended(self, view: View, outcome: Outcome) -> None:
        look(view)


def look(view: View) -> object:
    """At everything that a view works out."""
    of_tricks = view.tricks, view.trick, view.tricks_won, view.led, view.winning, view.voids
    of_cards = view.hand, view.counts, view.playable, view.seen, view.unseen
    return of_tricks, of_cards, view.side, view.partner, view.opponents, view.trump_suit


@st.composite
def sessions(draw: st.DrawFn) -> list[list[FromReferee]]:
    """Batches that begin as a session does, and then say anything of games that may be on."""
    rules = draw(TABLES)
    said: st.SearchStrategy[FromReferee] = st.one_of(
        st.builds(Decision, FEW, FEW, events, legal_actions, st.none() | clock_views),
        st.builds(Decision, FEW, FEW, events, legal_actions, st.none() | clock_views),
        st.builds(Refused, FEW, FEW, FEW, st.sampled_from(Reason), st.text(max_size=5)),
        st.builds(GameEnd, FEW, events, outcomes),
        st.builds(
            GameStart, st.just("m"), FEW, st.integers(0, 3).map(Seat), st.just(()), st.booleans()
        ),
        *FROM_REFEREE.values(),
    )
    seat = Seat(draw(st.integers(0, rules.players - 1)))
    begun: list[FromReferee] = [Welcome(1, "arena", "token"), MatchStart("m", rules, 2, CLOCK)]
    begun += [GameStart("m", game, seat, ()) for game in (0, 1)]
    return [begun, *draw(st.lists(st.lists(said, max_size=3), max_size=5))]


def hear(batches: Sequence[bytes]) -> None:
    """A client's loop, up to the end of its session."""
    player = Player(Curious)
    try:
        for batch in batches:
            for answer in player.receive(wire.decode_from_referee(batch)):
                wire.encode_from_bot([answer])
    except (SessionError, WireError) as error:
        check_bounded(error)


@examples(150)
@given(sessions())
def test_any_messages_are_played_or_end_the_session(batches: list[list[FromReferee]]) -> None:
    hear([wire.encode_from_referee(batch) for batch in batches])


@examples(150)
@given(st.data(), sessions())
def test_any_bytes_after_a_beginning_are_played_or_end_the_session(
    data: st.DataObject, batches: list[list[FromReferee]]
) -> None:
    begun, *more = (wire.encode_from_referee(batch) for batch in batches)
    if more:
        hear([begun, *(data.draw(mangled(st.just(batch))) for batch in more)])
