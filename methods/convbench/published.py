"""The published file format of ConvBench: a table of instructions, and tables joined by ID.

The released table has ID, image_id and three instructions; some values are in columns without a name.
References, captions, focus points and task categories were removed from it. They are read from columns
of the same table, or from other sheets and files with an ID.

Columns are matched by their letters and digits, in any case. A column of another table without a turn
in its name (`reference`) belongs to the turn in the row's column `turn`, or else in the table's name:
`second`, `2` or `reasoning`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from methods.choice.translation_checks import ORDINALS
from methods.convbench.scores import N_TURNS, TASK_LABELS
from methods.delimited import DelimitedError, csv_line, rows_of
from methods.evaluation.indexes import whole_id
from methods.evaluation.items import ReferenceKind, Turn
from methods.evaluation.missing_images import IMAGE_PATH, path_label
from methods.evaluation.published import PublishedError, PublishedItem, PublishedTable
from methods.evaluation.published_tables import require_unicode, shortened_id
from methods.invisible_characters import visible_text
from methods.naming import number_of
from methods.prompts.messages import IMAGE_HERE
from methods.spreadsheet_cells import unmarked_rows

FILE_NAME = "convbench.csv"
PUBLISHED_FILES = {
    FILE_NAME: "the instructions in ConvBench's form, with what is known by their ID"
}
TURN_NAMES = ORDINALS[:3]
_FIRST = f"{IMAGE_HERE}\n"
"""The image placeholder, which precedes the first instruction."""

INSTRUCTION, REFERENCE, CATEGORY, CAPTION, FOCUS = (
    "instruction",
    "reference",
    "category",
    "caption",
    "focus",
)


class ColumnMeaning(NamedTuple):
    """The content of a column; `turn` is None if the column does not name it."""

    what: str
    turn: int | None = None


def _meanings() -> dict[str, ColumnMeaning]:
    meanings = {
        **dict.fromkeys(("caption", "instructionconditionedcaption"), ColumnMeaning(CAPTION, 1)),
        **dict.fromkeys(
            ("focus", "focuspoints", "focusdemands", "demands"), ColumnMeaning(FOCUS, N_TURNS)
        ),
        **dict.fromkeys(("reference", "answer"), ColumnMeaning(REFERENCE)),
        **dict.fromkeys(("category", "task", "tasktype"), ColumnMeaning(CATEGORY)),
    }
    words = {
        INSTRUCTION: ("instruction",),
        REFERENCE: ("reference", "answer"),
        CATEGORY: ("category", "task"),
    }
    for turn, ordinal in enumerate(TURN_NAMES, start=1):
        name = TASK_LABELS[turn]
        meanings[name] = ColumnMeaning(CATEGORY, turn)
        for what, synonyms in words.items():
            for word in synonyms:
                for form in (f"the{ordinal}turn{word}", f"{ordinal}turn{word}", f"{name}{word}"):
                    meanings[form] = ColumnMeaning(what, turn)
        meanings[f"{ordinal}turninstructioncategory"] = ColumnMeaning(CATEGORY, turn)
    for word in ("focus", "focuspoints", "demand", "demands"):
        for form in (f"thethirdturn{word}", f"thirdturn{word}", f"creation{word}"):
            meanings[form] = ColumnMeaning(FOCUS, N_TURNS)
    return meanings


MEANINGS: Mapping[str, ColumnMeaning] = _meanings()
"""The meaning of a column, by the letters and digits of its name."""
_ID, _IMAGE, _TURN = "id", "imageid", "turn"
WRITTEN: Mapping[str, ColumnMeaning] = {
    **{
        form.format(ordinal, ordinal.capitalize()): ColumnMeaning(what, turn)
        for what, form in (
            (INSTRUCTION, "The_{}_turn_instruction"),
            (REFERENCE, "{}_turn_answer"),
            (CATEGORY, "{1}_turn_instruction_category"),
        )
        for turn, ordinal in enumerate(TURN_NAMES, start=1)
    },
    "instruction-conditioned-caption": ColumnMeaning(CAPTION, 1),
    "third_turn_demands": ColumnMeaning(FOCUS, N_TURNS),
}
"""Columns that are written after ID and image_id, named as in the released scorer. A column is left out
if no item has a text for it."""
KINDS: Mapping[str, ReferenceKind] = {REFERENCE: "answer", CAPTION: "caption", FOCUS: "focus"}


# --- Reading ---------------------------------------------------------------------------------------


@dataclass
class _Record:
    """The data of an ID: the name of its image, and its texts by meaning."""

    image: str = ""
    texts: dict[ColumnMeaning, str] = field(default_factory=dict)


class _Column(NamedTuple):
    place: int
    meaning: ColumnMeaning


def read_published(name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
    """Read the items of one CSV in order (`PublishedFormats`)."""
    try:
        table = PublishedTable(name, list(unmarked_rows(row.cells for row in rows_of(lines, ","))))
    except DelimitedError as error:
        raise PublishedError(str(error)) from None
    yield from read_tables([table], lambda _: None)


def read_tables(
    tables: Sequence[PublishedTable], say: Callable[[str], None]
) -> Iterator[PublishedItem]:
    """Read the items of the table with instructions in order, joined with the other tables by ID.

    Args:
        tables: The tables.
        say: Called with each warning: unknown columns, values without a column, IDs without an item.

    Yields:
        The items.

    Raises:
        PublishedError: No table or two tables have instructions, an ID occurs twice, an instruction is
            missing, or two texts have the same meaning.
    """
    first = ColumnMeaning(INSTRUCTION, 1)
    main = [table for table in tables if any(c.meaning == first for c in _columns(table))]
    if not main:
        raise PublishedError("it has no column The_first_turn_instruction")
    if len(main) > 1:
        raise PublishedError(
            f"two of its tables have instructions: {shortened_id(main[0].name)} and "
            f"{shortened_id(main[1].name)}"
        )
    records = _records(main[0], say)
    if not records:
        raise PublishedError("it has no records")
    for table in tables:
        if table is not main[0]:
            _add(records, table, say)
    for item_id, record in records.items():
        yield _item(item_id, record)


def _records(table: PublishedTable, say: Callable[[str], None]) -> dict[str, _Record]:
    """The records of the table with instructions."""
    columns = {column.meaning: column.place for column in _columns(table)}
    for turn, ordinal in enumerate(TURN_NAMES, start=1):
        if ColumnMeaning(INSTRUCTION, turn) not in columns:
            raise PublishedError(f"it has no column The_{ordinal}_turn_instruction")
    at_id, at_image = (_place(table, name) for name in (_ID, _IMAGE))
    if at_id is None:
        raise PublishedError("it has no column ID")
    _say_left_out(table, say)
    records: dict[str, _Record] = {}
    n_blank = 0
    for where, row in _rows(table):
        texts = {meaning: _cell(row, place) for meaning, place in columns.items()}
        texts = {meaning: text for meaning, text in texts.items() if visible_text(text)}
        item_id = whole_id(where, "ID", _cell(row, at_id).strip())
        if not item_id and not texts:
            n_blank += 1
            continue
        if not item_id:
            raise PublishedError(f"{where} has no ID")
        for turn, ordinal in enumerate(TURN_NAMES, start=1):
            if ColumnMeaning(INSTRUCTION, turn) not in texts:
                raise PublishedError(
                    f"{where} ({shortened_id(item_id)}) has no {ordinal} instruction"
                )
        if item_id in records:
            raise PublishedError(f"two records have the ID {shortened_id(item_id)}")
        image = _cell(row, at_image).strip() if at_image is not None else ""
        records[item_id] = _Record(image, texts)
    if n_blank:
        say(
            f"{number_of(n_blank, 'row')} of {shortened_id(table.name)} without an ID and an "
            "instruction"
        )
    return records


def _add(records: dict[str, _Record], table: PublishedTable, say: Callable[[str], None]) -> None:
    """Put the texts of another table into the records of their ID."""
    columns = _columns(table)
    at_id, at_turn = (_place(table, name) for name in (_ID, _TURN))
    if not columns or at_id is None:
        say(f"the table {shortened_id(table.name)}, which has no ID or nothing that is known")
        return
    _say_left_out(table, say)
    unknown: Counter[str] = Counter()
    for where, row in _rows(table):
        item_id = whole_id(where, "ID", _cell(row, at_id).strip())
        cells = [(column, _cell(row, column.place)) for column in columns]
        texts = [(column, text) for column, text in cells if visible_text(text)]
        if not texts:
            continue
        if item_id not in records:
            unknown[item_id] += 1
            continue
        for column, text in texts:
            meaning = column.meaning
            if meaning.turn is None:
                turn = _turn_of(_cell(row, at_turn) if at_turn is not None else table.name)
                if turn is None:
                    raise PublishedError(
                        f"{where} of {shortened_id(table.name)} does not say which turn its "
                        f"{meaning.what} is of: in a column turn (1 to 3), or in the name of the table"
                    )
                meaning = ColumnMeaning(meaning.what, turn)
            if records[item_id].texts.setdefault(meaning, text) != text:
                raise PublishedError(
                    f"{shortened_id(item_id)} has two texts as the {meaning.what} of turn "
                    f"{meaning.turn}"
                )
    if unknown:
        say(f"{number_of(len(unknown), 'ID')} of {shortened_id(table.name)} without an item")


def _item(item_id: str, record: _Record) -> PublishedItem:
    where = f"the item {shortened_id(item_id)}"
    texts = (item_id, record.image, *record.texts.values())
    require_unicode(where, texts)
    if any(IMAGE_HERE in text for text in texts):
        raise PublishedError(f"{where} has an {IMAGE_HERE}: its picture enters with turn 1")
    turns = tuple(
        Turn(
            turn,
            (_FIRST if turn == 1 and record.image else "")
            + record.texts[ColumnMeaning(INSTRUCTION, turn)],
            (1,) if turn == 1 and record.image else (),
            {
                kind: record.texts[ColumnMeaning(what, turn)]
                for what, kind in KINDS.items()
                if ColumnMeaning(what, turn) in record.texts
            },
        )
        for turn in TASK_LABELS
    )
    categories = {
        name: record.texts[ColumnMeaning(CATEGORY, turn)].strip()
        for turn, name in TASK_LABELS.items()
        if ColumnMeaning(CATEGORY, turn) in record.texts
    }
    return PublishedItem(
        item_id,
        turns,
        (record.image,) if record.image else (),
        labels={**categories, **path_label(record.image)},
        images_may_be_absent=True,
    )


def _columns(table: PublishedTable) -> list[_Column]:
    """The columns that mean a text of an item. Raises PublishedError if two mean the same."""
    header = table.rows[0] if table.rows else ()
    named = ((place, MEANINGS.get(_letters(name))) for place, name in enumerate(header))
    columns = [_Column(place, meaning) for place, meaning in named if meaning is not None]
    twice = [m for m, n in Counter(column.meaning for column in columns).items() if n > 1]
    if twice:
        raise PublishedError(f"two columns of {shortened_id(table.name)} have the {twice[0].what}")
    return columns


def _say_left_out(table: PublishedTable, say: Callable[[str], None]) -> None:
    """Warn about unknown columns and values outside named columns."""
    header = table.rows[0]
    names = [name.strip() for name in header]
    meanings = {*MEANINGS, _ID, _IMAGE, _TURN}
    unknown = [
        name for name in names if name and _letters(name) not in meanings and not _unnamed(name)
    ]
    if unknown:
        listed = ", ".join(shortened_id(name) for name in unknown[:10])
        say(
            f"of {shortened_id(table.name)} the {'column' if len(unknown) == 1 else 'columns'} {listed}"
        )
    named = {place for place, name in enumerate(names) if name and not _unnamed(name)}
    stray = sum(
        bool(cell.strip())
        for row in table.rows[1:]
        for place, cell in enumerate(row)
        if place not in named
    )
    if stray:
        say(f"{number_of(stray, 'value')} of {shortened_id(table.name)} in columns without a name")


def _rows(table: PublishedTable) -> Iterator[tuple[str, Sequence[str]]]:
    for number, row in enumerate(table.rows[1:], start=1):
        if any(cell.strip() for cell in row):
            yield f"record {number}", row


def _place(table: PublishedTable, name: str) -> int | None:
    header = table.rows[0] if table.rows else ()
    return next((place for place, cell in enumerate(header) if _letters(cell) == name), None)


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _unnamed(name: str) -> bool:
    """Whether a name is one that pandas gives a column without a name."""
    return re.fullmatch(r"Unnamed: \d+", name) is not None


def _turn_of(name: str) -> int | None:
    """The turn that a cell or the name of a table names; None if it names none or several."""
    words = set(re.findall(r"[a-z]+|\d+", name.lower()))
    turns = [
        turn
        for turn, ordinal in enumerate(TURN_NAMES, start=1)
        if words & {ordinal, str(turn), TASK_LABELS[turn]}
    ]
    return turns[0] if len(turns) == 1 else None


# --- Writing ---------------------------------------------------------------------------------------


def write_published(
    items: Sequence[PublishedItem], picture: Callable[[str], bytes]
) -> Mapping[str, Iterable[str]]:
    """Write items as published: a CSV without images (`PublishedFormats`)."""
    rows = [_texts(item) for item in items]
    columns = [name for name, meaning in WRITTEN.items() if any(meaning in row for row in rows)]

    def lines() -> Iterator[str]:
        yield csv_line(["ID", "image_id", *columns])
        for item, texts in zip(items, rows, strict=True):
            image = item.labels.get(IMAGE_PATH) or next(map(str, item.images), "")
            yield csv_line(
                [item.item_id, image, *(texts.get(WRITTEN[name], "") for name in columns)]
            )

    return {FILE_NAME: lines()}


def _texts(item: PublishedItem) -> dict[ColumnMeaning, str]:
    texts = {
        ColumnMeaning(INSTRUCTION, turn.turn): turn.question.removeprefix(_FIRST)
        for turn in item.turns
    }
    texts |= {
        ColumnMeaning(what, turn.turn): turn.references[kind]
        for turn in item.turns
        for what, kind in KINDS.items()
        if kind in turn.references
    }
    return texts | {
        ColumnMeaning(CATEGORY, turn): item.labels[name]
        for turn, name in TASK_LABELS.items()
        if name in item.labels
    }
