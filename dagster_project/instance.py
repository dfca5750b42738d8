"""The Dagster instance of the project: `dagster/` under the home folder, with its own dagster.yaml.

What belongs here: making that folder ready, and its first opening. Dagster makes the databases when
it first opens them, and two processes that do so at once spoil them for good. So they are made by one
process at a time, elsewhere, and moved to their places when they are whole. Where stores are on
Postgres, the instance's are, too (`shared_storage.py`).
"""

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import yaml
from filelock import FileLock

from resources.files.atomic import write_atomically
from resources.files.home import home
from resources.stores import address
from resources.stores.sqlite import copy_sqlite
from resources.stores_of_home import may_write, require_folder

SETTINGS = Path(__file__).with_name("dagster.yaml")
SHARED = Path(__file__).with_name("dagster_shared.yaml")
"""What differs where several machines have one instance."""
DATABASES = {
    Path("history/runs.db"): {"runs", "run_tags"},
    Path("history/runs/index.db"): {"event_logs", "asset_keys", "dynamic_partitions"},
    Path("schedules/schedules.db"): {"jobs", "job_ticks"},
}
"""The instance's databases, and tables that each of them has in every version of Dagster."""
DRAFT = ".being-made"
IN_A_TERMINAL = "terminal.yaml"
"""The same settings for runs in a terminal, to which what they print belongs: Dagster would write it
into files and start two processes a run that show it."""
NO_TELEMETRY = "telemetry: {enabled: false}\n"
NOT_CAPTURED = b"""
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
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
    # What a run is going to make is stored at once, and not event by event.
    os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", "1000")
    return folder


def _settings() -> bytes:
    if not is_shared():
        return SETTINGS.read_bytes()
    both = {**yaml.safe_load(SETTINGS.read_bytes()), **yaml.safe_load(SHARED.read_bytes())}
    return yaml.safe_dump(both, sort_keys=False).encode()


def is_shared() -> bool:
    """Whether the instance is in the database that LOOM_STORES names. Raises StoreError."""
    if address.database() is None:
        return False
    with address.packages():
        from dagster_project.shared_storage import database

    return database() is not None


def open_instance() -> dg.DagsterInstance:
    """The instance that the UI shows, for runs in this process; made when it is not there yet or was
    left half-made."""
    folder = prepare_dagster_home()
    if is_shared():
        return dg.DagsterInstance.from_config(str(folder), IN_A_TERMINAL)
    with FileLock(folder / "opening.lock"):
        if emptied := [path for path in DATABASES if _is_emptied(folder / path)]:
            _put_aside(folder, "emptied", f"has an emptied database, {emptied[0]}")
        if any(_is_half_made(folder / path, tables) for path, tables in DATABASES.items()):
            _put_aside(folder, "half-made", "was left half-made")
        if not all((folder / path).exists() for path in DATABASES):
            _make(folder)
        return dg.DagsterInstance.from_config(str(folder), IN_A_TERMINAL)


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


def _is_emptied(path: Path) -> bool:
    """Whether a file of a database is there without a byte: SQLite writes at once what makes one."""
    return path.exists() and not path.stat().st_size


def _is_half_made(path: Path, tables: set[str]) -> bool:
    """Whether the making of the database did not come to its end, or two were made into one.

    A whole one has its tables and one version.
    """
    if not path.exists():
        return False
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        try:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = {name for (name,) in rows}
            if not {"alembic_version", *tables} <= names:
                return True
            versions = connection.execute("SELECT count(*) FROM alembic_version").fetchone()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            return True
    return versions != (1,)


def _put_aside(folder: Path, state: str, what: str) -> None:
    """Move the databases of an instance that is not whole away: there may be runs in some of them."""
    aside = folder / f"{state}-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
    aside.mkdir()
    for name in sorted({path.parts[0] for path in DATABASES}):
        if (folder / name).exists():
            (folder / name).rename(aside / name)
    print(
        f"The Dagster instance {folder} {what}: it is made anew, what was there is in {aside}. A "
        "backup of the workspace has its history (vlm-loom home restore).",
        file=sys.stderr,
        flush=True,
    )


def _make(folder: Path) -> None:
    """Make the databases that are not there: whole or, when this process is killed, not at all."""
    draft = folder / DRAFT
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    # By Dagster's own storage, whose place is the folder of its settings.
    (draft / SETTINGS.name).write_text(NO_TELEMETRY)
    dg.DagsterInstance.from_config(str(draft)).dispose()
    for path in DATABASES:
        if not (folder / path).exists():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).rename(folder / path)
    shutil.rmtree(draft)
