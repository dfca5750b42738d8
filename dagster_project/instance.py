"""The Dagster instance of the project: `dagster/` under the home folder, with its own dagster.yaml.

The storage is Dagster's own: SQLite, or dagster-postgres where LOOM_STORES names a database.
"""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import yaml
from filelock import FileLock
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError

from assets.common.pools import POOLS
from resources.files.atomic import write_atomically
from resources.files.home import home
from resources.migrations import StoreError
from resources.stores import address
from resources.stores.sqlite import copy_sqlite
from resources.stores_of_home import may_write, require_folder

SETTINGS = Path(__file__).with_name("dagster.yaml")
SHARED = Path(__file__).with_name("dagster_shared.yaml")
"""What differs where several machines have one instance."""
DATABASES = (
    Path("history/runs.db"),
    Path("history/runs/index.db"),
    Path("schedules/schedules.db"),
)
"""The instance's databases."""
IN_A_TERMINAL = "terminal.yaml"
"""The same settings for runs in a terminal, to which what they print belongs: Dagster would write it
into files and start two processes a run that show it."""
POSTGRES = "DAGSTER_POSTGRES_URL"
"""The variable with the address of Dagster's storage, which is in no file (`dagster_shared.yaml`)."""
SCHEMA = "dagster"
_MAKING = 0x6C6F6F6D64
"""The lock of the process that makes the schema and its tables."""
NO_TELEMETRY = "telemetry: {enabled: false}\n"
NOT_CAPTURED = b"""
compute_logs:
  module: dagster.core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""


def prepare_dagster_home() -> Path:
    """Make `DAGSTER_HOME` point under the home folder, with the project's settings in it.

    Raises StoreError where there cannot be such a folder.
    """
    require_folder()
    folder = home() / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    settings = _settings()
    for name, content in ((SETTINGS.name, settings), (IN_A_TERMINAL, settings + NOT_CAPTURED)):
        target = folder / name
        if not target.exists() or target.read_bytes() != content:
            write_atomically(target, content)
    os.environ["DAGSTER_HOME"] = str(folder)
    if shared := address.database():
        os.environ[POSTGRES] = _in_schema(shared)
    return folder


def _settings() -> bytes:
    if address.database() is None:
        return SETTINGS.read_bytes()
    both = {**yaml.safe_load(SETTINGS.read_bytes()), **yaml.safe_load(SHARED.read_bytes())}
    return yaml.safe_dump(both, sort_keys=False).encode()


def _in_schema(stores: str) -> str:
    """The address of Dagster's schema in the database of the stores.

    It names the driver: SQLAlchemy takes the newer one where both are installed, and dagster-postgres
    closes that one's connections when it sets the webserver's limit for statements.
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
    """The instance that the UI shows, for runs in this process; made when it is not there yet.

    One step at a time calls models, unless the instance has another limit.

    Raises StoreError where it cannot be opened.
    """
    folder = prepare_dagster_home()
    shared = address.database()
    instance = _open_files(folder) if shared is None else _open_shared(folder, shared)
    storage, pool = instance.event_log_storage, POOLS["llm"]
    if pool not in {limit.name for limit in storage.get_pool_limits()}:
        storage.set_concurrency_slots(pool, 1)
    return instance


def _open_files(folder: Path) -> dg.DagsterInstance:
    """The instance in files of the workspace."""
    # Two processes that make Dagster's databases at once spoil them.
    with FileLock(folder / "opening.lock"):
        for path in DATABASES:
            # A process that was killed while it made the file leaves one, too.
            if (folder / path).exists() and not (folder / path).stat().st_size:
                print(
                    f"{folder / path} is empty, and gets its tables again. If it had content, stop and "
                    "restore a backup (vlm-loom workspace restore).",
                    file=sys.stderr,
                )
        try:
            return dg.DagsterInstance.from_config(str(folder), IN_A_TERMINAL)
        except DatabaseError as error:
            raise StoreError(
                f"The Dagster instance {folder} cannot be opened ({error.orig}): move its folders "
                "history and schedules away, or restore a backup (vlm-loom workspace restore)."
            ) from None


def _open_shared(folder: Path, stores: str) -> dg.DagsterInstance:
    """The instance on Postgres, whose schema and tables are made by one process at a time."""
    with address.packages():
        import dagster_postgres  # noqa: F401 - only whether it is there: Dagster imports it
        import psycopg
    logging.getLogger().addFilter(_is_no_retry)
    try:
        with psycopg.connect(stores, autocommit=True) as connection:
            # The lock goes with the connection.
            connection.execute("SELECT pg_advisory_lock(%s)", (_MAKING,))
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            return dg.DagsterInstance.from_config(str(folder), IN_A_TERMINAL)
    except psycopg.OperationalError as error:
        raise address.server_error(error) or error from None


def _is_no_retry(record: logging.LogRecord) -> bool:
    """False for a retry of dagster-postgres, which logs a statement with its SQL before each one.

    If the last retry fails, the command says why.
    """
    return record.msg != "Retrying failed database connection: %s"


@contextmanager
def instance_to_read() -> Iterator[dg.DagsterInstance]:
    """The instance, to look at past runs; a copy of it in a home that this user may not write."""
    if may_write():
        with open_instance() as instance:
            yield instance
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in DATABASES:
            if (home() / "dagster" / path).exists():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                copy_sqlite(home() / "dagster" / path, Path(folder) / path)
        (Path(folder) / SETTINGS.name).write_text(NO_TELEMETRY)
        with dg.DagsterInstance.from_config(folder) as instance:
            yield instance
