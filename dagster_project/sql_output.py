"""Results of queries for other programs: CSV by RFC 4180, and JSON as one array of objects.

Texts are written unchanged; the format for a terminal is the table.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

from methods.errors import UserError

if TYPE_CHECKING:
    import duckdb
    from duckdb import sqltypes

ROWS_AT_ONCE = 1_000
_AS_THEY_ARE = frozenset(
    {
        *("tinyint", "smallint", "integer", "bigint", "hugeint"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
        *("float", "double", "decimal", "boolean", "varchar"),
    }
)
"""DuckDB types with an equivalent in CSV or JSON. Dates, times, UUIDs and all others become texts."""
_NESTED = frozenset({"list", "array", "struct", "map"})
_QUOTED = frozenset(',"\r\n')


def csv_of(result: "duckdb.DuckDBPyRelation") -> Iterator[str]:
    """Yield the lines of a result as CSV, with their ends: a header, then the rows.

    NULL is an empty field and an empty text is `""`. Lists and structs are JSON.
    """
    for row in chain([result.columns], _rows(result)):
        yield ",".join(map(_field, row)) + "\r\n"


def json_of(result: "duckdb.DuckDBPyRelation") -> Iterator[str]:
    """Yield the parts of a result as one JSON array with an object for each row.

    Decimals are numbers with all of their digits. JSON has no NaN and no infinity, so these are texts.

    Raises:
        UserError: Two columns have one name.
    """
    names = result.columns
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(
            f"Two columns of the result are called {twice[0]}, and an object has one of a name: rename "
            "one of them (AS)."
        )
    separator = "[\n"
    for row in _rows(result):
        yield separator + _json(dict(zip(names, row, strict=True)))
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


FORMATS: Mapping[str, Callable[["duckdb.DuckDBPyRelation"], Iterable[str]]] = {
    "csv": csv_of,
    "json": json_of,
}


def _rows(result: "duckdb.DuckDBPyRelation") -> Iterator[tuple[Any, ...]]:
    # Columns are selected by position, since two of them may have the same name.
    plain = result.project(
        ", ".join(
            f"CAST(#{place} AS {_plain(kind)}) AS c{place}"
            for place, kind in enumerate(result.types, start=1)
        )
    )
    while rows := plain.fetchmany(ROWS_AT_ONCE):
        yield from rows


def _plain(kind: "sqltypes.DuckDBPyType") -> str:
    """The type, with VARCHAR instead of every part without an equivalent in CSV or JSON."""
    # DuckDB's type hints allow a number as a child: the length of an array.
    children: list[tuple[str, Any]] = kind.children if kind.id in _NESTED else []
    if kind.id in ("list", "array"):
        return f"{_plain(children[0][1])}[]"
    if kind.id == "struct":
        fields = ('"{}" {}'.format(name.replace('"', '""'), _plain(of)) for name, of in children)
        return f"STRUCT({', '.join(fields)})"
    if kind.id == "map":
        return f"MAP(VARCHAR, {_plain(children[1][1])})"
    return str(kind) if kind.id in _AS_THEY_ARE else "VARCHAR"


def _field(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _json(value)
    if isinstance(value, float) and not math.isfinite(value):
        text = str(value)
    return '"{}"'.format(text.replace('"', '""')) if not text or _QUOTED & {*text} else text


def _json(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{_json(str(name))}: {_json(of)}" for name, of in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(str(value))
    return json.dumps(value, ensure_ascii=False)
