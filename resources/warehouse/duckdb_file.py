"""Opening and closing of DuckDB files: a file is attached to a DuckDB instance that the process keeps.

Creating an instance takes over 20 ms. Attaching a file takes 5 ms, and locks the file as opening it
does; detaching writes its log into it. Within a run, files stay open for a short time between
transactions. `file_database.py` decides when a process may open a file.
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
"""Seconds that a run leaves a file open. `LEFT_OPEN`: after a transaction, for the next one.
`OPEN_AT_MOST`: in total; then the file is closed between two transactions, since other processes wait
for it."""

SLOW_COMPRESSION = "fsst"
"""A compression of texts that is disabled: DuckDB reads a row from the beginning of its block. With it,
deleting 100,000 rows of a table with a text key takes 6 s, and the commit another 6 s; without it, 0.1
s."""

_kept: "dict[tuple[int, Path], duckdb.DuckDBPyConnection]" = {}
"""(process id, file) -> DuckDB instance; a process keeps one, for the file that it used last. A forked
child inherits its parent's instance and never closes it, since the instance's threads do not exist in
the child."""


def quoted(text: str) -> str:
    """Quote a text as an SQL literal."""
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
        own_instance: Whether the connection gets its own DuckDB instance, for instance-wide settings.
        rows_at_once: DuckDB's row group size; None for its default.

    Raises:
        duckdb.Error: The file cannot be opened, or the log cannot be written into it.
    """
    import duckdb

    instance = _instance(path, own_instance)
    options = [f"ROW_GROUP_SIZE {rows_at_once}"] if rows_at_once else []
    options += [] if is_writable(path) else ["READ_ONLY"]
    options_text = f" ({', '.join(options)})" if options else ""
    instance.execute(f"ATTACH {quoted(str(path))} AS warehouse{options_text}")
    connection = instance.cursor()
    try:
        # A progress bar would be printed into the run's log.
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
            # The instance is dead; its files are closed as soon as nothing refers to it.
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


# DuckDB's module complains about instances that exist when Python exits.
@atexit.register
def _forget() -> None:
    for key in [key for key in _kept if key[0] == os.getpid()]:
        _kept.pop(key, None)


def _new_instance(path: Path) -> "duckdb.DuckDBPyConnection":
    import duckdb

    folder = path.parent if is_writable(path) else Path(tempfile.gettempdir())
    instance = duckdb.connect(config={"temp_directory": str(folder / f"{path.name}.tmp")})
    # Set it here: given to `connect` together with the other setting, DuckDB ignores it.
    instance.execute(f"SET disabled_compression_methods = {quoted(SLOW_COMPRESSION)}")
    return instance


class OpenFile(NamedTuple):
    """An open file: its connection, the monotonic time of opening, and the stack that closes it."""

    connection: "duckdb.DuckDBPyConnection"
    since: float
    closing: ExitStack


class OpenFiles:
    """Files that a run leaves open between its transactions; safe among threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[tuple[int, Path], tuple[OpenFile, Timer]] = {}
        self._failed: dict[tuple[int, Path], Exception] = {}
        self._n_runs = self._n_waiting = 0

    @contextmanager
    def of_run(self) -> Iterator[None]:
        """Allow files to stay open during the block, and close them when it ends."""
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
        """Leave no file open during the block, in which a thread of this process waits for a file."""
        with self._lock:
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1

    def take(self, path: Path) -> OpenFile | None:
        """Return the file for one more transaction if it was left open; else None.

        If closing the file failed in the background, raises that error: the last writes may be lost.
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
        """Close a file in a timer's thread; keep an error for `take`, since nobody sees it here."""
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
"""The files that this process left open."""
