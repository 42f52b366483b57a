"""The standings as a value: ranks, ratings and flags from what was played."""

import json
import random
from dataclasses import replace

import pytest

from arena.ladder.facts import WITHDRAWN, Bot, Result
from arena.ladder.ratings.bradley_terry import fit
from arena.ladder.ratings.comparison import evidence_of
from arena.ladder.ratings.elo import EloRating
from arena.ladder.ratings.evidence import elo_of, owner_folded, rated_matches
from arena.ladder.ratings.fitted import Errors, Fit
from arena.ladder.ratings.played import pairs_of
from arena.ladder.ratings.standings import Flag, Standings, standings
from arena.ladder.ratings.statistics import Z95, vp_score
from arena.ladder.settings import MatchScoring, Settings

SETTINGS = Settings.of("club")
ADA, BOB, CYD, DAN = BOTS = tuple(
    Bot(number, name, owner=f"owner-of-{name}", version="1", digest=f"{number}" * 64)
    for number, name in enumerate(("ada", "bob", "cyd", "dan"), start=1)
)
# What the first named has of each board, and the second.
WIN, DRAW, LOSS = ((3, 0), (1, 1), (0, 1)), ((1, 1), (2, 2), (1, 1)), ((0, 5), (2, 1), (1, 1))


def result(*entrants: Bot, boards=WIN, number: int = 1) -> Result:
    names = "~".join(bot.name for bot in entrants)
    numbers = tuple(bot.number for bot in entrants)
    return Result(f"ev1/r{number}/{names}", number, numbers, boards)


def cycle(number: int = 1) -> list[Result]:
    """Each bot beats those after it, but the last beats the first, so that all are connected."""
    return [
        result(ADA, BOB, number=number),
        result(ADA, CYD, number=number),
        result(BOB, CYD, number=number),
        result(CYD, DAN, number=number),
        result(BOB, DAN, boards=DRAW, number=number),
        result(ADA, DAN, boards=LOSS, number=number),
    ]


def table(bots=BOTS, results=(), *, settings: Settings = SETTINGS, closed: int = 1) -> Standings:
    elo = elo_of(bots, results, settings=settings, rounds_closed=closed)
    return standings(settings, bots, pairs_of(results), elo=elo, rounds_closed=closed)


def fit_of(bots, results, *, settings: Settings = SETTINGS) -> Fit:
    matches = rated_matches(bots, results, settings=settings)
    return fit(evidence_of(matches, [bot.name for bot in bots]))


def row(of: Standings, bot: Bot):
    return next(row for row in of.rows if row.name == bot.name)


def test_a_match_is_won_by_the_sign_of_all_its_points() -> None:
    ranks = [result(ADA, BOB, boards=boards).ranks for boards in (WIN, DRAW, LOSS)]
    assert ranks == [(1, 2), (1, 1), (2, 1)]
    assert result(ADA, BOB, boards=LOSS).totals == (3, 7)


def test_a_row_counts_matches_and_boards_from_its_own_side() -> None:
    found = row(table(results=[result(ADA, BOB), result(BOB, ADA, boards=LOSS)]), BOB)
    assert (found.matches_won, found.matches_drawn, found.matches_lost) == (0, 0, 2)
    # Ada's boards were 3, 0, -1; Bob's own at home -5, 1, 0.
    assert (found.boards_won, found.boards_drawn, found.boards_lost) == (2, 2, 2)
    assert found.points_per_board == pytest.approx((-3 + 0 + 1 - 5 + 1 + 0) / 6)


def test_bots_are_ranked_by_the_fit_with_the_models_bars_and_los() -> None:
    results = cycle()
    found = table(results=results)
    fitted = fit_of(BOTS, results).centred()
    bars = fitted.standard_errors(Errors.MODEL)
    ratings = fitted.table()
    assert [r.rank for r in found.rows] == [1, 2, 3, 4]
    assert [r.name for r in found.rows] == sorted(ratings, key=lambda name: -ratings[name])
    for r, after in zip(found.rows, [*found.rows[1:], None], strict=True):
        assert r.mle == pytest.approx(ratings[r.name])
        assert r.bar == pytest.approx(Z95 * bars[r.name])
        los = after and fitted.difference(r.name, after.name, errors=Errors.MODEL).los
        assert r.los_next == los
    assert sum(r.mle or 0.0 for r in found.rows) == pytest.approx(4 * 1500)


def test_an_anchor_stands_at_1500_once_it_is_entered_and_leaves_the_order_alone() -> None:
    settings = Settings.of("club", anchor="cyd")
    free, anchored = table(results=cycle()), table(results=cycle(), settings=settings)
    assert anchored.anchor == "cyd"
    assert row(anchored, CYD).mle == pytest.approx(1500)
    assert row(anchored, CYD).elo == pytest.approx(1500)
    assert [r.name for r in anchored.rows] == [r.name for r in free.rows]
    shift = (row(anchored, ADA).mle or 0) - (row(free, ADA).mle or 0)
    assert (row(anchored, BOB).mle or 0) - (row(free, BOB).mle or 0) == pytest.approx(shift)
    assert [r.bar for r in anchored.rows] == [r.bar for r in free.rows]
    before = table(bots=(ADA, BOB), results=[result(ADA, BOB)], settings=settings)
    assert before.anchor is None
    assert sum(r.mle or 0.0 for r in before.rows) == pytest.approx(2 * 1500)


def test_elo_rests_on_closed_rounds_and_the_fit_on_every_match() -> None:
    results = [*cycle(1), *cycle(2)]
    one, two = table(results=results, closed=1), table(results=results, closed=2)
    assert row(one, ADA).elo != row(two, ADA).elo
    assert row(one, ADA).mle == row(two, ADA).mle


def test_an_unrated_bot_stands_below_and_moves_nobody() -> None:
    dull = replace(DAN, rated=False)
    bots = (ADA, BOB, CYD, dull)
    rated = [r for r in cycle() if dull.number not in r.entrants]
    found, without = table(bots, cycle()), table((ADA, BOB, CYD), rated)
    assert found.rows[:3] == without.rows
    last = found.rows[3]
    assert (last.name, last.rank, last.elo, last.mle, last.bar) == ("dan", None, None, None, None)
    assert (last.matches_won, last.matches_drawn, last.matches_lost) == (1, 1, 1)
    assert last.flags == (Flag.UNRATED,)


@pytest.mark.parametrize(
    "owner",
    [
        ADA.owner,
        ADA.owner.upper(),
        "".join(chr(ord(letter) + 0xFEE0) for letter in ADA.owner),
        f"{ADA.owner}\N{ZERO WIDTH SPACE}",
        f"{ADA.owner} ",
    ],
    ids=ascii,
)
def test_bots_of_one_owner_play_and_are_not_rated_by_it(owner: str) -> None:
    """A sister that throws every match would lift the other; nor does another spelling help."""
    sister = replace(BOB, owner=owner)
    bots = (ADA, sister, CYD, DAN)
    thrown = [result(ADA, sister, number=n) for n in range(2, 30)]
    found, without = table(bots, [*cycle(), *thrown]), table(bots, cycle())
    assert [(r.name, r.mle, r.elo, r.matches) for r in found.rows] == [
        (r.name, r.mle, r.elo, r.matches) for r in without.rows
    ]
    assert row(found, ADA).matches == 2
    assert found.matches_played == without.matches_played + 28


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0639\u0644\u06cc", "\u0639\u0644\u064a"),
        ("\u0639\u0644\u06cc", "\u0639\u0644\u0649"),
        ("\u06a9\u06cc\u0648\u0627\u0646", "\u0643\u064a\u0648\u0627\u0646"),
        ("\u067e\u0646\u0628\u0647", "\u067e\u0646\u0628\u0629"),
        ("\u067e\u0646\u0628\u0647", "\u067e\u0646\u0628\u06c0"),
        ("\u067e\u0646\u0628\u0647", "\u067e\u0646\u0628\u0647\u0654"),
        ("\u0631\u0636\u0627", "\u0631\u0640\u0640\u0636\u0627"),
        ("\u0631\u0636\u0627\u06f1\u06f4", "\u0631\u0636\u0627\u0661\u0664"),
        ("\u0631\u0636\u0627\u06f1\u06f4", "\u0631\u0636\u0627" + "14"),
        ("\u06a9", "\ufed9"),
    ],
    ids=ascii,
)
def test_a_persian_name_is_the_same_by_whatever_keyboard(one: str, other: str) -> None:
    assert owner_folded(one) == owner_folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u06a9\u0627\u0631", "\u06af\u0627\u0631"),
        ("\u0628\u0631", "\u067e\u0631"),
        ("\u0631\u0636\u0627\u06f1", "\u0631\u0636\u0627\u06f2"),
    ],
    ids=ascii,
)
def test_other_letters_of_that_script_stay_others(one: str, other: str) -> None:
    assert owner_folded(one) != owner_folded(other)


def test_a_match_of_three_with_two_of_one_owner_is_not_rated() -> None:
    """Two of three could play into each other's hands against the third."""
    bots = (ADA, replace(BOB, owner=ADA.owner), CYD)
    found = table(bots, [three(ADA, BOB, CYD)], settings=THREES)
    assert {(r.name, r.matches, r.mle) for r in found.rows} == {
        (name, 0, None) for name in ("ada", "bob", "cyd")
    }


def test_nobody_is_a_sister_of_the_arenas_own_by_the_name_of_its_owner() -> None:
    reference = replace(ADA, owner="hokm-arena", reference=True)
    numbered = replace(BOB, owner=f"#{reference.number}")
    assert row(table((reference, numbered), [result(reference, numbered)]), ADA).matches == 1


def test_the_arenas_own_bots_are_nobodys_sisters() -> None:
    references = tuple(replace(bot, owner="hokm-arena", reference=True) for bot in (ADA, BOB))
    assert row(table(references, [result(*references)]), ADA).matches == 1
    claimed = tuple(replace(bot, reference=False) for bot in references)
    assert row(table(claimed, [result(*claimed)]), ADA).matches == 0


@pytest.mark.parametrize("score", MatchScoring)
@pytest.mark.parametrize("seed", range(5))
def test_the_table_does_not_depend_on_the_order_of_the_results(
    seed: int, score: MatchScoring
) -> None:
    settings = replace(SETTINGS, length=3, score=score)
    log = [r for number in range(1, 16) for r in cycle(number)]
    shuffled = random.Random(seed).sample(log, len(log))
    assert shuffled != log
    found, again = (
        table(results=results, settings=settings, closed=15) for results in (log, shuffled)
    )
    assert found.rows == again.rows  # floats and all


def test_the_table_of_threes_does_not_depend_on_the_order_of_the_results() -> None:
    bots = (ADA, BOB, CYD)
    shuffled = random.Random(1).sample(played(60), 60)
    turned = [
        replace(r, entrants=r.entrants[::-1], boards=tuple(b[::-1] for b in r.boards))
        for r in shuffled
    ]
    tables = [
        table(bots, log, settings=THREES, closed=60) for log in (played(60), shuffled, turned)
    ]
    assert tables[0].rows == tables[1].rows == tables[2].rows


def test_victory_points_rate_by_how_much_a_match_is_won() -> None:
    narrow, wide = ((1, 0), (1, 1), (1, 1)), ((5, 0), (5, 0), (5, 0))
    by_sign = replace(SETTINGS, length=3)
    by_points = replace(by_sign, score=MatchScoring.VP)
    for settings, is_equal in ((by_sign, True), (by_points, False)):
        leads = [
            row(table(results=[result(ADA, BOB, boards=b)], settings=settings), ADA).mle
            for b in (narrow, wide)
        ]
        assert (leads[0] == leads[1]) is is_equal
    first = table(results=[result(ADA, BOB, boards=narrow)], settings=by_points)
    assert row(first, ADA).elo == pytest.approx(1500 + 40 * (vp_score(1, boards=3) - 0.5))


def test_ranks_have_an_interval_and_who_is_surely_better_is_outside_it() -> None:
    beaten = [result(ADA, BOB, number=n) for n in range(60)] + [
        result(BOB, ADA, number=99),
        result(ADA, CYD),
        result(BOB, CYD),
        result(CYD, BOB),
    ]
    found = table((ADA, BOB, CYD), beaten)
    assert [r.rank for r in found.rows] == [1, 2, 3]
    for r in found.rows:
        assert r.ranks is not None
        assert r.ranks[0] <= (r.rank or 0) <= r.ranks[1]
    best = row(found, ADA).ranks
    assert best is not None
    assert best[1] < 3  # surely better than bob
    assert row(table(results=[result(ADA, BOB)]), ADA).ranks == (1, 2)


def test_forfeits_and_retirement_are_flagged() -> None:
    out = replace(ADA, inactive_because=WITHDRAWN)
    found = standings(
        SETTINGS, (out, BOB, CYD, DAN), pairs_of(cycle()), elo={}, forfeits={BOB.number: 3}
    )
    assert row(found, out).flags == (Flag.PROVISIONAL, Flag.RETIRED)
    assert row(found, out).note == ""
    assert (row(found, BOB).forfeits, row(found, CYD).forfeits) == (3, 0)
    assert Flag.FORFEITS in row(found, BOB).flags


def test_a_rating_is_provisional_below_thirty_matches() -> None:
    found = table(results=[result(ADA, BOB, boards=DRAW)] * 29 + [result(ADA, CYD, boards=DRAW)])
    flagged = {r.name for r in found.rows if Flag.PROVISIONAL in r.flags}
    assert flagged == {"bob", "cyd", "dan"}


def test_who_is_not_bound_to_the_rest_by_results_is_flagged() -> None:
    everybody_beaten = [r for r in cycle() if r != result(ADA, DAN, boards=LOSS)]
    found = table(results=everybody_beaten)
    flagged = {r.name for r in found.rows if Flag.NOT_CONNECTED in r.flags}
    assert flagged == {"ada"}
    assert all(Flag.NOT_CONNECTED not in r.flags for r in table(results=cycle()).rows)


def test_with_two_halves_as_large_nobody_is_bound_to_the_rest() -> None:
    found = table(results=[result(ADA, BOB, boards=DRAW), result(CYD, DAN, boards=DRAW)])
    assert all(Flag.NOT_CONNECTED in r.flags for r in found.rows)


def test_an_inactive_bot_keeps_its_rank_and_says_why() -> None:
    out = replace(ADA, inactive_because="did not start 2 times in a row")
    found = table(bots=(out, BOB, CYD, DAN), results=cycle())
    assert row(found, ADA).rank == 1
    assert Flag.INACTIVE in row(found, ADA).flags
    assert row(found, ADA).note == "did not start 2 times in a row"


def test_who_has_not_played_has_neither_rank_nor_rating() -> None:
    fresh = table()
    assert [r.name for r in fresh.rows] == ["ada", "bob", "cyd", "dan"]
    assert {(r.rank, r.elo, r.mle, r.bar, r.points_per_board) for r in fresh.rows} == {(None,) * 5}
    assert table(bots=()).rows == ()


def test_the_json_form_says_what_is_played_and_rounds_nothing() -> None:
    found = table(results=cycle(), settings=Settings.of("club", anchor="cyd", length=3))
    document = json.loads(json.dumps(found.json()))
    assert document["ladder"] == "club"
    assert (document["players"], document["format"], document["boards"]) == (4, "boards", 3)
    assert (document["anchor"], document["scale"]) == ("cyd", "4p-boards-3")
    assert (document["matches_played"], document["rounds_closed"]) == (6, 1)
    first = document["rows"][0]
    assert first["bot"] == found.rows[0].name
    assert first["mle"] == found.rows[0].mle
    assert first["elo"] == found.rows[0].elo
    assert (document["counted"], document["score"]) == ("by match", "win_draw_loss")
    assert first["matches_played"] == 3
    assert first["matches"] == {"won": 2, "drawn": 0, "lost": 1}
    assert first["flags"] == ["provisional"]


def test_elo_follows_from_the_rounds_alone() -> None:
    results = [*cycle(1), *cycle(2)]
    assert elo_of(BOTS, results, settings=SETTINGS, rounds_closed=0) == {}
    one = elo_of(BOTS, results, settings=SETTINGS, rounds_closed=1)
    assert elo_of(BOTS, list(reversed(results)), settings=SETTINGS, rounds_closed=1) == one
    assert one[DAN.number].matches == 3
    # Dan drew with and lost to and beat bots that stood where he stood: K = 40 at the start.
    assert one[DAN.number] == EloRating(1500 + 40 * (1 + 0.5 + 0 - 1.5), 3)


# -- matches of three

THREES = Settings.of("club", players=3)


def three(*entrants: Bot, points=(5, 3, 3), number: int = 1) -> Result:
    """A match of two boards; the last has everything that counts."""
    return result(*entrants, boards=((1, 1, 1), points), number=number)


def test_entrants_of_three_are_ranked_by_their_totals_and_equal_totals_share_a_rank() -> None:
    found = three(BOB, ADA, CYD, points=(0, 4, -3))
    assert found.totals == (1, 5, -2)
    assert found.ranks == (2, 1, 3)
    assert [three(ADA, BOB, CYD, points=p).ranks for p in ((2, 2, 2), (3, 0, 3), (1, 2, 1))] == [
        (1, 1, 1),
        (1, 3, 1),
        (2, 1, 2),
    ]


def test_a_match_of_three_is_counted_pair_by_pair() -> None:
    found = table((ADA, BOB, CYD), [three(ADA, BOB, CYD)], settings=THREES)
    ada, bob = row(found, ADA), row(found, BOB)
    assert (ada.matches, ada.matches_won, ada.matches_drawn, ada.matches_lost) == (1, 2, 0, 0)
    assert (ada.boards_won, ada.boards_drawn, ada.boards_lost) == (2, 2, 0)
    assert ada.points_per_board == pytest.approx((0 + 2 + 0 + 2) / 4)
    assert (bob.matches, bob.matches_won, bob.matches_drawn, bob.matches_lost) == (1, 0, 1, 1)
    assert (bob.boards_won, bob.boards_drawn, bob.boards_lost) == (0, 3, 1)
    assert bob.points_per_board == pytest.approx((0 - 2 + 0 + 0) / 4)
    document = found.json()
    assert (document["players"], document["counted"]) == (3, "pairwise")


def test_a_match_of_three_moves_elo_as_one_match_each_pair_by_a_half() -> None:
    elo = elo_of(BOTS, [three(BOB, ADA, CYD, points=(3, 3, 0))], settings=THREES, rounds_closed=1)
    # K = 40 at the start; 1500 v 1500 expects a half of each pair.
    assert elo == {
        BOB.number: EloRating(1500 + 40 / 2 * (0 + 0.5), 1),
        ADA.number: EloRating(1500 + 40 / 2 * (0 + 0.5), 1),
        CYD.number: EloRating(1500 + 40 / 2 * (-0.5 - 0.5), 1),
    }


def test_a_match_of_three_with_an_unrated_bot_moves_nobody() -> None:
    dull = replace(CYD, rated=False)
    found = table((ADA, BOB, dull), [three(ADA, BOB, dull)], settings=THREES)
    assert {(r.name, r.matches) for r in found.rows} == {("ada", 0), ("bob", 0), ("cyd", 1)}
    assert all(r.elo in (None, pytest.approx(1500)) for r in found.rows)


def played(matches: int) -> list[Result]:
    """Everybody wins, draws and loses, in no equal shares."""
    points = ((5, 3, 1), (0, 4, 2), (2, 2, 0), (1, 0, 3), (4, 1, 1))
    return [three(ADA, BOB, CYD, points=points[n % 5], number=n + 1) for n in range(matches)]


@pytest.mark.parametrize(("matches", "kind"), [(29, Errors.MODEL), (30, Errors.SANDWICH)])
def test_errors_of_threes_are_clustered_by_match_from_thirty_matches_on(
    matches: int, kind: Errors
) -> None:
    bots = (ADA, BOB, CYD)
    found = table(bots, played(matches), settings=THREES)
    fitted = fit_of(bots, played(matches), settings=THREES)
    bars = fitted.bars(errors=kind)
    assert fitted.bars(errors=Errors.MODEL) != fitted.bars(errors=Errors.SANDWICH)
    assert {r.name: r.bar for r in found.rows} == bars
    _, second, third = (r.name for r in found.rows)
    for r, after in zip(found.rows, (second, third), strict=False):
        assert r.los_next == fitted.difference(r.name, after, errors=kind).los


def test_errors_of_pairs_are_the_sandwichs_from_thirty_matches_on() -> None:
    few, many = cycle() * 9, cycle() * 20  # 27 matches each, and 60
    for results, kind in ((few, Errors.MODEL), (many, Errors.SANDWICH)):
        fitted = fit_of(BOTS, results)
        assert {r.name: r.bar for r in table(results=results).rows} == fitted.bars(errors=kind)
