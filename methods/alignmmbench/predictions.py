"""Matches rows of AlignMMBench responses ({question_id, predict} per line) to questions.

Rows of other formats name the question by `item_id` or `id`.
"""

from collections.abc import Sequence

from methods.evaluation.asking import PLAIN
from methods.evaluation.cells import FileRow
from methods.evaluation.indexes import known_id
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionKey, Unplaced

IDS = ("question_id", "item_id", "id")


def places(items: Sequence[Item], rows: Sequence[FileRow]) -> list[PredictionKey | Unplaced]:
    """Match each row to its question (`PredictionFormats`)."""
    item_ids = {item.item_id for item in items}
    return [_place(row, item_ids) for row in rows]


def _place(row: FileRow, item_ids: set[str]) -> PredictionKey | Unplaced:
    column = next((name for name in IDS if row.cells.get(name)), IDS[0])
    item_id = known_id(row, column, item_ids)
    return PredictionKey(item_id, PLAIN) if item_id in item_ids else "unknown"
