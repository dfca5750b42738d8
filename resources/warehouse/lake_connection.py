"""Connections to a DuckLake, a catalogue in Postgres with data files, and locks for its writers.

The environment variable `LOOM_WAREHOUSE` names the lake. It is attached to a DuckDB instance that the
process keeps; DuckDB's extensions are loaded from Python packages. `lake_database.py` has transactions.

Any number of processes may read and write a lake. DuckLake detects if two transactions change the same
rows, but not if both add rows with the same key. So a writer of a table holds a lock in Postgres, which
ends with the transaction or with the process.
"""

import atexit
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from resources.files import home
from resources.files.object_storage import (
    FULL,
    SCHEME,
    full_message,
    shared_files,
)
from resources.files.object_storage import VARIABLE as FILES
from resources.files.system_errors import ResourceExhausted
from resources.files.waiting import TimedWait
from resources.migrations import StoreUnavailable
from resources.stores.address import is_address
from resources.stores.outages import open_session
from resources.warehouse.declarations import WarehouseError
from resources.warehouse.duckdb_file import quoted

if TYPE_CHECKING:
    import duckdb
    import psycopg

VARIABLE = "LOOM_WAREHOUSE"
_KIND = "ducklake:postgres:"
_EXAMPLE = f"{VARIABLE}=ducklake:postgres:dbname=loom host=db.example.org"
SCHEMA = "loom_lake"
"""The Postgres schema of the catalogue, since the database may have other stores, too."""
EXTENSIONS = ("ducklake", "postgres_scanner")
CONNECT_SECONDS = 10
LOCK_TIMEOUT, SAID_AFTER, SAID_EVERY = 12 * 3600.0, 5.0, 300.0
"""Seconds to wait for another writer, until a wait is logged, and between later log messages."""
LOCK_SAID_EVERY = "5s"
"""The timeout of a single attempt to lock in Postgres; attempts are repeated."""
REQUEST_SECONDS = 180
"""A request to the bucket may take this long, with all of its bytes. DuckDB gives as long to
connecting, and a bucket that does not answer at all is tried several times."""
SETTINGS = """
    SET enable_progress_bar = false;
    SET GLOBAL ducklake_default_data_inlining_row_limit = 0;
    SET GLOBAL ducklake_max_retry_count = 60;
    SET GLOBAL ducklake_retry_wait_ms = 20;
    SET GLOBAL ducklake_retry_backoff = 1.1;
"""
"""Settings of the DuckDB instance. No rows are inlined into the catalogue, since DuckLake cannot store
lists of texts with NUL there. Commits of different tables conflict over the next snapshot number;
DuckLake retries a commit up to 60 times."""
_LOST = re.compile(
    r"Unable to connect to Postgres|server closed the connection|terminating connection|connection to "
    r"server|no connection to the server|SSL connection has been closed|Failed to get a connection|"
    r"in a read-only transaction"
)
_OF_FILES = re.compile(r"HTTP Error|error for HTTP (?:GET|HEAD|PUT|POST|DELETE)")
_REFUSED = re.compile(r"HTTP code 4\d\d|\b(?:Forbidden|Not Found|Unauthorized)\b")
"""Permanent errors of the server of the data files; all others are temporary."""
_GONE = re.compile(
    r"NoSuchKey|\.parquet\b(?!.*NoSuchBucket).*(?:code 404|404 Not Found)", re.DOTALL
)
"""Error messages for a missing data file whose bucket or folder exists."""
_OTHER_DUCKLAKE = "catalog version mismatch"
_PATH_DIFFERS = re.compile(r'does not match existing data path in the catalog "([^"]*)"')


class LakeError(WarehouseError):
    """The lake cannot be used as configured; the message says what to do."""


class LakeLost(LakeError, StoreUnavailable):
    """The catalogue does not answer; a retry may succeed."""


class LakeFilesFull(LakeError, ResourceExhausted):
    """The server of the data files has no room for another file."""


class LakeAddress(NamedTuple):
    """The address of a lake: libpq options of its catalogue, and the folder or S3 URL of its files."""

    catalogue: str
    files: str

    @property
    def name(self) -> str:
        """The name of the lake in messages, without a password."""
        from psycopg.conninfo import conninfo_to_dict

        options = conninfo_to_dict(self.catalogue)
        return f"the lake {options.get('dbname')} on {options.get('host', 'this machine')}"

    def without_secrets(self, text: str) -> str:
        """Remove the connection options and the password from a message of DuckDB or Postgres."""
        from psycopg.conninfo import conninfo_to_dict

        password = conninfo_to_dict(self.catalogue).get("password")
        text = " ".join(text.split()).replace(self.catalogue, "...")
        return text.replace(str(password), "...") if password else text


def lake_address(folder: Path | None = None) -> LakeAddress | None:
    """Return the lake of `LOOM_WAREHOUSE`; None if the tables are in the workspace's file.

    Its files are in `LOOM_FILES`, or in the workspace.

    Args:
        folder: The workspace; the default is `LOOM_WORKSPACE`.

    Raises:
        LakeError: The variable is not valid.
    """
    value = os.environ.get(VARIABLE, "").strip()
    if not value:
        return None
    # Messages must not repeat the value, which may have a password.
    kind = value[: len(_KIND)]
    if kind != _KIND:
        raise LakeError(f"{VARIABLE} does not begin with {_KIND}. Example: {_EXAMPLE}.")
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ImportError:
        raise LakeError(f"{VARIABLE} needs psycopg: install vlm-loom[shared].") from None
    catalogue = value.removeprefix(_KIND)
    try:
        options = conninfo_to_dict(catalogue)
    except psycopg.Error:
        options = None
    if options is None or ("://" in catalogue and not is_address(catalogue)):
        raise LakeError(
            f"{VARIABLE} has no options of libpq and no URL after {_KIND}. Example: {_EXAMPLE}, "
            "and write special characters of a URL's password as %XX."
        )
    if not options.get("dbname") and not options.get("service"):
        raise LakeError(f"{VARIABLE} names no database. Example: {_EXAMPLE}.")
    options.setdefault("connect_timeout", CONNECT_SECONDS)
    files = shared_files()
    return LakeAddress(
        make_conninfo("", **options), f"{files.address if files else folder or home.home()}/lake/"
    )


# --- The instance ----------------------------------------------------------------------------------

_kept: "dict[tuple[int, LakeAddress], duckdb.DuckDBPyConnection]" = {}
"""(process id, lake) -> DuckDB instance. A forked child inherits its parent's and never closes it."""
_creation_lock = threading.Lock()


@atexit.register
def forget() -> None:
    """Drop the process's DuckDB instances, whose connections to Postgres may be broken."""
    for key in [key for key in _kept if key[0] == os.getpid()]:
        _kept.pop(key, None)


@contextmanager
def attached(
    address: LakeAddress, log: Callable[[str], None], *, own_instance: bool = False
) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open a connection whose default database is the lake, which is created if it does not exist.

    Args:
        address: The address of the lake.
        log: Called with warnings.
        own_instance: Whether the connection gets its own DuckDB instance, for instance-wide settings.

    Raises:
        LakeError: The lake does not answer.
    """
    import duckdb

    with _session(address):
        pass  # It answers, or is back after a restart.
    instance = None
    try:
        if own_instance:
            instance = _new_instance(address, log)
        else:
            with _creation_lock:
                key = os.getpid(), address
                if key not in _kept:
                    _kept[key] = _new_instance(address, log)
                instance = _kept[key].cursor()
        connection = instance.cursor()
        try:
            # A progress bar would be printed into the run's log.
            connection.execute("SET enable_progress_bar = false; USE warehouse")
            yield connection
        finally:
            connection.close()
    except duckdb.Error as error:
        raise lake_error(address, error) from None
    finally:
        if instance is not None:
            instance.close()


def lake_error(address: LakeAddress, error: "duckdb.Error") -> Exception:
    """Explain an error of the lake's catalogue or data files.

    Args:
        address: The address of the lake.
        error: The error.

    Returns:
        A LakeError with a sentence that says what to do, or the error itself.
    """
    import duckdb

    text = address.without_secrets(str(error))
    if _GONE.search(text) or ("No such file" in text and address.files in text):
        return LakeError(
            f"A file of {address.name} is gone from {address.files} ({text}): put it back, from the "
            "bucket's earlier versions or a backup of it, or restore Postgres and the bucket as they "
            "were at one time. The other tables can be read."
        )
    if _OF_FILES.search(text):
        if FULL.search(text):
            return LakeFilesFull(full_message(address.files))
        kind = LakeError if _REFUSED.search(text) else LakeLost
        return kind(
            f"The files of {address.name} in {address.files} cannot be used ({text}): check {FILES}, "
            "the AWS_* variables and that the bucket's server answers, and run it again."
        )
    if _OTHER_DUCKLAKE in text:
        return LakeError(
            f"{address.name} is of another version of DuckLake ({text}): install here the version of "
            "vlm-loom that made or upgraded it."
        )
    if _LOST.search(text) or isinstance(error, duckdb.FatalException):
        forget()
        return _lost(address, error)
    return error


def _new_instance(address: LakeAddress, log: Callable[[str], None]) -> "duckdb.DuckDBPyConnection":
    import duckdb

    instance = duckdb.connect(
        config={
            "temp_directory": f"{home.warehouse_path()}.tmp",
            # Otherwise a query looks for variables of Python, and an interrupt in that moment is lost.
            "python_enable_replacements": False,
        }
    )
    load_extensions(instance, address)
    instance.execute(SETTINGS)
    if not address.files.startswith(SCHEME):
        Path(address.files).mkdir(parents=True, exist_ok=True)
    # Lock, since two processes that create the same lake would both create its tables.
    with locked(address, ["attach"], log):
        if address.files.startswith(SCHEME) and not catalogue_exists(address):
            # Check first: the catalogue stores the address of the files permanently.
            _require_bucket(instance, address)
        attach(instance, address, "DATA_INLINING_ROW_LIMIT 0")
    return instance


def _require_bucket(instance: "duckdb.DuckDBPyConnection", address: LakeAddress) -> None:
    """Raise LakeError if the location of a new lake's files cannot be listed."""
    import duckdb

    try:
        instance.execute(f"SELECT count(*) FROM glob({quoted(f'{address.files}*')})").fetchall()
    except duckdb.Error as error:
        raise lake_error(address, error) from None


def load_extensions(connection: "duckdb.DuckDBPyConnection", address: LakeAddress) -> None:
    """Load DuckDB's extensions from Python packages, or else the extensions installed in DuckDB.

    Args:
        connection: The connection.
        address: The address of the lake, which decides which extensions are needed.
    """
    import duckdb

    on_s3 = address.files.startswith(SCHEME)
    for name in (*EXTENSIONS, *(["httpfs"] if on_s3 else [])):
        spec = find_spec(f"duckdb_extension_{name}")
        folders = spec.submodule_search_locations if spec else None
        file = f"extensions/v{duckdb.__version__}/{name}.duckdb_extension"
        paths = [path for folder in folders or () if (path := Path(folder) / file).exists()]
        try:
            connection.execute(f"LOAD {quoted(str(paths[0])) if paths else name}")
        except duckdb.Error as error:
            raise LakeError(
                f"{VARIABLE} needs DuckDB's extension {name}, which DuckDB {duckdb.__version__} cannot "
                f"load: install duckdb-extension-{name.replace('_', '-')}=={duckdb.__version__}."
            ) from error
    if on_s3:
        # The extension copies the keys into settings, which every query could read.
        connection.execute(
            "RESET s3_access_key_id; RESET s3_secret_access_key; RESET s3_session_token"
        )
        connection.execute(_s3_secret())
        connection.execute(f"SET GLOBAL http_timeout = {REQUEST_SECONDS}")


def _s3_secret() -> str:
    """Make the statement that creates DuckDB's S3 secret from the AWS_* environment variables."""
    values = {
        "KEY_ID": os.environ.get("AWS_ACCESS_KEY_ID"),
        "SECRET": os.environ.get("AWS_SECRET_ACCESS_KEY"),
        "SESSION_TOKEN": os.environ.get("AWS_SESSION_TOKEN"),
        "REGION": os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
    }
    options = [f"{name} {quoted(value)}" for name, value in values.items() if value]
    if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
        scheme, _, host = endpoint.partition("://")
        options += [f"ENDPOINT {quoted(host.rstrip('/'))}", "URL_STYLE 'path'"]
        options.append(f"USE_SSL {str(scheme == 'https').lower()}")
    return f"CREATE OR REPLACE SECRET files ({', '.join(['TYPE s3', *options])})"


def attach(connection: "duckdb.DuckDBPyConnection", address: LakeAddress, *options: str) -> None:
    """Attach the lake as `warehouse`.

    Args:
        connection: The connection.
        address: The address of the lake.
        *options: Further options of DuckLake's ATTACH.

    Raises:
        LakeError: The lake does not answer, or its files are at another address.
    """
    import duckdb
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    attach_options = [f"METADATA_SCHEMA '{SCHEMA}'", f"DATA_PATH {quoted(address.files)}", *options]
    libpq = conninfo_to_dict(address.catalogue)
    password = libpq.pop("password", None)
    try:
        if password:
            # Queries can read the address of an attached database, but not the password of a secret.
            connection.execute(
                f"CREATE OR REPLACE SECRET catalogue (TYPE postgres, PASSWORD {quoted(str(password))})"
            )
            attach_options.append("META_SECRET 'catalogue'")
        source = quoted(f"{_KIND}{make_conninfo('', **libpq)}")
        connection.execute(f"ATTACH {source} AS warehouse ({', '.join(attach_options)})")
    except duckdb.Error as error:
        if differs := _PATH_DIFFERS.search(str(error)):
            raise LakeError(
                f"The files of {address.name} are in {differs[1]}, and here they would be in "
                f"{address.files}: set {FILES} as it is on the other machines (or LOOM_WORKSPACE, "
                f"where {FILES} is not set)."
            ) from error
        raise lake_error(address, error) from None


# --- Locks -----------------------------------------------------------------------------------------

_idle: "list[tuple[int, str, psycopg.Connection[Any]]]" = []
"""(process id, catalogue, connection) of connections that hold no lock."""


@contextmanager
def locked(
    address: LakeAddress, names: Sequence[str], log: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """Hold named, exclusive locks of the lake during the block.

    The locks belong to a transaction of Postgres and end with it.

    Args:
        address: The address of the lake.
        names: The names of the locks.
        log: Called with a sentence while the call waits.

    Yields:
        A function that raises LakeLost if the locks have been lost.
    """
    import psycopg

    waiting = TimedWait(LOCK_TIMEOUT, log, SAID_AFTER, SAID_EVERY)
    with _session(address) as connection:
        while True:
            try:
                _lock(connection, names)
                break
            except psycopg.errors.LockNotAvailable:
                connection.rollback()
                who = "another process of vlm-loom, which may itself be waiting"
                if not waiting.goes_on(
                    f"{' and '.join(names)} in {address.name} is written by {who}"
                ):
                    raise LakeError(
                        f"Another process has written {' and '.join(names)} in {address.name} for "
                        "hours: end it and run again."
                    ) from None
        yield lambda: _require_held(address, connection)
        connection.rollback()


def _lock(connection: "psycopg.Connection[Any]", names: Sequence[str]) -> None:
    connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SAID_EVERY}'")
    # Always in the same order, to avoid deadlocks.
    for name in sorted(names):
        digest = hashlib.sha256(f"{SCHEMA}:{name}".encode()).digest()
        key = int.from_bytes(digest[:8], signed=True)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [key])


def _require_held(address: LakeAddress, connection: "psycopg.Connection[Any]") -> None:
    import psycopg

    try:
        connection.execute("SELECT 1")
    except psycopg.Error as error:
        raise _lost(address, error) from error


@contextmanager
def _session(address: LakeAddress) -> "Iterator[psycopg.Connection[Any]]":
    """Lend a session with the catalogue, after a wait if its server restarts. Raises LakeLost."""
    import psycopg

    try:
        connection = _connection(address)
        try:
            yield connection
        finally:
            if connection.closed or connection.info.transaction_status.name != "IDLE":
                connection.close()
            else:
                _idle.append((os.getpid(), address.catalogue, connection))
    except psycopg.OperationalError as error:
        raise _lost(address, error) from error


def _connection(address: LakeAddress) -> "psycopg.Connection[Any]":
    import psycopg

    for entry in list(_idle):
        process, catalogue, connection = entry
        if (process, catalogue) == (os.getpid(), address.catalogue):
            with suppress(ValueError):
                _idle.remove(entry)
                try:
                    connection.execute("SELECT 1")
                    connection.rollback()
                except psycopg.Error:
                    # The server was away, and DuckDB's sessions with it are broken, too.
                    forget()
                else:
                    return connection
    return open_session(
        address.catalogue,
        address.name,
        lambda: psycopg.connect(address.catalogue),
        psycopg.OperationalError,
    )


def _lost(address: LakeAddress, error: Exception) -> LakeLost:
    text = address.without_secrets(str(error))
    return LakeLost(
        f"The catalogue of {address.name} does not answer ({text}): start its Postgres, or put "
        f"{VARIABLE} right."
    )


def catalogue_exists(address: LakeAddress) -> bool:
    """Whether the catalogue of the lake was created. Raises LakeLost."""
    with _session(address) as connection:
        result = connection.execute("SELECT to_regclass(%s)", [f"{SCHEMA}.ducklake_snapshot"])
        exists = result.fetchone() != (None,)
        connection.rollback()
    return exists
