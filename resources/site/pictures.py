"""Pictures of the static site: a thumbnail of each, made once, and the picture itself."""

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
"""Pixels; shown at half the size, so that they are sharp on fine screens."""
THUMBS, PICTURES = "thumbs", "pictures"
_THREADS = 4


@dataclass(frozen=True)
class ImagePaths:
    """Paths of a picture below `thumbs/` and `pictures/`."""

    thumb: str
    picture: str


class SiteImages:
    """The pictures below a folder; they stay from one site to the next."""

    def __init__(self, folder: Path, store: ImageStore) -> None:
        self._folder, self._store = folder, store

    def put(self, image_ids: Iterable[str]) -> dict[str, ImagePaths]:
        """Put pictures there; those whose file is missing or damaged are left out."""
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
    """Whether a file is there, as long as its source if it has one, else not empty."""
    n_bytes = target.stat().st_size if target.is_file() else 0
    return n_bytes > 0 and (source is None or n_bytes == source.stat().st_size)


def _appear(target: Path, write: Callable[[Path], object]) -> None:
    """Let a file appear whole. It can be made again, so nobody waits for the disk."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        write(draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _same_file(source: Path, draft: Path) -> None:
    """The file under a second name, or a copy of it where the disk has no second names."""
    try:
        os.link(source, draft)
    except OSError:
        shutil.copyfile(source, draft)
