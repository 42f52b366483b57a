"""The vectorised environment says what the rules core says, and an observation what a view knows.

``GAMES`` is how many random hands of each variant both play, side by side (``make
env-games`` plays 100,000).
"""

import hashlib
import os
from collections import Counter
from random import Random

import numpy as np
import pytest

from hokm.actions import DiscardCards
from hokm.cards import Seat, card_set
from hokm.env import kernels
from hokm.env.actions import ACTIONS, CARD_ACTIONS, KEEP, number_of
from hokm.env.vector import VectorEnv, planes
from hokm.outcome import HandKind
from hokm.rules.options import Rules
from hokm.rules.phases import Declaration, Discards, Draws, Tricks
from tests.hokm.env.cores import Core, side_by_side
from tests.hokm.permute import Story, other_story
from tests.hokm.random_play import random_story

SEATS = (2, 3, 4)
GAMES = int(os.environ.get("GAMES", 0))
TOGETHER = 1000
"""Games of the rules core that are in memory at once."""


# -- the same as the rules core


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.timeout(0 if GAMES else 120)
def test_agrees_with_the_rules_core_move_for_move(seats: int) -> None:
    rng, kinds = Random(f"agree {seats}"), Counter[HandKind]()
    for _ in range(max(1, GAMES // TOGETHER)):
        for env, cores in side_by_side(seats, TOGETHER if GAMES else 150, rng):
            ended = []
            state = zip(
                cores,
                env.legal.tolist(),
                env.turn.tolist(),
                env.tricks_won.tolist(),
                env.done.tolist(),
                env.points.tolist(),
                strict=True,
            )
            for core, legal, turn, won, done, points in state:
                deal = core.deal
                assert legal == core.legal()
                assert deal.to_act in (turn, None)
                assert won == core.tricks_won()
                assert (legal == 0) == deal.is_over
                if done:
                    assert deal.result is not None
                    assert tuple(points) == deal.result.points
                    ended.append(deal.result.kind)
                else:
                    assert not any(points)
            kinds.update(ended)
    assert kinds.total() == (GAMES // TOGETHER * TOGETHER or 150)
    if GAMES:
        print(f"{seats} seats, {kinds.total():,} hands alike: {dict(kinds)}")  # noqa: T201


@pytest.mark.parametrize("seats", SEATS)
def test_agrees_on_hands_that_rarely_come(seats: int) -> None:
    """Seven to none, and with three seats the odd one out: found among many, and played again."""
    source = VectorEnv(4000, seats=seats)
    source.reset(seed=seats)
    env = VectorEnv.from_decks(source.decks, source.hakem, seats=seats)
    taken, points = [], np.zeros_like(env.points)
    while not env.is_over:
        taken.append(env.random_actions())
        env.step(taken[-1])
        points += env.points
    rare = points.max(axis=1) > 1
    if seats == 3:
        won, least = env.tricks_won, env.tricks_won.min(axis=1)
        rare |= (points[np.arange(4000), won.argmin(axis=1)] == 1) & (won.sum(axis=1) == 17)
        assert (least[rare] < 7).all()
    kinds = Counter[HandKind]()
    for game in np.flatnonzero(rare):
        core = Core(seats, env.decks[game].tolist(), int(env.hakem[game]), has_views=False)
        for actions in taken:
            if actions[game] >= 0:
                core.act(int(actions[game]))
        result = core.deal.result
        assert result is not None
        assert tuple(points[game].tolist()) == result.points
        kinds[result.kind] += 1
    assert {HandKind.KOT, HandKind.HAKEM_KOT} <= {*kinds}
    assert (seats == 3) == (HandKind.WIN in kinds)


@pytest.mark.parametrize("seats", SEATS)
def test_an_observation_says_what_a_view_of_the_seat_knows(seats: int) -> None:
    for env, cores in side_by_side(seats, 12, Random(seats), has_views=True):
        seen = env.observe()
        for one, core in zip(seen, cores, strict=True):
            if core.deal.to_act is None:
                continue
            view = core.views[core.deal.to_act]
            places = [(view.seat + place) % seats for place in range(seats)]
            laid = card_set(core.laid)
            phases = (Declaration, Discards, Draws, Tricks)
            assert isinstance(core.deal.phase, phases[one["phase"]])
            assert one["seat"] == view.seat
            assert places[one["hakem"]] == view.hakem
            assert one["trump"] == (-1 if view.trump is None else view.trump)
            assert one["hand"] == view.hand_set & ~laid
            assert one["discarded"] == card_set(view.discarded) | laid
            assert one["unseen"] == card_set(view.unseen)
            assert one["legal"] == core.legal()
            assert one["offered"] == (-1 if view.offered is None else view.offered)
            assert one["led"] == (-1 if view.led is None else view.led)
            on_table = {play.seat: play.card for play in view.trick}
            assert one["trick"].tolist() == [
                *(on_table.get(Seat(seat), -1) for seat in places),
                *[-1] * (4 - seats),
            ]
            winning = view.winning
            assert one["winning"] == (-1 if winning is None else places.index(winning.seat))
            sides = view.variant.sides
            assert one["won"].tolist() == [
                *(view.tricks_won[(view.side + side) % sides] for side in range(sides)),
                *[0] * (4 - sides),
            ]
            plays = [play for trick in view.tricks for play in trick.plays] + [*view.trick]
            assert one["plays"][: len(plays)].tolist() == [play.card for play in plays]
            assert {*one["plays"][len(plays) :].tolist()} == {-1}
            for place, seat in enumerate(places):
                played = card_set(play.card for play in plays if play.seat == seat)
                leads = {play.card.suit for play in plays[::seats] if play.seat == seat}
                assert one["played"][place] == played
                assert one["voids"][place] == sum(1 << suit for suit in view.voids[seat])
                assert one["leads"][place] == sum(1 << suit for suit in leads)
            if view.drawing is not None or view.draws:
                assert one["turns"] == len(view.draws)
                kept = [choice is not None and choice.value == "keep" for _, choice in view.draws]
                assert one["kept"] == sum(1 << turn for turn, keep in enumerate(kept) if keep)


def numbers(story: Story) -> list[int]:
    """The actions of a story by number; discards one by one."""
    taken: list[int] = []
    for action in story.actions:
        if isinstance(action, DiscardCards):
            taken += [int(card) for card in action.cards]
        else:
            taken.append(number_of(action))
    return taken


@pytest.mark.rule("6")
@pytest.mark.parametrize("seats", SEATS)
def test_an_observation_is_the_same_whatever_lies_hidden(seats: int) -> None:
    rng, moved = Random(seats), 0
    for _ in range(12):
        whole = random_story(Rules.of(seats), rng)
        for length in rng.sample(range(len(whole.actions)), 6):
            story = whole.until(length)
            seat = story.replay()[0].to_act
            assert seat is not None
            other = other_story(story, seat, rng)
            moved += other.deck != story.deck
            env = VectorEnv.from_decks(
                [story.deck, other.deck], [story.hakem, story.hakem], seats=seats
            )
            for both in zip(numbers(story), numbers(other), strict=True):
                env.step(both)
            here, there = env.observe()
            assert here["seat"] == seat
            assert here.tobytes() == there.tobytes()
    assert moved > 40


# -- chance


@pytest.mark.parametrize("seats", SEATS)
def test_a_seed_gives_a_row_the_same_hands_however_many_rows_there_are(seats: int) -> None:
    few, many = VectorEnv(3, seats=seats), VectorEnv(50, seats=seats)
    for env in (few, many):
        env.reset(seed=11)
        env.play_random(100)
    assert few.hand_numbers.min() > 1
    for name in ("decks", "hands", "turn", "trump", "hand_numbers", "tricks_won"):
        assert (getattr(few, name) == getattr(many, name)[:3]).all(), name
    many.reset(seed=12)
    assert (few.decks != many.decks[:3]).any(axis=1).all()


def test_the_hands_of_a_seed_stay_the_same_from_version_to_version() -> None:
    env = VectorEnv(20, seats=4)
    env.reset(seed=1)
    assert hashlib.sha256(env.decks.tobytes()).hexdigest()[:16] == "7402365b9a6d216f"
    assert env.hakem[:8].tolist() == [3, 1, 3, 2, 1, 2, 3, 3]


@pytest.mark.parametrize("seats", SEATS)
def test_random_play_in_one_go_is_random_play_step_by_step(seats: int) -> None:
    at_once, stepped = VectorEnv(40, seats=seats), VectorEnv(40, seats=seats)
    for env in (at_once, stepped):
        env.reset(seed=5)
    assert at_once.play_random(130) == 130 * 40
    for _ in range(130):
        stepped.step(stepped.random_actions())
    assert (at_once.observe() == stepped.observe()).all()
    assert (at_once.points == stepped.points).all()
    assert (at_once.random_actions() == stepped.random_actions()).all()


def test_decks_and_random_choices_are_as_likely_as_each_other() -> None:
    env = VectorEnv(26_000, seats=4)
    env.reset(seed=3)
    assert is_even(np.bincount(env.hakem))
    for place in (0, 25, 51):
        assert is_even(np.bincount(env.decks[:, place]))
    places = (env.decks == 17).argmax(axis=1)
    assert is_even(np.bincount(places))
    actions = env.random_actions()
    assert is_even(np.bincount(actions - CARD_ACTIONS))
    env.step(actions)
    env.step(env.random_actions())
    following = env.masks().sum(axis=1) == 3
    ranks = (np.cumsum(env.masks(), axis=1) - 1)[np.arange(26_000), env.random_actions()]
    assert is_even(np.bincount(ranks[following]))


def is_even(counts: np.ndarray) -> bool:
    """Chi-square below its mean by five deviations or so; the seeds are fixed."""
    freedom = len(counts) - 1
    expected = counts.sum() / len(counts)
    return bool(((counts - expected) ** 2 / expected).sum() < freedom + 5 * (2 * freedom) ** 0.5)


# -- stepping


@pytest.mark.parametrize("seats", SEATS)
def test_the_next_hand_follows_the_last_and_rewards_are_for_the_one_that_ended(seats: int) -> None:
    env = VectorEnv(30, seats=seats)
    env.reset(seed=2)
    ended = 0
    for _ in range(160):
        before = env.hand_numbers.copy()
        env.step(env.random_actions())
        assert (env.hand_numbers - before == env.done).all()
        assert (env.phase[env.done] == 0).all()
        assert ((env.points.max(axis=1) > 0) == env.done).all()
        rewards = env.rewards()
        assert rewards.shape == (30, seats)
        assert rewards.sum(axis=1) == pytest.approx(0)
        best = rewards.argmax(axis=1)[env.done]
        winner = env.points.argmax(axis=1)[env.done]
        assert (best % env.variant.sides == winner).all()
        ended += env.done.sum()
    assert ended > 60


def test_a_hand_that_no_other_follows_stays_as_it_ended() -> None:
    env = VectorEnv(5, deals_on=False)
    env.reset(seed=1)
    while not env.is_over:
        env.step(env.random_actions())
    tricks = env.tricks_won.copy()
    assert (tricks.max(axis=1) == 7).all()
    assert (env.random_actions() == -1).all()
    env.step(np.full(5, 99))
    assert not env.done.any()
    assert (env.tricks_won == tricks).all()
    assert env.play_random(3) == 0


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    env = VectorEnv(4)
    env.reset(seed=1)
    actions = env.random_actions()
    before = env.observe()
    for wrong in (KEEP, 0, -1, ACTIONS, 99):
        with pytest.raises(ValueError, match="in game 2 is not legal"):
            env.step([*actions[:2], wrong, actions[3]])
        assert (env.observe() == before).all()
    with pytest.raises(ValueError, match=r"an action a game, shape \(4,\)"):
        env.step(actions[:3])


def test_masks_are_the_legal_actions_as_booleans() -> None:
    env = VectorEnv(8, seats=2)
    env.reset(seed=1)
    env.play_random(7)
    masks = env.masks()
    assert masks.shape == (8, ACTIONS)
    for bits, mask in zip(env.legal.tolist(), masks.tolist(), strict=True):
        assert mask == [bool(bits >> action & 1) for action in range(ACTIONS)]
    assert planes(env.observe()["hand"]).sum(axis=1).tolist() == [
        bits.bit_count() for bits in env.observe()["hand"].tolist()
    ]


def test_what_is_no_deck_and_no_hakem_is_refused() -> None:
    deck = list(range(52))
    for decks in ([[*deck[:51], 0]], [deck[:51]], [[*deck[:51], 52]]):
        with pytest.raises(ValueError, match="the 52 cards of the pack"):
            VectorEnv.from_decks(decks, [0])
    with pytest.raises(ValueError, match="the 51 cards of the pack"):
        VectorEnv.from_decks([deck[:51]], [0], seats=3)
    for hakems in ([4], [-1], [0, 1]):
        with pytest.raises(ValueError, match="hakems are a seat a deck"):
            VectorEnv.from_decks([deck], hakems)
    with pytest.raises(ValueError, match="at least one game"):
        VectorEnv(0)


def test_nothing_can_be_done_or_seen_before_the_first_reset() -> None:
    env = VectorEnv(3)
    for ask in (
        lambda: env.step([0, 0, 0]),
        env.random_actions,
        lambda: env.play_random(1),
        env.observe,
        env.masks,
        lambda: env.legal,
    ):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            ask()
    env.reset(seed=1)
    assert env.play_random(1) == 3


@pytest.mark.filterwarnings("error")
def test_what_is_no_integer_is_refused() -> None:
    for games, seats in ((None, 4), ("3", 4), (2.0, 4), (2, "4"), (2, 4.0)):
        with pytest.raises(TypeError, match="integer"):
            VectorEnv(games, seats=seats)  # type: ignore[arg-type]
    env = VectorEnv(2)
    with pytest.raises(TypeError, match="integer"):
        env.reset(seed=1.5)  # type: ignore[arg-type]
    env.reset(seed=np.int64(-1))
    drawn = env.decks.copy()
    env.reset(seed=2**64 - 1)
    assert (env.decks == drawn).all()
    before = env.observe()
    for wrong in ([53.0, 53.0], [53, np.nan], ["53", "53"], [True, True], [53, 2**70]):
        with pytest.raises(ValueError, match="actions are integers, not"):
            env.step(wrong)
        assert (env.observe() == before).all()
    env.step(np.array([53, 53], np.uint8))
    deck = list(range(52))
    with pytest.raises(ValueError, match="cards are integers, not float64"):
        VectorEnv.from_decks([[*deck[:51], np.nan]], [0])
    with pytest.raises(ValueError, match="hakems are integers, not float64"):
        VectorEnv.from_decks([deck], [0.5])
    with pytest.raises(ValueError, match="at least one game"):
        VectorEnv.from_decks([], [])


def test_where_nothing_can_be_written_it_compiles_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def njit(*functions, cache=False):
        def decorate(function):
            asked.append(cache)
            if cache:  # as numba says it
                raise RuntimeError("cannot cache function: no locator available for file")
            return function

        return decorate(*functions) if functions else decorate

    monkeypatch.setattr("numba.njit", njit)
    assert kernels.compiled(int)("7") == 7
    assert asked == [True, False]
