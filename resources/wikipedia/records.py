"""The files of the Wikipedia cache: an append-only JSON Lines file for each shard and kind of record.

FOLDER/<shard>.pages.jsonl, FOLDER/<shard>.files.jsonl

{"key": [language, requested title, ...], "value": {...}} a later line replaces an earlier one
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from filelock import FileLock

from methods.json_text import from_json
from methods.wikimedia.answers import Json
from methods.wikimedia.facts import FileFacts, PageFacts, PageImage
from resources.files.atomic import write_atomically
from resources.wikipedia.api_client import WikipediaError

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page at its revision; `images` is None until they are requested."""

    facts: PageFacts
    images: tuple[PageImage, ...] | None = None


Record = TypeVar("Record", bound=PageRecord | FileFacts)


class Records(Generic[Record]):
    """The records of one file; a context manager that locks the file.

    A damaged last line is dropped: its run was killed. Raises WikipediaError for other damaged lines.
    """

    def __init__(self, path: Path, decode: Callable[[Json], Record]) -> None:
        self._path = path
        self._decode = decode
        self._kept: dict[Key, Record] = {}
        self._n_lines = 0
        self._lock = FileLock(f"{path}.lock")

    def __enter__(self) -> "Records[Record]":
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            self._load()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._n_lines > len(self._kept):
                lines = (_line(key, record) for key, record in self._kept.items())
                write_atomically(self._path, b"".join(lines))
        finally:
            self._lock.release()

    def get(self, key: Key) -> Record | None:
        """Return the record of a key, or None."""
        return self._kept.get(key)

    def values(self) -> Iterable[Record]:
        return self._kept.values()

    def add(self, records: Mapping[Key, Record]) -> None:
        """Add records; they are on disk on return."""
        with self._path.open("ab") as file:
            file.writelines(_line(key, record) for key, record in records.items())
            file.flush()
            os.fsync(file.fileno())
        self._kept.update(records)
        self._n_lines += len(records)

    def _load(self) -> None:
        if not self._path.is_file():
            return
        good = 0
        *lines, cut = self._path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                content = from_json(line)
                key = tuple(map(str, content["key"]))
                record = self._decode(content["value"])
            except (ValueError, KeyError, TypeError) as error:
                if number == len(lines) and not cut:
                    cut = line
                    break
                raise WikipediaError(
                    f"Line {number} of {self._path} cannot be read ({error!r}): remove that line, "
                    "what it held is fetched again."
                ) from None
            self._kept[key] = record
            self._n_lines += 1
            good += len(line) + 1
        if cut:
            # A run was killed while it wrote: cut off the partial line, before others are appended.
            with self._path.open("r+b") as file:
                file.truncate(good)


def page_records(folder: Path, shard: str) -> Records[PageRecord]:
    """Open the cached pages of a shard.

    Args:
        folder: The folder of the cache.
        shard: The name of the shard.
    """
    return Records(_path(folder, shard, "pages"), _page_record)


def file_records(folder: Path, shard: str) -> Records[FileFacts]:
    """Open the cached files of a shard.

    Args:
        folder: The folder of the cache.
        shard: The name of the shard.
    """
    return Records(_path(folder, shard, "files"), lambda value: FileFacts(**value))


def _path(folder: Path, shard: str, kind: str) -> Path:
    if not shard or shard.startswith(".") or Path(shard).name != shard:
        raise WikipediaError(f"{shard!r} cannot name a file: give the shard another name.")
    return folder / f"{shard}.{kind}.jsonl"


def _line(key: Key, record: PageRecord | FileFacts) -> bytes:
    return json.dumps({"key": key, "value": asdict(record)}).encode() + b"\n"


def _page_record(value: dict[str, Any]) -> PageRecord:
    facts, images = value["facts"], value["images"]
    return PageRecord(
        PageFacts(
            **{
                **facts,
                "categories": tuple(facts["categories"]),
                # Records of earlier versions have no versions of a page.
                "versions": tuple(facts.get("versions", ())),
            }
        ),
        None if images is None else tuple(PageImage(**image) for image in images),
    )
