"""Inter-annotator agreement as table rows: among people (`people_rows`), and of people with an LLM
judge (`judge_rows`).
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from methods.agreement.measures import (
    LABELS_OF_ALL,
    LABELS_OF_PAIR,
    SCORES_OF_ALL,
    SCORES_OF_PAIR,
    measured_rows,
)
from methods.agreement.rating_matrix import N_RESAMPLES, Ratings, with_two_ratings
from methods.evaluation.judging import PEOPLE
from methods.review.overview import grouped
from methods.review.ratings import SCORE, Rating, mean_by_item

ALL = "all"
JUDGE = "judge:"
"""Prefix of judges' names, which distinguishes them from people."""


class JudgeScore(NamedTuple):
    """The score that a judge gave an item on one dimension."""

    item_id: str
    judge: str
    dimension: str
    score: float


def people_rows(
    ratings: Sequence[Rating], *, seed: int, n_resamples: int = N_RESAMPLES
) -> list[dict[str, Any]]:
    """Measure the agreement of people with each other, for each kind and dimension.

    Args:
        ratings: The ratings.
        seed: The seed of the bootstraps.
        n_resamples: The number of bootstrap draws.

    Returns:
        Rows with kind, dimension, raters, measure, n_items, value, low, high and reason. `raters` is
        `all`, or `a|b` for two people who rated at least one common item. `n_items` is the number of
        items that at least two of the raters rated. `reason` says why there is no value.
    """
    rows = []
    for (kind, dimension), of_dimension in _by_dimension(ratings).items():
        people = sorted({rating.rater for rating in of_dimension})
        of_pair, of_all = (
            (SCORES_OF_PAIR, SCORES_OF_ALL) if kind == SCORE else (LABELS_OF_PAIR, LABELS_OF_ALL)
        )
        comparisons = [(ALL, people, of_all)]
        comparisons += [
            (f"{_escaped(a)}|{_escaped(b)}", [a, b], of_pair) for a, b in combinations(people, 2)
        ]
        for name, raters, measures in comparisons:
            matrix, clusters = _matrix(of_dimension, raters)
            if len(matrix) or name == ALL:
                measured = measured_rows(measures, matrix, clusters, seed, n_resamples)
                key = {"kind": kind, "dimension": dimension, "raters": name}
                rows += [{**key, **values} for values in measured]
    return rows


def judge_rows(
    ratings: Sequence[Rating],
    judge_scores: Iterable[JudgeScore],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[dict[str, Any]]:
    """Measure the agreement of the mean of people's scores with each judge, for each dimension.

    Args:
        ratings: The ratings of people.
        judge_scores: The scores of judges.
        seed: The seed of the bootstraps.
        n_resamples: The number of bootstrap draws.

    Returns:
        Rows as in `people_rows`, with `people|judge:name` as raters. Only items count that both people
        and the judge scored. A judge without such items has no row.
    """
    judge_scores = list(judge_scores)
    rows = []
    for (kind, dimension), ratings_of_dimension in _by_dimension(ratings).items():
        if kind != SCORE:
            continue
        of_dimension = [score for score in judge_scores if score.dimension == dimension]
        for judge, both in _pairs_with_judges(ratings_of_dimension, of_dimension).items():
            matrix, clusters = _matrix(both, [PEOPLE, judge])
            measured = measured_rows(SCORES_OF_PAIR, matrix, clusters, seed, n_resamples)
            key = {"kind": kind, "dimension": dimension, "raters": f"{PEOPLE}|{judge}"}
            rows += [{**key, **values} for values in measured]
    return rows


def _by_dimension(ratings: Sequence[Rating]) -> dict[tuple[str, str], list[Rating]]:
    """Group the ratings by kind and dimension, in alphabetical order."""
    return grouped(ratings, lambda rating: (rating.kind, rating.dimension))


def _pairs_with_judges(
    ratings: Sequence[Rating], judge_scores: Sequence[JudgeScore]
) -> dict[str, list[Rating]]:
    """For each judge, make two ratings of each item that both people and the judge scored: the mean of
    people's scores, and the judge's score.
    """
    means, first = mean_by_item(ratings), {rating.item_id: rating for rating in ratings}
    pairs: dict[str, list[Rating]] = {}
    for score in judge_scores:
        if score.item_id in means:
            item, name = first[score.item_id], f"{JUDGE}{score.judge}"
            pairs.setdefault(name, []).extend(
                [
                    item._replace(rater=PEOPLE, value=means[score.item_id]),
                    item._replace(rater=name, value=score.score),
                ]
            )
    return dict(sorted(pairs.items()))


def _matrix(ratings: Sequence[Rating], raters: Sequence[str]) -> tuple[Ratings, list[str]]:
    """The matrix (items, raters) of items that two or more of `raters` rated, and each item's cluster.

    Labels become numbers in alphabetical order, because measures for labels only compare equality.
    """
    column = {rater: number for number, rater in enumerate(raters)}
    chosen = [rating for rating in ratings if rating.rater in column]
    item_ids = sorted({rating.item_id for rating in chosen})
    row = {item_id: number for number, item_id in enumerate(item_ids)}
    labels = sorted({rating.value for rating in chosen if isinstance(rating.value, str)})
    code = {label: float(number) for number, label in enumerate(labels)}
    matrix = np.full((len(item_ids), len(raters)), np.nan)
    clusters = dict.fromkeys(item_ids, "")
    for rating in chosen:
        value = code[rating.value] if isinstance(rating.value, str) else rating.value
        matrix[row[rating.item_id], column[rating.rater]] = value
        clusters[rating.item_id] = rating.cluster
    twice = (~np.isnan(matrix)).sum(axis=1) >= 2
    return with_two_ratings(matrix), [clusters[item_ids[i]] for i in np.flatnonzero(twice)]


def _escaped(name: str) -> str:
    """Escape "|" in a name, so that different pairs have different texts."""
    return name.replace("\\", "\\\\").replace("|", "\\|")
