"""Where the project writes: one folder, `data/` by default, `LOOM_WORKSPACE` to move it.

The default is in the checkout; of an installed package it is in the folder that a command is run in.
"""

import os
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[2]
"""The checkout; of an installed package the folder with its packages, which holds the same."""
DEFAULT = (REPO_ROOT if (REPO_ROOT / "pyproject.toml").exists() else Path.cwd()) / "data"


def home() -> Path:
    """The folder everything written at run time stands under (environment variable `LOOM_WORKSPACE`).

    `LOOM_HOME` was its name in 0.2, which the next version drops.
    """
    return Path(
        os.environ.get("LOOM_WORKSPACE") or os.environ.get("LOOM_HOME") or DEFAULT
    ).resolve()


def is_writable(path: Path) -> bool:
    """Whether this user may write a file of the folder, and files next to it."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def warehouse_path() -> Path:
    """The DuckDB file with the tables."""
    return home() / "warehouse.duckdb"


def ledger_path() -> Path:
    """The SQLite file with every model call."""
    return home() / "ledger.sqlite"


def limits_path() -> Path:
    """The SQLite file with the budgets of run chains, beside the ledger."""
    return home() / "limits.sqlite"


def review_path() -> Path:
    """The SQLite file with every review event."""
    return home() / "review.sqlite"


def images_path() -> Path:
    """The content-addressed image store."""
    return home() / "images"


def image_index_path() -> Path:
    """The SQLite file with the address that each image was fetched from."""
    return home() / "image_index.sqlite"


def settings_path() -> Path:
    """The file with the settings that differ from their defaults."""
    return home() / "settings.yaml"


def releases_path() -> Path:
    """One folder a release, named by its id."""
    return home() / "releases"


def reports_path() -> Path:
    """HTML reports, one file a release."""
    return home() / "reports"


def relative_to_home(path: Path) -> str:
    """A path below the home as tables keep it, so that it is still right when the home has moved."""
    return path.relative_to(home()).as_posix()


def staging_path() -> Path:
    """Files that steps write on the way to the warehouse; but for locks empty while nothing runs."""
    return home() / "staging"
