"""Start-up checks of a workspace: its stores and tables are upgraded together or not at all."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from methods.naming import number_of
from resources.files import home
from resources.files.atomic import write_atomically
from resources.files.object_storage import VARIABLE as FILES_VARIABLE
from resources.files.object_storage import shared_files
from resources.files.system_errors import exhaustion_message, refused_by_system, require_writable
from resources.images.index import INDEX
from resources.llm.ledger.check import has_calls, require_sound
from resources.llm.ledger.file import LEDGER
from resources.migrations import StoreError
from resources.review.tables import REVIEW
from resources.stores import open_store, sqlite
from resources.stores.address import VARIABLE, database, shown_database
from resources.stores.copies import claim_database, has_rows
from resources.stores.engine import Store
from resources.warehouse import Warehouse, versions
from resources.warehouse.absent_files import n_absent_calls, n_release_folders
from resources.warehouse.configured import require_plain_path, warehouse_of_home
from resources.warehouse.lake_connection import VARIABLE as LAKE_VARIABLE
from resources.warehouse.lake_connection import lake_address

SQLITE = {
    home.ledger_path().name: LEDGER,
    home.review_path().name: REVIEW,
    home.image_index_path().name: INDEX,
}
"""File name -> kind, of the stores that are SQLite files."""
_TABLES_OF_FILES = ("ingest.images", "release.images", "release.exports")
"""Tables whose rows name files below `LOOM_FILES`."""


def bring_home_up_to_date() -> None:
    """Upgrade all stores of the workspace to this version. Raises StoreError if one cannot be upgraded.

    All stores are checked before any is changed, so after a refused upgrade the earlier version of
    vlm-loom can still use the workspace. Missing stores are created when they are first used.
    """
    require_folder()
    _require_no_local_stores()
    with usable_home():
        for path in _store_files():
            require_writable(path)
        kinds = {home.home() / name: kind for name, kind in SQLITE.items()}
        files = {path: kind for path, kind in kinds.items() if path.exists()}
        if database() is not None:
            for path, kind in kinds.items():
                with closing(open_store(kind, path)) as store:
                    _require_own_rows(store)
            files = {}
            remember_database()
        warehouse = warehouse_of_home()
        warehouses = [warehouse] if warehouse.is_there() else []
        for path, kind in files.items():
            sqlite.require_upgradable(kind, path)
        if home.ledger_path() in files:
            require_sound(home.ledger_path())
        for warehouse in warehouses:
            warehouse.database.require_upgradable()
        if database() is None:
            _warn_of_lost_calls()
        for path, kind in files.items():
            open_store(kind, path).close()
        for warehouse in warehouses:
            warehouse.check()
            _require_shared_files(warehouse)
        _warn_of_lost_tables(warehouse)


def _warn_of_lost_calls() -> None:
    """Print a warning if tables name calls and the ledger has none, before they are made again."""
    ledger, tables = home.ledger_path(), home.warehouse_path()
    if not has_calls(ledger) and (n_calls := n_absent_calls(tables, frozenset())):
        _warn(f"{ledger} {lost_calls_sentence(n_calls)}")


def _require_shared_files(warehouse: Warehouse) -> None:
    """Raise StoreError if the tables name files and the shared folder (not mounted?) has none."""
    files = shared_files()
    names = home.images_path().name, home.releases_path().name
    if files is None or not files.is_folder_without(*names):
        return
    if any(warehouse.count(table) for table in _TABLES_OF_FILES):
        raise StoreError(
            f"{FILES_VARIABLE} names {files.address}, which has none of the images and releases that "
            f"the tables of {home.home()} name: mount the shared folder there. If it is a new one, "
            "bring the files of this workspace there with vlm-loom workspace move."
        )


def _warn_of_lost_tables(warehouse: Warehouse) -> None:
    """Print a warning if there are releases that the tables, which may be missing, do not know."""
    n_releases = n_release_folders(home.home())
    if n_releases and not (warehouse.is_there() and warehouse.count("release.releases")):
        _warn(
            f"{warehouse.database.name} has no tables of the {number_of(n_releases, 'release')} in "
            f"{home.releases_path()}. A build makes new tables, of which clusters, image sets and "
            "releases may differ, and pays for what differs. To keep the earlier ones, stop now "
            "(Ctrl-C) and restore a backup that has the tables (vlm-loom workspace restore)."
        )


def lost_calls_sentence(n_calls: int) -> str:
    """Return the end of a sentence on a ledger that lacks calls, and what to do."""
    return (
        f"lacks {number_of(n_calls, 'call')} whose answers are in the tables, and which will be "
        "requested and paid for again. To keep them, stop now (Ctrl-C) and restore a backup that has "
        "the ledger (vlm-loom workspace restore)."
    )


def _warn(sentence: str) -> None:
    print(f"WARNING: {sentence}", file=sys.stderr, flush=True)


def may_write() -> bool:
    """Whether this user may write the workspace and its existing stores."""
    return not home.home().exists() or all(map(home.is_writable, _store_files()))


def _store_files() -> list[Path]:
    return [home.home() / name for name in (*SQLITE, home.warehouse_path().name)]


def require_upgradable_stores(folder: Path) -> None:
    """Raise StoreError if a store in `folder` is too old to be upgraded. No process may use the folder.

    Does not raise for a damaged store: opening it reports the damage.
    """
    for name in SQLITE:
        sqlite.require_store_kept(folder / name)
    versions.require_upgradable_stores(folder / home.warehouse_path().name)


def require_folder() -> None:
    """Raise StoreError if the workspace is a file or has an unusable path; it need not exist yet."""
    require_plain_path(home.home())
    if home.home().exists() and not home.home().is_dir():
        raise StoreError(f"The workspace {home.home()} is a file: set LOOM_WORKSPACE to a folder.")
    _require_same_database()


def _require_same_database() -> None:
    """Raise StoreError if the stores are in a database, but `LOOM_STORES` names another one or none."""
    if not home.stores_database_path().exists():
        return
    before, shown = home.stores_database_path().read_text().strip(), shown_database()
    # A server may have several names.
    if shown is not None and shown.rpartition("/")[2] == before.rpartition("/")[2]:
        return
    setting = "is not set" if shown is None else f"names {shown}"
    raise StoreError(
        f"{home.stores_database_path()} says that the stores of {home.home()} are in {before}, and "
        f"{VARIABLE} {setting}: set it to that database if it is yours. To go on without what is "
        "there, and to pay for its answers again, remove the file."
    )


def remember_database() -> None:
    """Record which database has the stores of the workspace, so that other settings do not create
    new ones.
    """
    shown = shown_database()
    if shown is not None and not home.stores_database_path().exists():
        home.home().mkdir(parents=True, exist_ok=True)
        write_atomically(home.stores_database_path(), f"{shown}\n".encode())


def forget_database() -> None:
    """Remove the record of the database: the stores of the workspace are files again."""
    home.stores_database_path().unlink(missing_ok=True)


def _require_no_local_stores() -> None:
    """Raise StoreError if `LOOM_STORES` is set, but the workspace has stores that were not moved."""
    if database() is None or home.stores_database_path().exists():
        return
    stores = [path for name in SQLITE if (path := home.home() / name).exists()]
    if stores:
        raise StoreError(
            f"{VARIABLE} names {shown_database()}, and {home.home()} has stores of its own "
            f"({', '.join(path.name for path in stores)}): bring them there with vlm-loom workspace "
            f"move, or unset {VARIABLE}. To begin without them, and to pay for their answers again, "
            "move them into another folder."
        )


def _require_own_rows(store: Store) -> None:
    """Raise StoreError if a new workspace with tables gets the stores of another one."""
    new = not home.stores_database_path().exists() and not home.warehouse_path().exists()
    is_first = store.kind is not LEDGER or claim_database(store)
    if new and lake_address() is None and (not is_first or has_rows(store)):
        raise StoreError(
            f"{store.shown} is used by another workspace, whose tables are not in "
            f"{home.home()}: set {VARIABLE} to a database that nothing has used, or set "
            f"{LAKE_VARIABLE} in both workspaces. If this workspace replaces the other one, write "
            f"{shown_database()} into {home.stores_database_path()}."
        )


def require_home() -> None:
    """Raise UserError if the workspace does not exist, or the folder is not one; does not create it."""
    require_folder()
    if not home.home().exists():
        raise StoreError(
            f"There is no workspace at {home.home()}: vlm-loom demo makes one there, --workspace "
            "or LOOM_WORKSPACE names another."
        )
    if database() is None and lake_address() is None:
        home.require_marks(home.home())


@contextmanager
def usable_home() -> Iterator[None]:
    """Turn errors of the operating system into a StoreError with one sentence."""
    try:
        yield
    except OSError as error:
        raise exhaustion_message(error) or refused_by_system(error) from error
