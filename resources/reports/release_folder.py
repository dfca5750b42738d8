"""Releases as folders of files.

`releases/<release id>/` holds the MMDU JSON, the images it names, who made each image, the card, and
the rows of the release's tables, from which the other files are made. What belongs here: writing
such a folder once. A release is frozen: a file that exists is not replaced. Reading one is
`release_import.py`.
"""

import csv
import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from methods.mmdu.export import mmdu_record
from resources.atomic_file import write_atomically
from resources.images.store import ImageStore

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of `items`, `turns`, `references` and `images`, in order, without the release's id."""

TABLES = "tables.json"

ORIGIN = ("title", "page_url", "attribution", "licence", "licence_url", "artist")
"""Columns of `release.images` on the source and the licence of an image."""


class ExportedFile(NamedTuple):
    """A file of a release, its path relative to the folder of all releases."""

    path: str
    sha256: str
    n_bytes: int


def image_name(store: ImageStore, image_id: str) -> str:
    """Path of an image inside a release's folder."""
    return f"images/{store.path(image_id).name}"


def write_release(
    root: Path, card: Mapping[str, Any], rows: Rows, store: ImageStore
) -> list[ExportedFile]:
    """Write the folder, whole or not at all, and list its files (images apart).

    `card` is the row of `release.releases`. A folder that an earlier version wrote gets the rows that
    it lacks; nothing else in it is touched.
    """
    release_id = card["release_id"]
    folder = root / release_id
    if not folder.exists():
        root.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{release_id}-", dir=root))
        try:
            for name, text in _texts(card, rows, store).items():
                (draft / name).write_text(text)
            (draft / "images").mkdir()
            for image_id in {image["image_id"] for image in rows["images"]}:
                shutil.copyfile(store.path(image_id), draft / image_name(store, image_id))
            draft.chmod(0o755)
            draft.replace(folder)
        except BaseException as error:
            shutil.rmtree(draft)
            # Another run may have been quicker with the same content.
            if not (isinstance(error, OSError) and folder.exists()):
                raise
    if not (folder / TABLES).exists():
        write_atomically(folder / TABLES, _texts(card, rows, store)[TABLES].encode())
    return exported_files(folder)


def exported_files(folder: Path) -> list[ExportedFile]:
    """The files of a release in its folder, images apart."""
    return [
        ExportedFile(
            f"{folder.name}/{path.name}",
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
        )
        for path in sorted(folder.iterdir())
        if path.is_file()
    ]


def _texts(card: Mapping[str, Any], rows: Rows, store: ImageStore) -> dict[str, str]:
    """What the files of a release say, by name, but for the images."""
    paths: dict[str, list[str]] = {}
    for image in rows["images"]:
        paths.setdefault(image["item_id"], []).append(image_name(store, image["image_id"]))
    answers = {(row["item_id"], row["turn"]): row["reference"] for row in rows["references"]}
    records = [
        mmdu_record(
            item_id,
            paths[item_id],
            [(turn["question"], answers[item_id, turn["turn"]]) for turn in turns],
        )
        for item_id, turns in groupby(rows["turns"], key=lambda turn: turn["item_id"])
    ]
    texts = {
        "dialogues.json": json.dumps(records, indent=1, ensure_ascii=False),
        "card.json": json.dumps(card, indent=1, ensure_ascii=False),
        "attribution.csv": _attribution(rows["images"], store),
    }
    files = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    tables = {"files": files, "releases": [card], **rows}
    return {**texts, TABLES: json.dumps(tables, indent=1, ensure_ascii=False)}


def _attribution(images: Sequence[Mapping[str, Any]], store: ImageStore) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["image", *ORIGIN])
    rows = {
        (image_name(store, image["image_id"]), *(_cell(image[column]) for column in ORIGIN))
        for image in images
    }
    writer.writerows(sorted(rows))
    return text.getvalue()


def _cell(text: str | None) -> str:
    """A text that a spreadsheet cannot take for a formula: it comes from outside."""
    text = text or ""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
