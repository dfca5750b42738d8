"""Removing from a home what can be made again.

What belongs here: which parts of a home those are. Ledger, review store, warehouse, images, releases
and Dagster's history cannot be made again: they are removed only with everything else.
"""

import shutil
from pathlib import Path

from resources import home
from resources.corpus.corpus import DOWNLOADS, WIKIPEDIA

REMADE = (home.reports_path().name, home.staging_path().name, DOWNLOADS, WIKIPEDIA, "ray")
"""Reports are drawn again, shards and pages fetched again; steps that run now need the rest."""


def clean(folder: Path, *, everything: bool = False) -> tuple[list[str], list[str]]:
    """Remove from the home what can be made again, or everything; (what was removed, what was kept)."""
    there = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    removed = [name for name in there if everything or name in REMADE]
    for name in removed:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return removed, [name for name in there if name not in removed]
