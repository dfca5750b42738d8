"""All passes right: an item counts only if every pass of it is right (MMBench, 3.3, CircularEval).

    value of an item = 1 if every pass was observed and right, else 0;  score = 100 x mean over items

A pass that is missing is not a right one: an item is wrong as soon as one pass is, right once all
passes are, and unknown otherwise. The released scorer never checks how many passes there are.

The upper bound takes a declined pass for a right one (MMBench, 5.3, Table 4):

    value of an item = 1 if it is declined before any pass is wrong, else as above
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from methods.evaluation.metrics import Metric, Scored, Unit, by_key


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

    def units(self, observed: Sequence[Scored], *, floor: bool) -> list[Unit]:
        """A unit an item."""
        items = by_key(
            ((score.item_id,), score)
            for score in observed
            if score.metric == self.observation and score.trial.startswith(self.trials)
        )
        return [
            Unit(key, passes[0].cluster, self._value(passes, floor), self.stratum(passes[0]))
            for key, passes in items.items()
        ]

    def _value(self, passes: Sequence[Scored], floor: bool) -> float | None:
        values = [score.value for score in passes]
        if 0 in values or (floor and None in values):
            return self.lowest
        right = {score.trial for score in passes if score.value == 1}
        return self.highest if len(right) == self.passes_of(passes[0].labels) else None

    def passes_of(self, labels: Mapping[str, str]) -> int:
        """The passes that an item with these labels has."""
        return self.n_passes if isinstance(self.n_passes, int) else int(labels[self.n_passes])


@dataclass(frozen=True, kw_only=True)
class AllRightOrRefused(AllRight):
    """The same with every declined pass as a right one, and every pass after it that was not asked."""

    refusals_are_right: bool = True

    def _value(self, passes: Sequence[Scored], floor: bool) -> float | None:
        answered = [score for score in passes if not score.refused]
        if len(answered) == len(passes):
            return super()._value(passes, floor)
        values = [score.value for score in answered]
        return self.lowest if 0 in values or (floor and None in values) else self.highest
