"""The rule of the judge's scores.

What belongs here: from an answer's features to the seven scores from 1 to 10. The name of the model
that wrote the answer is not known here. No model is called.
"""

from __future__ import annotations

from resources.offline.answer_features import AnswerFeatures
from resources.offline.seeded_choice import SeededChoice

CREATIVITY, RICHNESS = "Creativity", "Richness"
PERCEPTION, COHERENCE = "Visual Perception", "Logical Coherence"
ACCURACY, RELATIONSHIP = "Answer Accuracy", "Image Relationship Understanding"
DIMENSIONS = (CREATIVITY, RICHNESS, PERCEPTION, COHERENCE, ACCURACY, RELATIONSHIP)
OVERALL = "Overall Score"

_BEST = 0.86
_SPREAD = 1.2


def scores(features: AnswerFeatures, seeded: SeededChoice) -> dict[str, int]:
    """Return the score of each dimension and the overall score."""
    if features.refusal or features.words == 0:
        return dict.fromkeys((*DIMENSIONS, OVERALL), 1)
    if features.letter:
        found = dict.fromkeys((*DIMENSIONS, OVERALL), 1)
        return {**found, COHERENCE: 2}
    found = {}
    for name, level in levels(features).items():
        exact = 1.0 + 9.0 * level + _SPREAD * (seeded.number(name) - 0.5)
        found[name] = max(1, min(10, round(exact)))
    found[OVERALL] = round(sum(found.values()) / len(found))
    return found


def levels(features: AnswerFeatures) -> dict[str, float]:
    """Return each dimension's level between 0 and 1, before rounding and variation."""
    truth, recall = features.precision**1.5, features.recall
    ideas = min(1.0, len(features.interpretive) / 3)
    length = min(1.0, features.words / 60)
    attempt = 0.06 * length
    told = _BEST * truth * (0.5 + 0.5 * recall)
    repeated = _BEST * features.agreement**0.5 * features.precision
    links = 0.10 * min(1.0, features.connectives / 3)
    clashes = 0.06 * len(features.contradictions) + 0.1 * features.false_relations
    reasoned = 0.39 * features.precision**2.5 + 0.08 * recall
    level = {
        CREATIVITY: 0.12 + 0.40 * ideas * truth + 0.15 * recall + 0.18 * truth,
        RICHNESS: 0.14 * length + 0.44 * recall + 0.29 * length * truth,
        PERCEPTION: max(attempt, told),
        COHERENCE: 0.29 + links + reasoned - clashes,
        ACCURACY: max(attempt, 0.6 * told + 0.4 * repeated),
        RELATIONSHIP: max(attempt, _relationship(features)),
    }
    return {name: max(0.0, min(1.0, value)) for name, value in level.items()}


def _relationship(features: AnswerFeatures) -> float:
    """Return the level of naming the right pictures, telling them apart and relating them."""
    if not features.covered:
        return 0.0
    if len(features.asked) == 1:
        fitting = 0.15 * features.named + 0.85 * features.precision**2
        return _BEST * fitting * (1.0 - 0.5 * features.stray)
    mixed_up = len(features.swapped) / (len(features.right) + len(features.wrong) or 1)
    related = min(1.0, len(features.relations) / 3) / (1 + features.false_relations)
    base: float = 0.6 * features.covered * features.precision**1.5 + 0.4 * related
    return _BEST * base * (1.0 - 0.6 * mixed_up)
