"""Multiple-choice items in releases, published files and prediction files."""

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import eq
from typing import Any, NamedTuple, TypeVar

from methods.choice.answer_extraction import NO_VALUE
from methods.choice.lettered import (
    FEWEST,
    LETTERS,
    MOST,
    Order,
    choices_in_order,
    equal_to_right,
    with_hint,
)
from methods.evaluation.cells import FileRow
from methods.evaluation.indexes import known_id, whole_index
from methods.evaluation.items import Item, ReferenceKind, Turn
from methods.evaluation.predictions import PredictionError, Unplaced
from methods.evaluation.published import BrokenImage, PublishedError, PublishedItem
from methods.evaluation.published_tables import decode_image, list_of_texts, require_unicode
from methods.invisible_characters import visible_text
from methods.prompts.messages import IMAGE_HERE
from methods.release import Edition, Origin, Release, ReleaseRows, ReviewPolicy, with_release_ids


@dataclass(frozen=True, kw_only=True)
class ApprovedItem:
    """One approved item: its content after review, its reviewers, and the calls that wrote it.

    `key` is the letter of the right choice. `asked_by` is the model call that wrote question and hint,
    `answered_by` the call that wrote the choices and the key. `category` is the ability or task of the
    item.
    """

    item_id: str
    set_id: str | None
    group_id: str | None = None
    revision: int
    reviewers: tuple[str, ...]
    image_ids: tuple[str, ...]
    question: str
    hint: str
    choices: tuple[str, ...]
    key: str
    category: str
    asked_by: Origin = Origin()
    answered_by: Origin = Origin()


ItemT = TypeVar("ItemT", bound=ApprovedItem)


def build_release(
    name: str,
    edition: Edition,
    items: Sequence[ItemT],
    reviewed: ReviewPolicy,
    *,
    hint_name: str,
    labels: Callable[[ItemT], Mapping[str, str]],
    source: Callable[[ItemT, str], Mapping[str, Any]],
) -> Release:
    """Build a release of multiple-choice items, in order of item id.

    Args:
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The items.
        reviewed: The review policy that they passed.
        hint_name: The word before a hint.
        labels: Gives the labels of an item.
        source: Gives the source columns of `images` for an image of an item.

    Returns:
        The rows of `RELEASE_TABLES`.
    """
    rows = ReleaseRows()
    ordered = sorted(items, key=lambda item: item.item_id)
    for ordinal, item in enumerate(ordered, start=1):
        n_images = len(item.image_ids)
        rows.add_item(
            ordinal,
            item.item_id,
            item.revision,
            item.reviewers,
            labels(item),
            set_id=item.set_id,
            group_id=item.group_id,
        )
        question = with_hint(item.question, item.hint, hint_name, n_images)
        rows.add_turn(1, question, range(1, n_images + 1), item.asked_by)
        rows.add_reference(1, "key", item.key, item.answered_by)
        rows.add_choices(item.choices)
        rows.add_images(item.image_ids, partial(source, item))
    return with_release_ids(name, reviewed, edition, rows.tables)


class PublishedQuestion(NamedTuple):
    """A published record. `key` is the letter of the right choice, None if the answer is held out."""

    item_id: str
    question: str
    choices: tuple[str, ...]
    key: str | None
    images: tuple[str | bytes, ...]
    labels: Mapping[str, str]
    hint: str = ""
    hint_name: str = "Hint"


def published_item(where: str, question: PublishedQuestion) -> PublishedItem:
    """Turn a published record into an item, after checking it.

    Args:
        where: The record, for messages.
        question: The record.

    Returns:
        The item.

    Raises:
        PublishedError: There is no question, the placeholders do not match the images, or a text is not
            valid.
    """
    if not visible_text(question.question):
        raise PublishedError(f"{where} has no question")
    text = with_hint(question.question, question.hint, question.hint_name, len(question.images))
    if text.count(IMAGE_HERE) != len(question.images):
        raise PublishedError(
            f"{where} has {text.count(IMAGE_HERE)} {IMAGE_HERE} for {len(question.images)} images"
        )
    _require_one_right_choice(where, question)
    paths = [image for image in question.images if isinstance(image, str)]
    labels = (*question.labels, *question.labels.values())
    require_unicode(where, (question.item_id, text, *question.choices, *paths, *labels))
    references: dict[ReferenceKind, str] = {"key": question.key} if question.key else {}
    turn = Turn(1, text, tuple(range(1, len(question.images) + 1)), references)
    return PublishedItem(
        question.item_id, (turn,), question.images, question.choices, labels=question.labels
    )


def _require_one_right_choice(where: str, question: PublishedQuestion) -> None:
    """Raise PublishedError if another choice has the text of the right one. Equal wrong choices, which
    published benchmarks have, make no answer wrong that is right.
    """
    if question.key and (letter := equal_to_right(question.choices, question.key)):
        raise PublishedError(
            f"{where}: its right choice {question.key} has the same text as its choice {letter}; "
            "correct one of them, or remove the record"
        )


# --- Reading ---------------------------------------------------------------------------------------


def choices_of(where: str, row: Mapping[str, str]) -> tuple[str, ...]:
    """Read the choices in the columns of letters.

    Args:
        where: The row, for messages.
        row: The cells by column. An empty cell is not a choice; "None" and "NA" are.

    Returns:
        The choices.

    Raises:
        PublishedError: A letter in between has no choice, or there are too few or too many choices.
    """
    texts = [row.get(letter, "") for letter in LETTERS]
    n_choices = sum(map(bool, texts))
    if not all(texts[:n_choices]):
        raise PublishedError(f"{where} has no choice {LETTERS[texts.index('')]}")
    # If columns A to J are all filled, columns K, L and so on are further choices, not labels; they
    # are counted for the message.
    further = [row.get(letter, "") for letter in string.ascii_uppercase[MOST:]]
    n_further = list(map(bool, [*further, ""])).index(False) if n_choices == MOST else 0
    return require_choices(where, [*texts[:n_choices], *further[:n_further]])


def require_choices(where: str, choices: Sequence[str]) -> tuple[str, ...]:
    """Check that the number of choices is in the supported range, and that none is empty.

    Args:
        where: The row, for messages.
        choices: The choices.

    Returns:
        The choices.

    Raises:
        PublishedError: There are too few or too many choices, or one is empty.
    """
    if not FEWEST <= len(choices) <= MOST:
        raise PublishedError(f"{where} has {len(choices)} choices instead of {FEWEST} to {MOST}")
    for letter, text in zip(LETTERS, choices, strict=False):
        if not visible_text(text):
            raise PublishedError(f"{where}: its choice {letter} is empty")
    return tuple(choices)


def key_of_answer(where: str, answer: str, n_choices: int) -> str | None:
    """Read the letter of the right choice.

    Args:
        where: The row, for messages.
        answer: The cell; empty if the answer is held out.
        n_choices: The number of choices.

    Returns:
        The letter; None if the answer is held out.

    Raises:
        PublishedError: The cell is not the letter of a choice.
    """
    letter = answer.strip().upper()
    if not letter:
        return None
    if letter not in LETTERS[:n_choices] or len(letter) != 1:
        raise PublishedError(
            f"{where}: its answer {ascii(answer[:40])} is not a letter of a choice"
        )
    return letter


def images_of(where: str, image: str, image_path: str) -> tuple[str | bytes, ...]:
    """Read the images of a row.

    Args:
        where: The row, for messages.
        image: One image in base64, or a Python list of several; empty for none.
        image_path: The path of an image, or a list of paths; used if `image` is empty.

    Returns:
        The bytes or paths of the images.

    Raises:
        PublishedError: A cell cannot be read.
    """
    if image:
        texts = list_of_texts(where, "image", image) if image.startswith("[") else [image]
        return tuple(map(decode_image, texts))
    if image_path.startswith("["):
        return tuple(list_of_texts(where, "image_path", image_path))
    return (image_path or BrokenImage("missing", "the record has no image"),)


# --- Writing ---------------------------------------------------------------------------------------


def key_as_answer(item: PublishedItem) -> str:
    """The cell of the answer: the letter of the right choice, empty if the answer is held out."""
    return item.turns[0].references.get("key", "")


def are_indexes(item_ids: Iterable[str]) -> bool:
    """Whether all ids are whole numbers below 1,000,000, which can serve as indexes.

    If so, the column `index` has the ids, otherwise the positions of the questions, from 1.
    """
    return all(re.fullmatch("[1-9][0-9]{0,5}|0", item_id) for item_id in item_ids)


def columns_of_choices(items: Sequence[PublishedItem]) -> str:
    """The letters under which at least one item has a choice."""
    return LETTERS[: max((len(item.choices) for item in items), default=0)]


IDS = ("item_id", "id")
"""Columns with an item's id, which takes precedence over `index`."""


class Questions:
    """The questions of a release, found by the id or the index that a file gives.

    If all ids are numbers (`are_indexes`), an index is an id, as exports write it. Otherwise it is the
    id or the position, from 1, of a question. An index that is the id of one question and the position
    of another is ambiguous.
    """

    def __init__(self, items: Sequence[Item]):
        self._by_id = {item.item_id: item for item in items}
        numbered = are_indexes(self._by_id)
        self._by_place = (
            {} if numbered else {str(place): item for place, item in enumerate(items, start=1)}
        )

    def require_same_start(self, rows: Iterable[FileRow]) -> None:
        """Refuse rows that count from 0 if the questions are counted from 1: each row would be taken
        for the question before its own.

        Args:
            rows: The rows of the file.

        Raises:
            PredictionError: A row has the number 0, and none has the number of the last question.
            PublishedError: A number is not whole.
        """
        numbers = sorted(map(int, self._by_place or self._by_id))
        if "0" in self._by_id or numbers[:1] != [1]:
            return
        named = set(map(self._named_by, rows))
        if "0" in named and str(numbers[-1]) not in named:
            raise PredictionError(
                "Its records count from 0 and the questions of the release from 1: a record has the "
                f"index 0, and none has the last, {numbers[-1]}. Add 1 to every index, or remove the "
                "record with the index 0 if the others are right."
            )

    def _named_by(self, row: FileRow) -> str:
        """Return the first cell that names the question of a row."""
        names = (*IDS, "g_index", "index")
        column = next((name for name in names if row.cells.get(name)), "index")
        text = row.cells.get(column, "")
        return text if text in self._by_id else index_of(row, column)

    def find(self, row: FileRow) -> Item | Unplaced:
        """Find the question of a row by its id, or else by its index. Raises PublishedError."""
        for name in IDS:
            if row.cells.get(name):
                return self._by_id.get(known_id(row, name, self._by_id), "unknown")
        return self.by_index(index_of(row))

    def by_index(self, index: str) -> Item | Unplaced:
        """Find the question of an index."""
        by_id, by_place = self._by_id.get(index), self._by_place.get(index)
        if by_id is not None and by_place is not None and by_id is not by_place:
            return "ambiguous"
        return by_id or by_place or "unknown"


def index_of(row: FileRow, column: str = "index") -> str:
    """Read the index of a row; a float such as 3.0, as some tools write it, is read as 3.

    Args:
        row: The row.
        column: The column of the index.

    Returns:
        The index.

    Raises:
        PublishedError: The index is a float that is not whole.
    """
    return whole_index(row.where, column, row.cells.get(column, ""))


def has_choices(cells: Mapping[str, str]) -> bool:
    """Whether a row lists its choices."""
    return any(cells.get(letter) for letter in LETTERS)


def fitting_orders(
    cells: Mapping[str, str], item: Item, orders: Iterable[Order]
) -> Sequence[Order]:
    """Find the orders in which the columns of letters have an item's choices.

    The cell of a choice such as "None" may be empty, as tools read it as missing. A number may be
    written differently, but choices may differ in nothing else ("2.0" and "2.00"): an order in which
    more cells have the texts of the choices fits better.

    Args:
        cells: The cells by column.
        item: The item.
        orders: Orders: the position of the choice under each letter.

    Returns:
        The orders that fit best; empty if none fits.
    """
    texts = [cells.get(letter, "").strip() for letter in LETTERS]
    by_n_equal: dict[int, list[Order]] = {}
    for order in orders:
        choices = [text.strip() for text in choices_in_order(item.choices, order)]
        choices += [""] * (len(LETTERS) - len(order))
        if all(map(_may_be, texts, choices)):
            by_n_equal.setdefault(sum(map(eq, texts, choices)), []).append(order)
    return by_n_equal[max(by_n_equal)] if by_n_equal else []


def _may_be(cell: str, choice: str) -> bool:
    if cell == choice or (not cell and choice in NO_VALUE):
        return True
    try:
        return float(cell) == float(choice)
    except ValueError:
        return False
