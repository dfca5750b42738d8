"""Import a release from its folder, so that it can be used in another workspace."""

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from methods.benchmarks import BENCHMARKS
from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.choice.lettered import equal_to_right, key_of
from methods.choice.published import require_choices
from methods.errors import UserError
from methods.evaluation.items import Item
from methods.evaluation.published import PublishedError
from methods.evaluation.published_tables import shortened_id
from methods.imported_release import require_bounded
from methods.ingest.image_check import EXTENSION_OF, MAX_BYTES, ImageRejected
from methods.json_text import from_json
from methods.naming import nearest
from methods.release import (
    RELEASE_NAME,
    RELEASE_TABLES,
    ReviewPolicy,
    counts_of,
    held_out,
    id_of_release,
)
from methods.release_card import card_markdown, card_of, edition_of, exported_card, row_of
from methods.release_items import items_of_release
from resources.files.atomic import write_atomically
from resources.files.bounded import MOST_BYTES as MOST_FILE_BYTES
from resources.files.bounded import BoundedReadError, file_hash, open_inside, read_inside
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.importing.published_files import require_askable
from resources.publishing.release_folder import (
    CARD,
    README,
    TABLES,
    ExportedFile,
    format_of,
    write_release,
)
from resources.publishing.releases import current_releases, rows_of_release
from resources.warehouse import TableWrite, Warehouse, arrow_schema

_NO_CARD = (AttributeError, KeyError, OverflowError, TypeError, ValueError)
"""Errors that invalid values in a card or a row cause."""
_ORDERS: Mapping[str, Sequence[str]] = {
    "items": (),
    "turns": ("turn",),
    "choices": ("position",),
    "references": ("turn", "kind"),
    "images": ("position",),
}
"""The columns by which the tables return the rows of an item in order."""
_DATA_ENDINGS = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
"""Extensions of a release's data files; it also has a `README.md` and images."""


class ReleaseFolderError(UserError):
    """A folder is not an unchanged release; the message says what to do."""


def import_release(folder: Path, root: Path, warehouse: Warehouse, store: ImageStore) -> str:
    """Import a release from its folder.

    It becomes the current release of its name if there is none. Its files are written from its rows,
    because the files of the folder may have other content. Importing it again only restores files that
    were changed under `root`. A folder with the id of an existing release but another card or other
    rows is refused: the id is a short hash.

    Args:
        folder: The folder of the release.
        root: The folder of all releases of this workspace.
        warehouse: The tables.
        store: The images.

    Returns:
        The id of the release.

    Raises:
        ReleaseFolderError: The folder was changed or cannot be imported; nothing is changed.
    """
    import pyarrow as pa

    tables = _read(folder)
    (card,) = tables["releases"]
    try:
        is_held_out = held_out(edition_of(card))
    except _NO_CARD:
        raise _changed(folder, TABLES) from None
    if is_held_out:
        raise ReleaseFolderError(
            f"{folder} is a split whose answers stayed in the workspace that it is from, so it "
            "cannot be that release anywhere else: import its published file instead (--benchmark)."
        )
    rows = {name: tables[name] for name in RELEASE_TABLES}
    images = _require_unchanged(folder, tables["files"], card, rows)
    release_id: str = card["release_id"]
    where = {"release_id": release_id}
    try:
        tables_to_write: dict[str, list[dict[str, Any]]] = {
            "releases": [row_of(card)],
            **{name: [{**where, **row} for row in rows[name]] for name in RELEASE_TABLES},
        }
        schema = arrow_schema("release.releases")
        (row,) = pa.Table.from_pylist(tables_to_write["releases"], schema=schema).to_pylist()
        writes = [_write(name, table, where) for name, table in tables_to_write.items()]
        # Checked because a card that cannot be rendered would break every list of releases.
        card_markdown(card)
        items = _whole_items(rows)
        if any(card[name] != n for name, n in counts_of(rows).items()):
            raise ValueError("the card has other numbers of items, turns or images")
    except (pa.ArrowException, *_NO_CARD):
        raise _changed(folder, TABLES) from None
    _require_one_right_choice(folder, items)
    try:
        for item in items:
            if item.choices:
                require_choices(f"record {shortened_id(item.item_id)}", item.choices)
        require_bounded(items, {Path(name).stem: (folder / name).stat().st_size for name in images})
    except PublishedError as error:
        raise ReleaseFolderError(f"{folder} cannot be imported: {error}.") from None
    benchmark = format_of(card)
    if benchmark not in BENCHMARKS:
        raise ReleaseFolderError(
            f"{folder} is a release of the benchmark {ascii(benchmark[:80])}, which is not installed: "
            f"install its package ({nearest(benchmark, [*BENCHMARKS])})."
        )
    require_askable(folder, benchmark, items)
    _require_same_release(folder, warehouse, row, rows)
    # Images and files are stored before the tables that refer to them.
    for name in images:
        try:
            take_in(read_inside(folder, folder / name, MAX_BYTES), store)
        except (BoundedReadError, ImageRejected) as refused:
            raise ReleaseFolderError(
                f"{folder / name} cannot be used as an image ({refused.detail.rstrip('.')}): have the "
                "release made again without it."
            ) from None
    with _written(root, row, rows, store) as files:
        writes.append(_write("exports", [{**where, **file._asdict()} for file in files], where))
        if card["name"] not in current_releases(warehouse):
            current = {"name": card["name"], **where}
            writes.append(_write("current", [current], {"name": card["name"]}))
        warehouse.replace_all(writes)
    return release_id


def _write(name: str, rows: list[dict[str, Any]], where: dict[str, str]) -> TableWrite:
    import pyarrow as pa

    table = f"release.{name}"
    return TableWrite(table, pa.Table.from_pylist(rows, schema=arrow_schema(table)), where)


@contextmanager
def _written(
    root: Path, card: dict[str, Any], rows: dict[str, list[dict[str, Any]]], store: ImageStore
) -> Iterator[list[ExportedFile]]:
    """Write what the folder of a release lacks; if the block fails, remove a new folder."""
    target = root / card["release_id"]
    was_there = target.exists()
    if was_there:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=root) as draft:
            files = write_release(Path(draft), card, rows, store)
            _restore(Path(draft) / target.name, target)
    else:
        files = write_release(root, card, rows, store)
    try:
        yield files
    except BaseException:
        if not was_there:
            shutil.rmtree(target)
        raise


def _restore(written: Path, target: Path) -> None:
    """Copy the files that `target` lacks or that were changed there."""
    for path in written.rglob("*"):
        name = str(path.relative_to(written))
        if path.is_file() and _sha256(target, name) != file_hash(path):
            write_atomically(target / name, path.read_bytes())


def _read(folder: Path) -> dict[str, Any]:
    if not (folder / CARD).is_file():
        raise ReleaseFolderError(
            f"{folder} is not a release: give a folder under releases/ that has a card.json."
        )
    try:
        tables: Any = from_json(read_inside(folder, folder / TABLES, MOST_FILE_BYTES), most=None)
    except (OSError, ValueError):
        raise _changed(folder, TABLES) from None
    if not _has_form(tables):
        raise _changed(folder, TABLES)
    by_table: dict[str, Any] = tables
    return by_table


def _has_form(tables: Any) -> bool:
    """Tell whether tables are as from `write_release`: file names, one card, lists of rows."""
    lists = ("releases", *RELEASE_TABLES)
    return (
        isinstance(tables, dict)
        and set(tables) == {"files", *lists}
        and isinstance(tables["files"], dict)
        # The files are copied under their names, so no name may lead out of the folder.
        and all(Path(name).name == name not in ("", "..") for name in tables["files"])
        # Other types are refused: an HTML page could bring a script into the workspace.
        and all(name == README or Path(name).suffix in _DATA_ENDINGS for name in tables["files"])
        # `_sha256` returns None for a missing file, which must not match.
        and all(isinstance(sha256, str) for sha256 in tables["files"].values())
        and all(isinstance(tables[name], list) for name in lists)
        and all(isinstance(row, dict) for name in lists for row in tables[name])
        and len(tables["releases"]) == 1
    )


def _require_unchanged(
    folder: Path, files: dict[str, str], card: dict[str, Any], rows: dict[str, Any]
) -> list[str]:
    """Verify rows, files and images by their hashes; return the images' names."""
    try:
        reviewed = ReviewPolicy(card["review_policy"], card["review_share"])
        # Sorting raises TypeError for texts mixed with other values.
        image_ids = sorted({image["image_id"] for image in rows["images"]})
        # The id is used as the name of a folder.
        is_named = RELEASE_NAME.fullmatch(card["name"]) and any(
            card["release_id"] == id_of_release(card["name"], reviewed, ordered, edition_of(card))
            for ordered in (rows, _as_built(rows))
        )
    except _NO_CARD:
        raise _changed(folder, TABLES) from None
    if not is_named:
        raise _changed(folder, TABLES)
    for name, sha256 in files.items():
        if _sha256(folder, name) != sha256:
            raise _changed(folder, name)
    try:
        written = read_inside(folder, folder / CARD, MOST_FILE_BYTES)
        unchanged = from_json(written) == card
    except (OSError, ValueError):
        unchanged = False
    if not unchanged:
        raise _changed(folder, TABLES)
    names = {
        path.stem: f"images/{path.name}"
        for path in sorted((folder / "images").glob("*"))
        if path.suffix.removeprefix(".") in EXTENSION_OF.values()
    }
    for image_id in image_ids:
        if image_id not in names or _sha256(folder, names[image_id]) != image_id:
            raise _changed(folder, f"images/{image_id}")
    return [names[image_id] for image_id in image_ids]


def _as_built(rows: Mapping[str, list[dict[str, Any]]]) -> Mapping[str, list[dict[str, Any]]]:
    """Put the captions and focus points of an item after its answers, as the id of a ConvBench release
    that was built hashes them. The tables return the references of each turn together.
    """
    ordinals = {row["item_id"]: row["ordinal"] for row in rows["items"]}
    references = sorted(
        rows["references"],
        key=lambda row: (ordinals[row["item_id"]], row["kind"] in ("caption", "focus")),
    )
    return {**rows, "references": references}


def _whole_items(rows: dict[str, list[dict[str, Any]]]) -> list[Item]:
    """Read the items. Raises ValueError for one that is not whole, or rows that no release has.

    The files are written in the order of the rows, and scores use the order of the tables: rows in any
    other order would be two different releases.
    """
    ordinals = {row["item_id"]: row["ordinal"] for row in rows["items"]}
    for name, table in rows.items():
        columns = {*arrow_schema(f"release.{name}").names} - {"release_id"}
        for row in table:
            if row.keys() != columns:
                raise ValueError(f"{name} has a row with other columns")
            if row["item_id"] not in ordinals:
                raise ValueError(f"{name} has a row of {row['item_id']}, which is no item")
            labels = row.get("labels", {})
            if not all(isinstance(text, str) for text in labels.values()):
                raise ValueError(f"{name} has a label that is not a text")
            texts = [*row.values(), *labels, *labels.values()]
            if any("\0" in text for text in texts if isinstance(text, str)):
                raise ValueError(f"{name} has a text with NUL")
        order = [
            (ordinals[row["item_id"]], *(row[column] for column in _ORDERS[name])) for row in table
        ]
        if order != sorted(set(order)):
            raise ValueError(f"{name} has its rows in another order than the table")
    for name in ("choices", "images"):
        n_rows = Counter(row["item_id"] for row in rows[name])
        if any(not 1 <= row["position"] <= n_rows[row["item_id"]] for row in rows[name]):
            raise ValueError(f"{name} lacks a position")
    items = items_of_release(rows)
    for item in items:
        letters = LETTERS[: len(item.choices)]
        # An image enters with one turn. An image that entered thousands of times would be decoded
        # for each of them.
        positions = [position for turn in item.turns for position in turn.image_positions]
        if len(set(positions)) < len(positions):
            raise ValueError(f"{item.item_id} shows an image twice")
        if not set(positions) <= set(range(1, len(item.image_ids) + 1)):
            raise ValueError(f"{item.item_id} shows an image that it does not have")
        if not item.turns:
            raise ValueError(f"{item.item_id} has no turn")
        if [turn.turn for turn in item.turns] != [*range(1, len(item.turns) + 1)]:
            raise ValueError(f"{item.item_id} lacks a turn")
        if key_of(item) not in (None, *([NO_CHOICE] if letters else []), *letters):
            raise ValueError(f"{item.item_id} has a key of no choice")
    return items


def _require_one_right_choice(folder: Path, items: Sequence[Item]) -> None:
    """Raise ReleaseFolderError if a wrong choice of an item has the text of the right one."""
    for item in items:
        key = key_of(item) if item.choices else None
        if key not in (None, NO_CHOICE) and equal_to_right(item.choices, key):
            raise ReleaseFolderError(
                f"{folder} has the item {item.item_id}, whose right choice {key} has the same text as "
                "another one: have the release made again without it."
            )


def _require_same_release(
    folder: Path, warehouse: Warehouse, row: dict[str, Any], rows: dict[str, Any]
) -> None:
    """Raise ReleaseFolderError if the workspace has this id with another card or other rows."""
    release_id = row["release_id"]
    where = {"r": release_id}
    stored = warehouse.sql("FROM release.releases WHERE release_id = $r", where).to_pylist()
    if not stored:
        return
    other = "other rows" if rows_of_release(warehouse, release_id) != rows else ""
    # An exported card does not contain the seeds of the right choices.
    if row_of(exported_card(card_of(stored[0]))) != row_of(exported_card(card_of(row))):
        other = "another card"
    if other:
        raise ReleaseFolderError(
            f"{release_id} is in this workspace already, and {folder} has {other}: nothing "
            "was changed. Keep the release that is here, or import the folder into a new workspace."
        )


def _sha256(folder: Path, name: str) -> str | None:
    """Hash a regular file inside the folder; None if there is no such file."""
    try:
        with open_inside(folder, folder / name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, RuntimeError):
        return None


def _changed(folder: Path, name: str) -> ReleaseFolderError:
    return ReleaseFolderError(
        f"{folder} is not as it was written, as {name} is missing, a link out of it or was changed: "
        "import a copy of the folder that nobody has changed."
    )
