"""The Dagster instance of the project: the folder `dagster/` in the workspace, with a dagster.yaml.

Its storage is SQLite, or dagster-postgres if LOOM_STORES names a database.
"""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
import yaml
from filelock import FileLock
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError

from assets.common.pools import POOLS
from resources.files.atomic import write_atomically
from resources.files.home import home, is_writable
from resources.files.system_errors import require_writable
from resources.migrations import StoreError
from resources.stores import address
from resources.stores.sqlite import copy_sqlite
from resources.stores_of_home import may_write, require_folder

SETTINGS = Path(__file__).with_name("dagster.yaml")
SHARED = Path(__file__).with_name("dagster_shared.yaml")
"""Settings that replace those of dagster.yaml if several machines share the instance."""
DATABASES = (
    Path("history/runs.db"),
    Path("history/runs/index.db"),
    Path("schedules/schedules.db"),
)
"""The SQLite databases of the instance."""
IN_A_TERMINAL = "terminal.yaml"
"""The same settings for runs in a terminal, whose output stays there. Otherwise Dagster would capture
output in files, with two more processes for each run.
"""
POSTGRES = "DAGSTER_POSTGRES_URL"
"""Environment variable with the address of Dagster's storage. `dagster_shared.yaml` refers to it, so
that no file contains the password.
"""
BACKFILLS_WAIT = "DAGSTER_BACKFILL_RETRY_DEFINITION_CHANGED_ERROR"
"""Environment variable of Dagster's daemon. If it is set, a backfill whose code location does not load
waits until it does. Otherwise such a backfill fails, and its runs are not launched again.
"""
SCHEMA = "dagster"
"""The Postgres schema of Dagster's tables."""
_MAKING = 0x6C6F6F6D64
"""Number of the Postgres advisory lock for creating the schema and its tables."""
NO_TELEMETRY = "telemetry: {enabled: false}\n"
NOT_CAPTURED = b"""
compute_logs:
  module: dagster.core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""


def prepare_dagster_home() -> Path:
    """Create the folder of the instance with the project's settings, and point `DAGSTER_HOME` to it.

    Also has a daemon that this process starts or becomes keep backfills while the code server is away.

    Raises StoreError if the folder cannot be created.
    """
    require_folder()
    folder = home() / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    _write_settings(folder, _settings())
    os.environ["DAGSTER_HOME"] = str(folder)
    os.environ.setdefault(BACKFILLS_WAIT, "1")
    if shared := address.database():
        os.environ[POSTGRES] = _in_schema(shared)
    return folder


def _write_settings(folder: Path, settings: bytes) -> None:
    for name, content in ((SETTINGS.name, settings), (IN_A_TERMINAL, settings + NOT_CAPTURED)):
        target = folder / name
        if not target.exists() or target.read_bytes() != content:
            write_atomically(target, content)


def _settings() -> bytes:
    if address.database() is None:
        return SETTINGS.read_bytes()
    both = {**yaml.safe_load(SETTINGS.read_bytes()), **yaml.safe_load(SHARED.read_bytes())}
    return yaml.safe_dump(both, sort_keys=False).encode()


def _in_schema(stores: str) -> str:
    """Return the address of Dagster's schema in the database of the stores.

    The address names the driver psycopg2, because dagster-postgres closes connections of the newer
    psycopg when it sets the webserver's statement timeout, and SQLAlchemy would prefer the newer one.
    """
    try:
        url = make_url(stores)
    except ArgumentError:
        url = None
    if url is None or not url.database:
        raise StoreError(
            f"{address.VARIABLE} is not an address of a Postgres database: set it as in "
            "postgresql://user@host:5432/database, with special characters of a password as %XX."
        )
    options = url.query.get("options", "")
    value = options if isinstance(options, str) else " ".join(options)
    of_dagster = url.set(drivername="postgresql+psycopg2").update_query_dict(
        {"options": f"{value} -csearch_path={SCHEMA}".strip()}
    )
    return of_dagster.render_as_string(hide_password=False)


def open_instance() -> dg.DagsterInstance:
    """Open the instance that the UI shows, for runs in this process; create it if it does not exist.

    By default, one step at a time calls models; a limit that is set in the instance stays. Raises
    StoreError if the instance cannot be opened.
    """
    folder = prepare_dagster_home()
    shared = address.database()
    instance = _open_files(folder) if shared is None else _open_shared(folder, shared)
    storage, pool = instance.event_log_storage, POOLS["llm"]
    # `dagster run wipe` deletes the slots and keeps the limit, so that steps would wait forever.
    if not storage.get_concurrency_info(pool).slot_count:
        limits = {limit.name: limit.limit for limit in storage.get_pool_limits()}
        # Another process that opens a new instance at this moment sets the same.
        with suppress(IntegrityError):
            storage.set_concurrency_slots(pool, limits.get(pool, 1))
    return instance


def open_restored(folder: Path) -> dg.DagsterInstance:
    """Open the instance in the files of a restored folder, with the project's settings, not its own.

    Raises StoreError if the instance cannot be opened.
    """
    _write_settings(folder, SETTINGS.read_bytes())
    return _open_files(folder)


def _open_files(folder: Path) -> dg.DagsterInstance:
    """Open the instance in the files of the workspace."""
    # Two processes that create Dagster's databases at the same time would corrupt them.
    with FileLock(folder / "opening.lock"):
        for path in DATABASES:
            # An empty file may also be from a process that was killed while it created the file.
            if (folder / path).exists() and not (folder / path).stat().st_size:
                print(
                    f"{folder / path} is empty, and gets its tables again. If it had content, stop and "
                    "restore a backup (vlm-loom workspace restore).",
                    file=sys.stderr,
                )
        for path in DATABASES:
            require_writable(folder / path)
        try:
            return dg.DagsterInstance.from_config(str(folder), IN_A_TERMINAL)
        except DatabaseError as error:
            raise StoreError(
                f"The Dagster instance {folder} cannot be opened ({error.orig}): move its folders "
                "history and schedules away, or restore a backup (vlm-loom workspace restore)."
            ) from None


def _open_shared(folder: Path, stores: str) -> dg.DagsterInstance:
    """Open the instance on Postgres. One process at a time creates its schema and tables."""
    with address.packages():
        import dagster_postgres  # noqa: F401 - only whether it is there: Dagster imports it
        import psycopg
    logging.getLogger().addFilter(_is_no_retry)
    try:
        with psycopg.connect(stores, autocommit=True) as connection:
            # The lock is released with the connection.
            connection.execute("SELECT pg_advisory_lock(%s)", (_MAKING,))
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            return dg.DagsterInstance.from_config(str(folder), IN_A_TERMINAL)
    except psycopg.OperationalError as error:
        raise address.server_error(error) or error from None


def _is_no_retry(record: logging.LogRecord) -> bool:
    """Filter out dagster-postgres's log records of retries, which contain the SQL statement.

    If the last retry fails, the command reports the error.
    """
    return record.msg != "Retrying failed database connection: %s"


@contextmanager
def instance_to_read() -> Iterator[dg.DagsterInstance]:
    """Open the instance to read past runs; a copy of it if the user may not write to it."""
    dagster = home() / "dagster"
    existing = [path for path in DATABASES if (dagster / path).exists()]
    if may_write() and all(is_writable(dagster / path) for path in existing):
        with open_instance() as instance:
            yield instance
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in existing:
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            copy_sqlite(dagster / path, Path(folder) / path)
        (Path(folder) / SETTINGS.name).write_text(NO_TELEMETRY)
        with dg.DagsterInstance.from_config(folder) as instance:
            yield instance
