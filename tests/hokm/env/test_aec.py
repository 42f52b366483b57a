"""The environment as PettingZoo has them: its own tests, and that it says what the rules say."""

import sys
from collections.abc import Iterator
from itertools import count, pairwise
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test

import hokm.env
from hokm.actions import DECLARATIONS, DRAWS, PLAYS, CutDeck, DeclareTrump, DiscardCards
from hokm.cards import Card, Seat, Suit, Trump
from hokm.env.actions import ACTIONS, DECLARE, KEEP, REFUSE, action_of, number_of
from hokm.env.aec import env, layout, raw_env
from hokm.errors import IllegalAction, Reason, RulesError
from hokm.rules.options import Rules
from tests.hokm.permute import Story, other_story
from tests.hokm.positions import deck_of
from tests.hokm.random_play import random_story

SEATS = (2, 3, 4)

# Said of every observation that has a mask beside it, in PettingZoo's own games of cards as well.
says_that_it_has_a_mask = [
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]


def any_legal(table: raw_env, rng: Random) -> int:
    mask = table.action_mask(table.agent_selection)
    return rng.choice([int(action) for action in np.flatnonzero(mask)])


def played(table: raw_env, rng: Random) -> Iterator[str]:
    """Play at random to the end; who acts, before each action."""
    while not any(table.terminations.values()):
        yield table.agent_selection
        table.step(any_legal(table, rng))


# -- PettingZoo's tests


@pytest.mark.parametrize(
    ("seats", "form", "options"),
    [
        (2, "boards", {}),
        (3, "boards", {}),
        (4, "boards", {}),
        (4, "race", {"target_points": "2"}),
    ],
)
class TestOfPettingZoo:
    pytestmark = says_that_it_has_a_mask

    def test_its_interface(self, seats, form, options, capsys):
        api_test(env(seats, format=form, options=options), num_cycles=100)
        assert "Passed API test" in capsys.readouterr().out

    def test_seeds(self, seats, form, options):
        seed_test(lambda: env(seats, format=form, options=options), num_cycles=50)

    def test_rendering(self, seats, form, options, capsys):
        render_test(
            lambda render_mode: env(seats, format=form, options=options, render_mode=render_mode)
        )
        assert "seat_0" in capsys.readouterr().out


def test_its_benchmark_runs(capsys, monkeypatch):
    clock = SimpleNamespace(time=count().__next__)  # it plays for five seconds
    monkeypatch.setitem(performance_benchmark.__globals__, "time", clock)
    performance_benchmark(env(4))
    assert "turns per second" in capsys.readouterr().out


# -- actions


def test_actions_are_numbered_cards_first_then_suits_then_the_draw():
    assert [action_of(number) for number in range(52)] == list(PLAYS)
    assert [action_of(DECLARE + suit) for suit in Suit] == list(DECLARATIONS[:4])
    assert (action_of(KEEP), action_of(REFUSE)) == DRAWS
    assert [number_of(action_of(number)) for number in range(ACTIONS)] == list(range(58))


@pytest.mark.parametrize("number", [-1, 58])
def test_no_other_number_is_an_action(number):
    with pytest.raises(ValueError, match="0 to 57"):
        action_of(number)


@pytest.mark.parametrize(
    "action", [CutDeck(3), DeclareTrump(Trump.NAR), DiscardCards((Card(1), Card(2)))]
)
def test_what_a_table_here_has_not_has_no_number(action):
    with pytest.raises(ValueError, match="no number"):
        number_of(action)


@pytest.mark.parametrize("options", [{"cut": "on"}, {"modes": "suit,nar"}])
def test_tables_with_choices_that_have_no_number_are_refused(options):
    with pytest.raises(ValueError, match="no action for a cut or a mode"):
        env(4, format="race", options=options)


def test_options_are_those_of_the_rules():
    assert env(4, options={"points_kot": "3"}).unwrapped.rules.points_kot == 3
    with pytest.raises(RulesError, match="no option 'kot'"):
        env(4, options={"kot": "3"})


# -- what happens


@pytest.mark.parametrize("seats", SEATS)
def test_masks_are_the_legal_actions_of_who_acts_and_nothing_for_the_others(seats):
    table, rng = raw_env(seats), Random(3)
    table.reset(seed=3)
    for agent in played(table, rng):
        laid_away = {int(card) for card in table._laid_away}
        numbers = set()
        for action in table.game.legal_actions():
            if isinstance(action, DiscardCards):  # one card of it at a time, each once
                numbers |= set(map(int, action.cards)) - laid_away
            else:
                numbers.add(number_of(action))
        assert set(np.flatnonzero(table.action_mask(agent))) == numbers
        for other in table.agents:
            mask = table.observe(other)["action_mask"]
            assert np.array_equal(mask, table.infos[other]["action_mask"])
            assert mask.any() == (other == agent)


def test_a_hand_for_two_lays_three_and_two_cards_away_one_at_a_time():
    table, rng = raw_env(2), Random(1)
    table.reset(seed=1, options={"hakem": 1})
    turns = list(played(table, rng))
    assert turns[:6] == ["seat_1"] * 4 + ["seat_0"] * 2
    assert turns[6:27] == ["seat_1", "seat_0"] * 10 + ["seat_1"]


def test_a_card_that_was_laid_away_cannot_be_laid_away_again():
    table = raw_env(2)
    table.reset(seed=1)
    table.step(DECLARE)
    card = int(table.view(table.agent_selection).hand[0])
    table.step(card)
    before = table.observe(table.agent_selection)
    with pytest.raises(IllegalAction) as refused:
        table.step(card)
    assert refused.value.reason is Reason.BAD_DISCARD
    after = table.observe(table.agent_selection)
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert before["action_mask"].sum() == 4


def test_an_illegal_action_raises_and_changes_nothing():
    table = raw_env(4)
    table.reset(seed=1)
    agent, before = table.agent_selection, table.observe(table.agent_selection)
    with pytest.raises(IllegalAction, match="names trump first"):
        table.step(3)
    with pytest.raises(ValueError, match="0 to 57"):
        table.step(58)
    with pytest.raises(ValueError, match="is to act"):
        table.step(None)
    assert table.agent_selection == agent
    assert np.array_equal(table.observe(agent)["observation"], before["observation"])


@pytest.mark.filterwarnings("ignore:.*Illegal move")
def test_guarded_an_illegal_action_ends_the_game_and_costs_the_worst_hand(caplog):
    table = env(4)
    table.reset(seed=1)
    agent = table.agent_selection
    table.observe(agent)
    table.step(3)
    assert all(table.terminations.values())
    assert table.rewards[agent] == -3


@pytest.mark.parametrize("seats", SEATS)
def test_rewards_are_points_of_a_side_less_the_mean_of_the_others(seats):
    table, rng = raw_env(seats, options={"points_kot": "4", "points_hakem_kot": "9"}), Random(5)
    for seed in range(6):
        table.reset(seed=seed)
        for _ in played(table, rng):
            pass
        (result,) = table.view("seat_0").results
        for agent in table.agents:
            side = table.view(agent).side
            others = [points for other, points in enumerate(result.points) if other != side]
            assert table.rewards[agent] == result.points[side] - sum(others) / len(others)
        assert sum(table.rewards.values()) == 0


def test_a_race_goes_on_to_its_target_and_rewards_each_hand():
    table, rng = raw_env(4, format="race", options={"target_points": "3"}), Random(2)
    table.reset(seed=2)
    earned = dict.fromkeys(table.agents, 0.0)
    while not any(table.terminations.values()):
        table.step(any_legal(table, rng))
        for agent, reward in table.rewards.items():
            earned[agent] += reward
    results = table.view("seat_0").results
    assert len(results) > 1
    assert max(table.view("seat_0").scores) >= 3
    assert earned["seat_0"] == sum(result.points[0] - result.points[1] for result in results)


# -- seeds


def decks(table: raw_env, seed: int | None, episodes: int) -> list[tuple[tuple[Card, ...], Seat]]:
    dealt = []
    for _ in range(episodes):
        table.reset(seed=seed)
        dealt.append((table.game.deal.deck, table.game.deal.hakem))
        seed = None
    return dealt


@pytest.mark.parametrize("seats", SEATS)
def test_a_seed_repeats_this_episode_and_all_that_follow(seats):
    table = raw_env(seats)
    first = decks(table, 7, 40)
    assert decks(table, 7, 40) == first
    assert decks(raw_env(seats), 7, 40) == first
    assert len({deck for deck, _ in first}) == 40
    assert {hakem for _, hakem in first} == set(range(seats))
    assert decks(table, 8, 1) != first[:1]


def test_without_a_seed_two_tables_have_other_cards():
    assert decks(raw_env(4), None, 1) != decks(raw_env(4), None, 1)


def test_a_deck_and_a_hakem_can_be_given():
    table = raw_env(4)
    table.reset(options={"deck": range(52), "hakem": 2} | {"deck": [Card(c) for c in range(52)]})
    assert table.game.deal.deck == tuple(map(Card, range(52)))
    assert table.agent_selection == "seat_2"


@pytest.mark.parametrize("options", [{"deck": 5}, {"hakem": 4}, {"hakem": "0"}, {"deck": [1, 1]}])
def test_a_deck_that_is_none_and_a_hakem_that_has_no_seat_are_refused(options):
    with pytest.raises(ValueError, match="deck"):
        raw_env(4).reset(options=options)


def test_a_race_takes_no_deck():
    with pytest.raises(ValueError, match="hand after hand"):
        raw_env(4, format="race").reset(options={"hakem": 1})


def test_nobody_can_act_before_the_first_reset():
    table = raw_env(4)
    for act in (lambda: table.step(0), table.last, lambda: table.last(observe=False)):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            act()
    table.reset(seed=1)
    assert table.last()[1:4] == (0.0, False, False)


@pytest.mark.parametrize("action", [53.5, 53.0, "53", np.float64(53)])
def test_what_is_no_whole_number_is_no_action(action):
    table = raw_env(4)
    table.reset(seed=1)
    with pytest.raises(ValueError, match="an action is a whole number, not"):
        table.step(action)
    table.step(np.int64(53))


def test_another_format_is_told_which_there_are():
    with pytest.raises(ValueError, match="format is boards or race, not 'match'"):
        env(format="match")  # type: ignore[arg-type]


def test_nothing_can_be_seen_before_the_first_reset():
    with pytest.raises(ValueError, match="reset"):
        raw_env(4).observe("seat_0")


# -- what is observed


def fields(table: raw_env, agent: str) -> dict[str, list[int]]:
    numbers = table.observe(agent)["observation"]
    return {name: numbers[field].tolist() for name, field in table.layout.items()}


def ones(row: list[int]) -> list[int]:
    assert set(row) <= {0, 1}
    return [place for place, number in enumerate(row) if number]


def test_four_seats_see_cards_by_who_played_them_counted_from_the_observer():
    hands = {0: "C:AK2", 1: "C:Q3", 2: "C:J4 H:A", 3: "D:A H:K C:5"}
    table = raw_env(4)
    table.reset(options={"deck": deck_of(Rules.of(4), hands, hakem=1), "hakem": 1})
    seen = fields(table, "seat_3")
    assert (ones(seen["trump"]), ones(seen["hakem"]), seen["counts"]) == ([], [2], [0, 0, 5, 0])
    table.step(DECLARE + Suit.SPADES)
    for text in ("QC", "JC", "5C", "KC", "AC", "3C"):
        table.step(int(Card.parse(text)))
    seen = fields(table, "seat_3")
    parsed = {text: int(Card.parse(text)) for text in ("QC", "JC", "5C", "KC", "AC", "3C")}
    assert ones(seen["played"]) == sorted(
        [parsed["5C"], 52 + parsed["KC"], 2 * 52 + parsed["QC"], 3 * 52 + parsed["JC"]]
    )
    assert ones(seen["trick"]) == [52 + parsed["AC"], 2 * 52 + parsed["3C"]]
    assert seen["counts"] == [12, 11, 11, 12]
    assert (ones(seen["trump"]), ones(seen["hakem"])) == ([Suit.SPADES], [2])
    assert (seen["won"], seen["scores"], ones(seen["voids"])) == ([0, 1], [0, 0], [])
    assert fields(table, "seat_0")["won"] == [1, 0]
    assert len(ones(seen["hand"])) == 12
    assert ones(seen["hand"]) == [int(card) for card in table.view("seat_3").hand]
    assert set(seen) == {
        "hand", "trick", "played", "voids", "counts", "trump", "hakem", "won", "scores",
    }  # fmt: skip


def test_a_seat_that_does_not_follow_is_seen_to_be_void():
    table = raw_env(3)
    hands = {0: "C:AKQJT98765 C:43 S:AKQJT", 1: "D:AKQJT98765432 H:AKQJ"}
    table.reset(options={"deck": deck_of(Rules.of(3), hands), "hakem": 0})
    table.step(DECLARE + Suit.HEARTS)
    table.step(int(Card.parse("AC")))
    table.step(int(Card.parse("2D")))
    assert ones(fields(table, "seat_2")["voids"]) == [2 * 4 + Suit.CLUBS]
    assert ones(fields(table, "seat_1")["voids"]) == [Suit.CLUBS]


def test_two_seats_see_what_went_what_is_offered_and_how_the_other_chose():
    table = raw_env(2)
    deck = deck_of(Rules.of(2), {0: "C:23456", 1: "D:23456"}, stock="C:AKQJ")
    table.reset(options={"deck": deck, "hakem": 0})
    table.step(DECLARE + Suit.CLUBS)
    card = {
        text: int(Card.parse(text)) for text in ("2C", "3C", "4C", "2D", "3D", "AC", "KC", "QC")
    }
    table.step(card["2C"])
    table.step(card["3C"])
    mine, other = fields(table, "seat_0"), fields(table, "seat_1")
    assert ones(mine["discarded"]) == [card["2C"], card["3C"]]
    assert (len(ones(mine["hand"])), mine["counts"], other["counts"]) == (3, [3, 5], [5, 5])
    assert ones(other["discarded"]) == []
    for text in ("4C", "2D", "3D"):
        table.step(card[text])
    mine, other = fields(table, "seat_0"), fields(table, "seat_1")
    assert (ones(mine["offered"]), ones(other["offered"])) == ([card["AC"]], [])
    assert (mine["stock"], other["stock"], mine["counts"]) == ([42], [42], [2, 3])
    table.step(REFUSE)
    mine, other = fields(table, "seat_0"), fields(table, "seat_1")
    assert card["KC"] in ones(mine["hand"])
    assert card["AC"] in ones(mine["discarded"])
    assert ones(mine["draws"]) == ones(other["draws"]) == [1]
    assert (mine["stock"], ones(other["offered"])) == ([40], [card["QC"]])
    table.step(KEEP)
    assert ones(fields(table, "seat_0")["draws"]) == [1, 2]


def test_a_choice_that_is_not_public_is_not_known():
    table = raw_env(2, options={"draw_choice_public": "off"})
    table.reset(seed=0, options={"hakem": 0})
    rng = Random(0)
    for _ in range(6):
        table.step(any_legal(table, rng))
    table.step(KEEP)
    assert ones(fields(table, "seat_0")["draws"]) == [0]
    assert ones(fields(table, "seat_1")["draws"]) == []


@pytest.mark.parametrize("seats", SEATS)
def test_the_fields_of_an_observation_follow_each_other_and_fill_it(seats):
    table = env(seats)
    where = list(layout(seats).values())
    assert where[0].start == 0
    assert all(one.stop == other.start for one, other in pairwise(where))
    assert table.observation_space("seat_0")["observation"].shape == (where[-1].stop,)


TABLES = [
    Rules.of(4),
    Rules.of(4, options={"pause_after": "first_round", "play_out": "on"}),
    Rules.of(3),
    Rules.of(2),
    Rules.of(2, options={"draw_choice_public": "off"}),
]


def observed(story: Story, seat: Seat) -> list[bytes]:
    """All that a seat observes in a story, as its parts are played."""
    table = raw_env(story.rules.players, options=story.rules.options())
    table.reset(options={"deck": story.deck, "hakem": int(story.hakem)})
    agent, seen = f"seat_{seat}", []
    for action in story.actions:
        cards = action.cards if isinstance(action, DiscardCards) else ()
        for number in [int(card) for card in cards] or [number_of(action)]:
            table.step(number)
            parts = table.observe(agent)
            seen += [part.tobytes() for part in parts.values()]
            seen.append(table.infos[agent]["action_mask"].tobytes())
            seen.append(str(table.rewards[agent]).encode())
    return seen


@pytest.mark.rule("6")
@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: str(rules.players))
def test_what_a_seat_observes_is_the_same_with_other_hidden_cards(rules):
    differs = 0
    for seed in range(2):
        rng = Random(seed)
        whole = random_story(rules, rng)
        story = whole.until(rng.randrange(2, len(whole.actions)))
        for seat in map(Seat, range(rules.players)):
            other, after = other_story(story, seat, rng), Seat((seat + 1) % rules.players)
            assert observed(story, seat) == observed(other, seat)
            differs += observed(story, after) != observed(other, after)
    assert differs > 1


# -- the rest


def test_the_table_is_rendered_with_all_cards_open(capsys):
    table = env(4, render_mode="ansi")
    table.reset(options={"deck": [Card(card) for card in range(52)], "hakem": 1})
    table.step(DECLARE + Suit.HEARTS)
    table.step(int(Card.parse("2C")))
    assert table.render() == (
        "hand 1, trump hearts, tricks 0-0\n"
        "  seat_0  ♣- ♦87654 ♥JT98 ♠AKQJ\n"
        "  seat_1  ♣6543 ♦QJT9 ♥AKQ ♠2  hakem  plays 2♣\n"
        "> seat_2  ♣JT987 ♦AK ♥32 ♠6543\n"
        "  seat_3  ♣AKQ ♦32 ♥7654 ♠T987"
    )
    assert capsys.readouterr().out == ""


def test_an_unknown_mode_of_rendering_is_refused():
    with pytest.raises(ValueError, match="human, ansi or None"):
        env(4, render_mode="rgb_array")  # type: ignore[arg-type]


def test_where_pettingzoo_is_missing_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "hokm.env.aec")
    monkeypatch.delattr(hokm.env, "aec")
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'hokm-sdk\[env\]'"):
        hokm.env.env  # noqa: B018
