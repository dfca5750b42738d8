"""Schema versions and migrations of stores with Alembic; the revisions are numbers of versions.

The table `alembic_version` of a store has the number of its version. A SQLite file also has it in
`PRAGMA user_version`, where all versions since 0.2.0 look for it. A new store is created from its
MetaData.

A store of an earlier vlm-loom gets the table when this version opens it. Earlier versions on Postgres
have the number in the table `loom_version`.

A migration is a revision `<store>/migrations/0101_what_it_does.py` that runs the SQL file of the same
name. On Postgres, a file in `migrations/postgres/` replaces it.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, delete, insert, select

from resources.stores.engine import StoreKind

_HERE = Path(__file__).parent / "alembic"
TABLE = "alembic_version"
_VERSION = Table(TABLE, MetaData(), Column("version_num", String(32), primary_key=True))


def recorded_version(connection: Connection) -> int | None:
    """Return the version in Alembic's table; None without such a table or number."""
    if connection.dialect.name == "sqlite":
        # Not SQLAlchemy's inspector: a damaged file must raise the same error everywhere.
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
    else:
        query = (
            "SELECT 1 FROM pg_tables "
            "WHERE schemaname = current_schema() AND tablename = 'alembic_version'"
        )
    if connection.exec_driver_sql(query).fetchone() is None:
        return None
    number = connection.execute(select(_VERSION.c.version_num)).scalar()
    return None if number is None else int(number)


def create(connection: Connection, kind: StoreKind) -> None:
    """Create the tables of a new store inside the caller's transaction.

    Args:
        connection: The open connection.
        kind: The kind of store.
    """
    kind.metadata.create_all(connection, checkfirst=False)
    record(connection, kind.newest_version())


def record(connection: Connection, version: int) -> None:
    """Write the version of a store to Alembic's table, which is created if it is missing."""
    _VERSION.create(connection, checkfirst=True)
    connection.execute(delete(_VERSION))
    connection.execute(insert(_VERSION).values(version_num=str(version)))


def upgrade(connection: Connection, kind: StoreKind, version: int) -> None:
    """Upgrade a store to the newest version inside the caller's transaction.

    Args:
        connection: The open connection.
        kind: The kind of store.
        version: The current version of the store.
    """
    if recorded_version(connection) != version:
        record(connection, version)
    if version == kind.newest_version():
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{_HERE / 'versions'}\n{kind.steps}")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def run_step(revision: str) -> None:
    """Run the SQL of the revision whose module is at this path; on Postgres, that in `postgres/`."""
    from alembic import op

    path = Path(revision).with_suffix(".sql")
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for statement in statements(path.read_text(encoding="utf-8")):
            connection.exec_driver_sql(statement)
    else:
        script = path.parent / "postgres" / path.name
        script = script if script.exists() else path
        connection.exec_driver_sql(script.read_text(encoding="utf-8"))


def statements(text: str) -> Iterator[str]:
    """Split a SQLite script into statements, since `executescript` would end the transaction."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
