"""Versions of a store: Alembic's revisions, whose names are the numbers of versions.

The table `alembic_version` of a store has its number. A file has it in `PRAGMA user_version`, too,
where every vlm-loom since 0.2.0 looks for it. A new store is made from its MetaData.
A store of an earlier vlm-loom gets the table when this version opens it; on Postgres its number
was in the table `loom_version`.

A step is a revision `<store>/migrations/0101_what_it_does.py` that runs the SQL file of the same name,
on Postgres the one in `migrations/postgres/`.
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
    """The number that Alembic's table has; None if there is no such table or number."""
    if connection.dialect.name == "sqlite":
        # Not the inspector: a file that is damaged is to be noticed by the same error everywhere.
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
    """Write the number of a store's version to Alembic's table, and make that if there is none."""
    _VERSION.create(connection, checkfirst=True)
    connection.execute(delete(_VERSION))
    connection.execute(insert(_VERSION).values(version_num=str(version)))


def upgrade(connection: Connection, kind: StoreKind, version: int) -> None:
    """Upgrade a store to the newest version inside the caller's transaction.

    Args:
        connection: The open connection.
        kind: The kind of store.
        version: The version that the store has.
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
    """Run the SQL of a step; Postgres has its own where SQLite's does not fit.

    Args:
        revision: The path of the revision's module (`__file__`).
    """
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
    """The statements of a SQLite script: running it as a script would end the transaction."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
