"""INSERT statements that SQLAlchemy has for each dialect separately."""

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_missing(connection: Connection, table: Table) -> Any:
    """An INSERT that leaves the rows alone whose key there is already.

    A row that breaks another rule raises IntegrityError, unlike with INSERT OR IGNORE.
    """
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()
