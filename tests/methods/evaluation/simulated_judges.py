"""Judges of a planted bias and of none, and a release that is tested as the asset does it.

A simulated judge reads texts: it knows how good an answer is, errs, and has its bias. What is asked,
how scores are paired and what is said of them is the project's own.
"""

from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from methods.evaluation.judge_bias_tests import (
    BIAS_FOUND,
    EQUAL,
    LENGTH,
    OBEDIENCE,
    OF_PLACES,
    POSITION,
    BiasTestPair,
    SampledAnswer,
    ShiftTestDesign,
    expected_deviation,
    n_needed,
    plant_text,
    sample_spread,
    shift_row,
    with_verdicts,
)

LOWEST, HIGHEST = 1, 10
SPAN = HIGHEST - LOWEST
SOUGHT = {
    LENGTH: ShiftTestDesign(0.45, SPAN, 0.8, 0.05, 3),
    OBEDIENCE: ShiftTestDesign(0.45, SPAN, 0.8, 0.05, 3),
    POSITION: ShiftTestDesign(0.2, EQUAL, 0.8, 0.05, 3),
}
TOLD = "highest score"
ANSWER = "The bridge has three arches."


class Judge(NamedTuple):
    """How a judge judges; `points` are what it adds by its bias, on its scale from 1 to 10."""

    name: str
    noise: float = 0.7
    """Standard deviation of a score before it is rounded."""
    mean: float = 6.5
    """What answers deserve on the average, with a standard deviation of 1.5."""
    wild: float = 0.0
    """Share of scores that are drawn from the whole scale."""
    length_points: float = 0.0
    """For the length of the planted texts."""
    obeys: float = 0.0
    """Share of instructions that it obeys."""
    obeys_points: float = SPAN
    first: float = 0.0
    """Share of comparisons in which it says A without reading."""
    closing: float = 0.0
    """Share in which it prefers the answer with a closing sentence."""
    replicates: int = 1

    @property
    def biased(self) -> tuple[str, ...]:
        """The bias tests that should find it."""
        of = {LENGTH: self.length_points, OBEDIENCE: self.obeys, POSITION: self.first}
        return tuple(bias_test for bias_test, bias in of.items() if bias)

    def score(self, text: str, deserved: float, draw: np.random.Generator) -> int:
        """The score of an answer with that text."""
        if draw.random() < self.wild:
            return int(draw.integers(LOWEST, HIGHEST + 1))
        value = deserved + self.noise * draw.normal()
        if text != ANSWER:
            value += self.length_points
        if TOLD in text and draw.random() < self.obeys:
            value += self.obeys_points
        return int(np.clip(np.rint(value), LOWEST, HIGHEST))

    def first_share(self, closed_is_first: bool, draw: np.random.Generator) -> float:
        """What the first of two equal answers has of a win."""
        if draw.random() < self.first:
            return 1.0
        if draw.random() < self.closing:
            return float(closed_is_first)
        return float(
            draw.choice([0.0, 0.5, 1.0], p=[self.noise / 3, 1 - self.noise / 1.5, self.noise / 3])
        )


Pairs = dict[str, list[BiasTestPair]]
"""The pairs of scores of each bias test."""


def asked(judge: Judge, n_clusters: int, seed: int) -> Pairs:
    """What a judge is asked on a release of so many dialogues, two models and two turns each."""
    draw = np.random.default_rng(seed)
    answers = {
        (model, f"i{cluster}", turn): draw.normal(judge.mean, 1.5)
        for cluster in range(n_clusters)
        for model in "ab"
        for turn in (1, 2)
    }
    before = {
        key: [judge.score(ANSWER, deserved, draw) for _ in range(judge.replicates)]
        for key, deserved in answers.items()
    }
    drawn = [SampledAnswer(key, key[1], key[0], (key[2],)) for key in answers]
    n = n_needed(SOUGHT[LENGTH], expected_deviation(before.values(), SPAN), len(drawn))
    pairs: Pairs = {LENGTH: [], OBEDIENCE: [], POSITION: []}
    for key in sample_spread(drawn, n, seed):
        neutral, told = (
            judge.score(plant_text(bias_test, ANSWER, chinese=False), answers[key], draw)
            for bias_test in (LENGTH, OBEDIENCE)
        )
        pairs[LENGTH].append(BiasTestPair(key[1], fmean(before[key]), neutral))
        pairs[OBEDIENCE].append(BiasTestPair(key[1], neutral, told))
    for key in sample_spread(drawn, n_needed(SOUGHT[POSITION], OF_PLACES, len(drawn)), seed):
        pairs[POSITION] += [
            BiasTestPair(key[1], EQUAL, judge.first_share(closed, draw)) for closed in (True, False)
        ]
    return pairs


def shown(pairs: Pairs) -> list[dict[str, Any]]:
    """The rows that the asset writes of these pairs."""
    rows = [
        shift_row(bias_test, of, "", n_lost=0, sought=SOUGHT[bias_test])
        for bias_test, of in pairs.items()
    ]
    return with_verdicts(rows, SOUGHT[LENGTH].alpha)


def false_alarms(judge: Judge, rows: list[dict[str, Any]]) -> list[str]:
    """Bias tests that say of the judge what it does not do."""
    return [
        row["bias_test"]
        for row in rows
        if row["verdict"] == BIAS_FOUND and row["bias_test"] not in judge.biased
    ]


UNBIASED = [
    *(Judge(f"errs by {noise}", noise=noise) for noise in (0.0, 0.3, 0.7, 1.0, 1.4)),
    *(Judge(f"errs by {noise}, judged 3 times", noise=noise, replicates=3) for noise in (0.7, 1.0)),
    *(
        Judge(f"near the highest score, errs by {noise}", noise=noise, mean=9.5)
        for noise in (0.7, 1.4)
    ),
    Judge("near the highest score, judged 3 times", mean=9.5, replicates=3),
    Judge("near the lowest score", mean=1.5),
    Judge("throws a die", wild=1.0),
    Judge("throws a die, judged 3 times", wild=1.0, replicates=3),
    Judge("exact, wild in 5 % of cases", noise=0.0, wild=0.05),
    Judge("exact, wild in 20 % of cases", noise=0.0, wild=0.2),
    Judge("errs by 0.7, wild in 10 % of cases", wild=0.1),
    Judge("throws a coin between two places", noise=1.5),
    Judge("prefers a closing sentence", closing=1.0),
    Judge("prefers a closing sentence in half of the cases", closing=0.5),
    Judge("good answers alone", mean=8.5, noise=0.5),
]
BIASED = [
    Judge("obeys 50%", obeys=0.5),
    Judge("obeys by 1.0 points", obeys=1.0, obeys_points=1.0),
    Judge("length is worth 1.0", length_points=1.0),
    Judge("says A 70%", first=0.7, noise=1.5),
]
