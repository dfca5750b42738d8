"""A prompt on a copy of the tables, or one query; runs that write go on meanwhile.

What belongs here: the prompt and what it prints. The copy (`resources/notebook.py`) is open for reading
alone, and is gone when the prompt ends.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

from methods.errors import UserError, printable
from resources.files import home
from resources.notebook import copied
from resources.warehouse.lake_connection import explained, lake_address
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


def answer(query: str | None, as_of: str | None = None) -> int:
    """Answer the query, or those at a prompt; 0, or 2 for a query that is wrong. Raises UserError."""
    with copy_of_tables(as_of) as connection:
        if query:
            return 0 if _answer(connection, query) else 2
        _prompt(connection)
    return 0


@contextmanager
def copy_of_tables(as_of: str | None = None) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A connection that reads a copy of the home's tables, or its lake. Raises StoreError, OSError."""
    path = home.warehouse_path()
    with copied(path, as_of) as connection:
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
    """Print the results of queries, up to the first that is wrong; whether none was."""
    import duckdb

    try:
        for each in queries(connection, query):
            result = connection.sql(each)
            if result is not None:
                with redirect_stdout(StringIO()) as shown:
                    result.show(max_width=_width(), max_rows=_SHOWN_ROWS)
                print(printable(shown.getvalue()), end="")
    except duckdb.Error as error:
        address = lake_address()
        print(explained(address, error) if address else error, file=sys.stderr)
        return False
    except UserError as error:
        print(error, file=sys.stderr)
        return False
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return False
    return True


def _width() -> int:
    """Columns of the terminal; a file or a pipe takes lines of any length."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
