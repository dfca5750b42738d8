"""Read-only check of SQL that users write: only queries of the tables are allowed.

A statement is checked before DuckDB executes it, on a file and on a lake. Allow-lists say what a query
may use, since a connection to a lake has extensions that write to its Postgres and its bucket, and
settings and catalogue functions that show passwords.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from methods.json_text import NestingError, from_json, is_unicode
from methods.naming import nearest
from resources.warehouse.declarations import WarehouseError

if TYPE_CHECKING:
    import duckdb

TABLES = """
SELECT
    schema_name || '.' || table_name AS name,
    string_agg(column_name, ', ' ORDER BY column_index) AS columns
FROM duckdb_columns()
WHERE NOT internal AND database_name = current_database() GROUP BY name ORDER BY name
"""
"""The query for the names of all tables and views, with their columns."""
SEALED = """
    SET python_enable_replacements = false;
    SET enable_external_access = false;
    SET lock_configuration = true;
"""
"""Settings that restrict a connection: no variables of Python, and no files that are not open yet."""
SNAPSHOTS = "ducklake_snapshots"
"""The function that lists a lake's snapshots; tables in a file do not have it."""
_CATALOGUE = (
    "duckdb_columns duckdb_constraints duckdb_schemas duckdb_tables duckdb_types duckdb_views"
)
_FUNCTIONS = (
    "duckdb_functions duckdb_keywords generate_series json_each json_tree pragma_table_info "
    "pragma_version range repeat repeat_row unnest"
)
TABLE_FUNCTIONS = frozenset([*_CATALOGUE.split(), *_FUNCTIONS.split(), SNAPSHOTS])
SYSTEM_VIEWS = frozenset([*_CATALOGUE.split(), "sqlite_master", "sqlite_schema"])
SHOWN = frozenset(["", "databases", "tables", "variables", "__show_tables_expanded"])
"""Arguments of SHOW that are allowed although they are not tables."""
_REFUSED = (
    "current_setting currval getenv getvariable json_serialize_plan nextval setval txid_current "
    "write_log"
)
NOT_ALLOWED = frozenset(_REFUSED.split())
"""Refused functions of DuckDB: they show settings, change something, or bind other SQL. Some are
refused because a lake does not have them."""
_NODES = ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE")
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:ANALYZE\s+)?", re.IGNORECASE)
_RUN_WHILE_SPLIT = re.compile(rb"(PRAGMA|IMPORT)\b", re.IGNORECASE)
"""Statements that DuckDB evaluates and replaces while it splits a text, before the check."""
_SPACES = dict.fromkeys(
    map(ord, "\u00a0\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))), " "
)
"""Characters that DuckDB replaces by blanks before it splits a text, but not in `duckdb.tokenize`."""
_QUERIES_ONLY = (
    "The tables are read-only here. Write a query: SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, "
    "SUMMARIZE, EXPLAIN, or PIVOT with its values (ON column IN ('a', 'b'))."
)


class QueryRefused(WarehouseError):
    """A statement may do more than read the tables; the message names the offending part."""


def queries(connection: "duckdb.DuckDBPyConnection", text: str) -> Iterator[str]:
    """Split a text into queries that only read tables of the connection's default database.

    Args:
        connection: The connection that will execute the queries.
        text: SQL with any number of statements.

    Yields:
        Each checked query, exactly as it must be executed.

    Raises:
        QueryRefused: A statement is not a query, is not Unicode text, is nested too deeply, or uses a
            function or table that is not allowed.
        duckdb.Error: DuckDB cannot parse the text.
    """
    if not is_unicode(text):
        raise QueryRefused(
            "The query has a character that is not valid Unicode: write it in UTF-8."
        )
    _require_no_pragma(text)
    for statement in connection.extract_statements(text):
        _require_query(connection, statement.query)
        yield statement.query


def require_query(connection: "duckdb.DuckDBPyConnection", text: str) -> None:
    """Check that a text is one query that only reads tables.

    Args:
        connection: The connection to parse the text with.
        text: The text.

    Raises:
        QueryRefused: It is not one query.
    """
    if len([*queries(connection, text)]) != 1:
        raise QueryRefused(_QUERIES_ONLY)


def _require_no_pragma(text: str) -> None:
    import duckdb

    text = text.translate(_SPACES)
    source, begins = text.encode(), True
    for offset, _ in duckdb.tokenize(text):
        if begins and _RUN_WHILE_SPLIT.match(source, offset):
            raise QueryRefused(_QUERIES_ONLY)
        begins = source.startswith(b";", offset)


def _require_query(connection: "duckdb.DuckDBPyConnection", text: str) -> None:
    tree = _tree(connection, text)
    nodes = list(_nodes(tree))
    if any(_kind(node).endswith("_NODE") and _kind(node) not in _NODES for node in nodes):
        raise QueryRefused(_QUERIES_ONLY)
    table_functions = {id(node["function"]) for node in nodes if _kind(node) == "TABLE_FUNCTION"}
    for node in nodes:
        if "function_name" in node:
            name = str(node["function_name"]).lower()
            allowed = TABLE_FUNCTIONS if id(node) in table_functions else _functions()
            if name == SNAPSHOTS and not _has_snapshots(connection):
                raise QueryRefused(
                    "The tables are in a file, which keeps no snapshots: ask a lake for them "
                    "(LOOM_WAREHOUSE names one), and leave as_of out."
                )
            if name not in allowed:
                raise QueryRefused(
                    f"The function {name} is not available here: only DuckDB's own functions that "
                    "read nothing but tables are."
                )
        elif _kind(node) == "SHOW_REF" and node["table_name"].strip('"').lower() not in SHOWN:
            raise QueryRefused(_QUERIES_ONLY)
    tables = [node for node in nodes if _kind(node) == "BASE_TABLE"]
    if tables:
        _require_tables(connection, tables, _names_of_ctes(nodes))


def _has_snapshots(connection: "duckdb.DuckDBPyConnection") -> bool:
    query = "SELECT count(*) FROM duckdb_functions() WHERE function_name = $name"
    return connection.execute(query, {"name": SNAPSHOTS}).fetchall() != [(0,)]


def _require_tables(
    connection: "duckdb.DuckDBPyConnection", tables: list[dict[str, Any]], ctes: set[str]
) -> None:
    names = [name for name, _ in connection.execute(TABLES).fetchall()]
    ((database,),) = connection.execute("SELECT current_database()").fetchall()
    lowered = {name.lower() for name in names}
    for node in tables:
        catalog, schema, table = (
            str(node[part]).lower() for part in ("catalog_name", "schema_name", "table_name")
        )
        if not catalog and not schema and (table in ctes or table in SYSTEM_VIEWS):
            continue
        of_this = catalog in ("", str(database).lower())
        if of_this and (schema == "information_schema" or f"{schema or 'main'}.{table}" in lowered):
            continue
        name = ".".join(part for part in (catalog, schema, table) if part)
        raise QueryRefused(f"There is no table {name}; {nearest(name, names)}.")


def _names_of_ctes(nodes: list[dict[str, Any]]) -> set[str]:
    """Return the names of a query's CTEs (WITH name AS ...) that cannot mean anything else.

    A CTE may have the name of a system view or a file, which the query inside it would read.
    """
    names = {
        str(entry["key"]).lower()
        for node in nodes
        if "cte_map" in node
        for entry in node["cte_map"]["map"]
    }
    return {name for name in names if name.isidentifier() and name not in _system_names()}


def _tree(connection: "duckdb.DuckDBPyConnection", text: str) -> dict[str, Any]:
    """Parse one query (or the query after EXPLAIN) to its syntax tree. Raises QueryRefused."""
    explained = _EXPLAIN.match(text)
    query = text[explained.end() :] if explained else text
    ((serialized,),) = connection.execute(
        "SELECT json_serialize_sql($query::VARCHAR)", {"query": query}
    ).fetchall()
    try:
        tree: dict[str, Any] = from_json(serialized)
    except NestingError:
        raise QueryRefused(
            "The query has too many subqueries or expressions inside each other: write the inner ones "
            "as WITH name AS (...)."
        ) from None
    if tree["error"] or len(tree["statements"]) != 1:
        raise QueryRefused(_QUERIES_ONLY)
    return tree


def _nodes(part: object) -> Iterator[dict[str, Any]]:
    parts = [part]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            yield part
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)


def _kind(node: dict[str, Any]) -> str:
    kind = node.get("type")
    return kind if isinstance(kind, str) else ""


@cache
def _functions() -> frozenset[str]:
    """Return the allowed functions: DuckDB's built-in ones that return a value, not extensions'."""
    return _of_plain_duckdb(
        "SELECT function_name FROM duckdb_functions() WHERE function_type IN "
        "('scalar', 'aggregate', 'macro', 'window')"
    ) - NOT_ALLOWED | {"unnest"}


@cache
def _system_names() -> frozenset[str]:
    return _of_plain_duckdb("SELECT view_name FROM duckdb_views() WHERE internal")


def _of_plain_duckdb(query: str) -> frozenset[str]:
    import duckdb

    with duckdb.connect() as plain:
        return frozenset(name.lower() for (name,) in plain.execute(query).fetchall())
