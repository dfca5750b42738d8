"""Lettered choices of a question: texts, order and letters, and checks of generated distractors."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from methods.choice.alphabet import CAPITALS, LETTERS, SMALLS
from methods.choice.languages import SOURCE_LANGUAGE
from methods.evaluation.items import Item
from methods.ids import content_id
from methods.invisible_characters import visible_text
from methods.prompts.messages import IMAGE_HERE, Message, Text, interleave
from methods.prompts.parsing import ParseError
from methods.prompts.prompt_template import PromptTemplate, TemplateError

_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
FEWEST, MOST = 2, len(LETTERS)
MARKS = rf"[{CAPITALS}{SMALLS}]|{MOST}|[1-9]"
"""A letter or the number of a choice, as part of a regular expression."""
_MARK = re.compile(rf"(?:\(({MARKS})\)|({MARKS})[.):])\s+(?=\S)")


def one_line(text: str) -> str:
    """Put a text on one line, without control characters."""
    return _BLANK.sub(" ", text).strip()


def without_marks(choices: list[str]) -> list[str]:
    """Remove `A. ` or `(1) ` before each choice; the choices stay unchanged if some have no mark.

    Raises ParseError (`lettered_choice`) if only some have a letter.
    """
    marks = [_MARK.match(choice) for choice in choices]
    named = [mark[1] or mark[2] for mark in marks if mark]
    if len(set(named)) == len(choices):
        return [choice[mark.end() :] for choice, mark in zip(choices, marks, strict=True) if mark]
    if any(name.isalpha() for name in named):
        raise ParseError(
            "lettered_choice",
            "Choices begin with a letter such as 'A.': write them without letters.",
        )
    return choices


def require_wrong(answer: str, wrong: Sequence[str], fewest: int, most: int, demand: str) -> None:
    """Check the wrong choices of an item.

    Args:
        answer: The right choice.
        wrong: The wrong choices.
        fewest: The smallest number of wrong choices.
        most: The largest number of wrong choices.
        demand: The required number in words, for messages.

    Raises:
        ParseError: There are too few or too many, one is empty, or two choices are the same.
    """
    if len(wrong) < fewest:
        has = f"are {len(wrong)} distractors" if wrong else "is no distractor"
        raise ParseError("too_few_choices", f"There {has}: write {demand}.")
    if len(wrong) > most:
        raise ParseError("too_many_choices", f"There are {len(wrong)} distractors: write {demand}.")
    if not all((answer, *wrong)):
        raise ParseError("empty_choice", "The answer or a distractor is empty.")
    said_wrong = [normalized_choice(choice) for choice in wrong]
    if normalized_choice(answer) in said_wrong:
        raise ParseError("answer_among_distractors", "The right answer is among the distractors.")
    if len(set(said_wrong)) < len(said_wrong):
        twice, _ = Counter(said_wrong).most_common(1)[0]
        raise ParseError("repeated_choice", f"A distractor is there twice: {twice[:80]!r}.")


def normalized_choice(choice: str) -> str:
    """Normalize a choice: case, articles and closing punctuation do not make two choices different."""
    plain = choice.casefold().strip(" .,;:!?'\"")
    return re.sub(r"^(?:a|an|the) ", "", plain)


SHIFT = "shift-"
"""Prefix of the trials of circular passes; the shift follows."""

Order = tuple[int, ...]
QUESTION = "Question"
"""The word before the question if there is a hint."""
_QUESTION = f"\n{QUESTION}: "


def original_order(n_choices: int) -> Order:
    """The order in which the choices are stored."""
    return tuple(range(n_choices))


def shifted(n_choices: int, shift: int) -> Order:
    """Shift the choices circularly: under shift 1 the second choice is A, the first the last.

    Args:
        n_choices: The number of choices.
        shift: The number of positions.

    Returns:
        The index of the choice under each letter, from 0.
    """
    return tuple((place + shift) % n_choices for place in range(n_choices))


def shuffled(n_choices: int, seed: str) -> Order:
    """Shuffle the choices by seed.

    No choice keeps its letter, so a model that repeats a letter names another choice.

    Args:
        n_choices: The number of choices.
        seed: The seed.

    Returns:
        The index of the choice under each letter, from 0.
    """
    draw = random.Random(seed)
    order = list(range(n_choices))
    while n_choices > 1 and any(place == now for place, now in enumerate(order)):
        draw.shuffle(order)
    return tuple(order)


def choices_in_order(choices: Sequence[str], order: Order) -> tuple[str, ...]:
    """Put the texts of the choices into an order.

    Args:
        choices: The choices.
        order: The index of the choice under each letter.

    Returns:
        The choices in order of their new letters.
    """
    return tuple(choices[place] for place in order)


def letter_in(order: Order, key: str) -> str:
    """Find the letter of a choice in another order.

    Args:
        order: The index of the choice under each letter.
        key: The letter in the original order.

    Returns:
        The letter in `order`.
    """
    return LETTERS[order.index(LETTERS.index(key))]


def key_of(item: Item) -> str | None:
    """The letter of the right choice; None if the answer is held out."""
    return item.turns[0].references.get("key")


def equal_to_right(choices: Sequence[str], key: str) -> str | None:
    """Find a wrong choice that has the text of the right one, so that two letters would be right.

    Args:
        choices: The choices.
        key: The letter of the right choice.

    Returns:
        The letter of such a choice; None if there is none.
    """
    right = visible_text(choices[LETTERS.index(key)])
    lettered = zip(LETTERS, choices, strict=False)
    same = (letter for letter, text in lettered if letter != key and visible_text(text) == right)
    return next(same, None)


def with_letters(choices: Sequence[str]) -> str:
    """Write one choice a line as `A. text`.

    Raises ValueError for more choices than there are letters.
    """
    if len(choices) > MOST:
        raise ValueError(f"there are {len(choices)} choices, and at most {MOST} have a letter")
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=False))


# --- The text of a question ------------------------------------------------------------------------


def with_hint(question: str, hint: str, name: str, n_images: int) -> str:
    """Build the text of a turn: its images, then the hint if there is one, then the question.

    Args:
        question: The question. If it has `<ImageHere>` itself, no images are added.
        hint: The hint; empty for none.
        name: The word before the hint.
        n_images: The number of images.

    Returns:
        The text.
    """
    text = f"{name}: {hint}{_QUESTION}{question}" if hint else question
    return text if IMAGE_HERE in text else _images(n_images) + text


def question_and_hint(text: str, name: str, n_images: int) -> tuple[str, str]:
    """Split the text of a turn into question and hint, the inverse of `with_hint`.

    Args:
        text: The text.
        name: The word before the hint.
        n_images: The number of images.

    Returns:
        The question and the hint; an empty hint if there is none.
    """
    text = text.removeprefix(_images(n_images))
    if text.startswith(f"{name}: ") and _QUESTION in text:
        hint, _, question = text.removeprefix(f"{name}: ").partition(_QUESTION)
        if hint and question.strip():
            return question, hint
    return text, ""


def _images(n_images: int) -> str:
    if n_images == 1:
        return f"{IMAGE_HERE}\n"
    named = (f"Image{number}: {IMAGE_HERE}" for number in range(1, n_images + 1))
    return ", ".join(named) + "\n" if n_images else ""


def question_message(item: Item, template: PromptTemplate, hint_name: str, order: Order) -> Message:
    """Build the user message of an item's first turn from a prompt template.

    The template gets the number of images that the question text does not place (`n_unplaced`), and
    writes `<ImageHere>` for each. The texts of choices never place an image.

    Args:
        item: The item; its hint is taken from the text of the turn.
        template: A prompt with only a user part.
        hint_name: The word before the hint in the turn's text. In lower case, it is the template's
            variable for the hint.
        order: The order of the choices.

    Raises:
        TemplateError: The prompt has a system part, or does not show each image once.
    """
    turn = item.turns[0]
    shown = [item.image_ids[position - 1] for position in turn.image_positions]
    question, hint = question_and_hint(turn.question, hint_name, len(shown))
    # The template also places images that stand at the beginning of the question.
    question = question.removeprefix(IMAGE_HERE * len(shown)).lstrip("\n")
    language = (item.language or SOURCE_LANGUAGE).lower().replace("_", "-").partition("-")[0]
    data = {
        hint_name.lower(): hint,
        "question": question,
        "choices": [
            {"letter": letter, "text": text.replace(IMAGE_HERE, "(image)")}
            for letter, text in zip(LETTERS, choices_in_order(item.choices, order), strict=False)
        ],
        "language": language,
        "n_unplaced": 0 if IMAGE_HERE in f"{question}{hint}" else len(shown),
    }
    *system, user = template.render((), **data)
    text = "".join(part.text for part in user.parts if isinstance(part, Text))
    if system:
        raise TemplateError(
            f"The prompt {template.name} has text above '=== user ==='; a model that is evaluated gets "
            "no system message. Move the text below that line."
        )
    if text.count(IMAGE_HERE) != len(shown):
        raise TemplateError(
            f"The prompt {template.name} shows {text.count(IMAGE_HERE)} images of {len(shown)}. Write "
            f"{IMAGE_HERE} n_unplaced times."
        )
    parts = interleave(text, shown)
    return Message(
        "user", tuple(part for part in parts if not isinstance(part, Text) or part.text.strip())
    )


class UnorderedChoices(Protocol):
    """A tuple with the right choice and the wrong ones. All its fields seed the order."""

    @property
    def answer(self) -> str:
        """The right choice."""

    @property
    def distractors(self) -> tuple[str, ...]:
        """The wrong choices."""


class LetteredChoices(NamedTuple):
    """The choices of an item in order of letter, and the letter of the right one."""

    choices: tuple[str, ...]
    key: str


def assign_letters(
    items: Sequence[UnorderedChoices], seed: int, stored_keys: Mapping[int, str] | None = None
) -> list[LetteredChoices]:
    """Put the choices of each item in an order and give them letters.

    Among the first n items with the same number of choices, for every n, each letter is right equally
    often, up to one. The letter is sampled by the seed and the item's texts, which include the right
    choice. Keep the seed secret if keys are held out: it rules out some choices.

    Args:
        items: The choices of each item, without letters.
        seed: The seed of the order.
        stored_keys: The right letters that items already have, by their index in `items`. They are
            counted first and stay unchanged.

    Returns:
        The lettered choices of each item, in the order of `items`.
    """
    stored_keys = stored_keys or {}
    used: dict[int, Counter[str]] = {}
    for place, key in stored_keys.items():
        _counts(used, items[place])[key] += 1
    all_placed = []
    for place, item in enumerate(items):
        counts = _counts(used, item)
        if place in stored_keys:
            key = stored_keys[place]
        else:
            fewest = min(counts.values())
            rarest = [letter for letter in counts if counts[letter] == fewest]
            key = min(rarest, key=partial(content_id, seed, item))
            counts[key] += 1
        choices = sorted(item.distractors, key=partial(content_id, seed, item))
        choices.insert(LETTERS.index(key), item.answer)
        all_placed.append(LetteredChoices(tuple(choices), key))
    return all_placed


def _counts(used: dict[int, Counter[str]], item: UnorderedChoices) -> Counter[str]:
    n_choices = 1 + len(item.distractors)
    return used.setdefault(n_choices, Counter(dict.fromkeys(LETTERS[:n_choices], 0)))
