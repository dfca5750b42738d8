"""Import published files of a benchmark: its items, with their images in the image store.

The benchmark itself interprets the records (`methods/<benchmark>/published.py`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from methods.benchmarks import BENCHMARKS
from methods.delimited import Quoting
from methods.errors import UserError
from methods.evaluation.asking import AskingLimits
from methods.evaluation.item_dry_run import ItemDryRunError, dry_run_item
from methods.evaluation.items import Item
from methods.evaluation.published import (
    BrokenImage,
    PublishedError,
    PublishedFormats,
    PublishedItem,
    PublishedTable,
    TableFormats,
)
from methods.evaluation.published_tables import decode_image, is_data_url, quote_all_cells
from methods.imported_release import require_bounded
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from methods.ingest.image_quality import ImageFacts
from resources.files.bounded import BoundedReadError, first_unreadable, open_text, read_inside
from resources.files.parquet_table import ENDING, tsv_lines_of
from resources.images.intake import take_in
from resources.images.store import ImageStore
from resources.importing.record_file import DELIMITERS, TABLE_ENDINGS, read_tables
from resources.settings.prompts import prompt

_DRIVE = re.compile(r"[A-Za-z]:/")
"""The beginning of an absolute path in Windows."""
MOST_NAMED = 20
"""The most unusable images that are listed in an error message."""


class PublishedFileError(UserError):
    """A published file cannot be imported; the message names the record or the image."""


def read_items(
    forms: PublishedFormats,
    file: Path,
    pictures: Path | None,
    store: ImageStore,
    say: Callable[[str], None] = lambda _: None,
    quoting: Quoting = "checked",
    skipped: Counter[str] | None = None,
) -> list[Item]:
    """Read the items of a published file, and store their images.

    Paths in the file are looked up in the folder of images and never lead out of it: a leading slash
    stands for that folder (the authors' file names /mmdu_pics/...), and the folder's own name may come
    first. Images of records before a faulty one stay in the store.

    Args:
        forms: The published formats of the benchmark.
        file: The file; a folder of files for a benchmark that is published as several tables.
        pictures: The folder with the images; by default the folder of the file.
        store: Where the images are stored.
        say: Called with a clause for each part of the file that is left out.
        quoting: How the quotes of a CSV or TSV are read.
        skipped: Counts items that are left out because of an image that cannot be used, by reason. If
            it is None, all such images are named in the error.

    Raises:
        PublishedFileError: The file or an image cannot be used.
    """
    folder = (pictures or (file if file.is_dir() else file.parent)).resolve()
    if pictures is not None and not folder.is_dir():
        raise PublishedFileError(f"{pictures} is not a folder of pictures: give one with --images.")
    stored: dict[str | bytes, ImageFacts | ImageRejected] = {}
    items: list[Item] = []
    broken: list[_UnusableImage] = []
    n_absent = 0
    try:
        for record in list(_read(forms, file, say, quoting)):
            try:
                item = _stored(record, folder, store, stored)
            except _UnusableImage as error:
                broken.append(error)
            else:
                items.append(item)
                n_absent += bool(record.images) and not item.image_ids
        images = [image for image in stored.values() if not isinstance(image, ImageRejected)]
        require_bounded(items, {image.image_id: image.n_bytes for image in images})
    except PublishedError as error:
        raise PublishedFileError(f"{file} cannot be imported: {error}.") from None
    if broken and (skipped is None or not items):
        to_do = "Correct them, or leave their items out with --skip-broken"
        if skipped is not None:
            to_do = "No item would be left: correct them"
        raise PublishedFileError(f"{file} cannot be imported: {_in_words(broken)}. {to_do}.")
    if skipped is not None:
        skipped.update(error.reason for error in broken)
    if n_absent:
        say(f"pictures of {n_absent} of {len(items)} items are not in {folder}")
    return grouped_by_images(items)


def require_askable(file: Path, benchmark_name: str, items: Sequence[Item]) -> None:
    """Check that a benchmark can ask and judge each item.

    Args:
        file: The file or folder that the items are from, for the message.
        benchmark_name: The name of the benchmark.
        items: The items.

    Raises:
        PublishedFileError: An item cannot be asked or judged.
    """
    benchmark = BENCHMARKS[benchmark_name]
    for item in items:
        try:
            dry_run_item(benchmark, item, AskingLimits(prompt=prompt))
        except ItemDryRunError as error:
            raise PublishedFileError(
                f"{file} cannot be imported: record {ascii(item.item_id[:80])} {error}; correct "
                f"the record, or the benchmark {benchmark_name}."
            ) from error


def grouped_by_images(items: Sequence[Item]) -> list[Item]:
    """Put items with the same images into one group, as their scores are not independent.

    Items with a group keep it. A new group has the id of its first item.
    """
    ids_by_images: dict[frozenset[str], list[str]] = {}
    for item in items:
        ids_by_images.setdefault(frozenset(item.image_ids), []).append(item.item_id)
    grouped = []
    for item in items:
        first, *others = ids_by_images[frozenset(item.image_ids)]
        joins = item.image_ids and others and item.group_id is None
        grouped.append(replace(item, group_id=first) if joins else item)
    return grouped


class _UnusableImage(Exception):
    """An image of a record cannot be used."""

    def __init__(self, place: str, rejected: ImageRejected) -> None:
        super().__init__()
        self.place = place
        self.reason, self.detail = rejected.reason, rejected.detail.rstrip(".")


def _in_words(broken: Sequence[_UnusableImage]) -> str:
    """List the images that cannot be used, in a clause; at most MOST_NAMED of them."""
    if len(broken) == 1:
        (error,) = broken
        return f"{error.place} cannot be used: {error.detail}"
    named = "; ".join(f"{error.place}: {error.detail}" for error in broken[:MOST_NAMED])
    more = f"; and {len(broken) - MOST_NAMED:,} more" if len(broken) > MOST_NAMED else ""
    return f"images of {len(broken):,} records cannot be used: {named}{more}"


def _read(
    forms: PublishedFormats, file: Path, say: Callable[[str], None], quoting: Quoting
) -> Iterator[PublishedItem]:
    try:
        if isinstance(forms, TableFormats):
            yield from forms.read_tables(_tables(file, quoting), say)
            return
        if file.suffix.lower() == ENDING:
            yield from forms.read_published(file.name, tsv_lines_of(file))
            return
        # Line ends are kept, as they may be part of texts; a byte order mark is removed.
        with open_text(file, "utf-8-sig", newline="") as lines:
            delimiter = DELIMITERS.get(file.suffix.lower())
            # A benchmark reads quotes by the rules of CSV. For other rules (`quoting`), the lines are
            # rewritten so that it reads the right cells.
            as_meant = (
                lines
                if delimiter is None or quoting == "checked"
                else quote_all_cells(lines, delimiter, quoting)
            )
            yield from forms.read_published(file.name, as_meant)
    except UnicodeDecodeError as error:
        raise PublishedError(f"it is not UTF-8 ({error.reason})") from None
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror})") from None


def _tables(file: Path, quoting: Quoting) -> list[PublishedTable]:
    """Read the tables of a file, or of all tables in a folder, sorted by name."""
    if not file.is_dir():
        return read_tables(file, quoting)
    files = [path for path in sorted(file.iterdir()) if path.suffix.lower() in TABLE_ENDINGS]
    if not files:
        raise PublishedError(f"it is a folder without a file of {', '.join(TABLE_ENDINGS)}")
    if unreadable := first_unreadable(file, files):
        path, why = unreadable
        raise PublishedError(f"its file {path.name} cannot be read ({why})")
    return [table for path in files for table in read_tables(path, quoting)]


def _stored(
    item: PublishedItem,
    folder: Path,
    store: ImageStore,
    stored: dict[str | bytes, ImageFacts | ImageRejected],
) -> Item:
    """Store the images of an item that `stored` lacks, and return the item. Raises _UnusableImage."""
    image_ids = []
    for position, image in enumerate(item.images, start=1):
        is_path = (
            isinstance(image, str) and not isinstance(image, BrokenImage) and not is_data_url(image)
        )
        try:
            if isinstance(image, BrokenImage):
                raise ImageRejected(image.reason, str(image))
            if image not in stored:
                stored[image] = _taken_in(image, folder if is_path else None, store)
            facts = stored[image]
            if isinstance(facts, ImageRejected):
                raise facts
            image_ids.append(facts.image_id)
        except ImageRejected as rejected:
            if item.images_may_be_absent and rejected.reason == "missing":
                return _without_images(item)
            named = f" ({ascii(image[:200])})" if is_path else ""
            place = f"image {position}{named} of record {ascii(item.item_id[:80])}"
            raise _UnusableImage(place, rejected) from None
    return Item(
        item.item_id, item.turns, tuple(image_ids), item.choices, item.group_id, item.labels
    )


def _taken_in(
    image: str | bytes, folder: Path | None, store: ImageStore
) -> ImageFacts | ImageRejected:
    """Store the image at a path in the folder. Without a folder, `image` is its content."""
    try:
        if isinstance(image, str):
            image = picture_in(folder, image) if folder else decode_image(image)
        if isinstance(image, BrokenImage):
            raise ImageRejected(image.reason, str(image))
        return take_in(image, store)
    except ImageRejected as rejected:
        return rejected


def _without_images(item: PublishedItem) -> Item:
    turns = tuple(replace(turn, image_positions=()) for turn in item.turns)
    return Item(item.item_id, turns, (), item.choices, item.group_id, item.labels)


def picture_in(folder: Path, name: str) -> bytes:
    """Read an image in a folder under an untrusted name.

    Args:
        folder: The folder.
        name: The name from a file.

    Raises:
        ImageRejected: The image is missing or too large, or the name leads out of the folder
            (`outside`, which is never treated as an absent image).
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
        if not path.is_dir():
            try:
                return read_inside(folder, path, MAX_BYTES)
            except BoundedReadError as not_read:
                raise ImageRejected(not_read.reason, not_read.detail) from None
    if named.is_absolute() or _DRIVE.match(name):
        raise outside
    raise ImageRejected("missing", f"there is no such file in {folder}")
