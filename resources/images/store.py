"""The image store: content-addressed files, with thumbnails and data URLs.

An image is written once under the hash of its bytes and verified when it is read. Images derived from
others are stored here, too. `methods/ingest/image_check.py` decides which bytes may enter,
`methods/ingest/picture.py` rotates and converts images, and `resources/images/fetcher.py` fetches them.
"""

import base64
import hashlib
import io
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from PIL import Image

from methods.errors import UserError
from methods.ingest.image_check import (
    EXTENSION_OF,
    MAX_BYTES,
    ImageRejected,
    read_header,
    truncated_on_error,
)
from methods.ingest.picture import draw_grid, size_as_shown, upright_rgb, upright_transpose
from resources.files.atomic import write_atomically
from resources.files.home import images_path
from resources.files.object_storage import SharedFiles, shared_files

SHARED = "images"
"""The folder of the images in the shared bucket."""
MOST_SHARED = 4 * MAX_BYTES
"""The most bytes of an image in the bucket: an image derived from others may be larger than a fetched
one."""
REMEMBERED = 50_000
"""The most file states that are kept in memory, each of about 300 bytes."""


class FileState(NamedTuple):
    """The identity of a written file: size in bytes, modification time in nanoseconds, inode."""

    n_bytes: int
    mtime_ns: int
    inode: int


def state_of(path: Path) -> FileState:
    """Return the current state of a file. Raises OSError."""
    stat = path.stat()
    return FileState(stat.st_size, stat.st_mtime_ns, stat.st_ino)


class FileStates:
    """Thread-safe cache of the states in which files were verified, by image id."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, FileState] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, states: Mapping[str, FileState]) -> None:
        """Add states; the oldest are forgotten."""
        with self._lock:
            self._states.update(states)
            while len(self._states) > REMEMBERED:
                self._states.popitem(last=False)

    def get(self, ids: Iterable[str]) -> dict[str, FileState]:
        """Return the remembered states of these ids; others are left out."""
        with self._lock:
            return {one: self._states[one] for one in ids if one in self._states}


JPEG_QUALITY = 90
THUMBNAIL_CACHE_BYTES = 16_000_000
DATA_URL_CACHE_BYTES = 64_000_000

_IMAGE_ID = re.compile(r"[0-9a-f]{64}")
_PASSED_ON = {"JPEG": "image/jpeg", "PNG": "image/png"}

Sized = TypeVar("Sized", bytes, str)


FETCH_ANEW = (
    "ingest its shard and build again (vlm-loom run build), which fetches it again, or import its "
    "release again (vlm-loom release import) if that was imported"
)
"""Advice for an image whose file is missing or damaged."""


class ImageNotStored(UserError):
    """The store has no image with this id; the message says what to do."""

    def __init__(self, image_id: str, message: str) -> None:
        super().__init__(message)
        self.image_id = image_id


class ImageDamaged(ImageNotStored):
    """An image's file does not match its hash or cannot be decoded; the message says what to do."""


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image in the store: `path` is relative to its root, sizes are pixels of the file."""

    image_id: str
    path: str
    mime: str
    width: int
    height: int
    n_bytes: int


def open_images() -> "ImageStore":
    """Open the image store of the workspace, with the shared bucket if one is set."""
    return ImageStore(images_path(), shared_files())


class ImageStore:
    """Images under `root`, as `ab/abcdef….ext` by the SHA-256 of their bytes.

    Any number of threads and processes may read and write: a file appears under its name completely or
    not at all. A file is verified when it is first used, and again when its size, time or inode
    changed.

    If machines share a bucket, an image is uploaded before it is written to `root`, and missing or
    damaged files are downloaded from the bucket.

    Methods that read an image raise ImageNotStored if it is not in the store, also for an invalid id,
    and ImageDamaged. `side` and `max_side` are the largest width and height in pixels.
    """

    def __init__(self, root: str | Path, shared: SharedFiles | None = None) -> None:
        self.root = Path(root)
        self._shared = shared
        self.whole = FileStates()
        """The states in which files were verified."""
        self._thumbnails: _Cache[bytes] = _Cache(THUMBNAIL_CACHE_BYTES)
        self._data_urls: _Cache[str] = _Cache(DATA_URL_CACHE_BYTES)

    def put(self, data: bytes) -> StoredImage:
        """Store an image's bytes unchanged. Storing them again changes nothing.

        Only the header is checked. Raises methods.ingest.image_check.ImageRejected
        if it is not that of an image.
        """
        header = read_header(data)
        image_id = hashlib.sha256(data).hexdigest()
        relative = f"{image_id[:2]}/{image_id}.{EXTENSION_OF[header.mime]}"
        target = self.root / relative
        if not (target.is_file() and self._is_whole_file(image_id, target)):
            if self._shared is not None:
                self._shared.put(f"{SHARED}/{relative}", data)
            write_atomically(target, data)
            self.whole.remember({image_id: state_of(target)})
        return StoredImage(
            image_id, relative, header.mime, header.width, header.height, header.n_bytes
        )

    def path(self, image_id: str) -> Path:
        """Return the path of an image's file, verified."""
        path = self._find(image_id)
        if not self._is_whole_file(image_id, path) and self._fetched(image_id) is None:
            raise _damaged(path)
        return path

    def _find(self, image_id: str) -> Path:
        if path := self._file_of(image_id):
            return path
        raise ImageNotStored(
            image_id, f"There is no image {image_id[:80]!r} in {self.root}: {FETCH_ANEW}."
        )

    def _file_of(self, image_id: str) -> Path | None:
        # Ids come back from URLs and tables, so they are checked before they are used in a path.
        if _IMAGE_ID.fullmatch(image_id):
            for extension in EXTENSION_OF.values():
                path = self.root / image_id[:2] / f"{image_id}.{extension}"
                if path.is_file():
                    return path
            return self._fetched(image_id)
        return None

    def _fetched(self, image_id: str) -> Path | None:
        """Download an image from the bucket. Returns its path; None if it is not there."""
        if self._shared is None:
            return None
        for extension in EXTENSION_OF.values():
            relative = f"{image_id[:2]}/{image_id}.{extension}"
            data = self._shared.get(f"{SHARED}/{relative}", MOST_SHARED)
            if data is not None and hashlib.sha256(data).hexdigest() == image_id:
                write_atomically(self.root / relative, data)
                return self.root / relative
        return None

    def _is_whole_file(self, image_id: str, path: Path) -> bool:
        return self._is_whole(image_id, state_of(path), lambda: path.open("rb"))

    def _is_whole(
        self, image_id: str, state: FileState, opened: Callable[[], io.BufferedIOBase]
    ) -> bool:
        """Tell whether a file matches its hash. It is only read if its state is not remembered."""
        if self.whole.get([image_id]).get(image_id) == state:
            return True
        with opened() as file:
            whole = hashlib.file_digest(file, "sha256").hexdigest() == image_id
        if whole:
            self.whole.remember({image_id: state})
        return whole

    def has(self, image_id: str) -> bool:
        """Tell whether the image is stored and its file is not damaged."""
        try:
            self.path(image_id)
        except ImageNotStored:
            return False
        return True

    def relative_path(self, image_id: str) -> str:
        """Return the path of an image's file relative to the store's root."""
        return self.path(image_id).relative_to(self.root).as_posix()

    def read(self, image_id: str) -> bytes:
        """Return the image's original bytes."""
        path = self._find(image_id)
        state = state_of(path)
        data = path.read_bytes()
        if not self._is_whole(image_id, state, lambda: io.BytesIO(data)):
            return self.path(image_id).read_bytes()
        return data

    def thumbnail(self, image_id: str, side: int = 96) -> bytes:
        """Return a JPEG thumbnail."""
        return self._thumbnails.get(
            (image_id, side), lambda: _jpeg(_shrunk(image_id, self.read(image_id), side))
        )

    def thumbnail_base64(self, image_id: str, side: int) -> str | None:
        """Return a base64-encoded thumbnail; None if the image is not stored."""
        if self._file_of(image_id) is None:
            return None
        return base64.b64encode(self.thumbnail(image_id, side)).decode()

    def jpeg_base64(self, image_id: str, max_side: int) -> str:
        """Return a `data:image/...;base64,` URL of an image.

        An upright RGB JPEG or PNG within the size limit is used unchanged; other images become a JPEG
        of quality 90, with transparency on white.
        """
        return self._data_urls.get(
            (image_id, max_side), lambda: _data_url(image_id, self.read(image_id), max_side)
        )

    def are_at_hand(self, image_ids: Iterable[str], max_side: int) -> bool:
        """Tell whether the data URLs of all images are cached.

        Args:
            image_ids: The images.
            max_side: The largest width and height in pixels.
        """
        return all((image_id, max_side) in self._data_urls for image_id in image_ids)

    def sent_size(self, image_id: str, max_side: int) -> tuple[int, int]:
        """Return the size of an image in its data URL: width and height in pixels."""
        with _opened(image_id, self.path(image_id)) as image:
            sides = size_as_shown(image)
        part = min(1.0, max_side / max(sides))
        return max(1, round(sides[0] * part)), max(1, round(sides[1] * part))

    def grid_base64(self, image_ids: Sequence[str], max_side: int) -> str:
        """Return a `data:image/jpeg;base64,` URL of a grid that shows several images with their
        numbers, a JPEG of quality 90.
        """
        ids = tuple(image_ids)

        def make() -> str:
            # An image is decoded once, as items may show it many times.
            shrunk = cache(
                lambda image_id, longest: _shrunk(image_id, self.read(image_id), longest)
            )
            grid = draw_grid(len(ids), max_side, lambda place, longest: shrunk(ids[place], longest))
            return _as_url("image/jpeg", _jpeg(grid))

        return self._data_urls.get((ids, max_side), make)


def _damaged(path: Path) -> ImageDamaged:
    return ImageDamaged(
        path.stem,
        f"The stored image {path} is damaged (its {path.stat().st_size} bytes are not those that it is "
        f"named by): {FETCH_ANEW}.",
    )


@contextmanager
def _opened(image_id: str, file: Path | io.BytesIO) -> Iterator[Image.Image]:
    """Open a stored image. Errors of Pillow, also those in the block, become ImageDamaged."""
    try:
        with truncated_on_error("image"), Image.open(file) as image:
            yield image
    except ImageRejected as error:
        raise ImageDamaged(
            image_id,
            f"The stored image {image_id} cannot be used ({error.detail.rstrip('.')}): remove it from "
            "the shard or the release that has it, and ingest or import that again.",
        ) from None


def _as_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _data_url(image_id: str, data: bytes, max_side: int) -> str:
    with _opened(image_id, io.BytesIO(data)) as image:
        mime = _PASSED_ON.get(image.format or "")
        as_it_is = (
            mime is not None
            and image.mode == "RGB"
            and "transparency" not in image.info
            and max(image.size) <= max_side
            and upright_transpose(image) is None
        )
    if not as_it_is:
        mime, data = "image/jpeg", _jpeg(_shrunk(image_id, data, max_side))
    return _as_url(mime or "image/jpeg", data)


def _shrunk(image_id: str, data: bytes, max_side: int) -> Image.Image:
    """Return the first frame, upright, shrunk to `max_side`."""
    with _opened(image_id, io.BytesIO(data)) as image:
        # Lets the JPEG decoder skip detail that resizing would drop.
        image.draft("RGB", (2 * max_side, 2 * max_side))
        shown = upright_rgb(image)
    shown.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    return shown


def _jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


class _Cache(Generic[Sized]):
    """A thread-safe LRU cache of values with together at most `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._values: OrderedDict[Hashable, Sized] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Hashable, Future[Sized]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], Sized]) -> Sized:
        """Return the value of a key. The first caller makes it, and concurrent callers wait."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.get(key)
            mine = None if making else self._making.setdefault(key, Future())
        if making:
            return making.result()
        assert mine is not None
        try:
            value = make()
        except BaseException as error:
            mine.set_exception(error)
            with self._lock:
                del self._making[key]
            raise
        with self._lock:
            del self._making[key]
            self._values[key] = value
            self._n_bytes += len(value)
            while self._n_bytes > self._max_bytes:
                _, dropped = self._values.popitem(last=False)
                self._n_bytes -= len(dropped)
        mine.set_result(value)
        return value


OPEN_AT_ONCE = 16


class DerivedImage(NamedTuple):
    """A stored image that was derived from others, with a description of the change."""

    image_id: str
    made_from: tuple[str, ...]
    change: str


class DerivedImages:
    """Opens stored images and stores derived ones. `created` has the origin of each new id."""

    def __init__(self, store: ImageStore) -> None:
        self.created: dict[str, DerivedImage] = {}
        self._store = store
        self._opened: OrderedDict[str, Image.Image] = OrderedDict()

    def open(self, image_id: str) -> Image.Image:
        """Open an image, upright and in RGB. Raises ImageNotStored."""
        if image_id not in self._opened:
            with _opened(image_id, io.BytesIO(self._store.read(image_id))) as image:
                self._opened[image_id] = upright_rgb(image)
            if len(self._opened) > OPEN_AT_ONCE:
                self._opened.popitem(last=False)
        return self._opened[image_id]

    def keep(self, picture: Image.Image, made_from: Sequence[str], change: str) -> str:
        """Store an image as JPEG; equal images are stored once.

        Args:
            picture: The image.
            made_from: The ids of its source images.
            change: A description of the change.
        """
        image_id = self._store.put(_jpeg(picture)).image_id
        # If two tasks derive the same image, the origin of the first one stays.
        self.created.setdefault(image_id, DerivedImage(image_id, tuple(made_from), change))
        return image_id
