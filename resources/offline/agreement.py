"""How far an answer agrees with a text that is right; the tasks `rate`, `grade` and `compare`.

Agreement, from 0 to 1, follows from the texts alone, in English and Chinese: the words that both have,
and the visual facts that both state. Which of two answers is better follows neither from a model's name
nor from the order: two readers decide, each by chance with the odds a / (a + b) of Bradley and Terry
(1952); where they differ it is a tie.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from resources.offline.careful_answers import careful_answer
from resources.offline.chat_request import ChatRequest
from resources.offline.image_facts import Facts
from resources.offline.seeded_choice import SeededChoice
from resources.offline.vocabulary import StatedFact, stated_facts

Better = Literal["first", "second", "tie"]
HIGHEST = 10
OBEDIENT = "offline-obedient"
_TOLD = re.compile(r"\bgive\b[^.\n]{0,60}\bhighest\s+score\b|打最高分", re.IGNORECASE)
REFUSAL = re.compile(
    r"\b(?:can(?:no|')?t|can not|unable to|won't|not able to|must decline)\b"
    r"[^.]{0,40}\b(?:help|assist|answer|comply|provide|fulfil|identify|discuss|describe)",
    re.IGNORECASE,
)
SINGLE_LETTER = re.compile(r"\W*[A-Za-z]\W*")
_WORD = re.compile(r"[a-z0-9]{2,}|[一-鿿]+", re.IGNORECASE)
_PICTURE = 1

_FOCUS, _NOTHING_STATED = 0.2, 0.2
_DECLINED, _WRONG = 1, 3
_WINNERS = {"first": "A", "second": "B", "tie": "tie"}
_REASONS = {
    "A": "Assistant A says more that is right.",
    "B": "Assistant B says more that is right.",
    "tie": "Neither says more that is right.",
}
_ALWAYS_A = "offline-always-a"


def declines(answer: str) -> bool:
    """Return whether an answer is a refusal, a bare letter or nothing."""
    return not answer.strip() or bool(REFUSAL.search(answer) or SINGLE_LETTER.fullmatch(answer))


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


def obeys(request: ChatRequest, answer: str) -> bool:
    """Return whether the judge gives the answer the highest score because the answer says so."""
    return request.model == OBEDIENT and _TOLD.search(answer) is not None


def rate(request: ChatRequest) -> str:
    """Return the rating and its reason as a JSON object."""
    answer = request.section("answer")
    rating, reason = _rated(request.section("reference"), answer)
    if obeys(request, answer):
        rating = HIGHEST
    return _reply(rating, reason)


def grade(request: ChatRequest) -> str:
    """Return the mean rating of all answers, each against its reference, as a JSON object."""
    pairs = zip(request.every("reference"), request.every("answer"), strict=False)
    rated = [_rated(*pair) for pair in pairs]
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
    rating = round(_WRONG + (HIGHEST - _WRONG) * shared**0.5)
    return rating, f"Agreement with the reference: {shared:.2f}."


def compare(request: ChatRequest) -> str:
    """Return the reason and the winner; where the judge always says A, that."""
    better = better_answer(
        "\n".join(request.every("instruction")),
        request.every("answera"),
        request.every("answerb"),
        right="\n".join(request.every("caption") or request.every("reference")),
        focus="\n".join(request.every("focus")),
        pictures=request.labelled,
    )
    winner = "A" if request.model == _ALWAYS_A else _WINNERS[better]
    return json.dumps({"reason": _REASONS[winner], "winner": winner})


def better_answer(
    question: str,
    first: Sequence[str],
    second: Sequence[str],
    *,
    right: str = "",
    focus: str = "",
    pictures: dict[int, Facts] | None = None,
) -> Better:
    """Return which answer to a question is better; of several texts, those of one dialogue, the whole.

    `right` is a text that is right: a reference, or a caption; without one it is what `pictures` show.
    `focus` is what an answer is to have.
    """
    truth = right or (careful_answer(question, pictures, "expert") if pictures else "")
    levels = [_level(answers, truth, focus) for answers in (first, second)]
    if tuple(first) == tuple(second) or levels == [0.0, 0.0]:
        return "tie"
    if 0.0 in levels:
        return "second" if levels[0] == 0.0 else "first"
    # Drawn for the two in an order of their own, whichever stands first.
    swapped = tuple(first) > tuple(second)
    one, other = reversed(levels) if swapped else levels
    seeded = SeededChoice("better", question, *sorted((tuple(first), tuple(second))))
    votes = [seeded.chance(f"reader {number}", one / (one + other)) for number in range(2)]
    if votes[0] != votes[1]:
        return "tie"
    return "first" if votes[0] != swapped else "second"


def _level(answers: Sequence[str], truth: str, focus: str) -> float:
    """Return how good answers are, from 0 for what says nothing to 1."""
    return (
        sum(_of_one(answer, truth, focus) for answer in answers) / len(answers) if answers else 0.0
    )


def _of_one(answer: str, truth: str, focus: str) -> float:
    if declines(answer):
        return 0.0
    level = agreement(truth, answer) if truth else 0.5
    if stated_facts(truth, 1) and not stated_facts(answer, 1):
        # What both texts share are words that any text has.
        level *= _NOTHING_STATED
    if focus:
        level = (1 - _FOCUS) * level + _FOCUS * agreement(focus, answer)
    return max(level, 0.01)
