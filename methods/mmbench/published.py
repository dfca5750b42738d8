"""MMBench's published file format: a TSV or Parquet table with one row per question, or per pass.

Columns: `index`, `question`, `hint`, `A` to `H`, `answer`, `image` (base64, or the index of the row
that has the image), `image_path`, `category`, `l2-category`, `split`. Other columns are labels, too. In
a circular file, the row of pass k has the index of the question's first row + k x 1,000,000, or names
the first row in `g_index`. The rows of a question are read as one item, and all its passes must be in
the file; the released scorers do not check this. Ids that are not numbers below 1,000,000 are in a
column `item_id`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from methods.choice.lettered import LETTERS, choices_in_order, letter_in, question_and_hint, shifted
from methods.choice.published import (
    PublishedQuestion,
    are_indexes,
    choices_of,
    columns_of_choices,
    images_of,
    key_as_answer,
    key_of_answer,
    published_item,
)
from methods.evaluation.indexes import whole_index
from methods.evaluation.published import BrokenImage, PublishedError, PublishedItem
from methods.evaluation.published_tables import (
    images_as_cell,
    items_by_ending,
    labels_of,
    shortened_id,
    tsv_line,
    tsv_rows,
)
from methods.mmbench.taxonomy import L1, abilities

PUBLISHED_FILES = {
    "mmbench.tsv": "the questions as VLMEvalKit reads them, images inside",
    "mmbench-circular.tsv": "the same questions, a row for each place of the right choice",
    "mmbench.parquet": "the rows of mmbench.tsv",
    "mmbench-circular.parquet": "the rows of mmbench-circular.tsv",
}
HINT = "Hint"
"""The label before a hint in the text of a turn."""
STEP = 1_000_000
"""The difference between the indexes of two successive passes of a question."""
LONGEST_INDEX = 64
"""A cell of the column `image` up to this length is the index of another row; base64 data is longer."""
MOST_STEPS = 10
"""The most rows from a row to the one that has its image, each of which names the next."""
_PASS = re.compile("[1-9][0-9]{6,12}")
"""The index of a pass after the first one, in files without a column `g_index`."""
_INDEXES = ("index", "g_index")
_FORM = (
    *("index", "g_index", "item_id", "question", "hint", "answer", "image", "image_path"),
    *LETTERS,
)


@dataclass(frozen=True)
class QuestionRow:
    """A row of the file: its cells, the index of the question's first row, its choices and its key."""

    where: str
    cells: Mapping[str, str]
    group: str
    choices: tuple[str, ...]
    key: str | None

    @property
    def index(self) -> str:
        """The row's index in the file."""
        return self.cells["index"]


def read_published(name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
    """Read the questions in the order of their first rows (`PublishedFormats`)."""
    return items_by_ending("MMBench", name, lines, {"tsv": _read_tsv})


def write_published(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes]
) -> Mapping[str, Iterable[str]]:
    """Write both formats of items, plain and circular (`PublishedFormats`)."""
    return {
        f"{name}.{ending}": tsv_lines(items, picture, circular=circular)
        for name, circular in (("mmbench", False), ("mmbench-circular", True))
        for ending in ("tsv", "parquet")
    }


def tsv_lines(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes], *, circular: bool = False
) -> Iterator[str]:
    """Write items as lines of a TSV.

    Args:
        items: The items.
        picture: Returns the bytes of an image.
        circular: Whether each pass is a row; only the first row of a question has the image.

    Yields:
        The lines.
    """
    letters = columns_of_choices(items)
    labels = sorted({name for item in items for name in _written(item)})
    numbered = are_indexes(item.item_id for item in items)
    ids = () if numbered else ("item_id",)
    yield tsv_line(
        ["index", *ids, "question", "hint", *letters, "answer", *labels, "image"],
    )
    for number, item in enumerate(items, start=1):
        index = int(item.item_id) if numbered else number
        question, hint = question_and_hint(item.turns[0].question, HINT, len(item.images))
        written = _written(item)
        key = key_as_answer(item)
        for shift in range(len(item.choices) if circular else 1):
            order = shifted(len(item.choices), shift)
            choices = choices_in_order(item.choices, order)
            image = str(index) if shift else images_as_cell(item.images, picture, always_list=False)
            yield tsv_line(
                [
                    str(index + shift * STEP),
                    *(item.item_id for _ in ids),
                    question,
                    hint,
                    *choices,
                    *("" for _ in letters[len(choices) :]),
                    letter_in(order, key) if key else "",
                    *(written.get(name, "") for name in labels),
                    image,
                ]
            )


def _written(item: PublishedItem) -> dict[str, str]:
    """The labels of an item, without the level 1 ability if it follows from the other labels."""
    others = {name: text for name, text in item.labels.items() if name != L1}
    same = abilities(others).get(L1) == item.labels.get(L1)
    return others if same else dict(item.labels)


# --- Reading ---------------------------------------------------------------------------------------


def _read_tsv(lines: Iterable[str]) -> Iterator[PublishedItem]:
    rows: dict[str, QuestionRow] = {}
    for where, cells in tsv_rows(lines, ("index", "question", "A", "B")):
        row = _row(where, cells)
        if row.index in rows:
            raise PublishedError(f"two records have the index {shortened_id(row.index)}")
        rows[row.index] = row
    groups: dict[str, list[QuestionRow]] = {}
    for row in rows.values():
        if row.group not in rows:
            raise PublishedError(
                f"{row.where} is a pass of record {shortened_id(row.group)}, which the file does not "
                "have"
            )
        groups.setdefault(row.group, []).append(row)
    circular = any(len(passes) > 1 for passes in groups.values())
    decoded: dict[str, tuple[str | bytes, ...]] = {}
    for index, passes in groups.items():
        if circular:
            _require_whole(rows[index], passes)
        yield _item(rows[index], rows, decoded)


def _row(where: str, cells: Mapping[str, str]) -> QuestionRow:
    cells = {**cells, **{name: whole_index(where, name, cells.get(name, "")) for name in _INDEXES}}
    own = cells["index"]
    if not own:
        raise PublishedError(f"{where} has no index")
    where = f"{where} ({shortened_id(own)})"
    choices = choices_of(where, cells)
    key = key_of_answer(where, cells.get("answer", ""), len(choices))
    group = cells["g_index"] or own
    if group == own and _PASS.fullmatch(own):
        group = str(int(own) % STEP)
    return QuestionRow(where, cells, group, choices, key)


def _require_whole(first: QuestionRow, passes: Sequence[QuestionRow]) -> None:
    """Raise PublishedError unless the passes are all shifts of the first row's choices and key."""
    n_choices = len(first.choices)
    if len(passes) != n_choices:
        raise PublishedError(
            f"{first.where} has {len(passes)} passes for {n_choices} choices: in a circular file every "
            "question has one for each place of the right choice"
        )
    shifts = [shifted(n_choices, shift) for shift in range(n_choices)]
    due = sorted(
        (choices_in_order(first.choices, order), letter_in(order, first.key) if first.key else "")
        for order in shifts
    )
    if sorted((row.choices, row.key or "") for row in passes) != due:
        raise PublishedError(
            f"the passes of {first.where} are not its choices and its answer, shifted one by one"
        )
    for row in passes:
        for column in ("question", "hint"):
            if row.cells.get(column, "") != first.cells.get(column, ""):
                raise PublishedError(f"{row.where} has another {column} than {first.where}")


def _item(
    row: QuestionRow,
    rows: Mapping[str, QuestionRow],
    decoded: dict[str, tuple[str | bytes, ...]],
) -> PublishedItem:
    """Make the item of a question.

    `decoded` has the images of earlier questions by their cell, which many rows may refer to; new ones
    are added.
    """
    cells = row.cells
    labels = labels_of(cells, _FORM)
    cell = _image_cell(row, rows)
    if isinstance(cell, BrokenImage):
        images: tuple[str | bytes, ...] = (cell,)
    elif not cell:
        images = images_of(row.where, "", cells.get("image_path", ""))
    else:
        if cell not in decoded:
            decoded[cell] = images_of(row.where, cell, "")
        images = decoded[cell]
    return published_item(
        row.where,
        PublishedQuestion(
            cells.get("item_id") or row.index,
            cells["question"],
            row.choices,
            row.key,
            images,
            {**abilities(labels), **labels},
            cells.get("hint", ""),
            HINT,
        ),
    )


def _image_cell(row: QuestionRow, rows: Mapping[str, QuestionRow]) -> str | BrokenImage:
    """The cell with the image, in this row or in the row whose index the cell has."""
    visited = {row.index}
    cell = row.cells.get("image", "")
    while 0 < len(cell) <= LONGEST_INDEX and not cell.startswith("["):
        named = whole_index(row.where, "image", cell)
        if named not in rows or named in visited or len(visited) > MOST_STEPS:
            return BrokenImage(
                "missing",
                f"{shortened_id(cell)} is neither base64 nor the index of a record that has an image",
            )
        visited.add(named)
        cell = rows[named].cells.get("image", "")
    return cell
