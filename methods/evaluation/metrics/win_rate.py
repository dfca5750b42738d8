"""Win rate: the share of comparisons that the model wins (ConvBench, 4.2).

    value of a turn = wins / comparisons of that turn that were judged;  score = 100 x mean over turns

A pair is compared in both orders, so that a judge who prefers a place gives every turn one half: two
verdicts that contradict each other are half a win. What was not judged is not a loss.
"""

from dataclasses import dataclass

from methods.evaluation.metrics.mean import Mean


@dataclass(frozen=True, kw_only=True)
class WinRate(Mean):
    """Share of wins in percent; an observation is 1 for a win, 0 for a loss, 0.5 for a tie."""

    lowest: float = 0.0
    highest: float = 100.0
    scale: float = 100.0

    @property
    def in_words(self) -> str:
        """What the number is the share of, for a methods section."""
        return (
            f"{self.name}, the share of comparisons of a turn that the model wins, where both orders "
            "are compared and a tie is half a win"
        )
