"""MMDU as it is published: the authors' JSON (MMDU, A and 2.2) and VLMEvalKit's TSV.

JSON: a list of {id, image: [paths], conversations: [{from: user | assistant, value}]}. TSV: `index`,
`question` and `answer` as Python lists of texts, of equal length, `image` as such a list of base64 or
`image_path` as one of paths. In both `<ImageHere>` stands where the next image enters. What belongs
here: these two forms, read and written. Other texts and numbers of a record are labels of the item.
Numbers are texts from then on, also as ids.
"""

import ast
import base64
import binascii
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from methods.evaluation.items import Turn
from methods.evaluation.published import PublishedError, PublishedItem
from methods.prompts.messages import IMAGE_HERE
from methods.release import image_positions

PUBLISHED_FILES = {
    "dialogues.json": "the dialogues in MMDU's format",
    "mmdu.tsv": "the dialogues as VLMEvalKit reads them, images inside",
}
MOST_TEXT, MOST_IMAGES = 1_000_000, 100_000_000
"""Characters of one cell of a TSV: a list of texts, a list of images or paths. The longest dialogue of
the paper has 27 turns with answers of at most 1,518 words, about 300,000 characters."""

_FORM = ("id", "image", "conversations", "index", "question", "answer", "image_path")
"""Keys and columns of the two forms; no label has such a name."""


def read_published(name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
    """Dialogues of a `.json` or a `.tsv`, in order. Raises PublishedError."""
    read = {"json": _read_json, "tsv": _read_tsv}.get(name.lower().rpartition(".")[2])
    if read is None:
        raise PublishedError("it is neither a .json nor a .tsv, as which MMDU is published")
    seen: set[str] = set()
    for item in read(lines):
        if item.item_id in seen:
            raise PublishedError(f"two records have the id {_shown(item.item_id)}")
        seen.add(item.item_id)
        yield item
    if not seen:
        raise PublishedError("it has no records")


def write_published(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes]
) -> Mapping[str, Iterable[str]]:
    """Both forms of `items`, whose images are paths, by file name."""
    records = [mmdu_record(item) for item in items]
    return {
        "dialogues.json": [json.dumps(records, indent=1, ensure_ascii=False)],
        "mmdu.tsv": tsv_lines(items, picture),
    }


def mmdu_record(item: PublishedItem) -> dict[str, Any]:
    """One dialogue as a record of the JSON; an answer that is held out is empty."""
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
    """Lines of the TSV; `picture` gives the bytes of an image that is a path."""
    labels = sorted({name for item in items for name in item.labels})
    yield _tsv_line(["index", *labels, "question", "answer", "image"])
    for item in items:
        data = [each if isinstance(each, bytes) else picture(each) for each in item.images]
        yield _tsv_line(
            [
                item.item_id,
                *(item.labels.get(name, "") for name in labels),
                repr([turn.question for turn in item.turns]),
                repr([turn.reference or "" for turn in item.turns]),
                repr([base64.b64encode(each).decode() for each in data]),
            ]
        )


def _tsv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return line.getvalue()


# --- Reading ---------------------------------------------------------------------------------------


def _read_json(lines: Iterable[str]) -> Iterator[PublishedItem]:
    text = "".join(lines)
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise PublishedError(f"it is not valid JSON{where}") from None
    if not isinstance(records, list):
        raise PublishedError("it is not a list of records")
    for number, record in enumerate(records, start=1):
        where = f"record {number}"
        if not isinstance(record, dict):
            raise PublishedError(f"{where} is not a mapping")
        item_id = record.get("id")
        if isinstance(item_id, bool) or not isinstance(item_id, str | int) or item_id == "":
            raise PublishedError(f"{where} has no id")
        where = f"{where} ({_shown(str(item_id))})"
        labels = {
            name: str(value)
            for name, value in record.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        }
        images = _texts(where, "image", record.get("image"))
        yield _item(where, str(item_id), *_said(where, record.get("conversations")), images, labels)


def _said(where: str, conversations: Any) -> tuple[list[str], list[str]]:
    """Questions and answers. Raises PublishedError unless user and assistant take turns."""
    if not isinstance(conversations, list):
        raise PublishedError(f"{where} has no list of conversations")
    said: dict[str, list[str]] = {"user": [], "assistant": []}
    for number, each in enumerate(conversations, start=1):
        due = "user" if number % 2 else "assistant"
        if not isinstance(each, dict) or each.get("from") != due:
            raise PublishedError(f"{where}: the {due} is to speak in message {number}")
        if not isinstance(each.get("value"), str):
            raise PublishedError(f"{where}: message {number} has no text")
        said[due].append(each["value"])
    if len(conversations) % 2:
        raise PublishedError(f"{where}: the last question has no message of the assistant")
    return said["user"], said["assistant"]


def _read_tsv(lines: Iterable[str]) -> Iterator[PublishedItem]:
    # The limit is the process's, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MOST_IMAGES))
    rows = csv.reader(lines, delimiter="\t")
    try:
        columns = next(rows, [])
        missing = [name for name in ("index", "question") if name not in columns]
        if not {"image", "image_path"} & set(columns):
            missing.append("image")
        if missing:
            raise PublishedError(f"it has no column {missing[0]}")
        if len(set(columns)) < len(columns):
            raise PublishedError("two of its columns have the same name")
        for number, cells in enumerate(filter(None, rows), start=1):
            yield _of_row(f"record {number}", columns, cells)
    except csv.Error as error:
        raise PublishedError(f"line {rows.line_num} is no line of a TSV ({error})") from None


def _of_row(where: str, columns: Sequence[str], cells: Sequence[str]) -> PublishedItem:
    if len(cells) != len(columns):
        raise PublishedError(f"{where} has {len(cells)} columns instead of {len(columns)}")
    row = dict(zip(columns, cells, strict=True))
    if not row["index"]:
        raise PublishedError(f"{where} has no index")
    where = f"{where} ({_shown(row['index'])})"
    questions = _listed(where, "question", row["question"], MOST_TEXT)
    answers = [""] * len(questions)
    if row.get("answer"):
        answers = _listed(where, "answer", row["answer"], MOST_TEXT)
    if len(answers) != len(questions):
        raise PublishedError(f"{where} has {len(answers)} answers to {len(questions)} questions")
    images: list[str] | list[bytes]
    if row.get("image"):
        images = _decoded(where, _listed(where, "image", row["image"], MOST_IMAGES))
    else:
        images = _listed(where, "image_path", row.get("image_path") or "[]", MOST_IMAGES)
    return _item(where, row["index"], questions, answers, images, row)


def _listed(where: str, column: str, cell: str, most: int) -> list[str]:
    """The texts of a Python list, which is parsed and never evaluated."""
    if len(cell) > most:
        raise PublishedError(f"{where} has more than {most:,} characters in its column {column}")
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    return _texts(where, column, value)


def _texts(where: str, column: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise PublishedError(f"{where}: its {column} is no list of texts")
    return value


def _decoded(where: str, images: Sequence[str]) -> list[bytes]:
    decoded = []
    for number, each in enumerate(images, start=1):
        try:
            decoded.append(base64.b64decode(each, validate=True))
        except (binascii.Error, ValueError):
            raise PublishedError(f"{where}: image {number} is no base64") from None
    return decoded


def _item(
    where: str,
    item_id: str,
    questions: Sequence[str],
    answers: Sequence[str],
    images: Sequence[str | bytes],
    others: Mapping[str, str],
) -> PublishedItem:
    """The dialogue, if it holds together; `others` has what else its record says."""
    if not questions:
        raise PublishedError(f"{where} has no turns")
    for number, question in enumerate(questions, start=1):
        if not question.strip():
            raise PublishedError(f"{where}: question {number} is empty")
    n_places = sum(question.count(IMAGE_HERE) for question in questions)
    if n_places != len(images):
        raise PublishedError(f"{where} has {n_places} {IMAGE_HERE} for {len(images)} images")
    labels = {
        name: text
        for name, text in others.items()
        # A column without a name is the row number of a table.
        if name.strip() and name not in _FORM and text
    }
    paths = [image for image in images if isinstance(image, str)]
    for text in (item_id, *questions, *answers, *paths, *labels, *labels.values()):
        if not _is_unicode(text):
            raise PublishedError(f"{where} has a text with half a character (a lone surrogate)")
    turns = [
        Turn(number, question, entering, {"answer": answer} if answer else {})
        for number, (question, entering, answer) in enumerate(
            zip(questions, image_positions(questions), answers, strict=True), start=1
        )
    ]
    return PublishedItem(item_id, tuple(turns), tuple(images), labels=labels)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(item_id: str) -> str:
    return ascii(item_id[:80])
