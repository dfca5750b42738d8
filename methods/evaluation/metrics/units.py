"""Units: the values that a metric averages, as a pandas data frame.

| column | content |
| --- | --- |
| `model` | the model; more columns separate units further, such as a label |
| `unit` | the item, or the cluster where the metric averages clusters, as a category |
| `turn` | the turn of the item; 0 for the whole item or cluster |
| `cluster` | the unit of resampling, as a category |
| `value` | the value; NaN where the unit has none |
| `stratum` | number of the stratum: the mean is over the means of strata |
| `place` | place of the metric among several |
| `term` | place of the term in a composite metric; 0 for every other metric |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from methods.batched import batched
from methods.evaluation.candidates import is_model
from methods.evaluation.metrics import Metric
from methods.evaluation.statistics.bootstrap import Clusters, Floats
from methods.evaluation.statistics.weighted_sums import weighted_total

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
ROWS_AT_ONCE = 2**19
"""Observations times metrics whose units are in memory at once."""
KEY = ["place", "term", "unit", "turn"]
"""The columns that identify a unit across models."""


class UnitMatrix(NamedTuple):
    """Values (models x units, NaN where a model lacks a unit), cluster and stratum of each unit."""

    values: Floats
    clusters: Clusters
    strata: NDArray[np.int64]

    def of_models(self, rows: Sequence[int]) -> "UnitMatrix":
        """The rows of some models, with the units that any of them has."""
        values = self.values[list(rows)]
        some = ~np.isnan(values).all(axis=0)
        return UnitMatrix(values[:, some], self.clusters[some], self.strata[some])


def portions(parts: Iterable[T], observed: "pd.DataFrame") -> Iterator[list[T]]:
    """Divide what is computed from observations so that the units of a portion fit into memory.

    Args:
        parts: The parts, such as metrics or labels; each needs units of all observations.
        observed: The observations.

    Yields:
        One or more parts.
    """
    return batched(parts, max(1, ROWS_AT_ONCE // max(1, len(observed))))


def units_of(
    metrics: Mapping[int, Metric],
    observed: "pd.DataFrame",
    *,
    floor: bool,
    by: Sequence[str] = ("model",),
) -> "pd.DataFrame":
    """Compute the units of each term of metrics that have a value.

    Args:
        metrics: Metrics by the place that their units have.
        observed: The observations that count.
        floor: Whether an observation without a value counts as the lowest value.
        by: The columns that separate units.

    Returns:
        The units.
    """
    return _all_units(metrics, observed, floor, by).dropna(subset=["value"])


def _all_units(
    metrics: Mapping[int, Metric], observed: "pd.DataFrame", floor: bool, by: Sequence[str]
) -> "pd.DataFrame":
    """Compute the units of each term of metrics, with and without a value."""
    import pandas as pd

    # A metric may be a term of several others.
    terms = {id(term.metric): term.metric for metric in metrics.values() for term in metric.terms}
    units = {key: metric.units(observed, floor=floor, by=by) for key, metric in terms.items()}
    return pd.concat(
        [
            units[id(term.metric)].assign(place=place, term=number)
            for place, metric in metrics.items()
            for number, term in enumerate(metric.terms)
        ],
        ignore_index=True,
    )


def with_all_terms(units: "pd.DataFrame", metric: Metric) -> "pd.DataFrame":
    """The units of models that have a number by the metric: they have units of every term."""
    numbers = means(units, metric.weights).dropna()
    return units[units["model"].isin(numbers.index)]


def means(units: "pd.DataFrame", weights: Sequence[float]) -> "pd.Series[float]":
    """Compute the weighted sum of the means of terms; a mean is over the means of strata.

    Args:
        units: Units with a value.
        weights: The weight of each term.

    Returns:
        The number of each model; NaN where a term has no units.
    """
    of_strata = units.groupby(["model", "term", "stratum"])["value"].mean()
    of_terms = of_strata.groupby(level=["model", "term"]).mean().unstack("term")
    of_terms = of_terms.reindex(columns=range(len(weights)))
    values: list[Any] = [of_terms[term] for term in of_terms]
    return weighted_total(weights, values)


def in_common(units: "pd.DataFrame") -> "pd.DataFrame":
    """Select the units that every model with units has, term by term.

    Baselines and ablations do not decide which units are common.
    """
    decides = units["model"].isin([name for name in units["model"].unique() if is_model(name)])
    deciding = units.assign(decides=decides, model=units["model"].where(decides))
    n_models = deciding.groupby(KEY[:2])["model"].transform("nunique")
    n_having = deciding.groupby(KEY)["decides"].transform("sum")
    return units[(n_having == n_models) & (n_models > 0)]


def coverage_of(
    metrics: Mapping[int, Metric], observed: "pd.DataFrame"
) -> dict[tuple[int, str], float]:
    """Compute the share of the units that have a value; of a composite, of its least covered term.

    Args:
        metrics: Metrics by place.
        observed: All observations, also those without a value.

    Returns:
        The share of each place and model, 0 to 1; those without units of a term are left out.
    """
    units = _all_units(metrics, observed, floor=False, by=["model"])
    units["has_value"] = units["value"].notna()
    shares = units.groupby(["place", "model", "term"])["has_value"].mean()
    least = shares.groupby(level=["place", "model"]).agg(["min", "size"])
    return {
        (place, model): share
        for (place, model), share, n_terms in least.itertuples(name=None)
        if n_terms == len(metrics[place].weights)
    }


def matrices(units: "pd.DataFrame", models: Sequence[str], n_terms: int) -> list[UnitMatrix]:
    """Arrange units in matrices for comparisons.

    Args:
        units: Units with a value.
        models: The models of the rows.
        n_terms: The number of terms.

    Returns:
        A matrix for each term. Equal clusters of different terms have equal numbers.
    """
    import pandas as pd

    arranged = []
    for term in range(n_terms):
        table = units[units["term"] == term].pivot(
            index="model", columns=["cluster", "stratum", "unit", "turn"], values="value"
        )
        arranged.append(
            UnitMatrix(
                table.reindex(list(models)).to_numpy(dtype=float),
                pd.CategoricalIndex(table.columns.get_level_values("cluster")).codes.astype(
                    np.int64
                ),
                table.columns.get_level_values("stratum").to_numpy(dtype=np.int64),
            )
        )
    return arranged


def weighted_by_stratum(matrix: UnitMatrix) -> UnitMatrix:
    """Weight the units that all rows have so that their mean is the mean m of the strata's means.

    With the weight w = n / (L n_l) of a unit of the l-th of L strata its value x becomes m + w (x - m).
    So equal values stay equal, and the weights of units are not taken for differences between them.
    """
    shared = ~np.isnan(matrix.values).any(axis=0)
    values, clusters, strata = matrix.values[:, shared], *(of[shared] for of in matrix[1:])
    _, stratum_of, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    weights = len(strata) / (len(sizes) * sizes[stratum_of])
    mean = (values * weights).sum(axis=1, keepdims=True) / max(1, len(strata))
    return UnitMatrix(mean + weights * (values - mean), clusters, strata)
