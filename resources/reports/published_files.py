"""Reading published files of a benchmark: its items, with their pictures in the image store.

What belongs here: opening the file, finding the pictures that it names, and the sentence for what is
wrong. What a record says is read by the benchmark (`methods/<benchmark>/published.py`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from methods.errors import UserError
from methods.evaluation.items import Item
from methods.evaluation.published import (
    PublishedError,
    PublishedForms,
    PublishedItem,
    Table,
    TableForms,
)
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.reports.parquet_table import ENDING, tsv_lines_of
from resources.reports.record_file import TABLE_ENDINGS, read_tables

_DRIVE = re.compile(r"[A-Za-z]:/")
"""What an absolute path of Windows begins with."""


class PublishedFileError(UserError):
    """A published file cannot be imported; the message names the record or the picture."""


def nobody(said: str) -> None:
    """Listens to nothing."""


def read_items(
    forms: PublishedForms,
    file: Path,
    pictures: Path | None,
    store: ImageStore,
    say: Callable[[str], None] = nobody,
) -> list[Item]:
    """The items of `file`, their pictures put into `store`; raises PublishedFileError.

    Paths that the file names are looked up in the folder `pictures`, by default the file's own. They
    never lead out of it: a leading slash is that folder (the authors' file names /mmdu_pics/...), and
    the folder's own name may stand first. Pictures of records before a wrong one stay in the store.
    `say` is told in a clause what of the file is left out. Of a benchmark that is published as tables
    `file` may be a folder of such files.
    """
    folder = (pictures or (file if file.is_dir() else file.parent)).resolve()
    if pictures is not None and not folder.is_dir():
        raise PublishedFileError(f"{pictures} is no folder of pictures: give one with --images.")
    known: dict[str, str] = {}
    try:
        published = list(_read(forms, file, say))
        items = [_stored(item, folder, store, known) for item in published]
    except PublishedError as error:
        raise PublishedFileError(f"{file} cannot be imported: {error}.") from None
    pairs = zip(published, items, strict=True)
    if absent := sum(bool(record.images) and not item.image_ids for record, item in pairs):
        say(f"pictures of {absent} of {len(items)} items are not in {folder}")
    return items


def _read(forms: PublishedForms, file: Path, say: Callable[[str], None]) -> Iterator[PublishedItem]:
    try:
        if isinstance(forms, TableForms):
            yield from forms.read_tables(_tables(file), say)
            return
        if file.suffix.lower() == ENDING:
            yield from forms.read_published(file.name, tsv_lines_of(file))
            return
        # Ends of lines are part of texts; a mark of the byte order is not.
        with file.open(encoding="utf-8-sig", newline="") as lines:
            yield from forms.read_published(file.name, lines)
    except UnicodeDecodeError as error:
        raise PublishedError(f"it is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror})") from None


def _tables(file: Path) -> list[Table]:
    """The tables of a file, or of every such file of a folder in order of name."""
    if not file.is_dir():
        return read_tables(file)
    files = [path for path in sorted(file.iterdir()) if path.suffix.lower() in TABLE_ENDINGS]
    if not files:
        raise PublishedError(f"it is a folder without a file of {', '.join(TABLE_ENDINGS)}")
    return [table for path in files for table in read_tables(path)]


def _stored(item: PublishedItem, folder: Path, store: ImageStore, known: dict[str, str]) -> Item:
    image_ids = []
    for position, image in enumerate(item.images, start=1):
        named = f" ({ascii(image[:200])})" if isinstance(image, str) else ""
        try:
            if isinstance(image, bytes):
                image_ids.append(take_in(image, store).image_id)
                continue
            if image not in known:
                known[image] = take_in(picture_in(folder, image), store).image_id
            image_ids.append(known[image])
        except ImageRejected as rejected:
            if item.images_may_be_absent and rejected.reason == "missing":
                return _without_images(item)
            raise PublishedError(
                f"image {position}{named} of record {ascii(item.item_id[:80])} cannot be used: "
                f"{rejected.detail.rstrip('.')}"
            ) from None
    return Item(
        item.item_id, item.turns, tuple(image_ids), item.choices, item.group_id, item.labels
    )


def _without_images(item: PublishedItem) -> Item:
    """The item with the places of its images and no image in them."""
    turns = tuple(replace(turn, image_positions=()) for turn in item.turns)
    return Item(item.item_id, turns, (), item.choices, item.group_id, item.labels)


def picture_in(folder: Path, name: str) -> bytes:
    """The bytes of a picture in `folder` under an untrusted name. Raises ImageRejected.

    A name that leads out of it, or is absolute and no file's in there, is refused (`outside`) whether
    or not pictures may be absent.
    """
    outside = ImageRejected(
        "outside", f"its path is absolute or leads out of {folder}, where no file is called so"
    )
    named = PurePosixPath(name)
    parts = [part for part in named.parts if part != "/"]
    if ".." in parts or "\0" in name or "\\" in name:
        raise outside
    places = [folder.joinpath(*parts)]
    if parts[:1] == [folder.name]:
        places.append(folder.joinpath(*parts[1:]))
    for place in places:
        try:
            path = place.resolve(strict=True)
        except (OSError, RuntimeError):
            continue
        if not path.is_relative_to(folder):
            raise outside
        if path.is_file():
            if path.stat().st_size > MAX_BYTES:
                raise ImageRejected("oversized_bytes", f"it has more than {MAX_BYTES:,} bytes")
            return path.read_bytes()
    if named.is_absolute() or _DRIVE.match(name):
        raise outside
    raise ImageRejected("missing", f"there is no such file in {folder}")
