"""Releases as folders of files that stand by themselves.

`releases/<release id>/` holds the MMDU JSON, the images it names, who made each image, and the card.
What belongs here: writing such a folder once. A release is frozen: what is there is not written over.
"""

import csv
import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from resources.images.store import ImageStore

ORIGIN = ("title", "page_url", "attribution", "licence", "licence_url", "artist")
"""Columns of `release.images` that say whose an image is."""


class ExportedFile(NamedTuple):
    """A file of a release, its path relative to the folder of all releases."""

    path: str
    sha256: str
    n_bytes: int


def image_name(store: ImageStore, image_id: str) -> str:
    """Path of an image inside a release's folder."""
    return f"images/{store.path(image_id).name}"


def write_release(
    root: Path,
    release_id: str,
    records: Sequence[Mapping[str, Any]],
    images: Sequence[Mapping[str, Any]],
    card: Mapping[str, Any],
    store: ImageStore,
) -> list[ExportedFile]:
    """Write the folder, whole or not at all, and list its files (images apart).

    `records` are MMDU records, `images` rows of `release.images`.
    """
    folder = root / release_id
    if not folder.exists():
        root.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{release_id}-", dir=root))
        try:
            (draft / "dialogues.json").write_text(json.dumps(records, indent=1, ensure_ascii=False))
            (draft / "card.json").write_text(json.dumps(card, indent=1, ensure_ascii=False))
            (draft / "attribution.csv").write_text(_attribution(images, store))
            (draft / "images").mkdir()
            for image_id in {image["image_id"] for image in images}:
                shutil.copyfile(store.path(image_id), draft / image_name(store, image_id))
            draft.chmod(0o755)
            draft.replace(folder)
        except BaseException as error:
            shutil.rmtree(draft)
            # Another run may have been quicker with the same content.
            if not (isinstance(error, OSError) and folder.exists()):
                raise
    return [
        ExportedFile(
            f"{release_id}/{path.name}",
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
        )
        for path in sorted(folder.iterdir())
        if path.is_file()
    ]


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
    """A text that a spreadsheet shows, and does not take for a formula: anybody may have written it."""
    text = text or ""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
