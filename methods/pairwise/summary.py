"""Summary of one judge's pairwise comparisons: ratings, win rates, style bias and position bias."""

from collections.abc import Sequence
from typing import Any

from methods.evaluation.statistics.estimates import Estimate
from methods.pairwise.battles import battles_of
from methods.pairwise.comparing import FORMS, JUDGED, ArenaComparison, battles_in
from methods.pairwise.ratings import NO_BATTLES, first_place, rate
from methods.pairwise.style import FEATURES, rate_controlled

Row = dict[str, Any]
FIRST_PLACE = "first_place"
"""Position bias: the share of comparisons that the answer shown first won; 0.5 is no bias."""
_NOTHING = Estimate(None, None, None)


def rating_rows(
    compared: Sequence[ArenaComparison], *, seed: int, n_resamples: int, n_style_resamples: int
) -> tuple[list[Row], list[Row]]:
    """Make the rows of ratings and biases of one judge.

    Style-controlled ratings only exist in the form `judged`, because a missing answer has no style.

    Args:
        compared: The comparisons of all pairs.
        seed: The seed of the bootstraps.
        n_resamples: The number of draws for the ratings.
        n_style_resamples: The number of draws for the style-controlled ratings.

    Returns:
        Rows of ratings, one for each model and form, and rows of biases: position bias, and one for
        each style feature.
    """
    models = sorted(
        {name for comparison in compared for name in (comparison.model_a, comparison.model_b)}
    )
    judged = battles_of(battles_in(compared, JUDGED), models)
    controlled = rate_controlled(judged, FEATURES, seed=seed, n_resamples=n_style_resamples)
    ratings = []
    for form in FORMS:
        rated = rate(
            battles_of(battles_in(compared, form), models), seed=seed, n_resamples=n_resamples
        )
        for rating, at_equal_style in zip(rated.ratings, controlled.ratings, strict=True):
            controlled_rating = at_equal_style if form == JUDGED else _NOTHING
            ratings.append(
                {
                    "form": form,
                    "model": rating.model,
                    **_named("", rating.rating, "rating"),
                    "rank": rating.rank.rank,
                    "rank_low": rating.rank.low,
                    "rank_high": rating.rank.high,
                    "part": rating.part,
                    "n": rating.n,
                    "n_clusters": rating.n_clusters,
                    "win_share": rating.win_share,
                    "tie_share": rating.tie_share,
                    "smoothed": rating.smoothed,
                    **_named("controlled_", controlled_rating, "rating"),
                    "reason": None if rating.n else NO_BATTLES,
                }
            )
    place = first_place(judged) if models else _NOTHING
    n = len(judged.outcomes)
    reason = NO_BATTLES if place.value is None else None
    biases: list[Row] = [
        {"bias": FIRST_PLACE, "n": n, **_named("", place, "value"), "reason": reason}
    ]
    coefficients = {coefficient.feature: coefficient for coefficient in controlled.coefficients}
    for feature in FEATURES:
        coefficient = coefficients.get(feature)
        estimate = coefficient.estimate if coefficient else _NOTHING
        why = coefficient.reason if coefficient else controlled.reason
        biases.append({"bias": feature, "n": n, **_named("", estimate, "value"), "reason": why})
    return ratings, biases


def _named(prefix: str, estimate: Estimate, name: str) -> Row:
    return {
        f"{prefix}{name}": estimate.value,
        f"{prefix}ci_low": estimate.ci_low,
        f"{prefix}ci_high": estimate.ci_high,
    }
