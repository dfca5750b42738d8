"""Finds files and calls that tables refer to and that a backup, or the workspace, does not have."""

from collections.abc import Collection
from pathlib import Path, PurePosixPath

from methods.naming import number_of
from resources.files import home
from resources.stores.address import database

_NAMED = {
    "image": "SELECT DISTINCT image_id FROM ingest.images",
    "release file": "SELECT DISTINCT path FROM release.exports",
}
"""Queries of what tables refer to, by the noun of messages."""
_CALLS = (
    "SELECT DISTINCT call_key FROM dialogue.answers",
    "SELECT DISTINCT call_key FROM evaluate.answers WHERE call_key IS NOT NULL",
)


def absent_files(backup: Path, names: Collection[str]) -> list[str]:
    """Count the images, release files and calls that the tables of a backup refer to and the backup
    lacks.

    Tables of any version are read; a table that does not exist counts as empty.

    Args:
        backup: The folder of the backup.
        names: The files of the backup, relative to it.

    Returns:
        One phrase for each kind of what is missing, such as "70 images".
    """
    if home.warehouse_path().name not in names:
        return []
    images, releases = home.images_path().name, home.releases_path().name
    paths = [PurePosixPath(name) for name in names]
    present = {
        "image": {path.stem for path in paths if path.parts[0] == images},
        "release file": {
            path.relative_to(releases).as_posix() for path in paths if path.parts[0] == releases
        },
    }
    tables = backup / home.warehouse_path().name
    n_absent = {kind: len(_named(tables, query) - present[kind]) for kind, query in _NAMED.items()}
    if home.ledger_path().name not in names and database() is None:
        n_absent["call"] = len(named_calls(tables))
    return [number_of(n, kind) for kind, n in n_absent.items() if n]


def named_calls(tables: Path) -> set[str]:
    """Return the keys of the calls whose answers are in the tables of a DuckDB file."""
    return {key for query in _CALLS for key in _named(tables, query)}


def _named(tables: Path, query: str) -> set[str]:
    """Return the values of a query; none if the file cannot be opened, or lacks the table."""
    import duckdb

    try:
        with duckdb.connect(str(tables), read_only=True) as connection:
            return {row[0] for row in connection.execute(query).fetchall()}
    except duckdb.Error:
        return set()
