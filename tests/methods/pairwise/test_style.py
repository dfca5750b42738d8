"""Ratings at equal length and style."""

import math
import random

import pytest

from methods.pairwise.battles import Battle, battles_of
from methods.pairwise.ratings import rate
from methods.pairwise.style import (
    IN_PARTS,
    features,
    rate_controlled,
    style_difference,
)
from tests.methods.pairwise.arena_battles import ARENA

RATINGS = [1211.871, 1130.902, 1155.100, 1049.439, 919.555, 533.133]
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
    assert features(MARKED)[1:] == (2, 2, 2)
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
    assert [each.value for each in found.ratings] == pytest.approx(RATINGS, abs=0.01)
    assert [each.estimate.value for each in found.coefficients] == pytest.approx(
        COEFFICIENTS, abs=1e-4
    )


def drawn(n, length_pays, *, gap=1.0):
    """Battles of two models, the better one by `gap` logits; the other one writes longer."""
    generator = random.Random(1)
    battles = []
    for number in range(n):
        longer = generator.uniform(-1, 0.4)
        logit = gap + length_pays * longer
        won = generator.random() < 1 / (1 + math.exp(-logit))
        battles.append(Battle("good", "long", float(won), str(number), style=(longer,)))
        battles.append(Battle("long", "good", float(not won), str(number), style=(-longer,)))
    return battles_of(battles)


def test_a_judge_that_is_drawn_by_length_is_seen_and_the_rating_freed_of_it():
    battles = drawn(1000, 3.0)
    raw = rate(battles, seed=0, n_resamples=100).ratings
    found = rate_controlled(battles, ["length"], seed=0, n_resamples=50)
    (length,) = found.coefficients
    assert 0 < length.estimate.ci_low < length.estimate.value < length.estimate.ci_high
    gap = (found.ratings[0].value - found.ratings[1].value) * math.log(10) / 400
    raw_gap = (raw[0].rating.value - raw[1].rating.value) * math.log(10) / 400
    assert raw_gap < 0.4
    assert gap == pytest.approx(1, abs=0.2)


def test_a_feature_that_goes_with_every_win_has_a_finite_coefficient():
    battles = battles_of(
        Battle(*pair, outcome, str(number), style=(2 * outcome - 1,))
        for number in range(20)
        for pair, outcome in ((("x", "y"), number % 2), (("y", "x"), 1 - number % 2))
    )
    (found,) = rate_controlled(battles, ["length"], seed=0, n_resamples=20).coefficients
    assert 1 < found.estimate.value < 10


def test_models_in_parts_are_not_rated_together():
    battles = battles_of(Battle(*pair, 1, pair, style=(0.0,)) for pair in ("ab", "cd"))
    found = rate_controlled(battles, ["length"], seed=0, n_resamples=20)
    assert (found.reason, len(found.ratings), found.coefficients) == (IN_PARTS, 4, [])
