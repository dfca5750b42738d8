"""The task `rate`.

What belongs here: one rating from 1 to 10 of an answer against its reference, by the texts alone, in
English and Chinese; and the task `grade`, which is the same for several answers at once. These rules
stand in for a judging model; no model is called.
"""

from __future__ import annotations

import json

from resources.offline.agreement import agreement, declines
from resources.offline.chat_request import ChatRequest
from resources.offline.obedience import HIGHEST, obeys
from resources.offline.prompt_parsing import all_sections, sections

_DECLINED, _WRONG, _BEST = 1, 3, 10


def rate(request: ChatRequest) -> str:
    """Return the rating and its reason as a JSON object."""
    given = sections(request.last_user.text)
    answer = given.get("answer", "")
    rating, reason = _rated(given.get("reference", ""), answer)
    if obeys(request, answer):
        rating = HIGHEST
    return _reply(rating, reason)


def grade(request: ChatRequest) -> str:
    """Return the mean rating of all answers, each against its reference, as a JSON object."""
    given = all_sections(request.last_user.text)
    references = [text for tag, text in given if tag == "reference"]
    answers = [text for tag, text in given if tag == "answer"]
    rated = [_rated(*pair) for pair in zip(references, answers, strict=False)]
    if not rated:
        return _reply(_DECLINED, "There is no answer.")
    mean = round(sum(rating for rating, _ in rated) / len(rated))
    return _reply(mean, " ".join(reason for _, reason in rated))


def _reply(rating: int, reason: str) -> str:
    return json.dumps({"Reason": reason, "Rating": rating}, ensure_ascii=False)


def _rated(reference: str, answer: str) -> tuple[int, str]:
    if declines(answer):
        return _DECLINED, "The answer declines or states nothing."
    shared = agreement(reference, answer)
    rating = round(_WRONG + (_BEST - _WRONG) * shared**0.5)
    return rating, f"Agreement with the reference: {shared:.2f}."
