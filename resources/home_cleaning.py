"""Removing from a home what can be made again.

What belongs here: which parts of a home those are. Ledger, review store, warehouse, images, releases
and Dagster's history cannot be made again: they are removed only with everything else.
"""

import os
import shutil
from pathlib import Path

from methods.errors import UserError
from resources import home
from resources.corpus.corpus import DOWNLOADS, WIKIPEDIA
from resources.home_in_use import require_unused

REMADE = (home.reports_path().name, home.staging_path().name, DOWNLOADS, WIKIPEDIA, "ray")
"""Reports are drawn again, shards and pages fetched again; steps that run now need the rest."""
MARKS = (
    home.warehouse_path().name,
    home.ledger_path().name,
    home.review_path().name,
    "dagster",
)
"""A folder with one of these is a home."""
BESIDE = (".lock", ".checked", ".salvaging", ".flights", "-wal", "-shm", "-journal", ".wal", ".tmp")
"""Endings of files that processes keep beside those they work on."""


class CleaningError(UserError):
    """A folder is not to be cleaned; the message says what to do."""


def clean(folder: Path, *, everything: bool = False) -> tuple[list[str], list[str]]:
    """Remove from the home what can be made again, or everything; (what was removed, what was kept).

    Raises CleaningError if the folder is no home, HomeInUse if all of a home in use is to go.
    """
    # What marks a home goes last, so that one whose cleaning was killed is a home.
    there = sorted(
        (each.name for each in folder.iterdir()) if folder.is_dir() else [],
        key=lambda name: (name in MARKS, name),
    )
    if not there:
        return [], []
    _require_home(folder, there)
    if everything:
        require_unused(folder)
    removed = [name for name in there if everything or name in REMADE]
    for name in removed:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return _named(removed), _named([name for name in there if name not in removed])


def _require_home(folder: Path, names: list[str]) -> None:
    own = Path(os.environ.get("HOME", "/")).resolve()
    if any(each.is_relative_to(folder.resolve()) for each in (home.REPO_ROOT, own)):
        raise CleaningError(
            f"{folder} is not cleaned, as the project or your own files are in it: set LOOM_HOME to "
            "a folder of its own."
        )
    if not set(MARKS) & set(names):
        raise CleaningError(
            f"{folder} is no home, as it has none of {', '.join(MARKS)}: set LOOM_HOME to your home."
        )


def _named(names: list[str]) -> list[str]:
    return sorted(name for name in names if not name.endswith(BESIDE))
