"""Opening and closing a DuckDB file: attached to an instance of DuckDB that the process keeps.

What belongs here: that instance. Making one takes over 20 ms, whatever the size of the file; attaching
a file to it takes 5 ms and locks the file as opening it does. Who may open which file when is
`warehouse.py`.
"""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_kept: "dict[tuple[int, Path], duckdb.DuckDBPyConnection]" = {}
"""The instance of a process for the file that it used last, by process and file. A forked child has its
parent's here, too, and never ends it: the threads of that one are not in the child."""


@contextmanager
def attached(
    path: Path, *, own_instance: bool = False, rows_at_once: int | None = None
) -> Iterator["duckdb.DuckDBPyConnection"]:
    """A connection whose default database is the file at `path`, which is made where there is none.

    The file is closed, and other processes may open it, when the context ends. Settings that hold for a
    whole instance need one of their own. `rows_at_once` are DuckDB's row group. Raises
    duckdb.Error where the file cannot be opened.
    """
    import duckdb

    instance = _instance(path, own_instance)
    target = str(path).replace("'", "''")
    options = f" (ROW_GROUP_SIZE {rows_at_once})" if rows_at_once else ""
    instance.execute(f"ATTACH '{target}' AS warehouse{options}")
    connection = instance.cursor()
    try:
        # It would be drawn into the run's log.
        connection.execute("SET enable_progress_bar = false")
        connection.execute("USE warehouse")
        yield connection
    except duckdb.Error:
        # A fatal error ends the instance, not the file alone.
        _forget()
        raise
    finally:
        connection.close()
        instance.execute("DETACH warehouse")
        instance.close()


def _instance(path: Path, own: bool) -> "duckdb.DuckDBPyConnection":
    if own:
        return _new_instance(path)
    kept = _kept.get((os.getpid(), path))
    if kept is None:
        _forget()
        kept = _kept[os.getpid(), path] = _new_instance(path)
    return kept.cursor()


# DuckDB's module complains of an instance that is there when Python ends.
@atexit.register
def _forget() -> None:
    for key in [key for key in _kept if key[0] == os.getpid()]:
        _kept.pop(key, None)


def _new_instance(path: Path) -> "duckdb.DuckDBPyConnection":
    import duckdb

    return duckdb.connect(config={"temp_directory": f"{path}.tmp"})
