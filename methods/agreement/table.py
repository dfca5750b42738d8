"""All measures of all ratings: of each two people, of all of them, and of people against a judge.

What belongs here: which measure is taken of which raters, and the rows that come of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from methods.agreement.cohen_kappa import cohen_kappa
from methods.agreement.fleiss_kappa import fleiss_kappa
from methods.agreement.interval import N_RESAMPLES, interval
from methods.agreement.kendall import kendall
from methods.agreement.krippendorff_alpha import krippendorff_alpha
from methods.agreement.mean_absolute_error import mean_absolute_error
from methods.agreement.measured import Measure, Ratings, rated_twice
from methods.agreement.pearson import pearson
from methods.agreement.ratings import SCORE, Rating, mean_by_item
from methods.agreement.raw_agreement import raw_agreement
from methods.agreement.spearman import spearman

ALL = "all"
PEOPLE = "people"
JUDGE = "judge:"
"""Before a judge's name, so that it is no person's."""

LABELS_OF_PAIR: Mapping[str, Measure] = {"raw": raw_agreement, "cohen_kappa": cohen_kappa}
LABELS_OF_ALL: Mapping[str, Measure] = {
    "raw": raw_agreement,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_nominal": partial(krippendorff_alpha, level="nominal"),
}
SCORES_OF_PAIR: Mapping[str, Measure] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "mae": mean_absolute_error,
}
SCORES_OF_ALL: Mapping[str, Measure] = {
    "raw": raw_agreement,
    "krippendorff_ordinal": partial(krippendorff_alpha, level="ordinal"),
}


class Judged(NamedTuple):
    """What a judge gave the item that people gave scores to."""

    item_id: str
    judge: str
    dimension: str
    score: float


def agreement_rows(
    ratings: Sequence[Rating],
    judged: Iterable[Judged],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[dict[str, Any]]:
    """Rows of kind, dimension, raters, measure, n_items, value, low, high, reason.

    `raters` is `all`, `a|b` for two people who rated an item both, or `people|judge:name` for the mean
    of people's scores against that judge's. `n_items` counts the items rated by two or more of them;
    `reason` says why there is no value.
    """
    judged = list(judged)
    rows = []
    for kind, dimension in sorted({(each.kind, each.dimension) for each in ratings}):
        given = [each for each in ratings if (each.kind, each.dimension) == (kind, dimension)]
        people = sorted({each.rater for each in given})
        scores = kind == SCORE
        comparisons = [(ALL, people, given, SCORES_OF_ALL if scores else LABELS_OF_ALL)]
        of_pair = SCORES_OF_PAIR if scores else LABELS_OF_PAIR
        comparisons += [
            (f"{_escaped(a)}|{_escaped(b)}", [a, b], given, of_pair)
            for a, b in combinations(people, 2)
        ]
        if scores:
            theirs = [each for each in judged if each.dimension == dimension]
            comparisons += [
                (f"{PEOPLE}|{name}", [PEOPLE, name], both, of_pair)
                for name, both in _with_judges(given, theirs).items()
            ]
        for name, raters, both, measures in comparisons:
            matrix, clusters = _matrix(both, raters)
            if not len(matrix) and name != ALL:
                continue
            for measure_name, measure in measures.items():
                measured = measure(matrix)
                bounds = interval(measure, matrix, clusters, seed=seed, n_resamples=n_resamples)
                low, high = bounds or (None, None)
                rows.append(
                    {
                        "kind": kind,
                        "dimension": dimension,
                        "raters": name,
                        "measure": measure_name,
                        "n_items": len(matrix),
                        "value": measured.value,
                        "low": low,
                        "high": high,
                        "reason": measured.reason,
                    }
                )
    return rows


def _with_judges(given: Sequence[Rating], judged: Sequence[Judged]) -> dict[str, list[Rating]]:
    """For each judge: the mean of people's scores and the judge's, of the items both have scored."""
    means, first = mean_by_item(given), {each.item_id: each for each in given}
    pairs: dict[str, list[Rating]] = {}
    for each in judged:
        if each.item_id in means:
            item, name = first[each.item_id], f"{JUDGE}{each.judge}"
            pairs.setdefault(name, []).extend(
                [
                    item._replace(rater=PEOPLE, value=means[each.item_id]),
                    item._replace(rater=name, value=each.score),
                ]
            )
    return dict(sorted(pairs.items()))


def _matrix(ratings: Sequence[Rating], raters: Sequence[str]) -> tuple[Ratings, list[str]]:
    """Ratings of the items that two or more of `raters` rated, and the cluster of each.

    Labels become their places in the alphabet: no measure of labels asks for more than sameness.
    """
    place = {rater: number for number, rater in enumerate(raters)}
    chosen = [each for each in ratings if each.rater in place]
    item_ids = sorted({each.item_id for each in chosen})
    row = {item_id: number for number, item_id in enumerate(item_ids)}
    labels = sorted({each.value for each in chosen if isinstance(each.value, str)})
    code = {label: float(number) for number, label in enumerate(labels)}
    matrix = np.full((len(item_ids), len(raters)), np.nan)
    clusters = dict.fromkeys(item_ids, "")
    for each in chosen:
        value = code[each.value] if isinstance(each.value, str) else each.value
        matrix[row[each.item_id], place[each.rater]] = value
        clusters[each.item_id] = each.cluster
    twice = (~np.isnan(matrix)).sum(axis=1) >= 2
    return rated_twice(matrix), [clusters[item_ids[i]] for i in np.flatnonzero(twice)]


def _escaped(name: str) -> str:
    """A name without a bare bar, so that no two pairs are written alike."""
    return name.replace("\\", "\\\\").replace("|", "\\|")
