"""Write releases as folders of files.

`releases/<release id>/` has the items in the published formats of their benchmark, their images, the
attribution of each image, the dataset card as JSON and as `README.md`, and the rows of the release's
tables, from which the other files are made. A release is frozen: an existing file is not replaced.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from methods.benchmarks import published_forms
from methods.delimited import csv_line, rows_of
from methods.errors import UserError
from methods.evaluation.published import PublishedItem
from methods.evaluation.published_tables import tsv_line
from methods.release import Rows, exported_rows
from methods.release_card import benchmark_of, card_of, edition_of, exported_card, readme
from methods.release_items import items_of_release
from methods.spreadsheet_cells import has_marks, mark_formula, marked_rows
from resources.files.bounded import file_hash
from resources.files.parquet_table import ENDING, write_table
from resources.images.store import ImageStore

TABLES, CARD, ATTRIBUTION = "tables.json", "card.json", "attribution.csv"
README, IMAGES = "README.md", "images"
MMDU, DIALOGUES = "mmdu", "dialogues.json"
"""The published format of instruction sets, and its file."""

REWRITE = (
    "copy the file from a backup, or delete it and run vlm-loom run release, which writes it again "
    "from the tables"
)
"""Advice for a damaged file of a release."""
ORIGIN = ("title", "page_url", "attribution", "licence", "licence_url", "artist")
"""Columns of `release.images` on the source and the licence of an image."""


class ExportedFile(NamedTuple):
    """A file of a release, its path relative to the folder of all releases."""

    path: str
    sha256: str
    n_bytes: int


class ChangedReleaseError(UserError):
    """A file in a release's folder was changed; the message says what to do."""


def format_of(card: Mapping[str, Any]) -> str:
    """Return the benchmark whose format the items of a release have, also those of instruction sets."""
    return benchmark_of(card) or MMDU


def image_name(store: ImageStore, image_id: str) -> str:
    """Return the path of an image inside a release's folder."""
    return f"{IMAGES}/{store.path(image_id).name}"


def write_release(
    root: Path,
    card: Mapping[str, Any],
    rows: Rows,
    store: ImageStore,
    *,
    mark_formulas: bool = True,
    recorded: Mapping[str, str] | None = None,
) -> list[ExportedFile]:
    """Write the folder of a release, completely or not at all.

    Held-out references are not written. An existing folder gets its missing files, for example after an
    upgrade; its other files are not changed.

    Args:
        root: The folder of all releases.
        card: The row of `release.releases`.
        rows: The rows of `RELEASE_TABLES` in order, without the release's id.
        store: The images.
        mark_formulas: Whether to mark cells that a spreadsheet would compute as formulas.
        recorded: The recorded SHA-256 of files that were written before, by path relative to `root`.

    Returns:
        The files, without images.

    Raises:
        ChangedReleaseError: A file of an existing folder differs from its recorded hash, or a missing
            file would get other content than before. No file is written.
    """
    card = exported_card(card_of(card))
    rows = exported_rows(rows, edition_of(card))
    folder = root / card["release_id"]
    files = [README, TABLES, CARD, ATTRIBUTION, *_published_files(card)]
    lacks = [name for name in files if not (folder / name).exists()]
    image_ids = {image["image_id"] for image in rows["images"]}
    if folder.exists():
        images = [path for path in (folder / IMAGES).glob("*") if path.stem in image_ids]
        _require_unchanged(folder, images, recorded or {})
        image_ids -= {path.stem for path in images}
    if lacks or image_ids:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{folder.name}-", dir=root, ignore_cleanup_errors=True
        ) as temporary:
            draft = Path(temporary)
            _write_texts(draft, card, rows, store, mark_formulas)
            (draft / IMAGES).mkdir()
            for image_id in image_ids:
                shutil.copyfile(store.path(image_id), draft / image_name(store, image_id))
            if folder.exists():
                _add_files(draft, folder, lacks, recorded or {})
            else:
                _make_folder(draft, folder)
    return exported_files(folder)


def _require_unchanged(folder: Path, images: Sequence[Path], recorded: Mapping[str, str]) -> None:
    """Raise ChangedReleaseError if a file or image of the folder has other content than before."""
    for file in exported_files(folder):
        if recorded.get(file.path, file.sha256) != file.sha256:
            raise ChangedReleaseError(
                f"{folder.parent / file.path} has other content than was written: {REWRITE}."
            )
    for path in images:
        if not path.is_file() or file_hash(path) != path.stem:
            raise ChangedReleaseError(f"{path} has other content than its name says: {REWRITE}.")


def _add_files(
    draft: Path, folder: Path, names: Sequence[str], recorded: Mapping[str, str]
) -> None:
    """Move the named missing files and all images from `draft` into the folder."""
    for name in names:
        sha256 = file_hash(draft / name)
        if recorded.get(f"{folder.name}/{name}", sha256) != sha256:
            raise ChangedReleaseError(
                f"{folder / name} is missing, and this version or its settings write it otherwise: "
                f"copy it from a backup, or rename the folder {folder} and run vlm-loom run release."
            )
    (folder / IMAGES).mkdir(exist_ok=True)
    for name in [*names, *(f"{IMAGES}/{path.name}" for path in (draft / IMAGES).iterdir())]:
        (draft / name).replace(folder / name)


def _make_folder(draft: Path, folder: Path) -> None:
    """Rename `draft` to the release's folder."""
    draft.chmod(0o755)
    try:
        draft.replace(folder)
    except OSError:
        # Another run may have written the same content first.
        if not folder.exists():
            raise


def exported_files(folder: Path) -> list[ExportedFile]:
    """List the files of a release's folder, without images."""
    return [
        ExportedFile(f"{folder.name}/{path.name}", file_hash(path), path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.is_file()
    ]


def _write_texts(
    draft: Path, card: Mapping[str, Any], rows: Rows, store: ImageStore, mark_formulas: bool
) -> None:
    """Write every file of a release into `draft`, except images."""
    published = _published(card, rows, store)
    texts: dict[str, Iterable[str]] = {
        **published,
        CARD: [json.dumps(card, indent=1, ensure_ascii=False)],
        ATTRIBUTION: [_attribution(rows["images"], store)],
        README: [readme(card, _published_files(card))],
    }
    files = {}
    for name, pieces in texts.items():
        if name.endswith(ENDING):
            write_table(pieces, draft / name)
        else:
            # Written in pieces, as a file with embedded images may be large.
            with (draft / name).open("wb") as file:
                file.writelines(piece.encode() for piece in pieces)
        if mark_formulas and name in published and name.endswith((".tsv", ".csv")):
            _mark(draft / name)
        files[name] = file_hash(draft / name)
    tables = {"files": files, "releases": [card], **rows}
    (draft / TABLES).write_text(json.dumps(tables, indent=1, ensure_ascii=False))


def _published_files(card: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the files of a release's published formats, with descriptions."""
    benchmark = benchmark_of(card)
    forms = published_forms(format_of(card))
    files = forms.PUBLISHED_FILES if forms else {}
    return files if benchmark else {DIALOGUES: files[DIALOGUES]}


def _published(card: Mapping[str, Any], rows: Rows, store: ImageStore) -> dict[str, Iterable[str]]:
    """Return the texts of a release's published formats. An instruction set only has MMDU's JSON."""
    forms = published_forms(format_of(card))
    if forms is None:
        return {}
    ids: dict[str, str] = {}
    items = []
    for item in items_of_release(rows):
        names = [image_name(store, image_id) for image_id in item.image_ids]
        ids.update(zip(names, item.image_ids, strict=True))
        published = PublishedItem(
            item.item_id, item.turns, tuple(names), item.choices, item.group_id, item.labels
        )
        items.append(published)
    texts = forms.write_published(items, lambda name: store.read(ids[name]))
    return {name: texts[name] for name in _published_files(card)}


def _attribution(images: Sequence[Mapping[str, Any]], store: ImageStore) -> str:
    rows = {
        (
            image_name(store, image["image_id"]),
            *(mark_formula(image[column] or "") for column in ORIGIN),
        )
        for image in images
    }
    return "".join(map(csv_line, [("image", *ORIGIN), *sorted(rows)]))


def _mark(file: Path) -> None:
    """Mark the cells of a published table that a spreadsheet would compute, if there are any."""
    delimiter, line_of = ("\t", tsv_line) if file.suffix == ".tsv" else (",", csv_line)

    def rows() -> Iterator[list[str]]:
        with file.open(newline="", encoding="utf-8") as lines:
            for row in rows_of(lines, delimiter, "csv"):
                yield row.cells

    if not has_marks(rows()):
        return
    draft = file.with_name(f".{file.name}")
    with draft.open("w", newline="", encoding="utf-8") as lines:
        lines.writelines(map(line_of, marked_rows(rows())))
    draft.replace(file)
