"""The published file format of AlignMMBench: `metadata.jsonl` (AlignMMBench, released data).

Each line is a question: {question_id, image_path, history: [{user, assistant}], prompt, ref_answer,
task, category}. `question_id` is `<seed>-<j>`: the wordings of one seed form a group. The images are
published elsewhere. A path whose file is missing is kept: answers to its question can be judged, though
no model can be asked about it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from methods.alignmmbench.tasks import CATEGORIES, CATEGORY, TASK, task_named
from methods.evaluation.items import Turn
from methods.evaluation.missing_images import IMAGE_PATH, path_label
from methods.evaluation.published import PublishedError, PublishedItem
from methods.evaluation.published_tables import items_by_ending, require_unicode, shortened_id
from methods.invisible_characters import visible_text
from methods.json_text import DuplicateKeyError, from_json
from methods.prompts.messages import IMAGE_HERE

PUBLISHED_FILES = {"metadata.jsonl": "the questions in AlignMMBench's format"}
AS_PUBLISHED = " as published"
"""Suffix of a label that keeps a published text for the export, if it differs from ours."""
_FIRST = f"{IMAGE_HERE}\n"
"""The image placeholder, which precedes the first user's text."""
_KEYS = ("question_id", IMAGE_PATH, "history", "prompt", "ref_answer", TASK, CATEGORY)


def read_published(name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
    """Read the questions of a `.jsonl` in order (`PublishedFormats`)."""
    return items_by_ending("AlignMMBench", name, lines, {"jsonl": _read_lines})


def write_published(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes]
) -> Mapping[str, Iterable[str]]:
    """Write items as published, one line each, without images (`PublishedFormats`)."""
    return {
        "metadata.jsonl": (json.dumps(record_of(item), ensure_ascii=False) + "\n" for item in items)
    }


def record_of(item: PublishedItem) -> dict[str, Any]:
    """Convert a question to a record; a held-out answer is empty."""
    *earlier, last = item.turns
    texts = [turn.question for turn in item.turns]
    texts[0] = texts[0].removeprefix(_FIRST)
    labels = dict(item.labels)
    published = {name: labels.pop(name, "") for name in (TASK, CATEGORY)}
    published |= {
        name: labels.pop(f"{name}{AS_PUBLISHED}")
        for name in published
        if f"{name}{AS_PUBLISHED}" in labels
    }
    path = labels.pop(IMAGE_PATH, "") or next(map(str, item.images), "")
    return {
        "question_id": item.item_id,
        IMAGE_PATH: path,
        "history": [
            {"user": text, "assistant": turn.given}
            for text, turn in zip(texts, earlier, strict=False)
        ],
        "prompt": texts[-1],
        "ref_answer": last.reference or "",
        **published,
        **labels,
    }


# --- Reading ---------------------------------------------------------------------------------------


def _read_lines(lines: Iterable[str]) -> Iterator[PublishedItem]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            record = from_json(line, unambiguous=True)
        except DuplicateKeyError as error:
            raise PublishedError(f"{where}: in an object {error}: leave one") from None
        except ValueError:
            raise PublishedError(f"{where} is not valid JSON") from None
        if not isinstance(record, dict):
            raise PublishedError(f"{where} is not a mapping")
        yield _item(where, record)


def _item(where: str, record: Mapping[str, Any]) -> PublishedItem:
    item_id = _text(where, record, "question_id")
    if not item_id:
        raise PublishedError(f"{where} has no question_id")
    where = f"{where} ({shortened_id(item_id)})"
    prompt, task = _text(where, record, "prompt"), _text(where, record, TASK)
    if not visible_text(prompt):
        raise PublishedError(f"{where} has no prompt")
    if (task_name := task_named(task)) is None:
        raise PublishedError(f"{where}: {shortened_id(task)} is none of {', '.join(CATEGORIES)}")
    history = _history(where, record.get("history"))
    texts = [*(user for user, _ in history), prompt]
    if any(IMAGE_HERE in text for text in texts):
        raise PublishedError(f"{where} has an {IMAGE_HERE}: the picture enters with the first text")
    path = _text(where, record, IMAGE_PATH)
    if path:
        texts[0] = _FIRST + texts[0]
    reference = _text(where, record, "ref_answer")
    labels = {
        TASK: task_name,
        CATEGORY: CATEGORIES[task_name],
        **path_label(path),
        **_as_published(record, task_name),
        **{
            name: str(value)
            for name, value in record.items()
            if name not in _KEYS and isinstance(value, str | int | float)
        },
    }
    answers = [answer for _, answer in history]
    require_unicode(where, (item_id, *texts, *answers, reference, *labels, *labels.values()))
    turns = [
        Turn(number, text, (1,) if number == 1 and path else (), given=answer)
        for number, (text, answer) in enumerate(zip(texts, [*answers, None], strict=True), start=1)
    ]
    turns[-1] = replace(turns[-1], references={"answer": reference} if reference else {})
    seed, dash, _ = item_id.rpartition("-")
    return PublishedItem(
        item_id,
        tuple(turns),
        (path,) if path else (),
        group_id=seed if dash else None,
        labels=labels,
        images_may_be_absent=True,
    )


def _as_published(record: Mapping[str, Any], task: str) -> dict[str, str]:
    """Task and category as the record has them, if they differ from the names used here."""
    own_labels = {TASK: task, CATEGORY: CATEGORIES[task]}
    return {
        f"{name}{AS_PUBLISHED}": str(record[name])
        for name, text in own_labels.items()
        if record.get(name, text) != text
    }


def _history(where: str, history: Any) -> list[tuple[str, str]]:
    if history is None:
        return []
    if not isinstance(history, list):
        raise PublishedError(f"{where} has no list as its history")
    exchanges = []
    for number, exchange in enumerate(history, start=1):
        if not isinstance(exchange, dict) or not all(
            isinstance(exchange.get(who), str) for who in ("user", "assistant")
        ):
            raise PublishedError(f"{where}: turn {number} of its history has no user and assistant")
        exchanges.append((exchange["user"], exchange["assistant"]))
    return exchanges


def _text(where: str, record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise PublishedError(f"{where}: its {key} is not a text")
    return value
