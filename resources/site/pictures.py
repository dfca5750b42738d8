"""The images of the static site: each image and its thumbnail, which is made once."""

import os
import shutil
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from resources.images.store import ImageNotStored, ImageStore

THUMBNAIL_SIDE = 240
"""Size in pixels; shown at half the size, so that thumbnails are sharp on high-density screens."""
THUMBS, PICTURES = "thumbs", "pictures"
_THREADS = 4


@dataclass(frozen=True)
class ImagePaths:
    """The paths of an image below `thumbs/` and `pictures/`."""

    thumb: str
    picture: str


class SiteImages:
    """The images below a folder of the site; they are kept when the site is written again."""

    def __init__(self, folder: Path, store: ImageStore) -> None:
        self._folder, self._store = folder, store

    def put(self, image_ids: Iterable[str]) -> dict[str, ImagePaths]:
        """Add images and return their paths by id, without images whose file is missing or damaged."""
        ids = list(dict.fromkeys(image_ids))
        with ThreadPoolExecutor(_THREADS) as threads:
            paths = threads.map(self._put, ids)
            return {image_id: shown for image_id, shown in zip(ids, paths, strict=True) if shown}

    def keep(self, image_ids: Collection[str]) -> None:
        for name in (THUMBS, PICTURES):
            for path in (self._folder / name).glob("*/*"):
                if path.stem not in image_ids:
                    path.unlink(missing_ok=True)
                    with suppress(OSError):
                        path.parent.rmdir()

    def _put(self, image_id: str) -> ImagePaths | None:
        try:
            relative = self._store.relative_path(image_id)
            thumb = Path(relative).with_suffix(".jpg").as_posix()
            target = self._folder / THUMBS / thumb
            if not _is_there(target):
                data = self._store.thumbnail(image_id, THUMBNAIL_SIDE)
                _appear(target, lambda draft: draft.write_bytes(data))
        except ImageNotStored:
            return None
        target = self._folder / PICTURES / relative
        if not _is_there(target, self._store.root / relative):
            _appear(target, lambda draft: _same_file(self._store.root / relative, draft))
        return ImagePaths(thumb, relative)


def _is_there(target: Path, source: Path | None = None) -> bool:
    """Whether a file exists and is not empty; with a source, also whether it has the source's size."""
    n_bytes = target.stat().st_size if target.is_file() else 0
    return n_bytes > 0 and (source is None or n_bytes == source.stat().st_size)


def _appear(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file atomically, without fsync, since it can be made again."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        write(draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _same_file(source: Path, draft: Path) -> None:
    """Make a hard link to a file, or copy it if the file system has no hard links."""
    try:
        os.link(source, draft)
    except OSError:
        shutil.copyfile(source, draft)
