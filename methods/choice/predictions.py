"""Rows of a file of predictions and the multiple-choice questions that they are of.

What belongs here: finding a question by what a row calls it, and the order in which a row has its
choices. Which pass that is, is the benchmark's.
"""

import re
from collections.abc import Mapping, Sequence

from methods.choice.lettered import LETTERS, Order, in_order
from methods.choice.published import are_indexes
from methods.evaluation.items import Item
from methods.evaluation.predictions import Unplaced

IDS = ("item_id", "id")
"""Columns with an item's own id; they go before `index`."""
_WHOLE = re.compile(r"([0-9]+)\.0+")
_MISSING = frozenset({"None", "NA", "N/A", "nan", "NaN", "NULL", "null", "n/a", "<NA>", "#N/A"})
"""Texts that tools which read tables take for missing cells, and write as empty ones."""


class Questions:
    """The questions of a release by what files call them: their ids, or their places from 1.

    An index is an id where all ids are numbers (`are_indexes`), as exports write it. Where they are
    not, it is the id of a question or its place; one that is both names none.
    """

    def __init__(self, items: Sequence[Item]):
        self._by_id = {item.item_id: item for item in items}
        numbered = are_indexes(self._by_id)
        self._by_place = (
            {} if numbered else {str(place): item for place, item in enumerate(items, start=1)}
        )

    def find(self, cells: Mapping[str, str]) -> Item | Unplaced:
        """The question of a row, by its id, else by its index."""
        for name in IDS:
            if cells.get(name):
                return self._by_id.get(cells[name], "unknown")
        return self.by_index(index_of(cells))

    def by_index(self, index: str) -> Item | Unplaced:
        """The question of an index."""
        by_id, by_place = self._by_id.get(index), self._by_place.get(index)
        if by_id is not None and by_place is not None and by_id is not by_place:
            return "ambiguous"
        return by_id or by_place or "unknown"


def index_of(cells: Mapping[str, str], column: str = "index") -> str:
    """A row's index; one that a tool wrote as a float is whole again."""
    index = cells.get(column, "").strip()
    whole = _WHOLE.fullmatch(index)
    return whole[1] if whole else index


def has_choices(cells: Mapping[str, str]) -> bool:
    """Whether a row says what its choices are."""
    return any(cells.get(letter) for letter in LETTERS)


def is_in_order(cells: Mapping[str, str], item: Item, order: Order) -> bool:
    """Whether the columns A to H have the item's choices in an order.

    A choice such as "None", which tools take for missing, may be missing; a number may be written
    otherwise.
    """
    texts = [*in_order(item.choices, order), *[""] * (len(LETTERS) - len(order))]
    return all(
        _same(cells.get(letter, ""), text) for letter, text in zip(LETTERS, texts, strict=True)
    )


def _same(cell: str, choice: str) -> bool:
    if cell.strip() == choice.strip() or (not cell and choice in _MISSING):
        return True
    try:
        return float(cell) == float(choice)
    except ValueError:
        return False
