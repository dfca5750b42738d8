"""MMDU's published file formats, read and written: the authors' JSON (MMDU, A and 2.2) and VLMEvalKit's
TSV.

JSON: a list of {id, image: [paths], conversations: [{from: user | assistant, value}]}. TSV columns:
`index`; `question` and `answer`, Python lists of texts of equal length; and `image`, a list of base64
data, or `image_path`, a list of paths. In both formats `<ImageHere>` marks the place of the next image.
Other texts and numbers of a record become labels of the item. Numbers, also ids, are read as texts.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from methods.evaluation.indexes import whole_id
from methods.evaluation.items import Turn
from methods.evaluation.published import PublishedError, PublishedItem
from methods.evaluation.published_tables import (
    decode_image,
    images_as_cell,
    items_by_ending,
    json_records,
    labels_of,
    list_of_texts,
    require_unicode,
    shortened_id,
    texts_of,
    tsv_line,
    tsv_rows,
)
from methods.invisible_characters import visible_text
from methods.prompts.messages import IMAGE_HERE
from methods.release import image_positions

PUBLISHED_FILES = {
    "dialogues.json": "the dialogues in MMDU's format",
    "mmdu.tsv": "the dialogues as VLMEvalKit reads them, images inside",
}
MOST_TEXT = 1_000_000
"""The most characters of a cell with a list of texts. The longest dialogue of the paper has 27 turns
with answers of at most 1,518 words, about 300,000 characters."""

_FORM = ("id", "image", "conversations", "index", "question", "answer", "image_path")
"""Keys and columns of the two formats, which are not read as labels."""


def read_published(name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
    """Read the dialogues of a `.json` or a `.tsv` in order (`PublishedFormats`)."""
    readers = {"json": _read_json, "tsv": _read_tsv}
    return items_by_ending("MMDU", name, lines, readers)


def write_published(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes]
) -> Mapping[str, Iterable[str]]:
    """Write both formats of items, with images as paths (`PublishedFormats`)."""
    records = [mmdu_record(item) for item in items]
    return {
        "dialogues.json": [json.dumps(records, indent=1, ensure_ascii=False)],
        "mmdu.tsv": tsv_lines(items, picture),
    }


def mmdu_record(item: PublishedItem) -> dict[str, Any]:
    """Make the JSON record of a dialogue. A held-out answer is empty."""
    conversations = []
    for turn in item.turns:
        conversations.append({"from": "user", "value": turn.question})
        conversations.append({"from": "assistant", "value": turn.reference or ""})
    return {
        "id": item.item_id,
        **item.labels,
        "image": list(item.images),
        "conversations": conversations,
    }


def tsv_lines(items: Sequence[PublishedItem], picture: Callable[[str], bytes]) -> Iterator[str]:
    """Write items as lines of a TSV.

    Args:
        items: The items.
        picture: Returns the bytes of an image.

    Yields:
        The lines.
    """
    labels = sorted({name for item in items for name in item.labels})
    yield tsv_line(["index", *labels, "question", "answer", "image"])
    for item in items:
        yield tsv_line(
            [
                item.item_id,
                *(item.labels.get(name, "") for name in labels),
                repr([turn.question for turn in item.turns]),
                repr([turn.reference or "" for turn in item.turns]),
                images_as_cell(item.images, picture, always_list=True),
            ]
        )


# --- Reading ---------------------------------------------------------------------------------------


def _read_json(lines: Iterable[str]) -> Iterator[PublishedItem]:
    for where, record in json_records("".join(lines)):
        item_id = record.get("id")
        if isinstance(item_id, bool) or not isinstance(item_id, str | int | float):
            raise PublishedError(f"{where} has no id")
        if isinstance(item_id, float):
            item_id = whole_id(where, "id", str(item_id))
        if item_id == "":
            raise PublishedError(f"{where} has no id")
        where = f"{where} ({shortened_id(str(item_id))})"
        labels = {
            name: str(value)
            for name, value in record.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        }
        images = texts_of(where, "image", record.get("image"))
        yield _item(
            where, str(item_id), *_turn_texts(where, record.get("conversations")), images, labels
        )


def _turn_texts(where: str, conversations: Any) -> tuple[list[str], list[str]]:
    """Questions and answers. Raises PublishedError unless user and assistant take turns."""
    if not isinstance(conversations, list):
        raise PublishedError(f"{where} has no list of conversations")
    texts: dict[str, list[str]] = {"user": [], "assistant": []}
    for number, message in enumerate(conversations, start=1):
        due = "user" if number % 2 else "assistant"
        if not isinstance(message, dict) or message.get("from") != due:
            raise PublishedError(f"{where}: the {due} is to speak in message {number}")
        if not isinstance(message.get("value"), str):
            raise PublishedError(f"{where}: message {number} has no text")
        texts[due].append(message["value"])
    if len(conversations) % 2:
        raise PublishedError(f"{where}: the last question has no message of the assistant")
    return texts["user"], texts["assistant"]


def _read_tsv(lines: Iterable[str]) -> Iterator[PublishedItem]:
    for where, row in tsv_rows(lines, ("index", "question")):
        yield _of_row(where, row)


def _of_row(where: str, row: Mapping[str, str]) -> PublishedItem:
    item_id = whole_id(where, "index", row["index"])
    if not item_id:
        raise PublishedError(f"{where} has no index")
    where = f"{where} ({shortened_id(item_id)})"
    questions = list_of_texts(where, "question", row["question"], MOST_TEXT)
    answers = [""] * len(questions)
    if row.get("answer"):
        answers = list_of_texts(where, "answer", row["answer"], MOST_TEXT)
    if len(answers) != len(questions):
        raise PublishedError(f"{where} has {len(answers)} answers to {len(questions)} questions")
    images: Sequence[str | bytes]
    if row.get("image"):
        images = list(map(decode_image, list_of_texts(where, "image", row["image"])))
    else:
        images = list_of_texts(where, "image_path", row.get("image_path") or "[]")
    return _item(where, item_id, questions, answers, images, row)


def _item(
    where: str,
    item_id: str,
    questions: Sequence[str],
    answers: Sequence[str],
    images: Sequence[str | bytes],
    others: Mapping[str, str],
) -> PublishedItem:
    """Check and make the dialogue. `others` are the other texts of its record, which become labels."""
    if not questions:
        raise PublishedError(f"{where} has no turns")
    for number, question in enumerate(questions, start=1):
        if not visible_text(question):
            raise PublishedError(f"{where}: question {number} is empty")
    n_places = sum(question.count(IMAGE_HERE) for question in questions)
    if n_places != len(images):
        raise PublishedError(f"{where} has {n_places} {IMAGE_HERE} for {len(images)} images")
    labels = labels_of(others, _FORM)
    paths = [image for image in images if isinstance(image, str)]
    require_unicode(where, (item_id, *questions, *answers, *paths, *labels, *labels.values()))
    turns = [
        Turn(number, question, entering, {"answer": answer} if answer else {})
        for number, (question, entering, answer) in enumerate(
            zip(questions, image_positions(questions), answers, strict=True), start=1
        )
    ]
    return PublishedItem(item_id, tuple(turns), tuple(images), labels=labels)
