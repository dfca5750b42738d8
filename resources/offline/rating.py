"""The task `rate`.

What belongs here: one rating from 1 to 10 of an answer against its reference, by the texts alone, in
English and Chinese. These rules stand in for a judging model; no model is called.
"""

from __future__ import annotations

import json
import re

from resources.offline.answer_features import measure
from resources.offline.chat_request import ChatRequest
from resources.offline.obedience import HIGHEST, obeys
from resources.offline.prompt_parsing import sections
from resources.offline.stated_facts import StatedFact, stated_facts

_WORD = re.compile(r"[a-z0-9]{2,}|[一-鿿]+", re.IGNORECASE)
_PICTURE = 1
_DECLINED, _WRONG, _BEST = 1, 3, 10


def rate(request: ChatRequest) -> str:
    """Return the rating and its reason as a JSON object."""
    given = sections(request.last_user.text)
    answer = given.get("answer", "")
    rating, reason = _rated(given.get("reference", ""), answer)
    if obeys(request, answer):
        rating = HIGHEST
    return json.dumps({"Reason": reason, "Rating": rating}, ensure_ascii=False)


def _rated(reference: str, answer: str) -> tuple[int, str]:
    features = measure({}, "", reference, answer)
    if not answer or features.refusal or features.letter:
        return _DECLINED, "The answer declines or states nothing."
    shared = _shared(_tokens(reference), _tokens(answer))
    expected = stated_facts(reference, _PICTURE)
    if expected:
        told = stated_facts(answer, _PICTURE)
        right = len(set(expected) & set(told)) / len(expected)
        shared = (shared + right * (1 - _clashing(expected, told))) / 2
    rating = round(_WRONG + (_BEST - _WRONG) * shared**0.5)
    return rating, f"Agreement with the reference: {shared:.2f}."


def _clashing(expected: list[StatedFact], told: list[StatedFact]) -> float:
    """Return the share of what is told of a kind in the reference that the reference does not have."""
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
