"""Storage of the Dagster instance: Dagster's own SQLite databases, whose connections stay open.

Dagster opens a database for each event of a run and closes it again, compiles each statement anew,
and waits for the disk with each commit: a fifth of a demo's time. What belongs here: connections that
are kept, and events that Dagster hands over together stored in one transaction. What is stored, and
where, is as Dagster does it: an instance may be opened with either. A commit outlives the process that
made it; after a loss of power the last events may be missing, and what they tell of is done again.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext

from resources.files.system_errors import exhausted

MOST_ENGINES = 16
"""How many databases a process keeps open. There is one for each run, and the UI reads many."""


class _Engines:
    """Engines by database, each with its connections; that which was not used for longest is closed."""

    def __init__(self) -> None:
        self._engines: OrderedDict[tuple[int, str], Engine] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, database: str) -> Engine:
        """The engine of an SQLAlchemy URL; a forked child has engines of its own."""
        key = os.getpid(), database
        with self._lock:
            engine = self._engines.pop(key, None)
            if engine is None:
                engine = create_engine(
                    database, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
                )
                event.listen(engine, "connect", _fast_commits)
                event.listen(engine, "handle_error", _named)
            self._engines[key] = engine
            while len(self._engines) > MOST_ENGINES:
                self._engines.popitem(last=False)[1].dispose()
            return engine

    def close(self) -> None:
        with self._lock:
            while self._engines:
                self._engines.popitem()[1].dispose()


def _fast_commits(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    for setting in ("journal_mode = WAL", "synchronous = NORMAL"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


running_here = threading.Event()
"""Set while this process runs a job, and its stages, by `run_job`."""


class RunEnded(BaseException):
    """The events of a run cannot be stored, which ends it; its cause says why.

    It is no Exception: Dagster prints each of those of its log, and tries to store the next event.
    """


def _named(context: ExceptionContext) -> BaseException | None:
    """A full disk, or a limit that was reached, as one sentence."""
    message = exhausted(context.original_exception)
    if message is None or not running_here.is_set():
        return message
    ended = RunEnded()
    ended.__cause__ = message
    return ended


class EventLog(SqliteEventLogStorage):
    """Dagster's event log, a database for each run and one for all."""

    def __init__(self, base_dir: str):
        self._engines = _Engines()
        self._one_at_a_time = threading.RLock()
        self._transactions: tuple[ExitStack, dict[str, Connection]] | None = None
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._one_at_a_time:
            engine = self._engines.of(self.conn_string_for_shard(shard))
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            if self._transactions is None:
                with engine.begin() as connection:
                    yield connection
                return
            at_the_end, opened = self._transactions
            if shard not in opened:
                opened[shard] = at_the_end.enter_context(engine.begin())
            yield opened[shard]

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Store an event of a run."""
        super().store_event(event)
        if self._transactions is None:
            self._show(event.run_id)

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events of one run: in each of the two databases all or none."""
        with self._one_at_a_time:
            try:
                with ExitStack() as at_the_end:
                    self._transactions = at_the_end, {}
                    for each in events:
                        self.store_event(each)
            finally:
                self._transactions = None
        for run_id in {each.run_id for each in events}:
            self._show(run_id)

    def _show(self, run_id: str) -> None:
        """Tell the watchers of the run's file (the page of a run) of a commit.

        What is committed goes into the log beside the file, which nobody watches.
        """
        os.utime(self.path_for_shard(run_id))

    def dispose(self) -> None:
        """Close the databases."""
        super().dispose()
        self._engines.close()


class Runs(SqliteRunStorage):
    """Dagster's runs and their tags."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None):
        super().__init__(conn_string, inst_data)
        self._engines = _Engines()

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A transaction of the block."""
        with self._engines.of(self._conn_string).begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the databases."""
        super().dispose()
        self._engines.close()


class Storage(DagsterSqliteStorage):
    """All that an instance stores, in the places that Dagster has for it under `base_dir`."""

    # Dagster's own would open the same databases once more.
    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None):
        history = Path(base_dir) / "history"
        self.base_dir = base_dir
        self._inst_data = inst_data
        self._run_storage = Runs.from_local(str(history))
        self._event_log_storage = EventLog(str(history / "runs"))
        self._schedule_storage = SqliteScheduleStorage.from_local(str(Path(base_dir) / "schedules"))

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]
    ) -> "Storage":
        """The storage that `dagster.yaml` names."""
        return cls.from_local(config_value["base_dir"], inst_data)
