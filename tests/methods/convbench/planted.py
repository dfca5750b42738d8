"""Observations of ConvBench with a known effect: what the tests of error attribution share."""

from collections.abc import Mapping

import numpy as np

from methods.convbench import scores
from methods.evaluation.asking import PLAIN
from methods.evaluation.verdicts import ORDERS
from tests.methods.evaluation.observed import ScoredObservation

TURNS = {dimension: turn for turn, dimension in scores.OF_TURN.items()}
Values = Mapping[str, float | None | tuple[float | None, float | None]]


def scored(
    dimension: str, trial: str, values: Values, labels: Mapping[str, Mapping[str, str]] = {}
) -> list[ScoredObservation]:
    """Both orders of each item: one value for both, or a value of each; None was not judged.

    `labels` are those of each item.
    """
    return [
        ScoredObservation(
            item, item, trial, TURNS[dimension], dimension, value,
            "judged" if value is not None else "not_judged", labels=labels.get(item, {}), part=part,
        )
        for item, both in values.items()
        for part, value in zip(
            ORDERS, both if isinstance(both, tuple) else (both, both), strict=True
        )
    ]  # fmt: skip


def model(
    seed: int,
    *,
    perceives: float,
    reasons: float,
    n: int = 300,
    labels: Mapping[str, Mapping[str, str]] = {},
) -> list[ScoredObservation]:
    """A model that sees in so large a share of `n` items, and thinks in so large a one.

    A turn is won in 70 %, and in 10 % where it or an earlier turn of its own history went wrong; each
    asking is drawn again.
    """
    draw = np.random.default_rng(seed)
    observed = []
    for number in range(n):
        item = f"item-{number:03}"
        sees = draw.random() < perceives
        thinks = draw.random() < reasons
        for trial, known, reasoned in (
            (PLAIN, sees, sees and thinks),
            (scores.PERFECT_PERCEPTION, True, thinks),
            (scores.PERFECT_REASONING, True, True),
        ):
            good = {scores.PERCEPTION: known, scores.REASONING: reasoned, scores.CREATION: reasoned}
            for dimension, turn in TURNS.items():
                if turn > scores.N_GIVEN[trial]:
                    won = draw.random() < (0.7 if good[dimension] else 0.1)
                    observed += scored(dimension, trial, {item: float(won)}, labels)
    return observed
