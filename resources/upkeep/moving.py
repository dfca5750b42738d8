"""Move of a workspace to storage that several machines share (Postgres, a lake, a bucket), and back."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from methods.errors import UserError
from methods.naming import listed
from resources.files import home
from resources.files import object_storage as shared_files
from resources.files.atomic import write_atomically
from resources.images.store import SHARED, ImageNotStored, open_images
from resources.migrations import StoreError
from resources.site.sample_browser import site_path
from resources.stores.address import VARIABLE, shown_database
from resources.stores.copies import copy_store, fill_store
from resources.stores_of_home import SQLITE, forget_database, remember_database
from resources.upkeep.cleaning import require_unused
from resources.warehouse import Warehouse, lake_connection
from resources.warehouse.lake import Lake
from resources.warehouse.transfer import fill, write_parquet


class MovingError(UserError):
    """The workspace cannot be moved; the message says what to do."""


def move(*, back: bool, say: Callable[[str], None]) -> None:
    """Move the workspace to the stores that the environment names, or back.

    Data that was moved before is compared, and not moved again.

    Args:
        back: Whether to move back into the workspace.
        say: Called with a sentence for each step.

    Raises:
        MovingError: No destination is set, or something is in the way.
        StoreError: A store cannot be read or written.
        SharedFilesError: The bucket or shared folder cannot be used.
    """
    files, database = shared_files.shared_files(), shown_database()
    lake = lake_connection.lake_address()
    if files is None and database is None and lake is None:
        raise MovingError(
            f"No destination is set to move the workspace to: set {VARIABLE}, "
            f"{lake_connection.VARIABLE} or {shared_files.VARIABLE}, as docs/guides/shared-stores.md "
            "has it."
        )
    require_unused(home.home())
    if back:
        home.home().mkdir(parents=True, exist_ok=True)
    if lake is not None:
        for line in _tables_back(lake) if back else _tables(lake):
            say(line)
    if database is not None:
        for line in _stores_back() if back else _stores(database):
            say(line)
        forget_database() if back else remember_database()
    if files is not None:
        for line in _files_back(files) if back else _files(files):
            say(line)


def _tables(address: lake_connection.LakeAddress) -> Iterator[str]:
    path, folder = home.warehouse_path(), home.moved_tables_path()
    if not path.exists():
        return
    yield f"{path.name}: its rows are brought to {address.name} and compared, a minute or more"
    # A killed run may have left the folder behind.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        write_parquet(Warehouse(path), folder)
        n_rows = fill(Lake(address), folder)
    finally:
        shutil.rmtree(folder)
    yield f"{path.name} to {address.name}: {n_rows:,} rows, each compared"


def _tables_back(address: lake_connection.LakeAddress) -> Iterator[str]:
    path = home.warehouse_path()
    if path.exists():
        raise MovingError(
            f"{path} exists already and is not overwritten: set LOOM_WORKSPACE to a new folder, to "
            "bring the lake back there."
        )
    draft = path.with_name(f"{path.name}.back")
    draft.unlink(missing_ok=True)
    Lake(address).copy_to(draft)
    draft.rename(path)
    yield f"{path.name}: brought back"


def _stores(database: str) -> Iterator[str]:
    for name, kind in SQLITE.items():
        path = home.home() / name
        if path.exists():
            n_rows = fill_store(kind, path)
            done = (
                "was brought there before" if n_rows is None else f"{n_rows:,} rows, each compared"
            )
            yield f"{name} to {database}: {done}"


def _stores_back() -> Iterator[str]:
    paths = {home.home() / name: kind for name, kind in SQLITE.items()}
    existing = [path for path in paths if path.exists()]
    if existing:
        raise StoreError(
            f"{listed([path.name for path in existing])} of {home.home()} exist already and are not "
            "overwritten: move them into another folder, and run this again."
        )
    for path, kind in paths.items():
        draft = path.with_name(f"{path.name}.back")
        draft.unlink(missing_ok=True)
        copy_store(kind, path, draft)
        draft.rename(path)
        yield f"{path.name}: brought back"


def _files(files: shared_files.SharedFiles) -> Iterator[str]:
    images = open_images()
    keys = set(files.keys(SHARED))
    mine = [path for path in sorted(images.root.glob("*/*")) if not path.name.startswith(".")]
    missing = [path for path in mine if _key(path) not in keys]

    def send(path: Path) -> bool:
        try:
            files.put(f"{SHARED}/{_key(path)}", images.path(path.stem))
        except ImageNotStored:
            return False
        return True

    with ThreadPoolExecutor(shared_files.AT_ONCE) as threads:
        n_sent = sum(threads.map(send, missing))
    lost = f"; {len(missing) - n_sent:,} damaged ones are left out" if n_sent < len(missing) else ""
    yield f"images: {len(mine):,}, {n_sent:,} of them sent to {files.address}{lost}"
    for name, folder in _folders():
        # Do not replace files that are there: other machines may have written newer ones.
        yield f"{name}: {files.publish(name, folder, adding=True):,} files sent"
    reports = home.relative_to_home(home.reports_path())
    keys = set(files.keys(reports))
    pages = [
        path
        for path in sorted(home.reports_path().rglob("*"))
        if _is_page(path) and path.relative_to(home.reports_path()).as_posix() not in keys
    ]
    for path in pages:
        files.put(home.relative_to_home(path), path)
    yield f"reports: {len(pages):,} pages sent"


def _files_back(files: shared_files.SharedFiles) -> Iterator[str]:
    images = open_images()
    keys = files.keys(SHARED)
    with ThreadPoolExecutor(shared_files.AT_ONCE) as threads:
        n_whole = sum(threads.map(images.has, (Path(key).stem for key in keys)))
    yield f"images: {n_whole:,} of {len(keys):,} are here"
    for name, folder in _folders():
        yield f"{name}: {files.fetch(name, folder):,} files fetched"
    reports = home.relative_to_home(home.reports_path())
    n_pages = 0
    for key in files.keys(reports):
        page = home.reports_path() / key
        data = None if page.is_relative_to(site_path()) else files.get(f"{reports}/{key}")
        if data is not None:
            write_atomically(page, data)
            n_pages += 1
    yield f"reports: {n_pages:,} pages fetched"


def _folders() -> list[tuple[str, Path]]:
    """Return (name in the bucket, path) of the folders that are copied as a whole."""
    folders = home.releases_path(), site_path()
    return [(home.relative_to_home(folder), folder) for folder in folders]


def _is_page(path: Path) -> bool:
    of_site = path.is_relative_to(site_path())
    return path.is_file() and not of_site and not path.name.startswith(".")


def _key(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
