"""Paths of the workspace, the one folder that the project writes to: `data/`, or `LOOM_WORKSPACE`.

The default is in the checkout; for an installed package it is in the current folder.
"""

import os
from pathlib import Path

from methods.errors import UserError

REPO_ROOT = Path(__file__).resolve().parents[2]
"""The root of the checkout; for an installed package the folder with its
packages, which has the same files."""
DEFAULT = (REPO_ROOT if (REPO_ROOT / "pyproject.toml").exists() else Path.cwd()) / "data"


def home() -> Path:
    """Return the workspace, the folder for everything that is written at run time (`LOOM_WORKSPACE`).

    The former variable `LOOM_HOME` (0.2) still works; the next version drops it.
    """
    return Path(
        os.environ.get("LOOM_WORKSPACE") or os.environ.get("LOOM_HOME") or DEFAULT
    ).resolve()


def is_writable(path: Path) -> bool:
    """Tell whether this user may write the file, and other files in its folder."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def warehouse_path() -> Path:
    """Return the path of the DuckDB file with the tables."""
    return home() / "warehouse.duckdb"


def ledger_path() -> Path:
    """Return the path of the SQLite file with every model call."""
    return home() / "ledger.sqlite"


def limits_path() -> Path:
    """Return the path of the SQLite file with the budgets of run chains, next to the ledger."""
    return home() / "limits.sqlite"


def review_path() -> Path:
    """Return the path of the SQLite file with every review event."""
    return home() / "review.sqlite"


def images_path() -> Path:
    """Return the folder of the content-addressed image store."""
    return home() / "images"


def image_index_path() -> Path:
    """Return the path of the SQLite file with the URL that each image was fetched from."""
    return home() / "image_index.sqlite"


def settings_path() -> Path:
    """Return the path of the file with the settings that differ from their defaults."""
    return home() / "settings.yaml"


def rules_path() -> Path:
    """Return the path of the file with the rules of review."""
    return home() / "review.yaml"


def corpus_record_path() -> Path:
    """Return the path of the file that names the folder of the corpus that was last ingested."""
    return home() / "corpus.txt"


def stores_database_path() -> Path:
    """Return the path of the file that names the database of the stores, if they are in Postgres."""
    return home() / "stores-database.txt"


def moved_tables_path() -> Path:
    """Return the temporary folder of the tables as Parquet files, while they are moved to a lake."""
    return home() / "tables-on-the-way"


def releases_path() -> Path:
    """Return the folder of the releases, each in a subfolder named by its id."""
    return home() / "releases"


def reports_path() -> Path:
    """Return the folder of the HTML reports, one file for each release."""
    return home() / "reports"


def relative_to_home(path: Path) -> str:
    """Return a path relative to the workspace, as tables store it: the workspace may be moved."""
    return path.relative_to(home()).as_posix()


def staging_path() -> Path:
    """Return the folder for files that steps write before they load them into the warehouse.

    Apart from locks, it is empty while nothing runs.
    """
    return home() / "staging"


MARKS = (warehouse_path().name, ledger_path().name, review_path().name, "dagster")
"""A folder with one of these names is a workspace."""


def require_marks(folder: Path) -> None:
    """Raise UserError if an existing folder is not a workspace, but has more files than settings."""
    names = {path.name for path in folder.iterdir()} - {settings_path().name, rules_path().name}
    if names and not names.intersection(MARKS):
        raise UserError(
            f"{folder} is not a workspace, as it has none of {', '.join(MARKS)}: name your workspace "
            "with --workspace or LOOM_WORKSPACE."
        )
