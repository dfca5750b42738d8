"""Tables of a dump of the review: their rows and formats, and reading them from a file."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from methods.ids import ID_LENGTH
from methods.json_text import from_json, is_unicode
from methods.review.decisions import MOST_CHARACTERS, MOST_SECONDS, moment
from methods.spreadsheet_cells import csv_file, unmarked_rows
from methods.validation import first_fault
from resources.files.bounded import (
    MOST_ROWS,
    BoundedReadError,
    open_file,
    read_member,
    unpacked_limit,
)
from resources.files.parquet_records import open_parquet, read_records
from resources.review.loading import DumpError
from resources.review.revocations import MAX_REASON

Row = dict[str, Any]
_STORED_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00", re.ASCII)


def _plausible(time: str, info: ValidationInfo) -> str:
    """Return a time that is neither too early nor after `now` of the validation context, in UTC."""
    at = moment(time, (info.context or {})["now"]).astimezone(UTC).isoformat()
    return time if _STORED_TIME.fullmatch(time) else at


_Time = Annotated[str, AfterValidator(_plausible)]


class _Row(BaseModel):
    """A row of a table of the dump."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _is_storable(cls, value: Any) -> Any:
        if isinstance(value, str) and ("\x00" in value or not is_unicode(value)):
            raise ValueError("NUL and half a character (a lone surrogate) cannot be stored")
        return value


class DecisionRow(_Row):
    """A stored decision, with its revocation if it has one (`ended_*`). `edits` is JSON."""

    event_id: int
    item_id: str = Field(min_length=1)
    content_hash: str = Field(pattern=rf"^[0-9a-f]{{{ID_LENGTH}}}$")
    round: int = Field(ge=1, le=2)
    reviewer: str = Field(min_length=1)
    verdict: Literal["accept", "edit", "reject", "skip"]
    edits: str | None
    reason: str | None
    note: str | None
    seconds: float | None = Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)
    decided_at: _Time
    source_hash: str | None
    ended_by: str | None
    ended_for: str | None = Field(max_length=MAX_REASON)
    ended_at: _Time | None


class CommentRow(_Row):
    """A stored comment."""

    comment_id: int
    item_id: str = Field(min_length=1)
    author: str = Field(min_length=1)
    addressee: str | None
    text: str = Field(max_length=MOST_CHARACTERS)
    written_at: _Time

    @field_validator("text")
    @classmethod
    def _has_words(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("a comment is not empty")
        return text


class GoldRow(_Row):
    """A stored gold item, a copy of `of_item`. `expected` is JSON."""

    item_id: str = Field(min_length=1)
    of_item: str = Field(min_length=1)
    expected: str
    made_by: str = Field(min_length=1)
    made_at: _Time


COLUMNS: dict[str, tuple[str, ...]] = {
    "decisions": tuple(DecisionRow.model_fields),
    "revisions": ("event_id", "item_id", "reviewer", "round", "part", "before", "after"),
    "comments": tuple(CommentRow.model_fields),
    "effort": (
        *("kind", "round", "reviewer", "n_decisions", "n_skipped", "median_seconds"),
        "reasons",
    ),
    "gold": tuple(GoldRow.model_fields),
}
"""Table -> its columns. Revisions and effort are computed from decisions, and not imported."""


MOST_BYTES_OF_A_TABLE = 1_000_000_000
"""Maximum size of an unpacked table of an imported dump, in bytes."""
BATCH_SIZE = 10_000
"""Rows of Parquet that are decoded together."""


def _from_csv(data: bytes) -> Iterator[Row]:
    # The default limit of a cell is smaller than the longest text that the app accepts.
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = unmarked_rows(csv.reader(text, strict=True))
    columns = next(rows, [])
    if "item_id" not in columns:
        raise ValueError("a table has no column item_id")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"row {number} has {len(row)} cells, and the header {len(columns)}")
        yield {
            name: cell if cell or name == "text" else None
            for name, cell in zip(columns, row, strict=True)
        }


def _jsonl(columns: tuple[str, ...], rows: list[Row]) -> bytes:
    lines = (json.dumps({name: row[name] for name in columns}, ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _from_jsonl(data: bytes) -> Iterator[Row]:
    for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n"):
        if line != "\n":
            row = from_json(line)
            if not isinstance(row, dict):
                raise ValueError("a line is not a JSON object")
            yield row


def _parquet(columns: tuple[str, ...], rows: list[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        **dict.fromkeys(
            ("event_id", "comment_id", "round", "n_decisions", "n_skipped"), pa.int64()
        ),
        **dict.fromkeys(("seconds", "median_seconds"), pa.float64()),
    }
    schema = pa.schema([(name, types.get(name, pa.string())) for name in columns])
    data = io.BytesIO()
    named = [{name: row[name] for name in columns} for row in rows]
    pq.write_table(pa.Table.from_pylist(named, schema), data)
    return data.getvalue()


def _from_parquet(data: bytes) -> Iterator[Row]:
    from pyarrow import types

    file = io.BytesIO(data)
    table = open_parquet(file)
    _require_few(table.metadata.num_rows)
    texts, numbers = (types.is_string, types.is_large_string), (types.is_integer, types.is_floating)
    plain = (*texts, *numbers, types.is_null)
    if not all(any(is_kind(each) for is_kind in plain) for each in table.schema_arrow.types):
        raise ValueError("a column has neither texts nor numbers")
    most_bytes = min(MOST_BYTES_OF_A_TABLE, unpacked_limit(len(data)))
    for batch in read_records(file, table, most_bytes, batch_size=BATCH_SIZE):
        yield from batch.to_pylist()


def _require_few(n_rows: int) -> None:
    if n_rows > MOST_ROWS:
        raise ValueError(f"a table has more than {MOST_ROWS:,} rows")


Writer = Callable[[tuple[str, ...], list[Row]], bytes]
Reader = Callable[[bytes], Iterator[Row]]
FORMS: dict[str, tuple[Writer, Reader]] = {
    "csv": (csv_file, _from_csv),
    "jsonl": (_jsonl, _from_jsonl),
    "parquet": (_parquet, _from_parquet),
}
"""Format -> (writer, reader) of a table."""


def read_table(
    path: Path, table: str, model: type[BaseModel], current_time: datetime
) -> Iterator[Any]:
    """Read and validate the rows of a table of the dump one by one.

    Args:
        path: The dump.
        table: The name of the table.
        model: The class of its rows.
        current_time: The present time; later times are refused.

    Raises:
        DumpError: The table cannot be read, has too many rows, or a row is not valid.
    """
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            named = [name for name in archive.namelist() if name.partition(".")[0] == table]
            if not named and table == "gold":  # a file of an earlier version
                return
            if len(named) > 1:
                raise DumpError(
                    f"{path} has the table {table} {len(named)} times ({', '.join(named)}): give a "
                    "file that vlm-loom review dump wrote."
                )
            form = named[0].partition(".")[2] if named else ""
            if form not in FORMS:
                raise DumpError(
                    f"{path} has no table {table}: give a file that vlm-loom review dump wrote."
                )
            data = read_member(archive, named[0], MOST_BYTES_OF_A_TABLE)
        for number, row in enumerate(FORMS[form][1](data), start=1):
            _require_few(number)
            try:
                yield model.model_validate(row, context={"now": current_time})
            except ValidationError as error:
                where, fault = first_fault(error, model)
                raise DumpError(
                    f"{path}, {table}, row {number}: {where}: {fault.rstrip('.')}."
                ) from None
    except BoundedReadError as error:
        raise DumpError(f"{path} cannot be read: {error.detail}.") from None
    except (
        *(OSError, ValueError, zipfile.BadZipFile, csv.Error),
        NotImplementedError,  # a zip file of a later version
    ) as error:
        raise DumpError(
            f"{path} cannot be read ({error}): give a file that vlm-loom review dump wrote."
        ) from None
