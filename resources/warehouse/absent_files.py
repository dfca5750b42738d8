"""Finds what the tables refer to and a backup, or the workspace, does not have; and lost tables."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path, PurePosixPath

from methods.naming import number_of
from resources.files import home
from resources.files.object_storage import shared_files

_NAMED = {
    "image": (
        "SELECT DISTINCT image_id FROM ingest.images",
        "SELECT DISTINCT image_id FROM choice.mmiu_images",
        "SELECT DISTINCT image_id FROM release.images",
    ),
    "release file": ("SELECT DISTINCT path FROM release.exports",),
}
"""Queries of what tables refer to, by the noun of messages."""
_CALLS = (
    "SELECT DISTINCT call_key FROM dialogue.answers",
    "SELECT DISTINCT call_key FROM evaluate.answers WHERE call_key IS NOT NULL AND answer IS NOT NULL",
)
"""Queries of the calls that gave answers; `sql/ledger/unknown_calls.sql` has those of all tables."""


def absent_files(backup: Path, names: Collection[str], calls: frozenset[str] | None) -> list[str]:
    """Count the images, release files and calls that the tables of a backup refer to and the backup
    lacks, and the releases whose tables it lacks.

    Tables of any version are read; a table that does not exist counts as empty. Images and files of
    releases that machines share (`LOOM_FILES`) are not counted, as the workspace need not have them.

    Args:
        backup: The folder of the backup.
        names: The files of the backup, relative to it.
        calls: The keys of the calls in its ledger; None if the ledger is in a database.

    Returns:
        One phrase for each kind of what is missing, such as "70 images".
    """
    images, releases = home.images_path().name, home.releases_path().name
    paths = [PurePosixPath(name) for name in names]
    present = {
        "image": {path.stem for path in paths if path.parts[0] == images},
        "release file": {
            path.relative_to(releases).as_posix() for path in paths if path.parts[0] == releases
        },
    }
    tables = backup / home.warehouse_path().name
    in_workspace = {} if shared_files() else _NAMED
    named = {kind: _named(tables, *queries) for kind, queries in in_workspace.items()}
    n_absent = {kind: len(values - present[kind]) for kind, values in named.items()}
    if calls is not None:
        n_absent["call"] = n_absent_calls(tables, calls)
    absent = [number_of(n, kind) for kind, n in n_absent.items() if n]
    if not _named(tables, "SELECT release_id FROM release.releases") and (
        n := n_release_folders(backup)
    ):
        absent.append(f"the tables of {number_of(n, 'release')}")
    return absent


def n_absent_calls(tables: Path, calls: frozenset[str]) -> int:
    """Count the calls whose answers are in the tables of a DuckDB file and that a ledger lacks.

    Args:
        tables: The DuckDB file.
        calls: The keys of the ledger's calls.
    """
    return len(_named(tables, *_CALLS) - calls)


def n_release_folders(folder: Path) -> int:
    """Count the releases that a workspace, or a backup of one, has files of."""
    return sum(1 for path in (folder / home.releases_path().name).glob("*/card.json"))


def _named(tables: Path, *queries: str) -> set[str]:
    """Return the values of all queries; none of a query whose table is missing, and none at all if the
    file cannot be opened.
    """
    import duckdb

    values = set[str]()
    if tables.exists():
        with suppress(duckdb.Error), duckdb.connect(str(tables), read_only=True) as connection:
            for query in queries:
                with suppress(duckdb.Error):
                    values |= {row[0] for row in connection.execute(query).fetchall()}
    return values
