"""The mock models under evaluation (careful, careless, refuser, ...), and the task `extract`.

The name of a model selects its behaviour. This module also parses and selects the options of
multiple-choice questions.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from methods.choice.lettered import CAPITALS, LETTERS
from resources.mock_server import vocabulary
from resources.mock_server.careful_answers import brightest_first, careful_answer, in_one
from resources.mock_server.chat_request import ReceivedRequest, asked_about, image_numbers
from resources.mock_server.choice_questions import is_chinese, to_english
from resources.mock_server.image_facts import Facts
from resources.mock_server.seeded_choice import SeededChoice
from resources.mock_server.several_images import IMAGE, best_of_several
from resources.mock_server.vocabulary import StatedFact, correctness, true_values

_REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I'm sorry, but I am unable to assist with this.",
    "I apologize, but I cannot answer questions about these images.",
    "Sorry, I can't help with identifying what is in these images.",
)
_RAMBLES = (
    "There is so much that could be said here, and it is hard to know where to begin.",
    "In general, one might say that everything depends on how one chooses to approach it.",
    "People have thought about such matters for a very long time, and opinions vary widely.",
    "It is worth remembering that context matters, and that context itself needs context.",
    "Of course, different viewers would say different things, and each would have reasons.",
    "That being said, it remains an interesting topic that deserves further thought.",
    "One could go on at length, and perhaps one should, yet the essence stays hard to grasp.",
    "All in all, the matter is as rich as it is open, and there is always more to consider.",
    "Much has been written about questions of this kind, with varying degrees of success.",
    "Ultimately, it comes down to perspective, and perspective is something we all bring along.",
)
_OFFHAND = ("It looks nice.", "That is about it.", "It has some mood.", "Nothing else stands out.")
_LINKING = ("They look similar.", "They differ a little.", "Both are fine to look at.")
_WRONG_RATE = 0.4
_FACTS_TOLD = 4
_OPTION = re.compile(rf"(?:^|\s)(?:\(([{CAPITALS}])\)|([{CAPITALS}])[.):])\s+(?=\S)")
_PHRASES = ("{}", "on the {}", "{} forms", "{} format")
_NONE = "Z"
_LETTER_ANSWER = re.compile(
    rf"\W*([{CAPITALS}])\W*|.*\b(?:answer|it) is \W?([{CAPITALS}])\b.*", re.DOTALL
)
"""An answer that consists of a letter, or states one ("the answer is B")."""


def candidate(request: ReceivedRequest) -> str:
    """Answer the user's last message with the behaviour of the named model."""
    return _SKILLS.get(request.model, _careful)(request)


def _situation(request: ReceivedRequest) -> tuple[str, dict[int, Facts]]:
    """Return the last message's text and the images that it is about.

    These are the images that it names, else its attached images, else all images of the conversation.
    """
    last = request.last_user
    pictures: dict[int, Facts] = {}
    attached: dict[int, Facts] = {}
    for message in request.messages:
        for picture in message.pictures:
            pictures[len(pictures) + 1] = picture.facts
            if message is last:
                attached[len(pictures)] = picture.facts
    if any(number in pictures for number in image_numbers(last.text)):
        return last.text, pictures
    return last.text, attached or pictures


def _careful(request: ReceivedRequest) -> str:
    text, pictures = _situation(request)
    stem, offered = _options(text)
    if offered and is_chinese(stem):
        choices = {letter: to_english(choice) for letter, choice in offered.items()}
        return f"答案是{_best(to_english(stem), choices, pictures)}。"
    if offered:
        return f"The answer is {_best(stem, offered, pictures)}."
    return careful_answer(text, pictures, "careful")


def _careless(request: ReceivedRequest) -> str:
    text, pictures = _situation(request)
    seeded = SeededChoice("careless", text, sorted(pictures.items()))
    stem, offered = _options(text)
    if offered and is_chinese(stem):
        return f"我选{seeded.choice('guess', list(offered))}。"
    if offered:
        return f"I think it is {seeded.choice('guess', list(offered))}."
    if not pictures:
        return "Hard to say without seeing anything."
    numbers = asked_about(text, pictures)
    answered = numbers[:-1] if len(numbers) > 1 and seeded.chance("ignore one", 0.3) else numbers
    source = dict(zip(numbers, numbers, strict=True))
    if len(numbers) > 1 and seeded.chance("swap", 0.25):
        source[numbers[0]], source[numbers[1]] = numbers[1], numbers[0]
    sentences = [
        _careless_sentence(number, pictures[source[number]], seeded, first=number == answered[0])
        for number in answered
    ]
    ending = seeded.choice("ending", _LINKING if len(numbers) > 1 else _OFFHAND)
    return " ".join([*sentences, ending])


def _careless_sentence(number: int, facts: Facts, seeded: SeededChoice, *, first: bool) -> str:
    """State about half of the facts, some of them wrong: at least one for the first image."""
    rest = [kind for kind in vocabulary.KINDS if kind != vocabulary.COLOUR]
    kinds = [vocabulary.COLOUR, *seeded.order(f"kinds{number}", rest)[: _FACTS_TOLD - 1]]
    wrong = {kind for kind in kinds if seeded.chance(f"wrong {kind}{number}", _WRONG_RATE)}
    if first and not wrong:
        wrong = {seeded.choice("surely wrong", kinds)}
    if wrong == set(kinds):
        wrong.remove(kinds[-1])
    main = facts.colour_names[0]
    plain = replace(facts, colours=((main, 1.0),), background=main)
    for kind in wrong:
        value = seeded.choice(f"value {kind}{number}", _wrong_values(facts, kind))
        plain = _with(plain, kind, value)
    return in_one(number, plain, kinds, seeded)


def _wrong_values(facts: Facts, kind: str) -> list[str]:
    """Return the wrong values of a kind, without the nearly right ones if others remain."""
    right = true_values(facts, kind)
    wrong = [value for value in vocabulary.values(kind) if value not in right]
    far = [value for value in wrong if not any(vocabulary.near(value, true) for true in right)]
    return far or wrong


def _with(facts: Facts, kind: str, value: str) -> Facts:
    if kind == vocabulary.COLOUR:
        return replace(facts, colours=((value, 1.0),), background=value)
    changed: dict[str, Any] = {kind: value}
    return replace(facts, **changed)


def _poor_perception(request: ReceivedRequest) -> str:
    """Answer with only wrong facts in the first turn, and repeat the first answer in later turns."""
    earlier = _said_before(request)
    return _resting(earlier[0]) if earlier else _all_wrong(request)


def _poor_reasoning(request: ReceivedRequest) -> str:
    """Answer the first turn correctly and the second wrongly; then repeat the last answer."""
    earlier = _said_before(request)
    if not earlier:
        return _careful(request)
    return _all_wrong(request) if len(earlier) == 1 else _resting(earlier[-1])


def _said_before(request: ReceivedRequest) -> list[str]:
    return [message.text for message in request.messages if message.speaker == "assistant"]


def _resting(claim: str) -> str:
    return f"Going by what was said: {claim}"


def _all_wrong(request: ReceivedRequest) -> str:
    """Answer like the careful model, but with every fact of the images replaced by a wrong one."""
    text, pictures = _situation(request)
    wrong = {}
    for number, facts in pictures.items():
        seeded = SeededChoice("all wrong", text, number, facts)
        wrong[number] = facts
        for kind in vocabulary.KINDS:
            value = seeded.choice(kind, _wrong_values(facts, kind))
            wrong[number] = _with(wrong[number], kind, value)
    return careful_answer(text, wrong, "careful")


def _refuser(request: ReceivedRequest) -> str:
    return _seeded("refuser", request).choice("refusal", _REFUSALS)


def _rambler(request: ReceivedRequest) -> str:
    return " ".join(_seeded("rambler", request).order("ramble", _RAMBLES))


def _seeded(skill: str, request: ReceivedRequest) -> SeededChoice:
    text, pictures = _situation(request)
    return SeededChoice(skill, text, sorted(pictures.items()))


_SKILLS: dict[str, Callable[[ReceivedRequest], str]] = {
    "offline-careless": _careless,
    "offline-always-a": lambda request: "A",
    "offline-refuser": _refuser,
    "offline-rambler": _rambler,
    "offline-poor-perception": _poor_perception,
    "offline-poor-reasoning": _poor_reasoning,
}


def extract(request: ReceivedRequest) -> str:
    """Return the letter that the answer states, else that of the only quoted choice, else Z."""
    _, offered = _options(request.section("choices"))
    answer = request.section("answer")
    match = _LETTER_ANSWER.fullmatch(answer)
    letter = match and (match[1] or match[2])
    if letter in offered:
        return letter
    named = [
        letter
        for letter, text in offered.items()
        if re.search(rf"\b{re.escape(text.strip(' .'))}\b", answer, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else _NONE


def _options(question: str) -> tuple[str, dict[str, str]]:
    """Split a question into its stem and its options by letter, if it has options."""
    hits = list(_OPTION.finditer(question))
    letters = [hit.group(1) or hit.group(2) for hit in hits]
    if len(letters) < 2 or letters != list(LETTERS[: len(letters)]):
        return question, {}
    ends = [hit.start() for hit in hits[1:]] + [len(question)]
    texts = [
        question[hit.end() : end].strip().split("\n")[0]
        for hit, end in zip(hits, ends, strict=True)
    ]
    return question[: hits[0].start()], dict(zip(letters, texts, strict=True))


def _best(stem: str, offered: dict[str, str], pictures: dict[int, Facts]) -> str:
    """Return the letter of the option that agrees best with the images."""
    if len(pictures) > 1 and (letter := best_of_several(stem, offered, pictures)):
        return letter
    seeded = SeededChoice("choice", stem, sorted(offered.items()), sorted(pictures.items()))
    scores = {letter: _agreement(stem, text, pictures) for letter, text in offered.items()}
    top = max(scores.values())
    return seeded.choice("tie", [letter for letter, score in scores.items() if score == top])


def _agreement(stem: str, option: str, pictures: dict[int, Facts]) -> float:
    alone = IMAGE.fullmatch(option.strip())
    named = [int(alone[1])] if alone else image_numbers(option)
    named = [number for number in named if number in pictures]
    if len(named) == 1:
        return _fits_stem(stem, named[0], pictures)
    numbers = asked_about(stem, pictures)
    facts_stated = _stated(option)
    total = sum(
        _weight(stem, StatedFact(number, kind, value), pictures[number])
        for number in numbers
        for kind, value in facts_stated
    )
    return total / max(1, len(numbers) * len(facts_stated))


def _fits_stem(stem: str, number: int, pictures: dict[int, Facts]) -> float:
    """Score an option that is an image by how well it fits the description in the question."""
    words = stem.lower()
    order = brightest_first(pictures)
    if "brightest" in words or "lightest" in words:
        return -float(order.index(number))
    if "darkest" in words:
        return float(order.index(number))
    return sum(
        _weight(stem, StatedFact(number, kind, value), pictures[number])
        for kind, value in _stated(stem)
    )


def _weight(stem: str, fact: StatedFact, facts: Facts) -> float:
    """Score one stated value. A colour counts by its share, or as the background."""
    if fact.kind != vocabulary.COLOUR:
        return 2.0 * correctness(fact, facts) - 1.0
    if "background" in stem.lower():
        return 1.0 if fact.value == facts.background else -1.0
    share = dict(facts.colours).get(fact.value)
    return correctness(fact, facts) - 1.0 if share is None else 0.5 + share


def _stated(text: str) -> list[tuple[str, str]]:
    """Return the facts that a text states. A bare word is also tried within short phrases."""
    for phrase in _PHRASES:
        facts = vocabulary.stated(phrase.format(text.strip(" .")))
        if facts:
            return [(kind, value) for _, kind, value in facts]
    return []
