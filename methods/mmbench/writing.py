"""Generating multiple-choice items with a model (MMBench, 3.2).

Replies are parsed strictly: an unsound item is rejected with a named reason.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from methods.choice.lettered import (
    CAPITALS,
    normalized_choice,
    one_line,
    require_wrong,
    without_marks,
)
from methods.ids import content_id
from methods.prompts.drafts import require_shown
from methods.prompts.parsing import JsonSchema, ParseError, object_schema
from methods.prompts.reply_objects import reply_object

FEWEST, MOST = 2, 4
"""The fewest and the most choices of an item (MMBench, 3.2)."""

_TEXT: JsonSchema = {"type": "string"}
SCHEMA = object_schema(
    {
        "question": _TEXT,
        "hint": _TEXT,
        "answer": _TEXT,
        "distractors": {"type": "array", "items": _TEXT},
    }
)
"""JSON schema of a reply; `hint` is empty if there is none."""

_LETTER_NAMED = re.compile(
    rf"\b(?:option|choice|answer|letter)s?\s+\(?[{CAPITALS}]\b|\([{CAPITALS}]\)"
    rf"|\b[{CAPITALS}] (?:or|and) [{CAPITALS}]\b"
)
_OTHER_CHOICES = re.compile(
    r"\b(?:all|none|any|both|neither|either) of (?:the |these )?"
    r"(?:above|below|choices|options|others|these)\b"
    r"|\b(?:all|none|both|neither) (?:are|is) (?:right|correct|true)\b"
    rf"|\b(?:both|neither|either) \(?[{CAPITALS}]\b",
    re.IGNORECASE,
)


class ItemDraft(NamedTuple):
    """An item as a model wrote it, with the right choice and the wrong choices (distractors)."""

    question: str
    hint: str | None
    answer: str
    distractors: tuple[str, ...]


# --- Which ability is asked about which image ----------------------------------------------------


def assign_abilities(
    images: Sequence[str], abilities: Sequence[str], n_items: int, seed: int
) -> list[tuple[str, str]]:
    """Pair images with abilities, no pair twice.

    Abilities take turns, so they are used equally often, to within one. Each ability takes the image
    that was used least so far; each has a different seeded order of the images for ties. So adding or
    removing an image changes few other pairs, and a larger `n_items` continues the list of a smaller
    one.

    Args:
        images: The images.
        abilities: The abilities.
        n_items: The number of pairs; fewer if there are no more.
        seed: The seed of the orders.
    """
    turns = sorted(abilities, key=partial(content_id, "ability", seed))
    images_left = {
        ability: sorted(images, key=partial(content_id, "image", seed, ability))
        for ability in turns
    }
    uses = dict.fromkeys(images, 0)
    pairs = []
    for place in range(min(n_items, len(images) * len(turns))):
        ability = turns[place % len(turns)]
        image = min(images_left[ability], key=uses.__getitem__)
        images_left[ability].remove(image)
        uses[image] += 1
        pairs.append((image, ability))
    return pairs


# --- Reading a reply -----------------------------------------------------------------------------


def read_item(reply: str) -> ItemDraft:
    """Parse an item from a model's reply, a JSON object with the schema `SCHEMA`. Raises ParseError.

    If all choices begin with letters or numbers, these are removed. The reasons of ParseError are
    `not_json`, `wrong_fields`, `not_unicode`, `empty_question`, `empty_choice`, `too_few_choices`,
    `too_many_choices`, `lettered_choice`, `answer_among_distractors`, `repeated_choice`, `image_token`,
    `refers_to_choices`, `mentions_material` and `gives_answer_away`.
    """
    fields = reply_object(reply, SCHEMA)
    question, hint, answer, distractors = _fields(fields)
    if not question:
        raise ParseError("empty_question", "The question is empty.")
    answer, *wrong = without_marks([answer, *distractors])
    require_wrong(answer, wrong, FEWEST - 1, MOST - 1, "one to three")
    _require_alone(question, hint, [answer, *wrong])
    _require_no_give_away(f"{question} {hint}", answer, wrong)
    return ItemDraft(question, hint or None, answer, tuple(wrong))


def _fields(values: Mapping[str, object]) -> tuple[str, str, str, list[str]]:
    """Question, hint (empty for none), answer and distractors, each on one line."""
    distractors = values.get("distractors")
    texts = [values.get("question"), values.get("hint") or "", values.get("answer")]
    if not isinstance(distractors, list) or not all(
        isinstance(text, str) for text in (*texts, *distractors)
    ):
        raise ParseError(
            "wrong_fields",
            'The reply needs "question", "hint" and "answer" as texts and "distractors" as a list of '
            "texts.",
        )
    question, hint, answer = (one_line(str(text)) for text in texts)
    return question, hint, answer, [one_line(text) for text in distractors]


def _require_alone(question: str, hint: str, choices: Sequence[str]) -> None:
    """Raise ParseError if a text mentions source material that readers do not see, or other choices."""
    question_text = f"{question} {hint}"
    require_shown((question_text, *choices))
    match = _LETTER_NAMED.search(question_text)
    for choice in choices:
        match = match or _OTHER_CHOICES.search(choice)
    if match:
        raise ParseError(
            "refers_to_choices",
            f"A text refers to choices: {match[0][:80]!r}. Their order is decided later.",
        )


def _require_no_give_away(question_text: str, answer: str, wrong: Sequence[str]) -> None:
    """Raise ParseError if the question contains the right choice, but not all wrong ones."""
    if _names(question_text, answer) and not all(_names(question_text, choice) for choice in wrong):
        raise ParseError(
            "gives_answer_away",
            f"The question or the hint has the right answer in it: {answer[:80]!r}.",
        )


def _names(question_text: str, choice: str) -> bool:
    plain = re.escape(normalized_choice(choice))
    return bool(plain) and re.search(rf"(?<!\w){plain}(?!\w)", question_text.casefold()) is not None


# --- Ids -------------------------------------------------------------------------------------------


def item_id(
    entry_id: str, ability: str, question: str, hint: str | None, choices: Sequence[str]
) -> str:
    """Compute the id of an item: a hash of its content without its key and the order of its choices.

    So the id does not reveal which choice is right, and does not change with the order.

    Args:
        entry_id: The entry.
        ability: The ability.
        question: The question.
        hint: The hint; None for none.
        choices: The choices.
    """
    return content_id("multiple choice", entry_id, ability, question, hint, sorted(choices))
