"""How little scores differ over rewrites of one question (AlignMMBench, 4.3).

    sigma_g = population standard deviation of the scores in group g

    alignment score     N / sum_g sigma_g, the inverse of the mean deviation
    mean deviation      sum_g sigma_g / N
    share over a band   share of the groups whose scores do not all lie in one band

The units are groups, so all three have an interval over groups. A group with one score says
nothing and is left out. Where no group differs the alignment score is infinite; the other two are 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from methods.evaluation.asking import PLAIN
from methods.evaluation.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.typing import SeriesGroupBy


@dataclass(frozen=True, kw_only=True)
class GroupSpread(Metric):
    """Mean standard deviation of `observation` within groups, or its inverse.

    `lowest` is the largest possible standard deviation, half the range of the observations, which a
    group with a failed item gets if failures count; `highest` is 0.
    """

    observation: str
    trial: str = PLAIN
    highest: float = 0.0
    inverse: bool = True

    def units(
        self, observed: "pd.DataFrame", *, floor: bool, by: Sequence[str] = ("model",)
    ) -> "pd.DataFrame":
        """Make one unit per group of at least two items."""
        turns = observed[
            (observed["metric"] == self.observation) & (observed["trial"] == self.trial)
        ]
        turns = turns.assign(
            unit=turns["cluster"],
            turn=0,
            value=self.values_of(turns),
            stratum=self.strata(turns),
        )
        groups = turns.groupby([*by, "unit", "turn"], sort=False)
        units = groups.agg(
            cluster=("cluster", "first"),
            stratum=("stratum", "first"),
            n_items=("item_id", "nunique"),
            n_turns=("value", "size"),
            n_values=("value", "count"),
        )
        units["value"] = self.spread(groups["value"]).where(units["n_values"] > 1)
        if floor:
            units["value"] = units["value"].mask(units["n_values"] < units["n_turns"], self.lowest)
        return units[units["n_items"] > 1].reset_index()

    def values_of(self, turns: "pd.DataFrame") -> "pd.Series[float]":
        """Return the values that may differ within a group."""
        return turns["value"]

    def spread(self, groups: "SeriesGroupBy[Any, Any]") -> "pd.Series[float]":
        """How far the values of each group differ."""
        return groups.std(ddof=0)

    def statistic(self, mean: float) -> float:
        """The mean deviation, or its inverse."""
        if not self.inverse:
            return mean
        return 1 / mean if mean else math.inf


@dataclass(frozen=True, kw_only=True)
class ShareOverBand(GroupSpread):
    """Percent of the groups whose scores do not all lie in one of `bands`, pairs of lowest and highest.

    A score between two bands, as a mean of replicates may be, belongs to the lower one.
    """

    bands: Sequence[tuple[float, float]]
    lowest: float = 100.0
    inverse: bool = False
    higher_is_better: bool = False

    def values_of(self, turns: "pd.DataFrame") -> "pd.Series[float]":
        """Return the number of the band of each score."""
        lows = np.sort([low for low, _ in self.bands])
        bands = np.searchsorted(lows, turns["value"], side="right").astype(float)
        return turns["value"].where(turns["value"].isna(), bands)

    def spread(self, groups: "SeriesGroupBy[Any, Any]") -> "pd.Series[float]":
        """100 where the scores lie in several bands, else 0."""
        return 100.0 * (groups.max() != groups.min())
