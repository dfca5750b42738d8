"""A mean of several metrics of one model, item by item.

    value of an item = sum_k w_k v_ik / sum_k w_k,  v_ik its value by metric k

The metrics need not be about the same turns: ConvBench's R2 is the mean of three turns, R1 that of
R2 and of the whole conversation (ConvBench, 4.2 and Table 1). Where no value is missing the score
is the weighted mean of the metrics' own scores. An item that one of them does not value, since the
judge lost it, is left out: what was judged of it alone would be another score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from methods.evaluation.metrics import Metric, Scored, Unit


@dataclass(frozen=True, kw_only=True)
class WeightedMean(Metric):
    """Mean of `parts`, metrics with their weights, whose units are items or one turn of each."""

    parts: Sequence[tuple[Metric, float]]
    of_whole_items: bool = True

    def units(self, observed: Sequence[Scored], *, floor: bool) -> list[Unit]:
        """A unit an item that any of the parts observed; without a value where one of them has none."""
        columns = [
            {unit.key[0]: unit for unit in metric.units(observed, floor=floor)}
            for metric, _ in self.parts
        ]
        first = {item: unit for column in reversed(columns) for item, unit in column.items()}
        return [
            Unit(
                (item,),
                unit.cluster,
                self._value([column.get(item) for column in columns]),
                unit.stratum,
            )
            for item, unit in first.items()
        ]

    def _value(self, units: Sequence[Unit | None]) -> float | None:
        values = [None if unit is None else unit.value for unit in units]
        total = 0.0
        for value, (_, weight) in zip(values, self.parts, strict=True):
            if value is None:
                return None
            total += weight * value
        return total / sum(weight for _, weight in self.parts)
