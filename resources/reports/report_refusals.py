"""Refusals of a report, and what the scores would be if all of them were right (MMBench, Table 4).

What belongs here: the score that ranks in its two forms beside the benchmark's upper bound. A benchmark
without such a metric has none of this.
"""

from collections.abc import Sequence
from typing import NamedTuple

from resources.reports.estimate import Estimate
from resources.reports.report_scores import JUDGED, Judged, MetricShown, Who


class Refused(NamedTuple):
    """One model: how many of its answers decline, and its scores; `gain` is the bound's over the first.

    A refusal by a filter is left out of `judged`; one in words is an answer, and there it is a miss.
    """

    who: Who
    n_refused: int
    n_asked: int
    share: str
    floor: Estimate
    judged: Estimate
    bound: Estimate
    gain: str


class Refusals(NamedTuple):
    """All models, by the score that ranks and the bound that is averaged alike."""

    metric: MetricShown
    bound: MetricShown
    lines: list[Refused]


def refusals_of(judged: Judged, models: Sequence[Who]) -> Refusals | None:
    """The refusals of the models in this order; None where the benchmark has no upper bound."""
    leading = judged.metrics[0]
    bound = next(
        (
            each
            for each in judged.metrics
            if each.refusals_are_right and each.aggregation == leading.aggregation
        ),
        None,
    )
    if bound is None:
        return None
    lines = []
    for who in models:
        counts = judged.row(who.name, leading)
        if who.is_baseline or counts is None:
            continue
        floor, best = judged.estimate(who.name, leading), judged.estimate(who.name, bound)
        known = floor.value is not None and best.value is not None
        lines.append(
            Refused(
                who,
                counts["n_refused"],
                counts["n_turns"],
                f"{100 * counts['n_refused'] / counts['n_turns']:.1f} %",
                floor,
                judged.estimate(who.name, leading, JUDGED),
                best,
                leading.scale.difference((best.value or 0) - (floor.value or 0)) if known else "–",
            )
        )
    return Refusals(leading, bound, lines)
