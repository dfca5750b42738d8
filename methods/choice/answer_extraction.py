"""Answer extraction: VLMEvalKit's rules, the letters of all readers, and samples to check."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE

_NO_API = "Failed to obtain answer via API"
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_TO_SPACES = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_VERBOSE = re.compile(r"answer\s+is\s+\**([A-D])", re.IGNORECASE)
LAST_WORDS = 4
NO_VALUE = frozenset(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN", "<NA>"),
        *("-NaN", "-nan", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
"""Cells that pandas reads as missing: VLMEvalKit ignores a choice with such a text."""


def compat(answer: str, choices: Sequence[str]) -> str | None:
    """Extract the letter by VLMEvalKit's rules.

    Args:
        answer: The answer.
        choices: The choices in order of letter.

    Returns:
        The letter; `Z` for none of the choices; None if the rules find nothing.
    """
    visible = _seen(choices)
    return _by_letter(answer, visible) or _by_text(answer, visible)


def compat_letter(rule: str | None, strict: str | None, choices: Sequence[str]) -> str | None:
    """Return the letter that VLMEvalKit extracts from an answer.

    Args:
        rule: The letter of VLMEvalKit's rules (`compat`).
        strict: The letter of the strict rules or the extractor. It replaces the letter of the model
            that VLMEvalKit asks if its rules find nothing.
        choices: The texts of the choices in the order in which they were asked.

    Returns:
        A letter or `Z`; `Z` also if `strict` is a choice that VLMEvalKit does not see. None if there is
        no letter.
    """
    letter = rule or strict
    return letter if letter is None or letter in _seen(choices) else NO_CHOICE


def _seen(choices: Sequence[str]) -> dict[str, str]:
    """The choices that VLMEvalKit sees, by letter."""
    return {
        letter: choice
        for letter, choice in zip(LETTERS, choices, strict=False)
        if choice not in NO_VALUE
    }


def _by_letter(answer: str, letters: Collection[str]) -> str | None:
    if _NO_API in answer:
        return None
    if any(refusal in answer for refusal in _REFUSALS):
        return NO_CHOICE
    words = answer.translate(_TO_SPACES).split()
    named = [letter for letter in letters if letter in words]
    if len(named) == 1 and words.index(named[0]) >= len(words) - LAST_WORDS:
        return named[0]
    if not named and NO_CHOICE in words:
        return NO_CHOICE
    match = _VERBOSE.search(answer)
    return match[1].upper() if match and match[1].upper() in letters else None


def _by_text(answer: str, choices: Mapping[str, str]) -> str | None:
    # VLMEvalKit measures the text in lower case, which may be longer: "İ" becomes two characters.
    answer = answer.lower()
    if len(answer) > 2 * sum(map(len, choices.values())):
        return None
    matching = [letter for letter, choice in choices.items() if choice.lower() in answer]
    return matching[0] if len(matching) == 1 else None


Stratum = Literal["rule", "extractor", "none", "differ", "unread"]
"""The first stratum that fits an answer. `unread`: there is no letter. `differ`: the strict letter is
not VLMEvalKit's. `none`: the letter is Z. `rule`, `extractor`: the reader that found the letter."""
STRATA: tuple[Stratum, ...] = get_args(Stratum)
QUEUED_KIND = "extraction"
Place = tuple[str, str, str, int]
"""Model, item, trial and turn."""


@dataclass(frozen=True)
class ExtractedAnswer:
    """One answer with the letters that were extracted from it: letters of choices, or Z; None for no
    letter.

    Attributes:
        rule: The letter of the strict rules.
        extractor: The letter of the model that is asked if the rules find nothing.
        lost: Why the extractor returned no letter.
        compat_rule: The letter of VLMEvalKit's rules.
        by_model: Letters that count in no score, by extractor: of answers that a rule reads, and of
            other extractors.
        right: The letter of the right choice, if it is known.
    """

    model: str
    item_id: str
    trial: str
    turn: int
    cluster: str
    question: str
    choices: tuple[str, ...]
    answer: str
    rule: str | None
    extractor: str | None
    lost: str | None
    compat_rule: str | None
    by_model: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    right: str | None = None

    @cached_property
    def place(self) -> Place:
        """The key of the answer among the answers on a release."""
        return self.model, self.item_id, self.trial, self.turn

    @property
    def letter(self) -> str | None:
        """The strict letter, which scores use: by the rules, or else by the extractor."""
        return self.rule or self.extractor

    @property
    def compat(self) -> str | None:
        """VLMEvalKit's letter: by its rules, or else the strict letter."""
        return compat_letter(self.compat_rule, self.letter, self.choices)

    @property
    def stratum(self) -> Stratum:
        """The stratum of the answer."""
        if self.letter is None:
            return "unread"
        if self.letter != self.compat:
            return "differ"
        if self.letter == NO_CHOICE:
            return "none"
        return "rule" if self.rule else "extractor"

    @property
    def content(self) -> dict[str, Any]:
        """The content for reviewers: without extracted letters, without the model's name, and
        nothing selected.
        """
        return {
            "question": self.question.replace(IMAGE_HERE, "(image)"),
            "choices": dict(zip(LETTERS, self.choices, strict=False)),
            "output": self.answer,
            "choice": None,
        }

    @property
    def queue_id(self) -> str:
        """The id of this content in the review queue: equal answers to equal questions share it."""
        return content_id(QUEUED_KIND, self.content)


def sample_answers(
    answers: Iterable[ExtractedAnswer],
    n: int,
    seed: int,
    group: Callable[[ExtractedAnswer], object],
) -> list[ExtractedAnswer]:
    """Sample answers of each group by a hash of seed and place.

    Adding or removing an answer changes at most one answer of the sample.

    Args:
        answers: The answers.
        n: The number of answers of each group; smaller groups are taken whole.
        seed: The seed.
        group: Gives the group of an answer.

    Returns:
        The sample in the order of places.
    """
    groups: dict[object, list[ExtractedAnswer]] = {}
    for answer in answers:
        groups.setdefault(group(answer), []).append(answer)
    chosen = [
        answer
        for members in groups.values()
        for answer in sorted(members, key=lambda answer: content_id(seed, *answer.place))[:n]
    ]
    return sorted(chosen, key=lambda answer: answer.place)
