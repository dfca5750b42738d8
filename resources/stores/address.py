"""The location of the stores: files of the workspace, or the Postgres database in `LOOM_STORES`."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from methods.errors import UserError, with_causes
from resources.migrations import StoreError, StoreUnavailable

VARIABLE = "LOOM_STORES"
QUERY_CANCELED = "57014"
"""Postgres' error code of a statement that `statement_timeout` or a user cancelled."""
STATEMENT_TIMEOUT = (
    "raise statement_timeout of the server, the database and its user (such as ALTER ROLE ... SET "
    "statement_timeout = '5min'), unless somebody cancelled the statement"
)
_NO_ADDRESS = (
    f"{VARIABLE} is not an address of a Postgres database: set it as in "
    "postgresql://user@host:5432/database, with special characters of a password as %XX, or unset it "
    "to use files of the workspace."
)
_SCHEMES = ("postgresql://", "postgres://")
_HOST = re.compile(r"(\[[^\]]*\]|[^:@\[\]]*)(:\d*)?")


def database() -> str | None:
    """Return the address of the database with the stores; None if they are files of the workspace.

    Raises StoreError if LOOM_STORES is not the address of a Postgres database.
    """
    address = os.environ.get(VARIABLE, "")
    if address and not is_address(address):
        raise StoreError(_NO_ADDRESS)
    return address or None


def is_address(text: str) -> bool:
    """Whether a text is the address of a Postgres server that libpq splits into the intended parts.

    A password with an unescaped / or @ would be taken for the host, port or database, and be shown.
    """
    scheme, rest = text[: text.find("//") + 2], text[text.find("//") + 2 :]
    authority, _, path = rest.partition("/")
    user, _, hosts = authority.rpartition("@")
    whole = "@" not in user and "@" not in path.partition("?")[0]
    return scheme in _SCHEMES and whole and all(map(_HOST.fullmatch, hosts.split(",")))


def shown_database() -> str | None:
    """Return the database's address without its password; None if the stores are files."""
    address = database()
    if address is None:
        return None
    with packages():
        return shown_address(address)


def shown_address(address: str) -> str:
    """Remove the password from an address of Postgres. Raises StoreError if libpq cannot read it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise StoreError(_NO_ADDRESS) from None
    user = f"{parts['user']}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{user}{parts.get('host') or ''}{port}/{parts.get('dbname') or ''}"


def server_error(error: BaseException) -> StoreUnavailable | None:
    """Convert a driver's OperationalError about the server of the stores, or of Dagster's storage.

    Returns None if neither the error nor a cause of it is one.
    """
    if isinstance(error, UserError) or database() is None:
        return None
    for cause in with_causes(error):
        names = {(base.__module__, base.__name__) for base in type(cause).__mro__}
        if names & {("psycopg", "OperationalError"), ("psycopg2", "OperationalError")}:
            code = getattr(cause, "pgcode", None) or getattr(cause, "sqlstate", None)
            reason = str(cause).strip().partition("\n")[0]
            canceled = f"{STATEMENT_TIMEOUT}, and start again"
            advice = "start its server, or correct the address"
            return StoreUnavailable(
                f"The database of {VARIABLE} cannot be used ({reason}): "
                f"{canceled if code == QUERY_CANCELED else advice}."
            )
    return None


def is_there(path: Path) -> bool:
    """Whether the file `path` of a store exists; True if a database, made at first use, has it."""
    return database() is not None or path.exists()


@contextmanager
def files_alone() -> Iterator[None]:
    """Ignore `LOOM_STORES` in the block, for a copy of the workspace whose stores are files."""
    before = os.environ.pop(VARIABLE, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[VARIABLE] = before


@contextmanager
def packages() -> Iterator[None]:
    """Raise StoreError if the block imports a package for Postgres that is not installed."""
    try:
        yield
    except ImportError as error:
        raise StoreError(
            f"Stores on Postgres need packages that are not installed ({error}): "
            "pip install 'vlm-loom[shared]', or unset LOOM_STORES."
        ) from error
