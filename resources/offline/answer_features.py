"""Features of an answer that the offline judge scores.

What belongs here: measuring one answer against the pictures' facts and the reference. Turning the
measurements into scores is `judge_scores.py`. These rules stand in for a judging model; no model is
called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from resources.offline import vocabulary
from resources.offline.image_facts import Facts
from resources.offline.prompt_parsing import asked_about
from resources.offline.stated_facts import (
    StatedFact,
    correctness,
    mentioned,
    stated_facts,
    true_values,
)

_REFUSAL = re.compile(
    r"\b(?:can(?:no|')?t|can not|unable to|won't|not able to|must decline)\b"
    r"[^.]{0,40}\b(?:help|assist|answer|comply|provide|fulfil|identify|discuss|describe)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\W*[A-Za-z]\W*")
_INTERPRETIVE = re.compile(
    r"\b(suggest|evok|mood|feeling|atmospher|as if|stor(?:y|ies)|invit|calm|lively|solemn|dream"
    r"|myster|tension|harmon|energ|symbol|imagin|reminisc|metaphor|stillness|restraint)",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"\b(because|therefore|while|whereas|by contrast|in contrast|however|moreover|which|so|since"
    r"|together|both|overall|compared|as a result|meanwhile|consequently)\b",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\b(shar(?:e|es|ed|ing)|both|compared|by contrast|in contrast|whereas|brighter|darker|differ"
    r"|similar|alike|in common|unlike|together)",
    re.IGNORECASE,
)
_BRIGHTER = re.compile(r"<image-(\d+)> is (brighter|darker) than <image-(\d+)>", re.IGNORECASE)


@dataclass(frozen=True)
class WrongFact:
    """A wrongly stated fact, and the right value."""

    fact: StatedFact
    right: str


@dataclass(frozen=True)
class AnswerFeatures:
    """What was measured in an answer; shares lie between 0 and 1."""

    asked: tuple[int, ...]
    right: tuple[StatedFact, ...]
    wrong: tuple[WrongFact, ...]
    missing: tuple[tuple[int, str], ...]
    unmatched: tuple[StatedFact, ...]
    swapped: tuple[StatedFact, ...]
    contradictions: tuple[tuple[int, str], ...]
    precision: float
    recall: float
    agreement: float
    covered: float
    named: float
    stray: float
    interpretive: tuple[str, ...]
    connectives: int
    relations: tuple[str, ...]
    false_relations: int
    words: int
    refusal: bool
    letter: bool


def measure(
    pictures: dict[int, Facts], question: str, reference: str, answer: str
) -> AnswerFeatures:
    """Return the features of an answer to a question about pictures."""
    asked = asked_about(question, pictures)
    default = asked[0] if len(asked) == 1 else None
    every = stated_facts(answer, default)
    made = [fact for fact in every if fact.image in asked]
    scored = {fact: correctness(fact, pictures[fact.image]) for fact in made}
    wrong = [fact for fact in made if scored[fact] == 0.0]
    expected = [fact for fact in stated_facts(reference, default) if fact.image in asked]
    recall, missing = _recall(asked, pictures, scored)
    matches = {fact: _match(fact, made) for fact in expected}
    return AnswerFeatures(
        asked=tuple(asked),
        right=tuple(fact for fact in made if scored[fact] == 1.0),
        wrong=tuple(
            WrongFact(fact, true_values(pictures[fact.image], fact.kind)[0]) for fact in wrong
        ),
        missing=tuple(missing),
        unmatched=tuple(fact for fact, match in matches.items() if match == 0.0),
        swapped=tuple(fact for fact in wrong if _elsewhere(fact, asked, pictures)),
        contradictions=tuple(_contradictions(made)),
        precision=_mean(list(scored.values())),
        recall=recall,
        agreement=_mean(list(matches.values())) if matches else recall,
        covered=_mean([float(any(c.image == n and scored[c] for c in made)) for n in asked]),
        named=_mean([float(number in mentioned(answer)) for number in asked]),
        stray=1.0 - len(made) / len(every) if every else 0.0,
        interpretive=_distinct(_INTERPRETIVE, answer),
        connectives=len(_distinct(_CONNECTIVE, answer)),
        relations=_distinct(_RELATION, answer),
        false_relations=_false_relations(pictures, answer),
        words=len(answer.split()),
        refusal=not made and bool(_REFUSAL.search(answer)),
        letter=bool(_LETTER.fullmatch(answer)),
    )


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _distinct(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group(1).lower() for match in pattern.finditer(text)))


def _facts_expected(number: int) -> int:
    """Return how many kinds of fact a full answer states of each of `number` pictures."""
    return 6 if number <= 3 else 4 if number <= 6 else 2


def _recall(
    asked: list[int], pictures: dict[int, Facts], scored: dict[StatedFact, float]
) -> tuple[float, list[tuple[int, str]]]:
    """Return the share of the expected facts that were stated, and the (picture, kind) left out."""
    full = _facts_expected(len(asked))
    told: list[float] = []
    missing: list[tuple[int, str]] = []
    for number in asked:
        scores = []
        for kind in vocabulary.KINDS:
            mine = [c for c in scored if c.image == number and c.kind == kind]
            if kind == vocabulary.COLOUR:
                wanted = true_values(pictures[number], kind)[:2]
                scores.append(_mean([float(any(c.value == w for c in mine)) for w in wanted]))
            else:
                scores.append(max((scored[fact] for fact in mine), default=0.0))
            if not mine:
                missing.append((number, kind))
        told.append(min(1.0, sum(scores) / full))
    return _mean(told), missing


def _match(expected: StatedFact, made: list[StatedFact]) -> float:
    """Return how well the answer repeats one fact of the reference."""
    if expected in made:
        return 1.0
    same = [c for c in made if (c.image, c.kind) == (expected.image, expected.kind)]
    return 0.5 if any(vocabulary.near(c.value, expected.value) for c in same) else 0.0


def _elsewhere(fact: StatedFact, asked: list[int], pictures: dict[int, Facts]) -> bool:
    """Return whether a wrong fact is right for another picture asked about."""
    return any(
        correctness(StatedFact(number, fact.kind, fact.value), pictures[number]) == 1.0
        for number in asked
        if number != fact.image
    )


def _contradictions(made: list[StatedFact]) -> list[tuple[int, str]]:
    """Return (picture, kind) where two values were stated and only one can be right."""
    seen: dict[tuple[int, str], set[str]] = {}
    for fact in made:
        if fact.kind != vocabulary.COLOUR:
            seen.setdefault((fact.image, fact.kind), set()).add(fact.value)
    return [key for key, values in seen.items() if len(values) > 1]


def _false_relations(pictures: dict[int, Facts], answer: str) -> int:
    """Count statements of which picture is brighter that the pixels contradict."""
    wrong = 0
    for first, word, second in _BRIGHTER.findall(answer):
        one, other = pictures.get(int(first)), pictures.get(int(second))
        if one and other:
            wrong += (one.luminance > other.luminance) != (word.lower() == "brighter")
    return wrong
