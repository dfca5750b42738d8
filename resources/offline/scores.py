"""The judge's scores.

Belongs here: the rule that turns evidence into the seven scores from 1 to 10. No model is called,
and the name of the model that wrote the answer plays no part.
"""

from __future__ import annotations

from resources.offline.evidence import Evidence
from resources.offline.picks import Picker

CREATIVITY, RICHNESS = "Creativity", "Richness"
PERCEPTION, COHERENCE = "Visual Perception", "Logical Coherence"
ACCURACY, RELATIONSHIP = "Answer Accuracy", "Image Relationship Understanding"
DIMENSIONS = (CREATIVITY, RICHNESS, PERCEPTION, COHERENCE, ACCURACY, RELATIONSHIP)
OVERALL = "Overall Score"

_BEST = 0.86
_SPREAD = 1.2


def scores(evidence: Evidence, picker: Picker) -> dict[str, int]:
    """Return the score of each dimension and the overall score."""
    if evidence.refusal or evidence.words == 0:
        return dict.fromkeys((*DIMENSIONS, OVERALL), 1)
    if evidence.letter:
        found = dict.fromkeys((*DIMENSIONS, OVERALL), 1)
        return {**found, COHERENCE: 2}
    found = {}
    for name, level in levels(evidence).items():
        exact = 1.0 + 9.0 * level + _SPREAD * (picker.number(name) - 0.5)
        found[name] = max(1, min(10, round(exact)))
    found[OVERALL] = round(sum(found.values()) / len(found))
    return found


def levels(evidence: Evidence) -> dict[str, float]:
    """Return each dimension's level between 0 and 1, before rounding and variation."""
    truth, recall = evidence.precision**1.5, evidence.recall
    ideas = min(1.0, len(evidence.interpretive) / 3)
    length = min(1.0, evidence.words / 60)
    attempt = 0.06 * length
    told = _BEST * truth * (0.5 + 0.5 * recall)
    repeated = _BEST * evidence.agreement**0.5 * evidence.precision
    links = 0.10 * min(1.0, evidence.connectives / 3)
    clashes = 0.06 * len(evidence.contradictions) + 0.1 * evidence.false_relations
    reasoned = 0.39 * evidence.precision**2.5 + 0.08 * recall
    level = {
        CREATIVITY: 0.12 + 0.40 * ideas * truth + 0.15 * recall + 0.18 * truth,
        RICHNESS: 0.14 * length + 0.44 * recall + 0.29 * length * truth,
        PERCEPTION: max(attempt, told),
        COHERENCE: 0.29 + links + reasoned - clashes,
        ACCURACY: max(attempt, 0.6 * told + 0.4 * repeated),
        RELATIONSHIP: max(attempt, _relationship(evidence)),
    }
    return {name: max(0.0, min(1.0, value)) for name, value in level.items()}


def _relationship(evidence: Evidence) -> float:
    """Judge whether the right pictures were told of, told apart and related to one another."""
    if not evidence.covered:
        return 0.0
    if len(evidence.asked) == 1:
        fitting = 0.15 * evidence.named + 0.85 * evidence.precision**2
        return _BEST * fitting * (1.0 - 0.5 * evidence.stray)
    mixed_up = len(evidence.swapped) / (len(evidence.right) + len(evidence.wrong) or 1)
    related = min(1.0, len(evidence.relations) / 3) / (1 + evidence.false_relations)
    base: float = 0.6 * evidence.covered * evidence.precision**1.5 + 0.4 * related
    return _BEST * base * (1.0 - 0.6 * mixed_up)
