"""Cleaning of a workspace: removes files that can be made again, or everything.

Ledger, review store, warehouse, images, releases and Dagster's history cannot be made again: only
`everything` removes them. Files that vlm-loom does not make stay.
"""

import errno
import os
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from methods.errors import UserError
from resources.corpus.corpus import DOWNLOADS, WIKIPEDIA
from resources.files import home
from resources.settings.asset_settings import SCHEMA_NAME


class WorkspaceInUse(UserError):
    """Processes have files of the workspace open; the message names one to stop."""


def require_unused(folder: Path) -> None:
    """Raise WorkspaceInUse if another process has a file of the workspace open."""
    users = _processes(folder.resolve())
    if users:
        more = f" and {len(users) - 1} more" if users[1:] else ""
        raise WorkspaceInUse(
            f"{folder} is in use. Stop what runs on it (process {users[0]}: "
            f"{_command(users[0])}{more})."
        )


@contextmanager
def held_open(folder: Path) -> Iterator[None]:
    """Keep a workspace open, so that `require_unused` of other processes refuses it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield
    finally:
        os.close(descriptor)


def _processes(folder: Path) -> list[int]:
    """Return the ids of other processes with open files in the folder. Only root sees the processes of
    other users."""
    everyone = sorted(int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [pid for pid in everyone if pid != os.getpid() and _has_open(pid, folder)]


def _has_open(process: int, folder: Path) -> bool:
    # The process may end, or close a file, meanwhile.
    with suppress(OSError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                if link.readlink().is_relative_to(folder):
                    return True
    return False


def _command(process: int) -> str:
    try:
        program, *arguments = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except (OSError, UnicodeDecodeError):
        return "unknown"
    text = " ".join([Path(program).name, *arguments])
    return textwrap.shorten(text, 80, placeholder=" ...")


REBUILDABLE = (home.reports_path().name, home.staging_path().name, DOWNLOADS, WIKIPEDIA, "ray")
"""Names that are removed: reports are made again, WIT shards and Wikipedia pages are fetched again, and
only running steps need the others."""
OWN = (
    *home.MARKS,
    *REBUILDABLE,
    home.images_path().name,
    home.image_index_path().name,
    home.limits_path().name,
    home.releases_path().name,
    home.settings_path().name,
    home.rules_path().name,
    home.corpus_record_path().name,
    home.stores_database_path().name,
    home.moved_tables_path().name,
    SCHEMA_NAME,
    "lake",
)
"""Names of what vlm-loom makes or reads in a workspace."""
SIDE_FILES = (
    *(".lock", ".checked", ".flights", "-wal", "-shm", "-journal", ".wal", ".tmp"),
    *(".wal.checkpoint", ".wal.recovery"),
)
"""Suffixes of auxiliary files, such as locks and logs, next to the files that processes use."""


class CleaningError(UserError):
    """A folder must not be cleaned; the message says what to do."""


def clean(folder: Path, *, everything: bool = False) -> tuple[list[str], list[str]]:
    """Remove from a workspace what can be made again, or everything that vlm-loom makes there.

    Args:
        folder: The workspace.
        everything: Whether to remove everything that vlm-loom makes.

    Returns:
        The names that were removed, and the names that were kept.

    Raises:
        CleaningError: The project or the user's own files are in the folder.
        UserError: The folder is not a workspace.
        WorkspaceInUse: The workspace is in use.
        OSError: A file cannot be removed; it names the folder that this user may not change.
    """
    # Remove these names last: after an interrupted cleaning, the folder is still a workspace.
    names = sorted(
        (entry.name for entry in folder.iterdir()) if folder.is_dir() else [],
        key=lambda name: (name in home.MARKS, name),
    )
    if not names:
        return [], []
    _require_apart(folder)
    home.require_marks(folder)
    require_unused(folder)
    removed = [name for name in names if (_is_own(name) if everything else name in REBUILDABLE)]
    for path in (folder / name for name in removed):
        _require_changeable(path)
    for path in (folder / name for name in removed):
        try:
            if _is_folder(path):
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError as error:
            # `rmtree` names a file without its folder.
            raise OSError(error.errno, error.strerror, str(path)) from None
    return _named(removed), _named([name for name in names if name not in removed])


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _require_changeable(path: Path) -> None:
    """Raise PermissionError that names the folder if this user may not remove an entry from it."""
    folders = [path.parent]
    if _is_folder(path):
        folders += [Path(root) for root, _, _ in os.walk(path)]
    for folder in folders:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _is_own(name: str) -> bool:
    return name in OWN or (name.lstrip(".").startswith(OWN) and name.endswith(SIDE_FILES))


def _require_apart(folder: Path) -> None:
    own = Path(os.environ.get("HOME", "/")).resolve()
    if any(path.is_relative_to(folder.resolve()) for path in (home.REPO_ROOT, own)):
        raise CleaningError(
            f"{folder} is not cleaned, as the project or your own files are in it: set "
            "LOOM_WORKSPACE to a folder of its own."
        )


def _named(names: list[str]) -> list[str]:
    return sorted(name for name in names if not name.endswith(SIDE_FILES))
