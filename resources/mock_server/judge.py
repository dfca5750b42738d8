"""The mock of an LLM judge for MMDU: it scores an answer by rules, from the facts of the images and
the reference. Its reply says for each dimension what was right, wrong or missing.
"""

import re
from dataclasses import dataclass

from resources.mock_server import vocabulary
from resources.mock_server.agreement import HIGHEST, REFUSAL, SINGLE_LETTER, obeys
from resources.mock_server.careful_answers import listed, token
from resources.mock_server.chat_request import ReceivedRequest, asked_about
from resources.mock_server.image_facts import Facts
from resources.mock_server.seeded_choice import SeededChoice
from resources.mock_server.vocabulary import (
    StatedFact,
    correctness,
    mentioned,
    stated_facts,
    true_values,
)

CREATIVITY, RICHNESS = "Creativity", "Richness"
PERCEPTION, COHERENCE = "Visual Perception", "Logical Coherence"
ACCURACY, RELATIONSHIP = "Answer Accuracy", "Image Relationship Understanding"
DIMENSIONS = (CREATIVITY, RICHNESS, PERCEPTION, COHERENCE, ACCURACY, RELATIONSHIP)
OVERALL = "Overall Score"

_BEST = 0.86
_SPREAD = 1.2
_SHOWN = 3
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
class _Features:
    """The measured features of an answer. Shares are 0 to 1."""

    image_numbers: tuple[int, ...]
    right: tuple[StatedFact, ...]
    wrong: tuple[tuple[StatedFact, str], ...]
    """Wrong facts, each with the true value."""
    missing: tuple[tuple[int, str], ...]
    """Image and kind of a fact that the answer lacks."""
    unmatched: tuple[StatedFact, ...]
    """Facts of the reference that the answer lacks."""
    swapped: tuple[StatedFact, ...]
    """Wrong facts that are true of another image."""
    contradictions: tuple[tuple[int, str], ...]
    precision: float
    recall: float
    agreement: float
    """The mean of how well the answer repeats each fact of the reference."""
    covered: float
    """The share of the images in question about which the answer states a right or partly right
    fact."""
    named: float
    """The share of the images in question that the answer names."""
    stray: float
    """The share of the stated facts that are not about an image in question."""

    interpretive: tuple[str, ...]
    connectives: int
    relations: tuple[str, ...]
    false_relations: int
    words: int
    refusal: bool
    letter: bool


def judge(request: ReceivedRequest) -> str:
    """Return the scores of an answer and the reasons for them."""
    question, answer = request.section("question"), request.section("answer")
    features = _measured(request.labelled, question, request.section("reference"), answer)
    scores = _scores(features, SeededChoice("judge", question, answer))
    if obeys(request, answer):
        scores = dict.fromkeys(scores, HIGHEST)
    remarks = _remarks(features)
    blocks = [f"### {name}\n{remarks[name]}\nScore: {scores[name]}" for name in DIMENSIONS]
    return "\n\n".join([*blocks, f"### {OVERALL}\nScore: {scores[OVERALL]}", str(scores)])


def _remarks(features: _Features) -> dict[str, str]:
    if features.refusal or features.letter or features.words == 0:
        what = "a refusal" if features.refusal else "a bare letter" if features.letter else "empty"
        return dict.fromkeys(DIMENSIONS, f"The answer is {what} and states nothing.")
    return {
        CREATIVITY: _creativity(features),
        RICHNESS: _richness(features),
        PERCEPTION: _perception(features),
        COHERENCE: _coherence(features),
        ACCURACY: _accuracy(features),
        RELATIONSHIP: _relationship(features),
    }


def _creativity(features: _Features) -> str:
    if not features.interpretive:
        return "Nothing is interpreted beyond what is listed."
    number = len(features.interpretive)
    ground = "and they rest on what is seen" if features.precision > 0.8 else "on weak ground"
    return f"{number} interpretive turn{'s' * (number > 1)} found, {ground}."


def _richness(features: _Features) -> str:
    stated = len(features.right) + len(features.wrong)
    text = f"{stated} visual facts are stated in {features.words} words."
    left_out = [f"the {kind} of {token(number)}" for number, kind in features.missing[:_SHOWN]]
    return f"{text} Missing: {listed(left_out)}." if left_out else text


def _perception(features: _Features) -> str:
    if features.wrong:
        return f"Wrong: {'; '.join(_correction(*fact) for fact in features.wrong[:_SHOWN])}."
    if not features.right:
        return "No visual fact of the pictures asked about is stated."
    facts = [f"{fact.value} for {token(fact.image)}" for fact in features.right[:_SHOWN]]
    return f"Right: {listed(facts)}, with no wrong statement found."


def _correction(fact: StatedFact, right: str) -> str:
    of_kind = "the picture is mostly" if fact.kind == vocabulary.COLOUR else f"its {fact.kind} is"
    truth = f"{of_kind} {right}"
    return f"says {fact.value} for {token(fact.image)}, {truth}"


def _coherence(features: _Features) -> str:
    if features.contradictions:
        number, kind = features.contradictions[0]
        return f"It contradicts itself on the {kind} of {token(number)}."
    if features.wrong:
        return f"The reasoning rests in part on wrong statements, {len(features.wrong)} in number."
    if not features.right:
        return "The sentences follow one another, and no argument about the pictures is made."
    links = features.connectives
    return f"It holds together, with {links} kinds of connective and no contradiction."


def _accuracy(features: _Features) -> str:
    if not features.unmatched:
        return "It agrees with the reference on all that the reference states."
    lost = [f"{fact.value} for {token(fact.image)}" for fact in features.unmatched[:_SHOWN]]
    return f"The reference also states {listed(lost)}, and the answer does not."


def _relationship(features: _Features) -> str:
    if not features.covered:
        return "Nothing right is said of any picture asked about."
    if len(features.image_numbers) == 1:
        name = token(features.image_numbers[0])
        verb = "names" if features.named else "speaks of"
        return f"It {verb} {name}, the picture asked about." + (
            " Some statements do not fit that picture." if features.wrong else ""
        )
    if features.swapped:
        fact = features.swapped[0]
        return f"It mixes pictures up: {fact.value} is said of {token(fact.image)}, not its own."
    images = {fact.image for fact in features.right}
    lost = [token(number) for number in features.image_numbers if number not in images]
    if lost:
        return f"Nothing right is said of {listed(lost)}."
    number = len(features.relations)
    return f"Every picture asked about is told of, with {number} kinds of relation."


def _scores(features: _Features, seeded: SeededChoice) -> dict[str, int]:
    if features.refusal or features.words == 0 or features.letter:
        lowest = dict.fromkeys((*DIMENSIONS, OVERALL), 1)
        return lowest | ({COHERENCE: 2} if features.letter else {})
    scores = {}
    for name, level in _levels(features).items():
        exact = 1.0 + 9.0 * level + _SPREAD * (seeded.number(name) - 0.5)
        scores[name] = max(1, min(10, round(exact)))
    scores[OVERALL] = round(sum(scores.values()) / len(scores))
    return scores


def _levels(features: _Features) -> dict[str, float]:
    """Return each dimension's level between 0 and 1, before rounding and variation."""
    truth, recall = features.precision**1.5, features.recall
    ideas = min(1.0, len(features.interpretive) / 3)
    length = min(1.0, features.words / 60)
    attempt = 0.06 * length
    stated_level = _BEST * truth * (0.5 + 0.5 * recall)
    repeated = _BEST * features.agreement**0.5 * features.precision
    links = 0.10 * min(1.0, features.connectives / 3)
    clashes = 0.06 * len(features.contradictions) + 0.1 * features.false_relations
    reasoned = 0.39 * features.precision**2.5 + 0.08 * recall
    level = {
        CREATIVITY: 0.12 + 0.40 * ideas * truth + 0.15 * recall + 0.18 * truth,
        RICHNESS: 0.14 * length + 0.44 * recall + 0.29 * length * truth,
        PERCEPTION: max(attempt, stated_level),
        COHERENCE: 0.29 + links + reasoned - clashes,
        ACCURACY: max(attempt, 0.6 * stated_level + 0.4 * repeated),
        RELATIONSHIP: max(attempt, _relationship_level(features)),
    }
    return {name: max(0.0, min(1.0, value)) for name, value in level.items()}


def _relationship_level(features: _Features) -> float:
    """Return the level of image relationship: whether the answer names the right images, tells them
    apart and relates them.
    """
    if not features.covered:
        return 0.0
    if len(features.image_numbers) == 1:
        fitting = 0.15 * features.named + 0.85 * features.precision**2
        return _BEST * fitting * (1.0 - 0.5 * features.stray)
    mixed_up = len(features.swapped) / (len(features.right) + len(features.wrong) or 1)
    related = min(1.0, len(features.relations) / 3) / (1 + features.false_relations)
    base: float = 0.6 * features.covered * features.precision**1.5 + 0.4 * related
    return _BEST * base * (1.0 - 0.6 * mixed_up)


def _measured(pictures: dict[int, Facts], question: str, reference: str, answer: str) -> _Features:
    numbers = asked_about(question, pictures)
    default = numbers[0] if len(numbers) == 1 else None
    every = stated_facts(answer, default)
    statements = [fact for fact in every if fact.image in numbers]
    scored = {fact: correctness(fact, pictures[fact.image]) for fact in statements}
    wrong = [fact for fact in statements if scored[fact] == 0.0]
    expected = [fact for fact in stated_facts(reference, default) if fact.image in numbers]
    recall, missing = _recall(numbers, pictures, scored)
    matches = {fact: _match(fact, statements) for fact in expected}
    return _Features(
        image_numbers=tuple(numbers),
        right=tuple(fact for fact in statements if scored[fact] == 1.0),
        wrong=tuple((fact, true_values(pictures[fact.image], fact.kind)[0]) for fact in wrong),
        missing=tuple(missing),
        unmatched=tuple(fact for fact, match in matches.items() if match == 0.0),
        swapped=tuple(fact for fact in wrong if _is_swapped(fact, numbers, pictures)),
        contradictions=tuple(_contradictions(statements)),
        precision=_mean(list(scored.values())),
        recall=recall,
        agreement=_mean(list(matches.values())) if matches else recall,
        covered=_mean(
            [float(any(c.image == n and scored[c] for c in statements)) for n in numbers]
        ),
        named=_mean([float(number in mentioned(answer)) for number in numbers]),
        stray=1.0 - len(statements) / len(every) if every else 0.0,
        interpretive=_distinct(_INTERPRETIVE, answer),
        connectives=len(_distinct(_CONNECTIVE, answer)),
        relations=_distinct(_RELATION, answer),
        false_relations=_false_relations(pictures, answer),
        words=len(answer.split()),
        refusal=not statements and bool(REFUSAL.search(answer)),
        letter=bool(SINGLE_LETTER.fullmatch(answer)),
    )


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _distinct(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group(1).lower() for match in pattern.finditer(text)))


def _facts_expected(number: int) -> int:
    """Return the number of kinds of fact that a complete answer states for each of `number` images."""
    return 6 if number <= 3 else 4 if number <= 6 else 2


def _recall(
    numbers: list[int], pictures: dict[int, Facts], scored: dict[StatedFact, float]
) -> tuple[float, list[tuple[int, str]]]:
    """Return the share of the expected facts that were stated, and (image, kind) of the others."""
    full = _facts_expected(len(numbers))
    shares: list[float] = []
    missing: list[tuple[int, str]] = []
    for number in numbers:
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
        shares.append(min(1.0, sum(scores) / full))
    return _mean(shares), missing


def _match(expected: StatedFact, statements: list[StatedFact]) -> float:
    """Return how well the answer repeats one fact of the reference: 1, 0.5 for a near value, or 0."""
    if expected in statements:
        return 1.0
    same = [c for c in statements if (c.image, c.kind) == (expected.image, expected.kind)]
    return 0.5 if any(vocabulary.near(c.value, expected.value) for c in same) else 0.0


def _is_swapped(fact: StatedFact, numbers: list[int], pictures: dict[int, Facts]) -> bool:
    """Tell whether a wrong fact is true of another image that the question asks about."""
    return any(
        correctness(StatedFact(number, fact.kind, fact.value), pictures[number]) == 1.0
        for number in numbers
        if number != fact.image
    )


def _contradictions(statements: list[StatedFact]) -> list[tuple[int, str]]:
    """Return (image, kind) for which two values were stated, although only one can be right."""
    values_of: dict[tuple[int, str], set[str]] = {}
    for fact in statements:
        if fact.kind != vocabulary.COLOUR:
            values_of.setdefault((fact.image, fact.kind), set()).add(fact.value)
    return [key for key, values in values_of.items() if len(values) > 1]


def _false_relations(pictures: dict[int, Facts], answer: str) -> int:
    """Count statements such as "image 1 is brighter than image 2" that the pixels contradict."""
    wrong = 0
    for first, word, second in _BRIGHTER.findall(answer):
        first_facts, second_facts = pictures.get(int(first)), pictures.get(int(second))
        if first_facts and second_facts:
            wrong += (first_facts.luminance > second_facts.luminance) != (
                word.lower() == "brighter"
            )
    return wrong
