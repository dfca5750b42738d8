"""Keys and checks of a lake's tables, which DuckLake does not know: `sql/` declares them, and each
write is compared with them before its commit.

What belongs here: the declared rules, off an empty database in memory, the query that counts what
breaks them, and the sentence for it, which is DuckDB's own. NOT NULL is a rule of the lake itself.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from resources.warehouse_schema import (
    Column,
    columns_of,
    declared_columns,
    extras_ddl,
    schema_ddl,
    sql_text,
)

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_COMMENT = re.compile(r"--[^\n]*")
_MAKES = re.compile(
    r"\s*(?P<make>CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?)(?P<table>(?P<stage>\w+)\.\w+)\s*\("
)


class Rules(NamedTuple):
    """The checks of a table, and its keys: the columns of each."""

    checks: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]


@cache
def declared_rules() -> dict[str, Rules]:
    """Table -> its rules, as `sql/` declares them."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(schema_ddl() + extras_ddl())
        return rules_of(connection)


def rules_of(connection: "duckdb.DuckDBPyConnection") -> dict[str, Rules]:
    """The same of the open database. Raises ValueError for a rule of another kind."""
    rules: dict[str, Rules] = {}
    for table, kind, expression, columns in connection.execute(sql_text("rules")).fetchall():
        checks, keys = rules.get(table, Rules((), ()))
        if kind == "CHECK":
            rules[table] = Rules((*checks, expression), keys)
        elif kind in ("PRIMARY KEY", "UNIQUE"):
            rules[table] = Rules(checks, (*keys, tuple(columns)))
        else:
            raise ValueError(f"{table} has a rule {kind}, which nothing enforces on a lake.")
    return rules


def verify(
    connection: "duckdb.DuckDBPyConnection",
    table: str,
    show: Callable[[], None],
    partition: Sequence[str],
) -> None:
    """Raise duckdb.ConstraintException if rows to be added to a table break its rules.

    `show` makes them the view `incoming`, which may be read once each time. The rows that they replace
    are gone from the table. A key that has all columns of the partition is nowhere else in it.
    """
    rules, ddl = declared_rules().get(table, Rules((), ())), schema_ddl() + extras_ddl()
    show()
    given = {*connection.sql("FROM incoming").columns}
    typed = _typed(declared_columns()[table], given)
    _verify_by_themselves(connection, table, rules, typed, show, ddl)
    for key in rules.keys:
        if not partition or {*partition} <= {*key}:
            continue
        show()
        named = ", ".join(f'"{column}"' for column in key)
        known = connection.sql(
            f"SELECT old.* FROM {table} AS old SEMI JOIN ({typed}) USING ({named}) LIMIT 1"
        ).to_arrow_table()
        if known.num_rows:
            show()
            _refuse(ddl, table, known, _with_key(connection, typed, named, known, 1))


def _verify_by_themselves(
    connection: "duckdb.DuckDBPyConnection",
    table: str,
    rules: Rules,
    typed: str,
    show: Callable[[], None],
    ddl: str,
) -> None:
    """Raise duckdb.ConstraintException if one of the rows breaks a check, or two have one key."""
    counted = [f"count(*) FILTER (WHERE NOT ({check}))" for check in rules.checks]
    for key in rules.keys:
        names = ", ".join(f'"{column}"' for column in key)
        what = f"({names})" if len(key) > 1 else names
        whole = " AND ".join(f'"{column}" IS NOT NULL' for column in key)
        counted.append(
            f"count(*) FILTER (WHERE {whole}) - count(DISTINCT {what}) FILTER (WHERE {whole})"
        )
    if not counted:
        return
    (broken,) = connection.execute(f"SELECT {', '.join(counted)} FROM ({typed})").fetchall()
    for n_broken, check in zip(broken, rules.checks, strict=False):
        if n_broken:
            show()
            rows = connection.sql(f"FROM ({typed}) WHERE NOT ({check}) LIMIT 1")
            _refuse(ddl, table, rows.to_arrow_table())
    for n_broken, key in zip(broken[len(rules.checks) :], rules.keys, strict=True):
        if n_broken:
            names = ", ".join(f'"{column}"' for column in key)
            show()
            twice = connection.sql(
                f"SELECT {names} FROM ({typed}) GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
            ).to_arrow_table()
            show()
            _refuse(ddl, table, _with_key(connection, typed, names, twice, 2))


def _with_key(
    connection: "duckdb.DuckDBPyConnection", typed: str, names: str, known: "pa.Table", n_rows: int
) -> "pa.Table":
    """Some of the rows whose key is among the `known`."""
    connection.register("known", known)
    rows = connection.sql(
        f"SELECT new.* FROM ({typed}) AS new SEMI JOIN known USING ({names}) LIMIT {n_rows}"
    ).to_arrow_table()
    connection.unregister("known")
    return rows


def _typed(columns: Sequence[Column], given: set[str]) -> str:
    """The rows of `incoming` with all columns of the table, as it would have them."""
    values = (
        f'{chr(34) + name + chr(34) if name in given else "NULL"}::{kind} AS "{name}"'
        for name, kind, _ in columns
    )
    return f"SELECT {', '.join(values)} FROM incoming"


def _refuse(ddl: str, table: str, *rows: "pa.Table") -> None:
    """Raise what DuckDB itself says of these rows, each table of them added after the other."""
    import duckdb

    with duckdb.connect() as like_it:
        like_it.execute(ddl)
        for some in rows:
            like_it.register("incoming", some)
            like_it.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
    raise duckdb.ConstraintException(f"Constraint Error: rows of {table} break one of its rules")


# --- Making tables ---------------------------------------------------------------------------------


def run_script(connection: "duckdb.DuckDBPyConnection", script: str) -> None:
    """Run a script of `sql/` on a lake: tables are made without their rules, which are compared with.

    Raises duckdb.ConstraintException if what it puts into a new table breaks them.
    """
    import duckdb

    statements = [
        (statement, _MAKES.match(text), text)
        for statement in connection.extract_statements(script)
        for text in [_COMMENT.sub("", statement.query)]
    ]
    ddl = {
        found["table"]: f"CREATE SCHEMA IF NOT EXISTS {found['stage']}; {text};"
        for _, found, text in statements
        if found
    }
    with duckdb.connect() as like_it:
        like_it.execute("".join(ddl.values()))
        columns, rules = columns_of(like_it), rules_of(like_it)
    for statement, found, _ in statements:
        if not found:
            connection.execute(statement)
            continue
        fields = ", ".join(
            f'"{name}" {kind}{"" if nullable else " NOT NULL"}'
            for name, kind, nullable in columns[found["table"]]
        )
        connection.execute(f"{found['make']}{found['table']} ({fields})")
    for table in ddl:
        # Those of a new lake are empty.
        if table in rules and connection.execute(f"FROM {table} LIMIT 1").fetchall():
            typed = f"SELECT * FROM {table}"
            _verify_by_themselves(connection, table, rules[table], typed, lambda: None, ddl[table])
