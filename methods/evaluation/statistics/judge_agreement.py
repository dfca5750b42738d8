"""Agreement of LLM judges with each other and with people, at the level of answers, items and models.

    answer   the scores of single answers, as given
    item     a model's mean over the answers of an item (a dialogue, all rewrites of a question)
    model    a model's mean over all its answers

A judge may be noisy on single answers and yet put models in the right order, or agree on answers and be
unfair to one model: the three levels answer different questions. Means are over the answers that both
raters have scored. Measures are those of methods/agreement for scores of two raters. Intervals come
from the bootstrap over clusters at every level (the same models, other items); with one cluster there
are none. Sources: the segment and system levels of Mathur, Baldwin and Cohn (2020), Tangled up in BLEU;
MMDU, Table 4 (measures).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measures import SCORES_OF_PAIR
from methods.agreement.rating_matrix import N_RESAMPLES, Measure, Ratings, interval
from methods.evaluation.statistics.bootstrap import (
    Clusters,
    Floats,
    bootstrap_means,
    cluster_totals,
    percentile_estimates,
)
from methods.evaluation.statistics.estimates import Estimate

Level = Literal["answer", "item", "model"]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class LevelAgreement:
    """One measure of two raters, by their columns in `ratings`, at one level.

    `n` counts the answers, items or models compared; `reason` says why there is no value.
    """

    first: int
    second: int
    level: Level
    measure: str
    n: int
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n_clusters: int | None
    reason: str | None


def judge_agreement(
    ratings: Ratings,
    models: Labels,
    items: Labels,
    clusters: Clusters,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    measures: Mapping[str, Measure] = SCORES_OF_PAIR,
) -> list[LevelAgreement]:
    """Compute every measure of agreement of every two raters at every level.

    The cost is three levels x the measures x `n_resamples` calls of scipy for two raters: with 1,000
    resamples and four measures about 5 s for 1,000 answers and 16 s for 25,000.

    Args:
        ratings: Answers x raters (judges, people, or the mean of people), NaN if a rater gave no score.
        models: The model of each answer.
        items: The item of each answer.
        clusters: The cluster of each answer.
        seed: The seed of the bootstrap over clusters.
        n_resamples: The number of bootstrap draws; with 0 there are no intervals.
        measures: The measures by name.

    Returns:
        A row for each two raters, level and measure. Raters are numbered by their columns.
    """
    agreements = []
    for first, second in combinations(range(ratings.shape[1]), 2):
        both = ~np.isnan(ratings[:, [first, second]]).any(axis=1)
        pair = ratings[both][:, [first, second]]
        of_pair = _levels(
            measures,
            pair,
            models[both],
            items[both],
            clusters[both],
            seed=seed,
            n_resamples=n_resamples,
        )
        for level, measure, n, estimate, reason in of_pair:
            figures = estimate.value, estimate.ci_low, estimate.ci_high, estimate.n_clusters
            agreements.append(LevelAgreement(first, second, level, measure, n, *figures, reason))
    return agreements


def _levels(
    measures: Mapping[str, Measure],
    pair: Ratings,
    models: Labels,
    items: Labels,
    clusters: Clusters,
    *,
    seed: int,
    n_resamples: int,
) -> Iterator[tuple[Level, str, int, Estimate, str | None]]:
    """Yield level, measure, number compared, estimate and reason; both raters rated every answer."""
    item_of = np.unique(np.stack([models, items]), axis=1, return_inverse=True)[1].reshape(-1)
    rows: dict[Level, tuple[Ratings, Clusters]] = {
        "answer": (pair, clusters),
        "item": (_group_means(pair, item_of), _first_of_group(clusters, item_of)),
    }
    n_clusters = len(np.unique(clusters))
    for level, (ratings, cluster_of) in rows.items():
        for name, measure in measures.items():
            measured = measure(ratings)
            bounds = None
            if n_resamples and n_clusters >= 2:
                bounds = interval(
                    measure,
                    ratings,
                    [str(cluster) for cluster in cluster_of],
                    seed=seed,
                    n_resamples=n_resamples,
                )
            low, high = bounds or (None, None)
            estimate = Estimate(measured.value, low, high, n_clusters)
            yield level, name, len(ratings), estimate, measured.reason
    means = _group_means(pair, models)
    resampled = _resampled_model_means(pair, models, clusters, seed, n_resamples)
    for name, measure in measures.items():
        measured = measure(means)
        estimate = Estimate(measured.value, None, None, n_clusters)
        if measured.value is not None:
            estimate = _estimate(measure, measured.value, resampled, n_clusters)
        yield "model", name, len(means), estimate, measured.reason


def _estimate(measure: Measure, value: float, resampled: Floats, n_clusters: int) -> Estimate:
    """The value with an interval: percentiles over resampled means of shape resamples x models x 2."""
    values = [measure(means).value for means in resampled]
    row = np.array([[np.nan if value is None else value for value in values]])
    return percentile_estimates(np.array([value]), row, np.array([n_clusters]))[0]


def _resampled_model_means(
    pair: Ratings, models: Labels, clusters: Clusters, seed: int, n_resamples: int
) -> Floats:
    """Compute both raters' mean of each model in each resample of clusters: resamples x models x 2."""
    of_model = models == np.unique(models)[:, None]
    if not len(of_model):
        return np.zeros((n_resamples, 0, 2))
    values = np.where(of_model[:, None, :], pair.T, np.nan).reshape(-1, len(pair))
    totals = cluster_totals(values, clusters)
    means = bootstrap_means(totals, seed=seed, n_resamples=n_resamples)
    return means.T.reshape(n_resamples, len(of_model), 2)


def _group_means(pair: Ratings, group_of: Labels) -> Ratings:
    """Mean of each rater in each group, in the order of the groups' labels: groups x 2."""
    totals = cluster_totals(pair.T, group_of)
    return (totals.sums / totals.sizes).T


def _first_of_group(labels: Labels, group_of: Labels) -> Labels:
    """The label of the first answer of each group, in the order of the groups' labels."""
    return labels[np.unique(group_of, return_index=True)[1]]
