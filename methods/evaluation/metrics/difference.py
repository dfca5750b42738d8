"""The difference of two metrics of one model, unit by unit.

    value of a unit = a_u - b_u, over the units that both metrics value

Examples: vanilla minus circular accuracy (MMBench, 5.2); a later turn with perfect perception minus
the same turn with the model's own (ConvBench, 4.3: how much of an error comes from perception).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from methods.evaluation.metrics import Metric, Scored, Unit


@dataclass(frozen=True, kw_only=True)
class Difference(Metric):
    """`first` minus `second`, whose units have the same keys.

    At the floor a unit that the model failed in one of them has the worst difference, `lowest`; one
    that it failed in both has that of their lowest values, which is 0 where these are alike.
    """

    first: Metric
    second: Metric

    def units(self, observed: Sequence[Scored], *, floor: bool) -> list[Unit]:
        """The units that both have; none where the model has no item in both.

        Raises ValueError where their units are of different kinds, such as items and turns.
        """
        units = self.first.units(observed, floor=False)
        less = {unit.key: unit.value for unit in self.second.units(observed, floor=False)}
        both = [unit for unit in units if unit.key in less]
        if len({len(key) for key in (*less, *(unit.key for unit in units))}) > 1:
            raise ValueError(f"{self.first.name} and {self.second.name} average different units.")
        return [
            Unit(
                unit.key, unit.cluster, self._value(unit.value, less[unit.key], floor), unit.stratum
            )
            for unit in both
        ]

    def _value(self, first: float | None, second: float | None, floor: bool) -> float | None:
        if first is not None and second is not None:
            return first - second
        if not floor:
            return None
        return self.first.lowest - self.second.lowest if first is second else self.lowest


def difference(name: str, first: Metric, second: Metric) -> Difference:
    """The metric `first` minus `second`, where a smaller number is better."""
    return Difference(
        name=name,
        first=first,
        second=second,
        lowest=first.highest - second.lowest,
        highest=first.lowest - second.highest,
        aggregation=first.aggregation,
        higher_is_better=False,
    )
