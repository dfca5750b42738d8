"""Files that a workspace's tables name and a backup of it does not have."""

from collections.abc import Collection
from pathlib import Path, PurePosixPath

from methods.naming import number_of
from resources.files import home

_NAMED = {
    "image": "SELECT DISTINCT image_id AS name FROM ingest.images",
    "release file": "SELECT DISTINCT path AS name FROM release.exports",
    "call": (
        "SELECT call_key AS name FROM dialogue.answers UNION SELECT call_key FROM evaluate.answers "
        "WHERE call_key IS NOT NULL"
    ),
}
"""What tables name, by what it is called in a message."""


def absent_files(backup: Path, names: Collection[str]) -> list[str]:
    """Count what the tables of a backup name and the backup lacks.

    The tables are read as they are, of whatever version: a table that does not exist names nothing.

    Args:
        backup: The folder of the backup.
        names: The files of the backup, relative to it.

    Returns:
        One phrase for each kind of what is missing, such as "70 images".
    """
    import duckdb

    if home.warehouse_path().name not in names:
        return []
    images, releases = home.images_path().name, home.releases_path().name
    paths = [PurePosixPath(name) for name in names]
    there = {
        "image": {path.stem for path in paths if path.parts[0] == images},
        "release file": {
            path.relative_to(releases).as_posix() for path in paths if path.parts[0] == releases
        },
    }
    absent = []
    with duckdb.connect(str(backup / home.warehouse_path().name), read_only=True) as tables:
        for kind, query in _NAMED.items():
            try:
                named = {row[0] for row in tables.execute(query).fetchall()}
            except duckdb.Error:
                continue
            if kind == "call":
                n_absent = 0 if home.ledger_path().name in names else len(named)
            else:
                n_absent = len(named - there[kind])
            if n_absent:
                absent.append(number_of(n_absent, kind))
    return absent
