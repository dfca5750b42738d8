"""How far an answer agrees with a text that is right.

What belongs here: that share, from 0 to 1, by the texts alone, in English and Chinese: the words
that both have, and the visual facts that both state. These rules stand in for a judging model; no
model is called.
"""

from __future__ import annotations

import re

from resources.offline.answer_features import measure
from resources.offline.stated_facts import StatedFact, stated_facts

_WORD = re.compile(r"[a-z0-9]{2,}|[一-鿿]+", re.IGNORECASE)
_PICTURE = 1


def declines(answer: str) -> bool:
    """Return whether an answer is a refusal, a bare letter or nothing."""
    features = measure({}, "", "", answer)
    return not answer.strip() or features.refusal or features.letter


def agreement(right: str, answer: str) -> float:
    """Return how far an answer says what a text says that is right."""
    shared = _shared(_tokens(right), _tokens(answer))
    facts = facts_told(right, answer)
    return shared if facts is None else (shared + facts) / 2


def facts_told(right: str, answer: str) -> float | None:
    """Return the share of a right text's facts that an answer states, less what clashes with them.

    None where the right text states none.
    """
    expected = stated_facts(right, _PICTURE)
    if not expected:
        return None
    told = stated_facts(answer, _PICTURE)
    found = len(set(expected) & set(told)) / len(expected)
    return found * (1 - _clashing(expected, told))


def _clashing(expected: list[StatedFact], told: list[StatedFact]) -> float:
    """Return the share of what is told of a kind in the right text that this text does not have."""
    kinds = {(fact.image, fact.kind) for fact in expected}
    comparable = [fact for fact in told if (fact.image, fact.kind) in kinds]
    wrong = [fact for fact in comparable if fact not in expected]
    return len(wrong) / len(comparable) if comparable else 0.0


def _tokens(text: str) -> set[str]:
    """Return the words of a text, and of Chinese every two characters that follow each other."""
    found: set[str] = set()
    for match in _WORD.finditer(text):
        word = match.group().lower()
        pairs = [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        found.update([word] if word.isascii() else pairs)
    return found


def _shared(one: set[str], other: set[str]) -> float:
    """Return twice the common tokens by all tokens of both."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
