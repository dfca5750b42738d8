"""A folder of WIT shards on disk.

What belongs here: finding shards, opening them, and the page categories and images that stand
beside them. What does not: what a row is (`methods/wit.py`) and what an image is
(`resources/image_source.py`).

    FOLDER/*.tsv[.gz]  or  FOLDER/shards/*.tsv[.gz]    the shards, 17 columns each
    FOLDER/categories.jsonl                            {"page_title": ..., "categories": [...]}
    FOLDER/images/                                     the images by name, if mirrored
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from methods.wit import MAX_LINE_BYTES, Rejection, WitRow, parse_lines

SUFFIXES = (".tsv", ".tsv.gz")


class WitSourceError(Exception):
    """The folder or a file in it cannot be used; the message says what to do."""


class WitFolder:
    """The shards under `path`. Nothing is opened before it is asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def images_folder(self) -> Path | None:
        """The folder with the images' files, or None where there is none."""
        folder = self.path / "images"
        return folder if folder.is_dir() else None

    def shards(self) -> list[str]:
        """Names of the shards, sorted; a shard's name is its file's, without .tsv or .tsv.gz.

        Raises WitSourceError if the folder is missing or two files give one name.
        """
        return sorted(self._files())

    def read(self, shard: str) -> Iterator[WitRow | Rejection]:
        """Stream a shard's lines as rows and rejections, holding one line at a time.

        Raises WitSourceError at once if there is no such shard, and while reading if the file has
        no WIT header or is damaged.
        """
        files = self._files()
        if shard not in files:
            known = ", ".join(sorted(files)[:10]) or "none"
            raise WitSourceError(
                f"There is no shard {shard!r} in {self.path}: use one of those there ({known}) "
                "or put the file there."
            )
        return _rows(shard, files[shard])

    def categories(self) -> dict[str, list[str]]:
        """Category names by page title, in the file's order; {} where there is no file.

        Raises WitSourceError if a line is not of the form above.
        """
        path = self.path / "categories.jsonl"
        if not path.is_file():
            return {}
        found: dict[str, list[str]] = {}
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    title, names = _category_line(path, number, line)
                    known = found.setdefault(title, [])
                    known.extend(name for name in dict.fromkeys(names) if name not in known)
        return found

    def _files(self) -> dict[str, Path]:
        if not self.path.is_dir():
            raise WitSourceError(
                f"There is no folder {self.path}: make it and put WIT shards (.tsv or .tsv.gz) "
                "there, or configure another one."
            )
        files: dict[str, Path] = {}
        for folder in (self.path, self.path / "shards"):
            for path in sorted(folder.glob("*")):
                name = _shard_name(path.name)
                if name is None or not path.is_file():
                    continue
                if name in files:
                    raise WitSourceError(
                        f"{files[name]} and {path} are both shard {name!r}: remove one of them."
                    )
                files[name] = path
        return files


def _shard_name(file_name: str) -> str | None:
    for suffix in SUFFIXES:
        name = file_name.removesuffix(suffix)
        if name != file_name and name and not name.startswith("."):
            return name
    return None


def _rows(shard: str, path: Path) -> Iterator[WitRow | Rejection]:
    last_line = 0
    try:
        opener = gzip.open if path.name.endswith(".gz") else open
        with cast(BinaryIO, opener(path, "rb")) as file:
            for item in parse_lines(_lines(file)):
                last_line = item.line_number
                yield item
    except (OSError, EOFError, zlib.error) as error:
        # gzip.BadGzipFile is an OSError; a file cut short is an EOFError.
        raise WitSourceError(
            f"Shard {shard!r} cannot be read beyond line {last_line} ({error}): "
            f"replace {path} with an intact copy."
        ) from error
    except ValueError as error:
        raise WitSourceError(
            f"Shard {shard!r} is not in WIT's form: give {path} its header line. {error}"
        ) from error


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of the file; of an endless one only as much as shows that it is too long."""
    limit = MAX_LINE_BYTES + 2
    while line := file.readline(limit):
        yield line
        while len(line) == limit and not line.endswith(b"\n"):
            line = file.readline(limit)


def _category_line(path: Path, number: int, line: bytes) -> tuple[str, list[str]]:
    try:
        record = json.loads(line)
        title, names = record["page_title"], record["categories"]
        if not isinstance(title, str) or not isinstance(names, list):
            raise TypeError("the title is no text or the categories are no list")
        if not all(isinstance(name, str) for name in names):
            raise TypeError("a category is no text")
    except (ValueError, KeyError, TypeError) as error:
        raise WitSourceError(
            f"Line {number} of {path} cannot be used ({error}): it must be "
            '{"page_title": text, "categories": [texts]}.'
        ) from error
    return title, names
