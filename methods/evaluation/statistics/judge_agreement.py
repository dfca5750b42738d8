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
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measures import SCORES_OF_PAIR
from methods.agreement.rating_matrix import Measure, Ratings, interval
from methods.evaluation.statistics.bootstrap import (
    Clusters,
    Floats,
    bootstrap_means,
    cluster_totals,
    percentile_estimates,
)
from methods.evaluation.statistics.estimates import PERCENTILES, Estimate

Level = Literal["answer", "item", "model"]
Labels = NDArray[np.int64]


class LevelAgreement(NamedTuple):
    """One measure of two raters at one level.

    `n` counts the answers, items or models compared; `reason` says why there is no value.
    """

    level: Level
    measure: str
    n: int
    estimate: Estimate
    reason: str | None


def judge_agreement(
    ratings: Ratings,
    models: Labels,
    items: Clusters,
    *,
    seed: int,
    n_resamples: int,
    measures: Mapping[str, Measure] = SCORES_OF_PAIR,
) -> Iterator[LevelAgreement]:
    """Compute every measure of agreement of two raters at every level.

    The cost is three levels x the measures x `n_resamples` calls of scipy: with 1,000 resamples and
    four measures about 5 s for 1,000 answers and 16 s for 25,000.

    Args:
        ratings: Answers x two raters (judges, people, or the mean of people), NaN for no score.
        models: The model of each answer.
        items: The item of each answer, a cluster.
        seed: The seed of the bootstrap over items.
        n_resamples: The number of bootstrap draws; with 0 there are no intervals.
        measures: The measures by name.

    Yields:
        A row for each level and measure.
    """
    both = ~np.isnan(ratings).any(axis=1)
    pair, models, items = ratings[both], models[both], items[both]
    groups, group_of = np.unique(np.stack([models, items]), axis=1, return_inverse=True)
    rows: dict[Level, tuple[Ratings, Clusters]] = {
        "answer": (pair, items),
        "item": (_group_means(pair, group_of.reshape(-1)), groups[1]),
    }
    n_items = len(np.unique(items))
    for level, (of_level, item_of) in rows.items():
        for name, measure in measures.items():
            measured = measure(of_level)
            bounds = None
            if n_resamples and n_items >= 2:
                labels = [str(item) for item in item_of]
                bounds = interval(measure, of_level, labels, seed=seed, n_resamples=n_resamples)
            low, high = bounds or (None, None)
            method = None if low is None else PERCENTILES
            estimate = Estimate(measured.value, low, high, n_items, method)
            yield LevelAgreement(level, name, len(of_level), estimate, measured.reason)
    means = _group_means(pair, models)
    resampled = _resampled_model_means(pair, models, items, seed, n_resamples)
    for name, measure in measures.items():
        measured = measure(means)
        estimate = Estimate(measured.value, None, None, n_items)
        if measured.value is not None:
            resampled_values = np.array([[measure(each).value for each in resampled]], dtype=float)
            values, n_clusters = np.array([measured.value]), np.array([n_items])
            (estimate,) = percentile_estimates(values, resampled_values, n_clusters)
        yield LevelAgreement("model", name, len(means), estimate, measured.reason)


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
