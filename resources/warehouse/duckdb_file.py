"""Opening and closing a DuckDB file: attached to an instance of DuckDB that the process keeps.

Making an instance takes over 20 ms, whatever the size of the file; attaching a file to it takes 5 ms
and locks the file as opening it does; detaching writes its log into it. Files stay open between the
transactions of a run. Who may open which file when is `file_database.py`'s.
"""

import atexit
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock, Timer
from typing import TYPE_CHECKING, NamedTuple

from resources.files.home import is_writable

if TYPE_CHECKING:
    import duckdb

LEFT_OPEN, OPEN_AT_MOST = 0.05, 0.5
"""Seconds that a run leaves a file open after a transaction, in which its next one may begin, and
seconds after which it closes the file between two transactions: others wait for it."""

SLOW_COMPRESSION = "fsst"
"""DuckDB reads a row of texts in this form from the beginning of its block. Deleting 100,000 rows of a
table with a key on texts takes 6 s with it, and as long again at the commit; 0.1 s without."""

_kept: "dict[tuple[int, Path], duckdb.DuckDBPyConnection]" = {}
"""The instance of a process for the file that it used last, by process and file. A forked child has its
parent's here, too, and never ends it: the threads of that one are not in the child."""


def quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def attached(
    path: Path, *, own_instance: bool = False, rows_at_once: int | None = None
) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open a connection whose default database is a DuckDB file, which is created if it does not exist.

    A file that this user may not write is opened read-only. When the block ends, the file is closed and
    other processes may open it.

    Args:
        path: The file.
        own_instance: Whether the connection has a DuckDB instance of its own, for settings of a whole
            instance.
        rows_at_once: DuckDB's row group size; None for its default.

    Yields:
        The connection.

    Raises:
        duckdb.Error: The file cannot be opened, or cannot take the log of its last transactions.
    """
    import duckdb

    instance = _instance(path, own_instance)
    options = [f"ROW_GROUP_SIZE {rows_at_once}"] if rows_at_once else []
    options += [] if is_writable(path) else ["READ_ONLY"]
    options_text = f" ({', '.join(options)})" if options else ""
    instance.execute(f"ATTACH {quoted(str(path))} AS warehouse{options_text}")
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
        try:
            instance.execute("DETACH warehouse")
        except duckdb.FatalException:
            # The instance has ended, and its files are closed when nothing refers to it.
            _forget()
        except duckdb.Error:
            # The file stays attached to an instance that cannot use it any more.
            _forget()
            raise
        finally:
            instance.close()


def _instance(path: Path, own: bool) -> "duckdb.DuckDBPyConnection":
    if own:
        return _new_instance(path)
    instance = _kept.get((os.getpid(), path))
    if instance is None:
        _forget()
        instance = _kept[os.getpid(), path] = _new_instance(path)
    return instance.cursor()


# DuckDB's module complains of an instance that is there when Python ends.
@atexit.register
def _forget() -> None:
    for key in [key for key in _kept if key[0] == os.getpid()]:
        _kept.pop(key, None)


def _new_instance(path: Path) -> "duckdb.DuckDBPyConnection":
    import duckdb

    folder = path.parent if is_writable(path) else Path(tempfile.gettempdir())
    instance = duckdb.connect(config={"temp_directory": str(folder / f"{path.name}.tmp")})
    # DuckDB forgets this one where it is given with the other.
    instance.execute(f"SET disabled_compression_methods = {quoted(SLOW_COMPRESSION)}")
    return instance


class OpenFile(NamedTuple):
    """A file with its connection, since when it is open, and what has to be ended to close it."""

    connection: "duckdb.DuckDBPyConnection"
    since: float
    closing: ExitStack


class OpenFiles:
    """Files that a run leaves open between its transactions; safe among the threads of a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[tuple[int, Path], tuple[OpenFile, Timer]] = {}
        self._failed: dict[tuple[int, Path], Exception] = {}
        self._n_runs = self._n_waiting = 0

    @contextmanager
    def of_run(self) -> Iterator[None]:
        """Leave files open during the block, and close them at its end."""
        with self._lock:
            self._n_runs += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_runs -= 1
                paths = [path for process, path in self._files if process == os.getpid()]
            for path in paths:
                self.close(path)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Leave no file open during the block: a thread of this process waits for one."""
        with self._lock:
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1

    def take(self, path: Path) -> OpenFile | None:
        """The file, if it was left open, for one more transaction.

        Raises what closing it raised, if that failed since it was left: what was written may be lost.
        """
        with self._lock:
            if failed := self._failed.pop((os.getpid(), path), None):
                raise failed
            return self._taken(path)

    def _taken(self, path: Path) -> OpenFile | None:
        file, timer = self._files.pop((os.getpid(), path), (None, None))
        if timer is not None:
            timer.cancel()
        return file

    def leave(self, path: Path, file: OpenFile) -> None:
        """Close a file after a transaction, now or after a delay.

        Args:
            path: The file.
            file: The open file.
        """
        with self._lock:
            stays = time.monotonic() - file.since < OPEN_AT_MOST
            if stays and self._n_runs and not self._n_waiting:
                timer = Timer(LEFT_OPEN, self._close_later, [path])
                self._files[os.getpid(), path] = file, timer
                timer.start()
                return
        file.closing.close()

    def _close_later(self, path: Path) -> None:
        """Close a file in a timer's thread, where an error would not be visible."""
        try:
            self.close(path)
        except Exception as error:
            self._failed[os.getpid(), path] = error

    def close(self, path: Path) -> None:
        """Close a file that was left open, and wait until it is closed."""
        with self._lock:
            if file := self._taken(path):
                file.closing.close()


left_open = OpenFiles()
"""The files that this process leaves open."""
