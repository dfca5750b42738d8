"""Imported predictions of MMBench: matches the rows of a file to questions and passes.

Pass k of the question with index i has the index i + k x 1,000,000; its column `g_index`, if there is
one, is i. If a row has the choices, as in VLMEvalKit's files, they decide which pass it is, because
circular files shift the choices in different ways. Otherwise pass k is pass k of
`mmbench-circular.tsv`.
"""

from collections.abc import Sequence

from methods.choice.lettered import SHIFT, shifted
from methods.choice.published import IDS, Questions, fitting_orders, has_choices, index_of
from methods.evaluation.cells import FileRow
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionKey, Unplaced
from methods.mmbench.published import STEP


def places(items: Sequence[Item], rows: Sequence[FileRow]) -> list[PredictionKey | Unplaced]:
    """Match each row to its pass (`PredictionFormats`)."""
    questions = Questions(items)
    questions.require_same_start(rows)
    return [_place(questions, row) for row in rows]


def _place(questions: Questions, row: FileRow) -> PredictionKey | Unplaced:
    cells = row.cells
    index = index_of(row)
    group, shift = _pass(index)
    if any(cells.get(name) for name in IDS):
        item = questions.find(row)
    elif index_of(row, "g_index"):
        item = questions.by_index(index_of(row, "g_index"))
    else:
        item = questions.by_index(index)
        if item == "unknown" and shift:
            item = questions.by_index(group)
    if isinstance(item, str):
        return item
    n_choices = len(item.choices)
    if has_choices(cells):
        orders = [shifted(n_choices, shift) for shift in range(n_choices)]
        fitting = fitting_orders(cells, item, orders)
        if len(fitting) != 1:
            return "other_choices"
        shift = orders.index(fitting[0])
    return PredictionKey(item.item_id, f"{SHIFT}{shift}") if shift < n_choices else "unknown_pass"


def _pass(index: str) -> tuple[str, int]:
    """Split a row's index into the index of the question's first row and the number of the pass."""
    if not index.isascii() or not index.isdecimal() or len(index) > len(str(STEP)) + 6:
        return index, 0
    number = int(index)
    return str(number % STEP), number // STEP
