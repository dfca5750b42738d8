"""The store of what processes share: its tables, and how safe a commit is."""

from pathlib import Path

from resources.sqlite_file import SqliteFile


class LimitsFile(SqliteFile):
    """The file of limits and budgets: each request commits, and nothing has to outlive the power."""

    NAME = "limits"
    SCHEMA = (Path(__file__).with_name("schema.sql"),)
    OUTLIVES_POWER = False
