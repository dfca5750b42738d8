"""The warehouse in a DuckDB file: a lock between processes, and transactions.

While a process has a DuckDB file open for writing, every other process fails to open it. So each
transaction takes a lock between processes, attaches the file (`duckdb_file.py`) and detaches it. A run
keeps both for a moment, in case its next transaction begins at once.
"""

import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from resources.files.home import is_writable
from resources.files.waiting import TimedWait
from resources.warehouse.database import EARLIER_VERSION, NO_TABLES, Database, raise_interrupts
from resources.warehouse.declarations import WarehouseError
from resources.warehouse.duckdb_file import OpenFile, attached, left_open
from resources.warehouse.file_errors import CORRUPT, FULL, LOG_KEPT, advice
from resources.warehouse.versions import bring_up_to_date, upgrade_steps
from resources.warehouse.writes import STREAM_ROWS, TableWrite, has_stream, replace_rows

if TYPE_CHECKING:
    import duckdb

LOCK_TIMEOUT = OPEN_TIMEOUT = 12 * 3600.0
"""Seconds to wait for the lock, and for processes that opened the file without the lock. Most
transactions take milliseconds. Ingesting a shard of millions of rows takes a minute, and several may
wait. If somebody leaves a DuckDB prompt open for a night, no run should fail."""
SAID_AFTER, SAID_EVERY = 5.0, 300.0
"""Seconds until a wait is logged for the first time, and between later log messages."""
SNAPSHOT_TIMEOUT = 2.0
"""Seconds that an HTML page waits for a writer."""
_LOCKED = "Could not set lock on file"
_HOLDER = re.compile(r"held in (?P<program>.+) \(PID (?P<pid>\d+)\)")
_IN_USE = "The tables are being written at the moment: look again when the run has gone on."


class FileDatabase(Database):
    """Transactions on one DuckDB file; safe among any number of processes."""

    def __init__(self, path: Path, log: Callable[[str], None]):
        super().__init__(log)
        self.path = path

    @property
    def name(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    @contextmanager
    def _opened(
        self, own_instance: bool, rows_at_once: int | None
    ) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Lock and attach the file, or take it if this run left it open; see `Database`."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if own_instance:
            left_open.close(self.path)
        file = left_open.take(self.path)
        if file is None:
            with ExitStack() as opening:
                with left_open.waiting():
                    opening.enter_context(self.locked())
                connection = opening.enter_context(self._attached(own_instance, rows_at_once))
                file = OpenFile(connection, time.monotonic(), opening.pop_all())
        try:
            yield file.connection
        except BaseException:
            file.closing.close()
            raise
        if own_instance:
            file.closing.close()
        else:
            left_open.leave(self.path, file)

    @contextmanager
    def snapshot(self) -> "Iterator[duckdb.DuckDBPyConnection]":
        import duckdb

        if not self.path.exists():
            raise WarehouseError(NO_TABLES)
        try:
            lock = FileLock(f"{self.path}.lock", timeout=SNAPSHOT_TIMEOUT, poll_interval=0.01)
            with (
                lock if is_writable(self.path) else nullcontext(),
                raise_interrupts(),
                closing(duckdb.connect(str(self.path), read_only=True)) as connection,
            ):
                if upgrade_steps(connection, self.path)[2]:
                    raise WarehouseError(EARLIER_VERSION)
                yield connection
        except Timeout:
            raise WarehouseError(_IN_USE, passing=True) from None
        except (OSError, duckdb.Error) as error:
            reason = (str(error).splitlines() or [""])[0]
            if _LOCKED in reason or isinstance(error, duckdb.ConnectionException):
                raise WarehouseError(_IN_USE, passing=True) from error
            raise self._refused(reason) from error

    def copy_to(self, target: Path) -> None:
        """Copy the existing file between two transactions, whatever its version."""
        left_open.close(self.path)
        # The log that a killed process left next to the file is a part of the data.
        log = Path(f"{self.path}.wal")
        with self.locked():
            with self._attached() as connection:
                if is_writable(self.path):
                    connection.execute("CHECKPOINT")
                elif log.exists():
                    shutil.copyfile(log, f"{target}.wal")
            shutil.copyfile(self.path, target)

    def _replace_all(self, writes: Sequence[TableWrite], settings: str | None) -> None:
        """Run all writes in one transaction; with settings, in a separate DuckDB instance."""
        import duckdb

        rows_at_once = STREAM_ROWS if has_stream(writes) else None
        own_instance = settings is not None
        with self.connection(own_instance=own_instance, rows_at_once=rows_at_once) as connection:
            if settings is not None:
                connection.execute(settings)
            connection.begin()
            try:
                for write in writes:
                    replace_rows(connection, write)
                connection.commit()
            except duckdb.Error as error:
                # On a full disk the rollback may fail, too; its error would hide the cause.
                with suppress(duckdb.Error):
                    connection.rollback()
                if FULL in str(error):
                    raise self._refused(" ".join(str(error).split())) from error
                raise WarehouseError(f"The warehouse refused the write: {error}") from error

    def _bring_up_to_date(self, connection: "duckdb.DuckDBPyConnection") -> None:
        if is_writable(self.path):
            bring_up_to_date(connection, self.path)
        elif upgrade_steps(connection, self.path)[2]:
            raise WarehouseError(EARLIER_VERSION)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the file's lock in the block. Raises WarehouseError after `LOCK_TIMEOUT`."""
        if not is_writable(self.path):
            yield  # DuckDB's own lock keeps writers away while the file is open.
            return
        # Not per thread, since another thread may close the file that this thread left open.
        lock = FileLock(f"{self.path}.lock", poll_interval=0.01, thread_local=False)
        waiting = TimedWait(LOCK_TIMEOUT, self.log, SAID_AFTER, SAID_EVERY)
        holder = "another process of vlm-loom, which may itself be waiting"
        if not waiting.acquire(lock, f"{self.path} is in use by {holder}"):
            raise WarehouseError(
                f"Another process has held {self.path}.lock for {LOCK_TIMEOUT:.0f} s; end it and run "
                "again."
            )
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _attached(
        self, own_instance: bool = False, rows_at_once: int | None = None
    ) -> Iterator["duckdb.DuckDBPyConnection"]:
        import duckdb

        waiting = TimedWait(OPEN_TIMEOUT, self.log, SAID_AFTER, SAID_EVERY)
        with self._closing_explained(), ExitStack() as stack:
            while True:
                try:
                    connection = stack.enter_context(
                        attached(self.path, own_instance=own_instance, rows_at_once=rows_at_once)
                    )
                    break
                except duckdb.Error as error:
                    reason = str(error).splitlines()[0]
                    if _LOCKED not in reason:
                        raise self._refused(reason) from error
                    who = _HOLDER.search(reason)
                    holder = f"{who['program']} (process {who['pid']})" if who else reason
                    if not waiting.goes_on(
                        f"{self.path} is open in {holder}; close it there, and look at the tables "
                        "with vlm-loom sql, which opens a copy"
                    ):
                        raise WarehouseError(
                            f"{self.path} cannot be opened; close what else has it open ({reason})."
                        ) from error
                    time.sleep(0.2)
            yield connection

    @contextmanager
    def _closing_explained(self) -> Iterator[None]:
        """Raise WarehouseError if committed data cannot be written from the log into the file."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            reason = " ".join(str(error).split())
            if LOG_KEPT not in reason:
                raise
            raise self._refused(reason) from error

    def _unusable(self, error: "duckdb.Error") -> WarehouseError | None:
        reason = str(error).splitlines()[0]
        is_damaged = f'from file "{self.path}"' in reason or CORRUPT in reason
        return self._refused(reason) if is_damaged else None

    def _not_upgraded(self, reason: str) -> WarehouseError:
        return WarehouseError(
            f"{self.path} cannot be brought to this version of sql/ ({reason}): keep the file, and "
            "open it with the version of vlm-loom that made it, or restore a backup (vlm-loom "
            "workspace restore)."
        )

    def _refused(self, reason: str) -> WarehouseError:
        return WarehouseError(f"{self.path} {advice(reason, self.path)}")
