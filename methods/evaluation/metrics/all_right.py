"""Circular evaluation: an item counts only if every pass of it is right (MMBench, 3.3, CircularEval).

    value of an item = 1 if every pass was observed and right, else 0;  score = 100 x mean over items

A pass that is missing is not a right one: an item is wrong as soon as one pass is, right once all
passes are, and unknown otherwise. The released scorer never checks how many passes there are.

The upper bound takes a declined pass for a right one (MMBench, 5.3, Table 4):

    value of an item = 1 if it is declined before any pass is wrong, else as above
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.observations import label_column
from methods.evaluation.statistics.bootstrap import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class AllRight(Metric):
    """Share of items, in percent, whose every observation `observation` is 1.

    The passes are the trials whose names begin with `trials`, or with one of them; an item has as many
    as `n_passes`, or as its label of that name says.
    """

    observation: str
    trials: str | tuple[str, ...]
    n_passes: str | int
    lowest: float = 0.0
    highest: float = 100.0

    @property
    def in_words(self) -> str:
        """What the number is the share of, for a methods section."""
        return f"{self.name}, the share of questions whose every pass is right"

    def units(
        self, observed: "pd.DataFrame", *, floor: bool, by: Sequence[str] = ("model",)
    ) -> "pd.DataFrame":
        """Make one unit per item; at the floor, an observation without a value counts as wrong."""
        trials = [name for name in observed["trial"].unique() if name.startswith(self.trials)]
        passes = observed[(observed["metric"] == self.observation) & observed["trial"].isin(trials)]
        wrong = passes["value"] == 0
        if floor:
            wrong |= passes["value"].isna()
        passes = passes.assign(
            unit=passes["item_id"],
            turn=0,
            stratum=self.strata(passes),
            wrong=wrong,
            wrong_otherwise=wrong & ~passes["refused"],
            # A trial counts once, however often it was judged.
            right_trial=passes["trial"].where(passes["value"] == 1),
            n_passes=self._passes_in(passes),
        )
        items = passes.groupby([*by, "unit", "turn"], sort=False, as_index=False).agg(
            cluster=("cluster", "first"),
            stratum=("stratum", "first"),
            wrong=("wrong", "any"),
            wrong_otherwise=("wrong_otherwise", "any"),
            declined=("refused", "any"),
            n_right=("right_trial", "nunique"),
            n_passes=("n_passes", "first"),
        )
        return items.assign(value=self.values_of(items))

    def _passes_in(self, observed: "pd.DataFrame") -> "pd.Series[float] | float":
        if isinstance(self.n_passes, int):
            return self.n_passes
        if observed.empty:  # It may lack the column of the label.
            return np.nan
        return observed[label_column(self.n_passes)].astype(float)

    def passes_of(self, labels: Mapping[str, str]) -> int:
        """The passes that an item with these labels has."""
        return self.n_passes if isinstance(self.n_passes, int) else int(labels[self.n_passes])

    def values_of(self, items: "pd.DataFrame") -> Floats:
        """Return the value of each item; NaN if it is unknown."""
        is_right = items["n_right"] == items["n_passes"]
        return np.select([items["wrong"], is_right], [self.lowest, self.highest], np.nan)


@dataclass(frozen=True, kw_only=True)
class AllRightOrRefused(AllRight):
    """The same with every declined pass as a right one, and every pass after it that was not asked."""

    refusals_are_right: bool = True

    def values_of(self, items: "pd.DataFrame") -> Floats:
        """Return the value of each item; a declined item is right unless another pass is wrong."""
        or_declined = np.where(items["wrong_otherwise"], self.lowest, self.highest)
        return np.where(items["declined"], or_declined, super().values_of(items))
