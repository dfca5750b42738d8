"""Reading a release's folder back into the tables, so that a release outlives the home it was made in.

What belongs here: whether a folder is what was written, and which rows it becomes. Writing folders is
`release_folder.py`.
"""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from methods.errors import UserError
from methods.release import ReviewPolicy, id_of_release
from resources.images.store import ImageStore
from resources.reports.release_folder import TABLES, exported_files
from resources.warehouse import Warehouse, Write, arrow_schema

RELEASE_TABLES = ("items", "turns", "references", "images")
"""Tables of schema `release` whose rows a release's id is the hash of."""


class ReleaseFolderError(UserError):
    """A folder is not a release as it was written; the message says what to do."""


def import_release(folder: Path, root: Path, warehouse: Warehouse, store: ImageStore) -> str:
    """Put the release in `folder` into the tables, the images and the releases under `root`; its id.

    It is in force if no other release of its name is. Doing it twice is doing it once. Raises
    ReleaseFolderError, and changes nothing, when the folder is not as it was written.
    """
    tables = _read(folder)
    (card,) = tables["releases"]
    rows = {name: tables[name] for name in RELEASE_TABLES}
    _require_unchanged(folder, tables["files"], card, rows)
    # What the tables name comes before them.
    for path in sorted((folder / "images").iterdir()):
        store.put(path.read_bytes())
    _copy_once(folder, root / card["release_id"])
    release_id: str = card["release_id"]
    where = {"release_id": release_id}
    files = exported_files(root / release_id)
    made: dict[str, list[dict[str, Any]]] = {
        "releases": [card],
        **{name: [{**where, **row} for row in rows[name]] for name in RELEASE_TABLES},
        "exports": [{**where, **file._asdict()} for file in files],
    }
    writes = [_write(name, each, where) for name, each in made.items()]
    in_force = {row["name"] for row in warehouse.read("release/current").to_pylist()}
    if card["name"] not in in_force:
        current = {"name": card["name"], **where}
        writes.append(_write("current", [current], {"name": card["name"]}))
    warehouse.replace_all(writes)
    return release_id


def _write(name: str, rows: list[dict[str, Any]], where: dict[str, str]) -> Write:
    import pyarrow as pa

    table = f"release.{name}"
    return Write(table, pa.Table.from_pylist(rows, schema=arrow_schema(table)), where)


def _copy_once(folder: Path, target: Path) -> None:
    """Copy the folder, whole or not at all, unless it is there."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        shutil.copytree(folder, draft, dirs_exist_ok=True)
        draft.replace(target)
    except BaseException:
        shutil.rmtree(draft)
        raise


def _read(folder: Path) -> dict[str, Any]:
    if not (folder / "card.json").is_file():
        raise ReleaseFolderError(
            f"{folder} is no release: give a folder under releases/ that has a card.json (FROM=folder)."
        )
    if not (folder / TABLES).is_file():
        raise ReleaseFolderError(
            f"{folder} was written by an earlier version, without {TABLES}: materialize "
            "release/exports in the home that it was made in, which adds it, and import it then."
        )
    try:
        tables: dict[str, Any] = json.loads((folder / TABLES).read_text())
    except ValueError:
        raise _changed(folder, TABLES) from None
    if set(tables) != {"files", "releases", *RELEASE_TABLES} or len(tables["releases"]) != 1:
        raise _changed(folder, TABLES)
    return tables


def _require_unchanged(
    folder: Path, files: dict[str, str], card: dict[str, Any], rows: dict[str, Any]
) -> None:
    """Raise ReleaseFolderError unless the id is that of the rows, and each file as it was written."""
    try:
        reviewed = ReviewPolicy(card["review_policy"], card["review_share"])
        release_id = id_of_release(card["name"], reviewed, rows)
        image_ids = {image["image_id"] for image in rows["images"]}
    except (KeyError, TypeError, ValueError):
        raise _changed(folder, TABLES) from None
    if card.get("release_id") != release_id:
        raise _changed(folder, TABLES)
    for name, sha256 in files.items():
        if _sha256(folder / name) != sha256:
            raise _changed(folder, name)
    if json.loads((folder / "card.json").read_text()) != card:
        raise _changed(folder, TABLES)
    found = sorted((folder / "images").glob("*"))
    for path in found:
        if path.stem not in image_ids or _sha256(path) != path.stem:
            raise _changed(folder, f"images/{path.name}")
    if len(found) != len(image_ids):
        raise _changed(folder, "images")


def _sha256(path: Path) -> str | None:
    """The hash of a file, None where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _changed(folder: Path, name: str) -> ReleaseFolderError:
    return ReleaseFolderError(
        f"{folder} is not as it was written, as {name} is missing or was changed: import a copy of the "
        "folder that nobody has changed."
    )
