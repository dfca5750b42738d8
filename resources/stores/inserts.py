"""INSERT ... ON CONFLICT DO NOTHING, which SQLAlchemy has for each dialect separately."""

from functools import cache
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite


@cache
def insert_missing(dialect: str, table: Table) -> Any:
    """Make an INSERT that skips rows whose key exists already.

    Args:
        dialect: `sqlite` or `postgresql`, as in `connection.dialect.name`.
        table: The table.

    Returns:
        The INSERT. A row that violates another constraint raises IntegrityError, unlike with INSERT
        OR IGNORE.
    """
    insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    return insert.on_conflict_do_nothing()
