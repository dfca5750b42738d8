"""MMIU's published file formats: the authors' JSON records, and tables with several images per row.

JSON: a list of {task, visual_input_component, source, options, question, context, input_image_path:
[paths], output}. `options` has one choice per line, written `A: text`; `context` ends with the same
lines; `output` is the letter of the right choice. TSV, as VLMEvalKit reads it, or Parquet: `index`,
`question`, `context`, `A` to `H` (or `options`), `answer`, and `image`, a Python list of base64 data,
or `image_path`, a list of paths.

The `task` of a record names a task of the paper and often a data set. Labels of an item: `task` is the
task of the paper, `relation` its relation, `subset` the `task` of the record, `images` the level of its
number of images. Other texts and numbers are labels, too.
"""

import json
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from methods.choice.lettered import LETTERS, MOST, question_and_hint
from methods.choice.published import (
    PublishedQuestion,
    are_indexes,
    choices_of,
    columns_of_choices,
    images_of,
    key_as_answer,
    key_of_answer,
    published_item,
    require_choices,
)
from methods.evaluation.indexes import whole_index
from methods.evaluation.published import BrokenImage, PublishedError, PublishedItem
from methods.evaluation.published_tables import (
    images_as_cell,
    items_by_ending,
    json_records,
    labels_of,
    shortened_id,
    texts_of,
    tsv_line,
    tsv_rows,
)
from methods.mmiu.taxonomy import RELATION, TASK, image_level, task_of

PUBLISHED_FILES = {
    "mmiu.json": "the questions in MMIU's format",
    "mmiu.tsv": "the questions as VLMEvalKit reads them, images inside",
    "mmiu.parquet": "the rows of mmiu.tsv",
}
SUBSET, LEVEL = "subset", "images"
CONTEXT = "Context"
IMAGES = "input_image_path"
_FORM = (
    *("id", "index", "item_id", "question", "context", "options", "output", "answer"),
    *("image", "image_path", IMAGES, TASK, *LETTERS),
)


def read_published(name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
    """Read the questions of a `.json`, `.tsv` or `.parquet` in order (`PublishedFormats`)."""
    readers = {"json": _read_json, "tsv": _read_tsv}
    return items_by_ending("MMIU", name, lines, readers)


def write_published(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes]
) -> Mapping[str, Iterable[str]]:
    """Write both formats of items, with images as paths (`PublishedFormats`)."""
    ids = RecordIds()
    records = [mmiu_record(item, ids) for item in items]
    return {
        "mmiu.json": [json.dumps(records, indent=1, ensure_ascii=False)],
        "mmiu.tsv": tsv_lines(items, picture),
        "mmiu.parquet": tsv_lines(items, picture),
    }


def mmiu_record(item: PublishedItem, ids: "RecordIds") -> dict[str, Any]:
    """Write a question as a record of the published JSON.

    Args:
        item: The question.
        ids: Counts the records of each task, which gives the default ids.

    Returns:
        The record. It has an `id` only if the question's id is not the default id.
    """
    task, others = _released_labels(item)
    question, context = question_and_hint(item.turns[0].question, CONTEXT, len(item.images))
    options = options_text(item.choices)
    return {
        **({} if ids.next(task) == item.item_id else {"id": item.item_id}),
        "task": task,
        **others,
        "options": options,
        "question": question,
        "context": f"{context}\n{options}" if context else options,
        IMAGES: list(item.images),
        "output": key_as_answer(item) or None,
    }


def tsv_lines(items: Sequence[PublishedItem], picture: Callable[[str], bytes]) -> Iterator[str]:
    """Write items as lines of a TSV.

    The column `index` is the id if all ids are numbers, otherwise the position from 1.

    Args:
        items: The items.
        picture: Returns the bytes of an image.

    Yields:
        The lines.
    """
    letters = columns_of_choices(items)
    released = [_released_labels(item) for item in items]
    labels = sorted({name for _, others in released for name in others})
    yield tsv_line(
        [
            *("index", "item_id", "task", *labels, "question", "context"),
            *(*letters, "answer", "image"),
        ]
    )
    numbered = are_indexes(item.item_id for item in items)
    for place, (item, (task, others)) in enumerate(zip(items, released, strict=True), start=1):
        question, context = question_and_hint(item.turns[0].question, CONTEXT, len(item.images))
        yield tsv_line(
            [
                item.item_id if numbered else str(place),
                item.item_id,
                task,
                *(others.get(name, "") for name in labels),
                question,
                context,
                *item.choices,
                *("" for _ in letters[len(item.choices) :]),
                key_as_answer(item),
                images_as_cell(item.images, picture, always_list=True),
            ]
        )


class RecordIds:
    """Default ids of records: the task and the position of the record in it, such as `mevis-3`."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def next(self, task: str) -> str:
        """Return the id of the next record of a task."""
        self._seen[task] += 1
        return f"{task}-{self._seen[task]}"


def _released_labels(item: PublishedItem) -> tuple[str, dict[str, str]]:
    """The `task` of the record to write, and the labels that do not follow from it."""
    task = item.labels.get(SUBSET) or item.labels.get(TASK, "")
    due = _derived(task, len(item.images))
    return task, {
        name: text for name, text in item.labels.items() if name != TASK and due.get(name) != text
    }


def _derived(released: str, n_images: int) -> dict[str, str]:
    """The labels that follow from a record's task and its number of images."""
    task = task_of(released)
    labels = {
        TASK: task.name if task else released,
        RELATION: task.relation if task else "",
        SUBSET: released,
        LEVEL: image_level(n_images),
    }
    return {name: text for name, text in labels.items() if text}


def options_text(choices: Sequence[str]) -> str:
    """Write choices in the format of `options`, one per line."""
    return "\n".join(map("{}: {}".format, LETTERS, choices))


# --- Reading ---------------------------------------------------------------------------------------


def _read_json(lines: Iterable[str]) -> Iterator[PublishedItem]:
    ids = RecordIds()
    for where, record in json_records("".join(lines)):
        cells: dict[str, str] = {}
        for name, value in record.items():
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                cells[name] = str(value)
            elif value is not None and name in _FORM and name != IMAGES:
                raise PublishedError(f"{where}: its {name} is not a text")
        place = ids.next(cells.get(TASK, ""))
        images = texts_of(where, IMAGES, record.get(IMAGES))
        yield _item(where, cells.get("id") or place, cells, tuple(images))


def _read_tsv(lines: Iterable[str]) -> Iterator[PublishedItem]:
    for where, row in tsv_rows(lines, ("index", "question")):
        number = whole_index(where, "index", row["index"])
        if not number:
            raise PublishedError(f"{where} has no index")
        where = f"{where} ({shortened_id(number)})"
        images = images_of(where, row.get("image", ""), row.get("image_path", ""))
        yield _item(where, row.get("item_id") or number, row, images)


def _item(
    where: str, item_id: str, cells: Mapping[str, str], images: tuple[str | bytes, ...]
) -> PublishedItem:
    options = cells.get("options", "")
    choices = _choices(where, options) if options else choices_of(where, cells)
    answer, output = (cells.get(name, "").strip() for name in ("answer", "output"))
    if answer and output and answer.upper() != output.upper():
        raise PublishedError(f"{where}: its answer and its output differ: remove one")
    if not images:
        images = (BrokenImage("missing", "the record has no image"),)
    return published_item(
        where,
        PublishedQuestion(
            item_id,
            cells.get("question", ""),
            choices,
            key_of_answer(where, answer or output, len(choices)),
            images,
            {**_derived(cells.get(TASK, ""), len(images)), **labels_of(cells, _FORM)},
            _without_choices(cells.get("context", ""), options or options_text(choices)),
            CONTEXT,
        ),
    )


def _choices(where: str, options: str) -> tuple[str, ...]:
    """Parse `options`. A line that does not begin with the next letter continues the choice before."""
    choices: list[list[str]] = []
    for line in options.strip().split("\n"):
        # One letter more than allowed is parsed; then `require_choices` rejects the question.
        due = f"{string.ascii_uppercase[min(len(choices), MOST)]}:"
        if line.startswith(due):
            choices.append([line.removeprefix(due).strip()])
        elif choices:
            choices[-1].append(line)
        else:
            raise PublishedError(f"{where}: its options do not begin with 'A:'")
    return require_choices(where, ["\n".join(lines).strip() for lines in choices])


def _without_choices(context: str, options: str) -> str:
    """Remove the choices at the end of the context, because other passes ask them in other orders."""
    above = context.rstrip().removesuffix(options.strip())
    return above.removesuffix("\n") if above != context.rstrip() else context
