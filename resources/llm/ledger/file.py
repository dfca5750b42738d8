"""The ledger's SQLite file: its tables and its versions.

What belongs here: what `Ledger` and `BatchState` both need of SQLite. Nothing outside this folder opens
the file.
"""

from pathlib import Path

from resources.sqlite_file import SqliteFile

CLASSES: dict[str, tuple[type, ...]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (int, float),
    "BLOB": (bytes,),
}
"""What a column of a declared type holds; SQLite keeps a whole number in few bytes."""


class LedgerFile(SqliteFile):
    """The file of the ledger."""

    NAME = "ledger"
    SCHEMA = (Path(__file__).with_name("schema.sql"),)
    IF_DAMAGED = (
        "restore a backup (vlm-loom home restore), or make a new one of what can be read of it "
        "(vlm-loom home salvage-ledger)"
    )
