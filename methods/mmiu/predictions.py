"""Imported predictions of MMIU: matches the rows of a file to questions.

A row names its question by `item_id`, `id` or `index`. The authors' records have none of these. They
are matched by their order within a task, if the file has as many records of the task as the release. A
row whose choices differ from those of its question is not matched.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from methods.choice.lettered import original_order
from methods.choice.published import IDS, Questions, fitting_orders, has_choices, index_of
from methods.evaluation.asking import PLAIN
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionKey, Unplaced
from methods.mmiu.published import SUBSET, TASK, options_text


def places(items: Sequence[Item], rows: Sequence[FileRow]) -> list[PredictionKey | Unplaced]:
    """Match each row to its question (`PredictionFormats`)."""
    questions = Questions(items)
    questions.require_same_start(rows)
    of_tasks: dict[str, list[Item]] = {}
    for known_item in items:
        of_tasks.setdefault(
            known_item.labels.get(SUBSET) or known_item.labels.get(TASK, ""), []
        ).append(known_item)
    due = Counter(_task(row.cells) for row in rows if not _is_named(row))
    n_rows: Counter[str] = Counter()
    keys: list[PredictionKey | Unplaced] = []
    for row in rows:
        item: Item | Unplaced = "unknown"
        if _is_named(row):
            item = questions.find(row)
        else:
            task = _task(row.cells)
            of_task = of_tasks.get(task, [])
            if due[task] == len(of_task):
                item = of_task[n_rows[task]]
            n_rows[task] += 1
        keys.append(_place(item, row.cells))
    return keys


def _place(item: Item | Unplaced, cells: Mapping[str, str]) -> PredictionKey | Unplaced:
    if isinstance(item, str):
        return item
    if has_choices(cells) and not fitting_orders(cells, item, [original_order(len(item.choices))]):
        return "other_choices"
    options = cells.get("options", "")
    if options and options.split() != options_text(item.choices).split():
        return "other_choices"
    return PredictionKey(item.item_id, PLAIN)


def _is_named(row: FileRow) -> bool:
    return any(row.cells.get(name) for name in IDS) or bool(index_of(row))


def _task(cells: Mapping[str, str]) -> str:
    return cells.get(TASK, "")
