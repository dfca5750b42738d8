"""Schema migrations: numbered SQL files that bring a store from one version to the next.

New stores are created with the current schema. The folder `migrations/` next to the schema has one file
for each step since the baseline: `0101_what_it_does.sql` is the step from version 100 to version 101.
The folder does not exist before the first step. The highest number is the current version. Never change
or renumber a published migration: stores only record the number of their last step, not its content.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from methods.errors import UserError

BASELINE = 100
"""The version of every store in vlm-loom 0.2.0, the first version whose workspaces all later versions
open. Stores of earlier versions have a lower number or none."""


class StoreError(UserError):
    """A store's file cannot be used by this version; the message says what to do."""


class StoreUnavailable(StoreError):
    """A store's server does not answer, or aborted a transaction: the same call may succeed later."""

    passing = True


class StoreLost(StoreUnavailable):
    """A store's server went away during a command, which has done a part of its work."""


class Migration(NamedTuple):
    """The migration from the previous version to `version`."""

    version: int
    path: Path

    def text(self) -> str:
        """Read the SQL of the file."""
        return self.path.read_text(encoding="utf-8")


@cache
def migrations(folder: Path) -> tuple[Migration, ...]:
    """List the migrations in a folder, in order; empty if the folder does not exist."""
    steps = (Migration(int(path.stem.partition("_")[0]), path) for path in folder.glob("*.sql"))
    return tuple(sorted(steps))


def current_version(folder: Path) -> int:
    """Return the version of a new store: the highest number in `folder`, or the baseline."""
    return max((BASELINE, *(step.version for step in migrations(folder))))


def missing_steps(folder: Path, path: Path | str, version: int) -> list[Migration]:
    """Find the migrations that a store needs.

    Args:
        folder: The folder with the migrations.
        path: The store, for messages.
        version: The version of the store.

    Returns:
        The migrations in order.

    Raises:
        StoreError: The version is later than the current one, or earlier than the baseline.
    """
    require_upgradable_stores(path, version)
    newest = current_version(folder)
    if version > newest:
        raise StoreError(newer_version_message(path, version, newest))
    return [step for step in migrations(folder) if step.version > version]


def newer_version_message(path: Path | str, version: int, newest: int) -> str:
    """Describe a store of a later version of the project.

    Args:
        path: The store.
        version: Its version.
        newest: The highest version that is known here.

    Returns:
        What is wrong, and what to do.
    """
    return (
        f"{path} has version {version} and this version of vlm-loom knows versions up to {newest}: "
        "a newer or another version of vlm-loom made it. Update vlm-loom, or restore a backup of "
        "the earlier version (vlm-loom workspace restore)."
    )


def older_version_message(path: Path | str) -> str:
    """Describe what is wrong with a store from before the baseline, and what to do."""
    return (
        f"{path} was made before vlm-loom 0.2.0, the first version whose workspaces later "
        f"versions open: keep {Path(path).parent} for the version that made it, and set LOOM_WORKSPACE "
        "to another folder."
    )


def other_version_message(version: int) -> str:
    """Say, after a colon, what to do with a store of a known version that has unexpected tables."""
    return (
        f"keep the file, and open it with the version of vlm-loom that made it (a state between two "
        f"releases, whose version {version} had other tables), or restore a backup (vlm-loom workspace "
        "restore)."
    )


def require_upgradable_stores(path: Path | str, version: int) -> None:
    """Check that a store is not from before the baseline.

    Args:
        path: The store, for the message.
        version: Its version.

    Raises:
        StoreError: It is from before the baseline.
    """
    if version < BASELINE:
        raise StoreError(older_version_message(path))
