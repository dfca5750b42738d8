"""Ratings from battles: by hand, as public code has them, and at equal length and style."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from methods.pairwise.battles import FIRST, SECOND, TIE, Battle, battles_of
from methods.pairwise.bradley_terry import fit, is_finite, parts, to_points
from methods.pairwise.ratings import first_place, rate
from methods.pairwise.style import IN_PARTS, features, rate_controlled, style_difference

NAMES = {"a": "ant", "b": "bee", "c": "cat", "d": "dog", "e": "elk", "f": "fox"}
OUTCOMES = {"a": FIRST, "b": SECOND, "t": TIE, "x": TIE}
_CODED = (
    "cba eaa ebt dft aea aba aea baa dbb ebt ebb aet bda cda cbb bab cdb aea bdb aea "
    "cfa edt aca acb dcb cab eab cbb dax dea dea cda bfa dex cat ecb bea fab feb ada "
    "aba eat ebb eat bea cea dfa bab dba ect eab fab cba efa bfa bfa afa bea fcb baa"
)
"""First model, second model, winner; `x` is a tie of two bad answers."""
ARENA = [
    Battle(NAMES[first], NAMES[second], OUTCOMES[winner], f"q{number % 20}")
    for number, (first, second, winner) in enumerate(_CODED.split())
]

RATINGS = [1201.8793, 1131.9769, 1165.1918, 1045.0354, 922.2490, 533.6677]
"""arena-rank 0.1.1: `BradleyTerry(6).compute_ratings_and_cis(PairDataset.from_pandas(battles))`, with
`tie (bothbad)` called `both_bad`. evalica 0.4.2 has the same, within 0.001, as 1000 + 400 / ln 10 x the
centred logarithm of `bradley_terry(..., tie_weight=0.5, tolerance=1e-12, limit=100_000).scores`."""

FOUR = [
    *(Battle("x", "y", FIRST, "p"), Battle("y", "x", FIRST, "q")),
    *(Battle("x", "y", TIE, "r"), Battle("x", "z", TIE, "s")),
]


def test_wins_and_clusters_are_counted():
    battles = battles_of(FOUR)
    assert battles.models == ["x", "y", "z"]
    assert battles.wins().tolist() == [[0, 1.5, 0.5], [1.5, 0, 0], [0.5, 0, 0]]
    # Battles of one item are one cluster.
    battles = battles_of(battle._replace(cluster="p") for battle in FOUR)
    assert battles.n_clusters == 1
    assert battles.wins().sum() == 4
    assert battles_of(FOUR).n_clusters == 4
    # Chosen battles number their clusters anew.
    battles = battles_of([Battle("x", "y", 1, "p"), Battle("x", "y", 0, "q")])
    chosen = battles.where(np.array([False, True]))
    assert chosen.clusters.tolist() == [0]
    assert chosen.wins().tolist() == [[0, 0], [1, 0]]


def fitted(wins):
    wins = np.array(wins, dtype=float)
    compared = (wins + wins.T) > 0
    return fit(wins[None], compared)[0]


def test_two_models_have_the_log_odds_between_them_and_very_unequal_numbers_converge():
    # 3 wins to 1: odds of 3, so the strengths differ by ln 3; 9 to 1 are ln 9 = 381.7 points.
    assert fitted([[0, 3], [1, 0]]) == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert np.ptp(to_points(fitted([[0, 9], [1, 0]]))) == pytest.approx(400 * math.log10(9))
    # Very unequal numbers converge.
    strengths = fitted([[0, 1e6, 1e6], [1, 0, 1e6], [1e-3, 1, 0]])
    assert strengths[0] - strengths[1] == pytest.approx(math.log(1e6), rel=0.05)
    assert strengths[0] > strengths[1] > strengths[2]


def test_ratings_are_those_of_arena_rank_and_evalica():
    battles = battles_of(ARENA)
    assert to_points(fitted(battles.wins())) == pytest.approx(RATINGS, abs=0.001)


def test_half_a_win_is_added_to_a_fit_without_a_maximum_alone():
    finite, not_finite = [[0.0, 3], [1, 0]], [[0.0, 4], [0, 0]]
    compared = np.array([[False, True], [True, False]])
    # 4 to 0 becomes 4.5 to 0.5: odds of 9.
    found = fit(np.array([finite, not_finite]), compared)
    assert found[:, 0] == pytest.approx([math.log(3) / 2, math.log(9) / 2])


def test_a_maximum_is_finite_within_parts_that_wins_connect():
    circle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    ladder = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert is_finite(np.array([circle, ladder], dtype=float)).tolist() == [True, False]
    # Models that no battles connect are in parts.
    compared = np.zeros((4, 4), dtype=bool)
    compared[0, 2] = compared[2, 0] = compared[1, 3] = compared[3, 1] = True
    assert parts(compared).tolist() == [0, 1, 0, 1]


def rated(battles, models=()):
    return rate(battles_of(battles, models), seed=0, n_resamples=200)


def won(first, second, times, cluster="i", outcome=1.0):
    """Battles on items of their own, each in both orders."""
    items = [f"{cluster}{number}" for number in range(times)]
    battles = [Battle(first, second, outcome, item) for item in items]
    return battles + [Battle(second, first, 1 - outcome, item) for item in items]


def test_ratings_shares_and_counts_by_hand():
    # Of 8 battles on 4 items x wins 6: odds of 3, 400 log10(3) = 190.85 points, 95.42 each way.
    battles = won("x", "y", 3) + won("y", "x", 1, "j")
    x, y = rated(battles).ratings
    assert x.rating.value == pytest.approx(1000 + 200 * math.log10(3))
    assert y.rating.value == pytest.approx(1000 - 200 * math.log10(3))
    assert (x.n, x.n_clusters, x.win_share, x.tie_share) == (8, 4, 0.75, 0)
    assert not x.smoothed


def test_a_resample_draws_items_not_battles():
    # The same shares on 40 items and on 4 items: what few items say is less sure.
    many = rated(won("x", "y", 30) + won("y", "x", 10, "j")).ratings[0].rating
    uneven = [Battle("x", "y", 1.0 if item < 3 else 0.0, str(item)) for item in range(4)] * 20
    width = many.ci_high - many.ci_low
    clustered = rated(uneven).ratings[0].rating
    assert clustered.value == pytest.approx(many.value)
    assert clustered.ci_high - clustered.ci_low > 2 * width


def test_few_or_no_or_one_sided_battles():
    # 4 items of one kind: p is 2 / 2^4, however many battles each has.
    (found,) = rated(won("x", "y", 4) * 10).comparisons
    assert found.p_value == pytest.approx(2 / 2**4)
    # So it is if one of the two has many items with others.
    pairs = rated(won("x", "y", 4) + won("x", "z", 30, "j", 0.5)).comparisons
    (found,) = [each for each in pairs if (each.first, each.second) == (0, 1)]
    assert found.p_value >= 2 / 2**4
    # A model that won all is finite and marked.
    ratings = rated(won("x", "y", 10) + won("y", "z", 10, "j") + won("z", "y", 5, "k")).ratings
    assert all(each.smoothed for each in ratings)
    assert ratings[0].rating.value < 2000
    # Equal models tie.
    x, y = rated(won("x", "y", 10, outcome=0.5)).ratings
    assert x.rating.value == pytest.approx(1000)
    assert (x.rank.rank, y.rank.rank, x.tie_share) == (1, 1, 1)
    assert (x.rank.low, x.rank.high) == (1, 2)
    # No battle gives no rating.
    assert [each.rating.value for each in rated([], ["x", "y"]).ratings] == [None, None]
    assert rated([]).ratings == []


def test_models_that_no_battles_connect_are_ranked_apart():
    found = rated(won("a", "b", 12) + won("y", "z", 12, "j"), ["lone"])
    ranks = {each.model: each.rank.rank for each in found.ratings}
    assert ranks == {"a": 1, "b": 2, "lone": None, "y": 1, "z": 2}
    assert {(each.first, each.second) for each in found.comparisons} == {(0, 1), (3, 4)}
    lone = found.ratings[2]
    assert (lone.rating.value, lone.n, lone.win_share) == (None, 0, None)


def test_who_always_says_the_first_has_its_share_at_1_and_everyone_the_same_rating():
    orders = [*permutations("xyz", 2)]
    battles = battles_of(Battle(*order, 1.0, item) for item in "abcdef" for order in orders)
    found = first_place(battles)
    # Six clusters of six battles, and the two pseudo-clusters.
    assert (found.value, found.ci_high, found.n_clusters) == (1, 1, 6)
    interval = stats.ttest_1samp([1.0] * 6 + [0, 1], 0).confidence_interval()
    assert found.ci_low == pytest.approx(interval.low)
    ratings = rate(battles, seed=0, n_resamples=200).ratings
    assert [each.rating.value for each in ratings] == pytest.approx([1000] * 3)
    assert [each.rank.rank for each in ratings] == [1, 1, 1]


RATINGS_IN_STYLE = [1211.871, 1130.902, 1155.100, 1049.439, 919.555, 533.133]
COEFFICIENTS = [0.10737, 0.07608]
"""arena-rank 0.1.1: `ContextualBradleyTerry(6, 2, reg=1 / 60)` on `ContextualPairDataset.from_pandas(
battles, ["length", "bold"], reweighted=False)`; its prior is a share of the number of battles."""
MARKED = """# A mill
The **old mill** and __its wheel__:

- it is red
2. it turns
## Below
```
# no header, **not bold**
- no list
```
"""


def test_features_and_their_normalised_difference():
    # Words count in code blocks, too.
    assert features(MARKED) == (21, 2, 2, 2)
    assert features("three plain words") == (3, 0, 0, 0)
    assert features("a * b ** c, 2.5 m, #3")[1:] == (0, 0, 0)
    # A difference is normalised by the sum and one.
    # 3 words and 5: (3 - 5) / (3 + 5 + 1); no bold in either: 0.
    assert style_difference("a b c", "a b c d e") == pytest.approx((-2 / 9, 0, 0, 0))
    assert style_difference("**a**", "b")[3] == pytest.approx(1 / 2)


def test_figures_are_those_of_arena_rank():
    battles = [
        battle._replace(style=(math.sin(number), math.cos(2 * number)))
        for number, battle in enumerate(ARENA)
    ]
    found = rate_controlled(battles_of(battles), ["length", "bold"], seed=0, n_resamples=20)
    assert [each.value for each in found.ratings] == pytest.approx(RATINGS_IN_STYLE, abs=0.01)
    slopes = [each.estimate for each in found.coefficients]
    assert [slope.value for slope in slopes] == pytest.approx(COEFFICIENTS, abs=1e-4)
    for each in (*found.ratings, *slopes):
        assert each.ci_low < each.value < each.ci_high


def test_a_feature_that_goes_with_every_win_has_a_finite_coefficient():
    battles = battles_of(
        Battle(*pair, outcome, str(number), style=(2 * outcome - 1,))
        for number in range(20)
        for pair, outcome in ((("x", "y"), number % 2), (("y", "x"), 1 - number % 2))
    )
    (found,) = rate_controlled(battles, ["length"], seed=0, n_resamples=20).coefficients
    assert 1 < found.estimate.value < 10


def test_a_model_that_won_its_one_battle_has_one_tie_more():
    """One win and half a win against half a win: odds of 3 to 1."""
    battles = battles_of([Battle("x", "y", 1, "0", style=(0.0,))])
    (x, y) = rate_controlled(battles, ["length"], seed=0, n_resamples=20).ratings
    assert x.value - y.value == pytest.approx(400 * math.log10(3), abs=0.01)


def test_models_in_parts_are_not_rated_together():
    battles = battles_of(Battle(*pair, 1, pair, style=(0.0,)) for pair in ("ab", "cd"))
    found = rate_controlled(battles, ["length"], seed=0, n_resamples=20)
    assert (found.reason, len(found.ratings), found.coefficients) == (IN_PARTS, 4, [])
