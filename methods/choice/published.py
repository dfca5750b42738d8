"""Multiple-choice questions as they are published: choices, key, images and labels of a record.

What belongs here: what the files of several benchmarks have in common. Which columns there are beside
them, and what belongs together, is the benchmark's.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from methods.choice.lettered import FEWEST, LETTERS, MOST, with_hint
from methods.evaluation.items import ReferenceKind, Turn
from methods.evaluation.published import PublishedError, PublishedItem
from methods.evaluation.published_tables import decoded, encoded, listed
from methods.json_text import is_unicode
from methods.prompts.messages import IMAGE_HERE

Picture = Callable[[str], bytes]


class Question(NamedTuple):
    """A record as read: `key` is the letter of the right choice, None where it is held out."""

    item_id: str
    question: str
    choices: tuple[str, ...]
    key: str | None
    images: tuple[str | bytes, ...]
    labels: Mapping[str, str]
    hint: str = ""
    hint_name: str = "Hint"


def published_item(where: str, of: Question) -> PublishedItem:
    """The record as an item, if it holds together. Raises PublishedError."""
    if not of.question.strip():
        raise PublishedError(f"{where} has no question")
    text = with_hint(of.question, of.hint, of.hint_name, len(of.images))
    if text.count(IMAGE_HERE) != len(of.images):
        raise PublishedError(
            f"{where} has {text.count(IMAGE_HERE)} {IMAGE_HERE} for {len(of.images)} images"
        )
    paths = [image for image in of.images if isinstance(image, str)]
    for each in (of.item_id, text, *of.choices, *paths, *of.labels, *of.labels.values()):
        if not is_unicode(each):
            raise PublishedError(f"{where} has a text with half a character (a lone surrogate)")
    references: dict[ReferenceKind, str] = {"key": of.key} if of.key else {}
    turn = Turn(1, text, tuple(range(1, len(of.images) + 1)), references)
    return PublishedItem(of.item_id, (turn,), of.images, of.choices, labels=of.labels)


# --- Reading ---------------------------------------------------------------------------------------


def choices_of(where: str, row: Mapping[str, str]) -> tuple[str, ...]:
    """The choices in the columns A to H; an empty cell is none, "None" and "NA" are texts."""
    texts = [row.get(letter, "") for letter in LETTERS]
    n_choices = sum(map(bool, texts))
    if not all(texts[:n_choices]):
        raise PublishedError(f"{where} has no choice {LETTERS[texts.index('')]}")
    return checked(where, texts[:n_choices])


def checked(where: str, choices: Sequence[str]) -> tuple[str, ...]:
    """The choices, if there are as many as can be asked and none is empty."""
    if not FEWEST <= len(choices) <= MOST:
        raise PublishedError(f"{where} has {len(choices)} choices instead of {FEWEST} to {MOST}")
    if "" in choices:
        raise PublishedError(f"{where}: its choice {LETTERS[choices.index('')]} is empty")
    return tuple(choices)


def key_of_answer(where: str, answer: str, n_choices: int) -> str | None:
    """The letter of the right choice; None for an empty cell: the answer is held out."""
    letter = answer.strip().upper()
    if not letter:
        return None
    if letter not in LETTERS[:n_choices] or len(letter) != 1:
        raise PublishedError(f"{where}: its answer {ascii(answer[:40])} is no letter of a choice")
    return letter


def images_of(where: str, image: str, image_path: str) -> tuple[str | bytes, ...]:
    """Images in base64, else by path; several are a Python list of texts."""
    if image:
        texts = listed(where, "image", image) if image.startswith("[") else [image]
        return tuple(decoded(where, texts))
    if image_path.startswith("["):
        return tuple(listed(where, "image_path", image_path))
    return (image_path,) if image_path else ()


def labels_of(row: Mapping[str, str], form: Sequence[str]) -> dict[str, str]:
    """What else a row says: columns that are not of the form, with a name and a text."""
    return {name: text for name, text in row.items() if name.strip() and name not in form and text}


# --- Writing ---------------------------------------------------------------------------------------


def key_as_answer(item: PublishedItem) -> str:
    """The cell of the answer: a letter, empty where it is held out."""
    return item.turns[0].references.get("key", "")


def images_as_cell(images: Sequence[str | bytes], picture: Picture, *, a_list: bool) -> str:
    """The cell of the images in base64, a Python list where there are several or `a_list` says so."""
    data = [encoded(each if isinstance(each, bytes) else picture(each)) for each in images]
    return repr(data) if a_list or len(data) > 1 else "".join(data)


def are_indexes(item_ids: Iterable[str]) -> bool:
    """Whether ids are numbers that can be the indexes of questions' first rows, all of them.

    Then the column `index` has the ids, else the places of the questions, from 1.
    """
    return all(re.fullmatch("[1-9][0-9]{0,5}|0", item_id) for item_id in item_ids)


def columns_of_choices(items: Sequence[PublishedItem]) -> str:
    """The letters that any of the items has a choice under."""
    return LETTERS[: max((len(item.choices) for item in items), default=0)]
