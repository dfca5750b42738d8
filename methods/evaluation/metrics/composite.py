"""Metrics that are a formula over other metrics: weighted means and differences.

    number = sum_k w_k m_k,   m_k the number of the k-th term

The number is the formula applied to the numbers of its terms, each over all units that it has: what the
judge lost of one term leaves the others as they are. So a printed composite is always the formula over
the printed terms (ConvBench, 4.2: R2 = (S1 + S2 + S3) / 3 and R1 = (R2 + SO) / 2; 4.3: S2^ - S2;
MMBench, 5.2: vanilla minus circular accuracy). The interval is that of `statistics/weighted_sums.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from methods.evaluation.metrics import Metric, Term
from methods.evaluation.statistics.weighted_sums import weighted_total

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Composite(Metric):
    """The sum of `parts`, metrics with their weights. A part may be a composite itself.

    Raises ValueError for a part whose number is the inverse of a mean: an interval of the sum does not
    follow from the means then.
    """

    parts: tuple[tuple[Metric, float], ...]

    def __post_init__(self) -> None:
        for metric, _ in self.parts:
            if metric.inverse:
                raise ValueError(
                    f"{self.name}: {metric.name} is the inverse of a mean. Use the metric of the mean."
                )

    @property
    def terms(self) -> tuple[Term, ...]:
        """The metrics that are no composites, with their weights in the sum."""
        return tuple(
            Term(term.metric, weight * term.weight)
            for metric, weight in self.parts
            for term in metric.terms
        )

    @property
    def in_words(self) -> str:
        """The formula, and what its first term is, for a methods section."""
        return f"{self._formula()}; {self.terms[0].metric.in_words}, and so on"

    def _formula(self) -> str:
        """The formula over the parts, and those of parts that are composites themselves."""
        signed = [
            f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight):.3g} '}"
            f"{metric.name}"
            for metric, weight in self.parts
        ]
        inner = [metric._formula() for metric, _ in self.parts if isinstance(metric, Composite)]
        return "; ".join([f"{self.name} = {' '.join(signed).removeprefix('+ ')}", *inner])

    def units(
        self, observed: "pd.DataFrame", *, floor: bool, by: Sequence[str] = ("model",)
    ) -> "pd.DataFrame":
        """Apply the formula to each item or group, for views of single items.

        The score is not the mean of these values, which are missing where a term has none.
        """
        import pandas as pd

        units = pd.concat(
            [
                term.metric.units(observed, floor=floor, by=by).assign(term=number)
                for number, term in enumerate(self.terms)
            ]
        )
        item = [*by, "unit"]
        means = units.groupby([*item, "term"])["value"].mean().unstack("term")
        values: list[Any] = [means.get(number, np.nan) for number in range(len(self.terms))]
        items = units.groupby(item)[["cluster", "stratum"]].first()
        return items.assign(turn=0, value=weighted_total(self.weights, values)).reset_index()


def weighted_mean(
    name: str, parts: Sequence[tuple[Metric, float]], *, lowest: float, highest: float
) -> Composite:
    """The mean of several metrics.

    Args:
        name: The name of the metric.
        parts: The metrics and their weights, of any sum.
        lowest: The number of a model that failed everything.
        highest: The best number that there can be.
    """
    total = sum(weight for _, weight in parts)
    return Composite(
        name=name,
        parts=tuple((metric, weight / total) for metric, weight in parts),
        lowest=lowest,
        highest=highest,
        of_whole_items=True,
    )


def difference(name: str, first: Metric, second: Metric) -> Composite:
    """The metric `first` minus `second`, where a smaller number is better.

    Args:
        name: The name of the metric.
        first: The metric that is subtracted from.
        second: The metric that is subtracted.
    """
    return Composite(
        name=name,
        parts=((first, 1.0), (second, -1.0)),
        lowest=first.highest - second.lowest,
        highest=first.lowest - second.highest,
        aggregation=first.aggregation,
        higher_is_better=False,
    )
