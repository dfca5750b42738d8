"""The evaluated models that the offline server offers, each of a known skill.

What belongs here: what each of them answers to the user's last message. The model's name chooses
the skill and has no other effect. Every answer is made by rule; no model is called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from resources.offline import vocabulary
from resources.offline.careful_answers import careful_answer
from resources.offline.chat_request import ChatRequest
from resources.offline.chinese import is_chinese, to_english
from resources.offline.choices import best, options
from resources.offline.descriptions import in_one
from resources.offline.image_facts import Facts
from resources.offline.prompt_parsing import asked_about, last_attached, numbered, tokens
from resources.offline.seeded_choice import SeededChoice
from resources.offline.stated_facts import true_values

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


def candidate(request: ChatRequest) -> str:
    """Answer the user's last message with the skill that the model's name stands for."""
    return _SKILLS.get(request.model, _careful)(request)


def _situation(request: ChatRequest) -> tuple[str, dict[int, Facts]]:
    """Return the last message's text and the pictures it is about.

    They are those it names, else those that came with it, else all of the conversation's.
    """
    pictures = numbered(request)
    text = request.last_user.text
    if not any(number in pictures for number in tokens(text)):
        attached = last_attached(request)
        pictures = {number: pictures[number] for number in attached} or pictures
    return text, pictures


def _careful(request: ChatRequest) -> str:
    text, pictures = _situation(request)
    stem, offered = options(text)
    if offered and is_chinese(stem):
        known = {letter: to_english(choice) for letter, choice in offered.items()}
        return f"答案是{best(to_english(stem), known, pictures)}。"
    if offered:
        return f"The answer is {best(stem, offered, pictures)}."
    return careful_answer(text, pictures, "careful")


def _careless(request: ChatRequest) -> str:
    text, pictures = _situation(request)
    seeded = SeededChoice("careless", text, sorted(pictures.items()))
    stem, offered = options(text)
    if offered and is_chinese(stem):
        return f"我选{seeded.choice('guess', list(offered))}。"
    if offered:
        return f"I think it is {seeded.choice('guess', list(offered))}."
    if not pictures:
        return "Hard to say without seeing anything."
    asked = asked_about(text, pictures)
    told = asked[:-1] if len(asked) > 1 and seeded.chance("ignore one", 0.3) else asked
    source = dict(zip(asked, asked, strict=True))
    if len(asked) > 1 and seeded.chance("swap", 0.25):
        source[asked[0]], source[asked[1]] = asked[1], asked[0]
    sentences = [
        _careless_sentence(number, pictures[source[number]], seeded, first=number == told[0])
        for number in told
    ]
    ending = seeded.choice("ending", _LINKING if len(asked) > 1 else _OFFHAND)
    return " ".join([*sentences, ending])


def _careless_sentence(number: int, facts: Facts, seeded: SeededChoice, *, first: bool) -> str:
    """State about half the facts, some of them wrong; for the first picture at least one is."""
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
    """Return a kind's values that are wrong, without the nearly right ones if any remain."""
    right = true_values(facts, kind)
    wrong = [value for value in vocabulary.values(kind) if value not in right]
    far = [value for value in wrong if not any(vocabulary.near(value, true) for true in right)]
    return far or wrong


def _with(facts: Facts, kind: str, value: str) -> Facts:
    if kind == vocabulary.COLOUR:
        return replace(facts, colours=((value, 1.0),), background=value)
    changed: dict[str, Any] = {kind: value}
    return replace(facts, **changed)


def _poor_perception(request: ChatRequest) -> str:
    """See nothing right, and rest on what was said of the picture first."""
    said = _said_before(request)
    return _resting(said[0]) if said else _all_wrong(request)


def _poor_reasoning(request: ChatRequest) -> str:
    """See everything right, conclude wrong, and rest on the last conclusion."""
    said = _said_before(request)
    if not said:
        return _careful(request)
    return _all_wrong(request) if len(said) == 1 else _resting(said[-1])


def _said_before(request: ChatRequest) -> list[str]:
    return [message.text for message in request.messages if message.speaker == "assistant"]


def _resting(said: str) -> str:
    return f"Going by what was said: {said}"


def _all_wrong(request: ChatRequest) -> str:
    """Answer as the careful model does about pictures that are wrong in every fact."""
    text, pictures = _situation(request)
    wrong = {}
    for number, facts in pictures.items():
        seeded = SeededChoice("all wrong", text, number, facts)
        wrong[number] = facts
        for kind in vocabulary.KINDS:
            value = seeded.choice(kind, _wrong_values(facts, kind))
            wrong[number] = _with(wrong[number], kind, value)
    return careful_answer(text, wrong, "careful")


def _always_a(request: ChatRequest) -> str:
    return "A"


def _refuser(request: ChatRequest) -> str:
    text, pictures = _situation(request)
    return SeededChoice("refuser", text, sorted(pictures.items())).choice("refusal", _REFUSALS)


def _rambler(request: ChatRequest) -> str:
    text, pictures = _situation(request)
    return " ".join(
        SeededChoice("rambler", text, sorted(pictures.items())).order("ramble", _RAMBLES)
    )


_SKILLS: dict[str, Callable[[ChatRequest], str]] = {
    "offline-careless": _careless,
    "offline-always-a": _always_a,
    "offline-refuser": _refuser,
    "offline-rambler": _rambler,
    "offline-poor-perception": _poor_perception,
    "offline-poor-reasoning": _poor_reasoning,
}
