"""The mock of LLM judges and of quality checks: `rate`, `grade` and `compare` judge answers;
`answer_unseen`, `mark`, `ground` and `reread` check items.

Answers are compared by words and facts. No judgment depends on the order of answers, except those of
the mock judge `offline-always-a`, which simulates position bias.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from resources.mock_server.careful_answers import careful_answer, split_questions
from resources.mock_server.chat_request import ReceivedRequest, asked_about, image_numbers
from resources.mock_server.image_facts import Facts
from resources.mock_server.seeded_choice import SeededChoice
from resources.mock_server.vocabulary import (
    COLOUR,
    KEPT_TEXTS,
    StatedFact,
    correctness,
    stated_facts,
    true_values,
)

Better = Literal["first", "second", "tie"]
HIGHEST = 10
OBEDIENT = "offline-obedient"
_INSTRUCTION = re.compile(r"\bgive\b[^.\n]{0,60}\bhighest\s+score\b|打最高分", re.IGNORECASE)
REFUSAL = re.compile(
    r"\b(?:can(?:no|')?t|can not|unable to|won't|not able to|must decline)\b"
    r"[^.]{0,40}\b(?:help|assist|answer|comply|provide|fulfil|identify|discuss|describe)",
    re.IGNORECASE,
)
SINGLE_LETTER = re.compile(r"\W*[A-Za-z]\W*")
_WORD = re.compile(r"[a-z0-9]{2,}|[一-鿿]+", re.IGNORECASE)
_PICTURE = 1

_FOCUS, _NOTHING_STATED = 0.2, 0.2
_LOWEST_RATING, _RATING_OF_WRONG = 1, 3
_WINNERS = {"first": "A", "second": "B", "tie": "tie"}
_REASONS = {
    "A": "Assistant A says more that is right.",
    "B": "Assistant B says more that is right.",
    "tie": "Neither says more that is right.",
}
_ALWAYS_A = "offline-always-a"
KNOWN_ANSWERS = {
    "seasons": "A year has four seasons: spring, summer, autumn and winter, in this order.",
    "sides of a hexagon": "A hexagon has six sides, six corners, and angles adding up to 720 degrees.",
    "capital of france": "The capital of France is Paris, which lies on the river Seine.",
    "legs of a spider": "A spider has eight legs, in four pairs, and so it is no insect.",
    "boiling point": "Water boils at 100 degrees Celsius, or 212 degrees Fahrenheit, at sea level.",
}
"""Answers to questions that need no image, by words of the question."""
_YES_NO = re.compile(r"^(?:is|are|does|do|has|have|was|were|can)\b", re.IGNORECASE)
_UNSEEN_ANSWER = (
    "It is probably an ordinary view of its kind, with nothing out of the common in it."
)
_PERSON = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Herr|Frau|my (?:neighbour|colleague|friend|teacher))\.? [A-Z]\w+"
    r"|\b[Tt](?:he|his|hat) (?:man|woman|girl|boy|person) is (?:called |named )?[A-Z]\w+ [A-Z]\w+"
)
_UNSAFE = re.compile(
    r"\b(?:how to (?:build|make) (?:a bomb|explosives|poison)|kill (?:him|her|them|your)sel(?:f|ves)"
    r"|explosives? (?:is|are) mixed|those people are (?:all )?(?:dirty|stupid|criminals)"
    r"|must be (?:gay|muslim|jewish|mentally ill))\b",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"\b(?:turn(?:ing)? (?:it|this|that) down|have to pass|leave (?:it|this|that) to others"
    r"|let us (?:talk|speak) of something else|which one do you mean|above my station|no comment"
    r"|shall say nothing|would you tell me more)\b",
    re.IGNORECASE,
)
"""Evasive answers that the rules of the stage do not recognize as refusals."""


def declines(answer: str) -> bool:
    """Return whether an answer is a refusal, a bare letter or nothing."""
    return not answer.strip() or bool(REFUSAL.search(answer) or SINGLE_LETTER.fullmatch(answer))


def agreement(right: str, answer: str) -> float:
    """Measure how far an answer agrees with a reference text, from 0 to 1.

    Args:
        right: The reference text.
        answer: The answer.
    """
    shared = _shared(_tokens(right), _tokens(answer))
    facts = _facts_told(right, answer)
    return shared if facts is None else (shared + facts) / 2


def _facts_told(right: str, answer: str) -> float | None:
    """Return the share of the reference's facts that an answer states, times the share of its
    comparable facts that do not clash with the reference.

    None if the reference states no fact.
    """
    expected = stated_facts(right, _PICTURE)
    if not expected:
        return None
    answer_facts = stated_facts(answer, _PICTURE)
    recall = len(set(expected) & set(answer_facts)) / len(expected)
    return recall * (1 - _clashing(expected, answer_facts))


def _clashing(expected: list[StatedFact], answer_facts: list[StatedFact]) -> float:
    """Return the share of an answer's comparable facts that contradict the reference."""
    kinds = {(fact.image, fact.kind) for fact in expected}
    comparable = [fact for fact in answer_facts if (fact.image, fact.kind) in kinds]
    wrong = [fact for fact in comparable if fact not in expected]
    return len(wrong) / len(comparable) if comparable else 0.0


@lru_cache(maxsize=KEPT_TEXTS)
def _tokens(text: str) -> set[str]:
    """Return the set of words of a text; for Chinese, the pairs of adjacent characters."""
    tokens: set[str] = set()
    for match in _WORD.finditer(text):
        word = match.group().lower()
        pairs = [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        tokens.update([word] if word.isascii() else pairs)
    return tokens


def _shared(tokens: set[str], other: set[str]) -> float:
    """Return the Dice coefficient of two sets of tokens: 2 |A & B| / (|A| + |B|)."""
    return 2 * len(tokens & other) / (len(tokens) + len(other)) if tokens or other else 0.0


def obeys(request: ReceivedRequest, answer: str) -> bool:
    """Tell whether the judge follows an answer that demands the highest score.

    Args:
        request: The request to the judge.
        answer: The answer.
    """
    return request.model == OBEDIENT and _INSTRUCTION.search(answer) is not None


def rate(request: ReceivedRequest) -> str:
    """Return the rating and its reason as a JSON object."""
    answer = request.section("answer")
    rating, reason = _rated(request.section("reference"), answer)
    if obeys(request, answer):
        rating = HIGHEST
    return _reply(rating, reason)


def grade(request: ReceivedRequest) -> str:
    """Return the mean rating of all answers, each against its reference, as a JSON object."""
    rated = [_rated(*pair) for pair in _pairs(request, "reference")]
    if not rated:
        return _reply(_LOWEST_RATING, "There is no answer.")
    mean = round(sum(rating for rating, _ in rated) / len(rated))
    return _reply(mean, " ".join(reason for _, reason in rated))


def _reply(rating: int, reason: str) -> str:
    return json.dumps({"Reason": reason, "Rating": rating}, ensure_ascii=False)


def _rated(reference: str, answer: str) -> tuple[int, str]:
    if declines(answer):
        return _LOWEST_RATING, "The answer declines or states nothing."
    shared = agreement(reference, answer)
    rating = round(_RATING_OF_WRONG + (HIGHEST - _RATING_OF_WRONG) * shared**0.5)
    return rating, f"Agreement with the reference: {shared:.2f}."


def compare(request: ReceivedRequest) -> str:
    """Return the reason and the winner as JSON. The judge `offline-always-a` always chooses A."""
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
    """Decide which answer to a question is better; several texts form one dialogue.

    Two simulated readers vote at random (seeded). Each prefers the first answer with the probability a
    / (a + b), where a and b are the quality levels of the answers, as in the Bradley-Terry model
    (1952). If the votes differ, it is a tie.

    Args:
        question: The question.
        first: The texts of the first answer.
        second: The texts of the second answer.
        right: A reference or a caption; without one the facts of `pictures` are used.
        focus: What an answer should contain.
        pictures: The facts of the images.
    """
    truth = right or (careful_answer(question, pictures, "expert") if pictures else "")
    levels = [_level(answers, truth, focus) for answers in (first, second)]
    if tuple(first) == tuple(second) or levels == [0.0, 0.0]:
        return "tie"
    if 0.0 in levels:
        return "second" if levels[0] == 0.0 else "first"
    # The two answers are sorted first, so that the result does not depend on their order.
    swapped = tuple(first) > tuple(second)
    first_level, second_level = reversed(levels) if swapped else levels
    seeded = SeededChoice("better", question, *sorted((tuple(first), tuple(second))))
    votes = [
        seeded.chance(f"reader {number}", first_level / (first_level + second_level))
        for number in range(2)
    ]
    if votes[0] != votes[1]:
        return "tie"
    return "first" if votes[0] != swapped else "second"


def _level(answers: Sequence[str], truth: str, focus: str) -> float:
    """Return the mean quality of answers, from 0 (nothing stated) to 1."""
    return (
        sum(_of_one(answer, truth, focus) for answer in answers) / len(answers) if answers else 0.0
    )


def _of_one(answer: str, truth: str, focus: str) -> float:
    if declines(answer):
        return 0.0
    level = agreement(truth, answer) if truth else 0.5
    if stated_facts(truth, 1) and not stated_facts(answer, 1):
        # Without facts, the texts only share common words.
        level *= _NOTHING_STATED
    if focus:
        level = (1 - _FOCUS) * level + _FOCUS * agreement(focus, answer)
    return max(level, 0.01)


def answer_unseen(request: ReceivedRequest) -> str:
    """Answer each numbered question from the images, or else from the words of the question."""
    return "\n\n".join(
        f"**A{number}**: {_unseen(question, request.labelled)}"
        for number, question in split_questions(request.section("questions"))
    )


def mark(request: ReceivedRequest) -> str:
    """Return how far each answer agrees with its reference, from 0 to 10, as a JSON object."""
    return _numbered_object([_mark_of(*pair) for pair in _pairs(request, "reference")])


def ground(request: ReceivedRequest) -> str:
    """Return what each answer states that the pixels contradict, as a JSON object of lists."""
    return _numbered_object(
        [_unsupported(*pair, request.labelled) for pair in _pairs(request, "question")]
    )


def reread(request: ReceivedRequest) -> str:
    """Return for each answer its contradictions to earlier answers, its sensitive content and its
    refusals, as a JSON object.
    """
    first_values: dict[tuple[int, str], tuple[str, int]] = {}
    findings = []
    for number, (question, answer) in enumerate(_pairs(request, "question"), start=1):
        against = []
        for fact in _facts(question, answer):
            if fact.kind == COLOUR:
                continue  # An image has several colours.
            value, before = first_values.setdefault((fact.image, fact.kind), (fact.value, number))
            if value != fact.value and before != number:
                against.append(
                    f"'{fact.value}' of <image-{fact.image}>, but A{before} has '{value}'"
                )
        named = [match[0] for match in (*_PERSON.finditer(answer), *_UNSAFE.finditer(answer))]
        declined = [match[0] for match in _DECLINED.finditer(answer)]
        findings.append({"contradictions": against, "sensitive": named, "unanswered": declined})
    return _numbered_object(findings)


def _unseen(question: str, pictures: dict[int, Facts]) -> str:
    answer = next(
        (text for words, text in KNOWN_ANSWERS.items() if words in question.lower()), None
    )
    if answer is not None:
        return answer
    if pictures:
        return careful_answer(question, pictures, "careful")
    if _YES_NO.match(question):
        return f"Yes: {question.rstrip('?')}, as the question says."
    return _UNSEEN_ANSWER


def _mark_of(reference: str, answer: str) -> int:
    if declines(answer):
        return 0
    facts = _facts_told(reference, answer)
    return round(HIGHEST * (agreement(reference, answer) if facts is None else facts))


def _pairs(request: ReceivedRequest, tag: str) -> list[tuple[str, str]]:
    """Return the sections with a tag, each with the answer at its place."""
    return list(zip(request.every(tag), request.every("answer"), strict=False))


def _facts(question: str, answer: str) -> list[StatedFact]:
    named = image_numbers(question)
    return stated_facts(answer, named[0] if len(named) == 1 else None)


def _unsupported(question: str, answer: str, pictures: dict[int, Facts]) -> list[str]:
    pictures_asked = asked_about(question, pictures)
    return [
        f"'{fact.value}' of <image-{fact.image}>: "
        f"it is {true_values(pictures[fact.image], fact.kind)[0]}"
        for fact in _facts(question, answer)
        if fact.image in pictures_asked and correctness(fact, pictures[fact.image]) == 0.0
    ]


def _numbered_object(values: Sequence[object]) -> str:
    named = {f"A{number}": value for number, value in enumerate(values, start=1)}
    return json.dumps(named, ensure_ascii=False)
