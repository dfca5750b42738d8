"""Means of observations: over all of them, or over items or labels that are averaged first.

    micro            sum_i sum_t s_it / sum_i n_i
    macro            (1/I) sum_i (1/n_i) sum_t s_it
    macro by label   (1/L) sum_l mean of the s_it of the items with label value l

MMDU's text has the macro mean over dialogues, its released code the micro mean (MMDU, 2.3); MMIU and
AlignMMBench take the unweighted mean over tasks (MMIU, 3.3; AlignMMBench, 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from methods.evaluation.asking import PLAIN
from methods.evaluation.metrics import Metric, Scored, Unit, by_key


@dataclass(frozen=True, kw_only=True)
class Mean(Metric):
    """Mean of the observations `observation` (its name by default) of a trial, times `scale`.

    Several observations of one turn, such as both orders of a pair, are averaged first.
    """

    observation: str | None = None
    trial: str = PLAIN
    scale: float = 1.0

    def units(self, observed: Sequence[Scored], *, floor: bool) -> list[Unit]:
        """A unit a turn; a unit an item where items are averaged."""
        wanted = (self.observation or self.name, self.trial)
        whole_items = self.aggregation == "macro"
        turns = by_key(
            ((score.item_id,) if whole_items else (score.item_id, score.turn), score)
            for score in observed
            if (score.metric, score.trial) == wanted
        )
        return [
            Unit(key, parts[0].cluster, self._value(parts, floor), self.stratum(parts[0]))
            for key, parts in turns.items()
        ]

    def _value(self, parts: Sequence[Scored], floor: bool) -> float | None:
        known = [
            self.lowest if part.value is None else part.value * self.scale
            for part in parts
            if floor or part.value is not None
        ]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, kw_only=True)
class MeanOrRefused(Mean):
    """The same with every turn that the model declined as the best one (MMBench, 5.3, Table 4)."""

    refusals_are_right: bool = True

    def _value(self, parts: Sequence[Scored], floor: bool) -> float | None:
        best = self.highest / self.scale
        return super()._value(
            [replace(part, value=best) if part.refused else part for part in parts], floor
        )
