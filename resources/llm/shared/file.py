"""The SQLite file that holds what processes share.

What belongs here: its tables, and how safe a commit is.
"""

from pathlib import Path

from resources.sqlite_connection import NamedConnection
from resources.sqlite_file import SqliteFile


class LimitsFile(SqliteFile):
    """The file of limits and budgets."""

    SCHEMA = (Path(__file__).with_name("schema.sql"),)

    def _open(self) -> NamedConnection:
        connection = super()._open()
        # Nothing in it has to outlive the power, and a commit is made for each request.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection
