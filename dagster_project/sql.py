"""SQL on a copy of the tables: a prompt, or queries. Meanwhile runs can write to the tables."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

from dagster_project.sql_output import FORMATS
from methods.errors import UserError, printable
from resources.files import home
from resources.notebook import read_copy
from resources.warehouse.database import end_query, raise_interrupts
from resources.warehouse.lake_connection import lake_address, lake_error
from resources.warehouse.query_check import TABLES, queries
from resources.warehouse.versions import later_version

if TYPE_CHECKING:
    import duckdb

LEAVE = (".quit", ".exit", "quit", "exit")
HELP = (
    "A copy of the tables, to read. End a query with ; and the prompt with .quit or Ctrl-D. "
    ".tables lists what there is."
)
_SHOWN_ROWS = 1_000


def answer(query: str | None, as_of: str | None = None, form: str = "table") -> int:
    """Execute a query, or open a prompt.

    Args:
        query: One or more queries; None for a prompt.
        as_of: A snapshot or a time of a lake; None for the current tables.
        form: `table`, or `csv` or `json`, which write the result of one query. Without a query they
            read it from standard input.

    Returns:
        0, or 2 for an invalid query.

    Raises:
        UserError: The tables cannot be read, or `csv` or `json` has no query.
    """
    if form in FORMATS and query is None and sys.stdin.isatty():
        raise UserError(f'--format {form} needs a query: vlm-loom sql "SELECT ...".')
    with copy_of_tables(as_of) as connection:
        if form in FORMATS:
            return 0 if _write(connection, query or sys.stdin.read(), form) else 2
        if query:
            return 0 if _answer(connection, query) else 2
        _prompt(connection)
    return 0


@contextmanager
def copy_of_tables(as_of: str | None = None) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Open a connection to a copy of the workspace's tables or its lake. Raises StoreError, OSError."""
    path = home.warehouse_path()
    with read_copy(path, as_of) as connection:
        if later := later_version(connection, path):
            print(later, file=sys.stderr)
        yield connection


def _prompt(connection: "duckdb.DuckDBPyConnection") -> None:
    import readline  # noqa: F401 - gives the prompt its editing and its history

    at_terminal = sys.stdin.isatty()
    if at_terminal:
        print(HELP)
    lines: list[str] = []
    while True:
        try:
            line = input(("sql> " if not lines else "...> ") if at_terminal else "")
        except EOFError:
            break
        except KeyboardInterrupt:
            print()
            break
        if not lines and line.strip().lower() in LEAVE:
            return
        if not lines and line.strip() == ".tables":
            _answer(connection, TABLES)
            continue
        lines += [line] if lines or line.strip() else []
        if line.rstrip().endswith(";"):
            _answer(connection, "\n".join(lines))
            lines = []
    if lines:
        _answer(connection, "\n".join(lines))


def _answer(connection: "duckdb.DuckDBPyConnection", query: str) -> bool:
    """Print the results of queries, up to the first that is wrong. Returns whether all were right."""
    with _said_if_wrong(connection) as answered:
        for statement in queries(connection, query):
            result = connection.sql(statement)
            if result is not None:
                with redirect_stdout(StringIO()) as shown:
                    result.show(max_width=_width(), max_rows=_SHOWN_ROWS)
                print(printable(shown.getvalue()), end="")
        answered.append(query)
    return bool(answered)


def _write(connection: "duckdb.DuckDBPyConnection", query: str, form: str) -> bool:
    """Write the result of one query in a format. Returns whether the query was right."""
    with _said_if_wrong(connection) as answered:
        texts = [*queries(connection, query)]
        if len(texts) != 1:
            raise UserError(
                f"--format {form} writes the result of one query, but there are "
                f"{len(texts)}. Pass one query."
            )
        result = connection.sql(texts[0])
        for part in FORMATS[form](result) if result is not None else ():
            sys.stdout.write(part)
        answered.append(query)
    return bool(answered)


@contextmanager
def _said_if_wrong(connection: "duckdb.DuckDBPyConnection") -> Iterator[list[str]]:
    """Print what is wrong with a query. Yields a list to which answered queries are added."""
    import duckdb

    try:
        with raise_interrupts(), end_query(connection):
            yield []
    except duckdb.Error as error:
        address = lake_address()
        message = lake_error(address, error) if address else error
        print(printable(str(message)), file=sys.stderr)
    except UserError as error:
        print(printable(str(error)), file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)


def _width() -> int:
    """The columns of the terminal; lines in a file or a pipe are not limited."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
