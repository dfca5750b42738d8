"""Means of observations: over all of them, or over items or labels that are averaged first.

    micro            sum_i sum_t s_it / sum_i n_i
    macro            (1/I) sum_i (1/n_i) sum_t s_it
    macro by label   (1/L) sum_l mean of the s_it of the items with label value l

MMDU's text has the macro mean over dialogues, its released code the micro mean (MMDU, 2.3); MMIU and
AlignMMBench take the unweighted mean over tasks (MMIU, 3.3; AlignMMBench, 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from methods.evaluation.asking import PLAIN
from methods.evaluation.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Mean(Metric):
    """Mean of the observations `observation` (its name by default) of a trial, times `scale`.

    Several observations of one turn, such as both orders of a pair, are averaged first.
    """

    observation: str | None = None
    trial: str = PLAIN
    scale: float = 1.0

    def units(
        self, observed: "pd.DataFrame", *, floor: bool, by: Sequence[str] = ("model",)
    ) -> "pd.DataFrame":
        """Make one unit per turn; one per item if items are averaged."""
        scored = observed[
            (observed["metric"] == (self.observation or self.name))
            & (observed["trial"] == self.trial)
        ]
        values = self.values_of(scored)
        if floor:
            values = values.fillna(self.lowest)
        turns = scored.assign(
            unit=scored["item_id"],
            turn=0 if self.aggregation == "macro" else scored["turn"],
            value=values,
            stratum=self.strata(scored),
        )
        return turns.groupby([*by, "unit", "turn"], sort=False, as_index=False).agg(
            {"cluster": "first", "value": "mean", "stratum": "first"}
        )

    def values_of(self, scored: "pd.DataFrame") -> "pd.Series[float]":
        """Return the counted value of each observation; NaN if there is none."""
        return scored["value"] * self.scale


@dataclass(frozen=True, kw_only=True)
class MeanOrRefused(Mean):
    """The same with every turn that the model declined as the best one (MMBench, 5.3, Table 4)."""

    refusals_are_right: bool = True

    def values_of(self, scored: "pd.DataFrame") -> "pd.Series[float]":
        """Return the values of observations, with the best value for refusals."""
        return super().values_of(scored).mask(scored["refused"], self.highest)


@dataclass(frozen=True, kw_only=True)
class MeanWithoutRefused(Mean):
    """The same without the turns that the model declined (MMIU, 4.1)."""

    def units(
        self, observed: "pd.DataFrame", *, floor: bool, by: Sequence[str] = ("model",)
    ) -> "pd.DataFrame":
        """Make the units of all turns without refusals."""
        return super().units(observed[~observed["refused"]], floor=floor, by=by)
