"""The review store's tables and their versions.

What belongs here: what every module of the store needs of its database. What is in the tables is
theirs.
"""

import sqlite3
from functools import cache
from pathlib import Path

from resources.sqlite_file import SqliteFile

_FOLDER = Path(__file__).parent


@cache
def sql(name: str) -> str:
    """The text of `<name>.sql` beside this module."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


class ReviewFile(SqliteFile):
    """The file of the review store: items and decisions, and the accounts of those who review."""

    NAME = "review"
    SCHEMA = (_FOLDER / "schema.sql", _FOLDER / "accounts.sql")
    ROWS = sqlite3.Row
