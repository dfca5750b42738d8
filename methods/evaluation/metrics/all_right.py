"""Circular evaluation: an item counts only if every pass of it is right (MMBench, 3.3, CircularEval).

    value of an item = 1 if every pass was observed and right, else 0;  score = 100 x mean over items

A pass that is missing is not a right one: an item is wrong as soon as one pass is, right once all
passes are, and unknown otherwise. The released scorer never checks how many passes there are.

The upper bound takes a declined pass for a right one (MMBench, 5.3, Table 4):

    value of an item = 1 if it is declined before any pass is wrong, else as above
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from methods.evaluation.metrics import Metric, ScoredObservation, Unit
from methods.evaluation.metrics.observations import Flags, Floats, Groups, Observations, grouped
from methods.evaluation.metrics.units import Units


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

    def units(self, observed: Sequence[ScoredObservation], *, floor: bool) -> Sequence[Unit]:
        """Make one unit per item.

        Args:
            observed: The model's observations.
            floor: Whether an observation without a value counts as wrong.

        Returns:
            The units.
        """
        every = Observations.from_scored(observed)
        of_trial = np.array([name.startswith(self.trials) for name in every.names.trials], bool)
        is_pass = of_trial[every.column("trials")] if len(every) else np.zeros(0, bool)
        passes = every.take(every.having("metrics", self.observation) & is_pass)
        items = passes.column("items").astype(np.int64)
        groups = grouped(items)
        return Units(
            passes.names,
            "item",
            items[groups.first],
            passes.column("clusters")[groups.first],
            self.values_of(passes, groups, floor),
            *self.strata(passes, groups.first),
        )

    def values_of(self, observations: Observations, groups: Groups, floor: bool) -> Floats:
        """Return the value of each item; NaN if it is unknown.

        Args:
            observations: The observations of the passes.
            groups: The observations by item.
            floor: Whether an observation without a value counts as wrong.

        Returns:
            The values.
        """
        wrong = self.any_wrong(observations, groups, floor, np.ones(len(observations), dtype=bool))
        values = np.full(len(groups), np.nan)
        values[wrong] = self.lowest
        right = observations.column("values") == 1
        # A trial counts once, however often it was judged.
        passes = np.unique(
            np.stack([groups.group_of[right], observations.column("trials")[right]]), axis=1
        )[0]
        n_right = np.bincount(passes.astype(np.int64), minlength=len(groups))
        labels = observations.column("labels")[groups.first]
        for number in np.unique(labels[~wrong]).tolist():
            wanted = self.passes_of(observations.names.labels[number])
            values[~wrong & (labels == number) & (n_right == wanted)] = self.highest
        return values

    def any_wrong(
        self, observations: Observations, groups: Groups, floor: bool, counted: Flags
    ) -> Flags:
        """Tell for each item whether one of its counted passes is wrong.

        Args:
            observations: The observations of the passes.
            groups: The observations by item.
            floor: Whether an observation without a value counts as wrong.
            counted: Which observations count.

        Returns:
            Flags, one per item.
        """
        lost = ~observations.has_value if floor else np.zeros(len(observations), dtype=bool)
        return groups.count(((observations.column("values") == 0) | lost) & counted) > 0

    def passes_of(self, labels: Mapping[str, str]) -> int:
        """The passes that an item with these labels has."""
        return self.n_passes if isinstance(self.n_passes, int) else int(labels[self.n_passes])


@dataclass(frozen=True, kw_only=True)
class AllRightOrRefused(AllRight):
    """The same with every declined pass as a right one, and every pass after it that was not asked."""

    refusals_are_right: bool = True

    def values_of(self, observations: Observations, groups: Groups, floor: bool) -> Floats:
        """Return the value of each item; a refused item is right unless another pass is wrong.

        Args:
            observations: The observations of the passes.
            groups: The observations by item.
            floor: Whether an observation without a value counts as wrong.

        Returns:
            The values.
        """
        refused = observations.column("refused")
        declined = groups.count(refused) > 0
        wrong = self.any_wrong(observations, groups, floor, ~refused)
        or_refused = np.where(wrong, self.lowest, self.highest)
        return np.where(declined, or_refused, super().values_of(observations, groups, floor))
