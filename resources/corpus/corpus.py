"""The corpus: a folder of shards, and files with further facts about their Wikipedia pages and images.

FOLDER/*.tsv[.gz], *.parquet  or  FOLDER/shards/...   shards in the format of WIT or wit_base
FOLDER/corpus.yaml                                    further shards, filters (`settings.py`)
FOLDER/categories.jsonl                               {"page_title": ..., "categories": [...]}
FOLDER/images/                                        the images by path or name, if mirrored
"""

import re
from functools import cached_property
from pathlib import Path

from methods.errors import printable
from methods.ingest.image_filters import parse_exclusions
from methods.json_text import from_json, is_unicode
from methods.naming import listed, nearest
from methods.web_address import cut_address, without_query
from resources.corpus.settings import CorpusError, CorpusSettings, load_settings
from resources.corpus.shard import FileShard, Shard
from resources.corpus.tsv import TsvShard
from resources.corpus.wikipedia_shard import WikipediaShard
from resources.corpus.wit_base import WitBaseShard
from resources.files.bounded import open_file, open_text
from resources.web.host_pauses import HostPauses
from resources.wikipedia import Wikipedia

KINDS: dict[str, type[FileShard]] = {
    ".tsv": TsvShard,
    ".tsv.gz": TsvShard,
    ".parquet": WitBaseShard,
}
"""The kind of shard by the suffix of its file."""
_ADDRESS = re.compile(r"https?://[^/].+|hf://.+\.parquet")

CATEGORIES = "categories.jsonl"
MOST_CHARACTERS = 20_000
"""The most characters of the categories of a title: each page with this title repeats them. The names
of a hundred categories have some 3,000, and each name counts as one character more."""
DOWNLOADS, WIKIPEDIA = "downloads", "wikipedia"
"""Folders in the workspace for fetched files."""


class Corpus:
    """The shards under `path`. Downloads are kept in the workspace `home`; `pauses`
    are shared with other clients.

    Files are opened when they are needed. Every method raises CorpusError for
    errors that a person must fix.
    """

    def __init__(self, path: str | Path, home: Path, pauses: HostPauses | None = None) -> None:
        self.path = Path(path)
        self._home = home
        self._pauses = pauses

    @cached_property
    def settings(self) -> CorpusSettings:
        """The settings in `corpus.yaml`."""
        return load_settings(self.path)

    @property
    def images_folder(self) -> Path | None:
        """The folder with the image files, or None."""
        folder = self.path / "images"
        return folder if folder.is_dir() else None

    def shards(self) -> list[str]:
        """List the names of the shards, sorted: a file's name without its suffix,
        or the name in `corpus.yaml`.

        A missing folder and two shards with the same name are errors.
        """
        return sorted(self._shards())

    def shard(self, name: str) -> Shard:
        """Find a shard by its name."""
        shards = self._shards()
        if name not in shards:
            raise CorpusError(
                f"There is no shard {name!r} in {self.path}; {nearest(name, shards)}: use one of "
                "these, or put the file there."
            )
        return shards[name]

    def left_out(self) -> str | None:
        """Describe files that are named like shards but not read; None if there are none."""
        reasons = {
            repr(path.relative_to(self.path).as_posix()): reason
            for path in self._candidates()
            if (reason := _why_left_out(path))
        }
        if not reasons:
            return None
        named = listed([f"{name} {reason}" for name, reason in reasons.items()])
        return f"Files in {self.path} that are not read as shards: {named}."

    def changing(self) -> list[str]:
        """List the shards whose content may change elsewhere: all that are not local files."""
        return [
            name
            for name, shard in sorted(self._shards().items())
            if not isinstance(shard, FileShard) or "://" in shard.address
        ]

    def categories(self) -> dict[str, list[str]]:
        """Read the category names by page title, in the file's order; empty if there is no file.

        Raises:
            CorpusError: A line cannot be used, or a title has more than MOST_CHARACTERS of categories.
        """
        path = self.path / CATEGORIES
        if not path.is_file():
            return {}
        categories: dict[str, dict[str, None]] = {}
        with open_file(path) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    title, names = _category_line(path, number, line)
                    of_title = categories.setdefault(title, {})
                    of_title.update(dict.fromkeys(names))
                    if sum(map(len, of_title)) + len(of_title) > MOST_CHARACTERS:
                        raise CorpusError(
                            f"Line {number} of {path} cannot be used: the categories of its page "
                            f"have more than {MOST_CHARACTERS:,} characters; remove some."
                        )
        return {title: list(names) for title, names in categories.items()}

    def excluded(self) -> dict[str, str]:
        """Read the digests of images to exclude, each with the name of its list."""
        digests: dict[str, str] = {}
        for name in self.settings.images.exclude:
            path = self.path / name
            try:
                with open_text(path) as file:
                    digests |= parse_exclusions(file, name)
            except (OSError, ValueError) as error:
                raise CorpusError(
                    f"The exclusion list {path} cannot be used ({error}): put the list there as "
                    "md5sum or sha256sum writes it, or take its name out of corpus.yaml."
                ) from error
        return digests

    @cached_property
    def wikipedia(self) -> Wikipedia:
        """The client of Wikipedia, with the contact from `corpus.yaml` in its requests."""
        settings, folder = self.settings.wikipedia, self._home / WIKIPEDIA
        return Wikipedia(settings.contact, api=settings.api, folder=folder, pauses=self._pauses)

    def _shards(self) -> dict[str, Shard]:
        if not self.path.is_dir():
            raise CorpusError(
                f"There is no folder {self.path}: make it and put WIT shards (.tsv or .tsv.gz) "
                "there, or configure another one."
            )
        shards: dict[str, Shard] = {}
        files = [str(path) for path in self._candidates() if _why_left_out(path) is None]
        for address in [*files, *map(_readable, self.settings.shards)]:
            name, kind = _name_and_kind(address)
            self._add(shards, kind(name, address, self._home / DOWNLOADS))
        for name, pages in self.settings.wikipedia.shards.items():
            api = self.settings.wikipedia.api
            self._add(shards, WikipediaShard(name, pages, lambda: self.wikipedia, api))
        return shards

    def _candidates(self) -> list[Path]:
        """List all paths that are named like a shard."""
        return [
            path
            for folder in (self.path, self.path / "shards")
            for path in sorted(folder.glob("*"))
            if not path.name.startswith(".") and _suffix(path.name)
        ]

    @staticmethod
    def _add(shards: dict[str, Shard], shard: Shard) -> None:
        if not _is_plain(shard.name):
            raise CorpusError(
                f"The name of the shard {shard.name!r} in corpus.yaml has control characters: give it "
                "another name."
            )
        if shard.name in shards:
            raise CorpusError(
                f"{shards[shard.name].address} and {shard.address} are both shard "
                f"{shard.name!r}: rename one of them."
            )
        shards[shard.name] = shard


def _readable(address: str) -> str:
    """Check an address in `corpus.yaml`. Raises CorpusError if no shard can be read from it."""
    if not _ADDRESS.fullmatch(address) or not _suffix(_file_name(address)):
        raise CorpusError(
            f"The shard {cut_address(address)} in corpus.yaml cannot be read: give an http or "
            f"https address whose path ends in {', '.join(KINDS)}, or an hf address that ends in "
            ".parquet."
        )
    return address


def _why_left_out(path: Path) -> str | None:
    if not _is_plain(path.name):
        return "has control characters in its name"
    if path.is_file():
        return None
    if path.is_dir():
        return "is a folder"
    return "is a pipe or a device" if path.exists() else "is a link that leads nowhere"


def _is_plain(name: str) -> bool:
    """Tell whether a name is printable, on one line and without a tab."""
    return printable(name) == name and len(name.splitlines()) == 1 and "\t" not in name


def _suffix(file_name: str) -> str:
    fitting = (suffix for suffix in KINDS if file_name.endswith(suffix) and file_name != suffix)
    return max(fitting, key=len, default="")


def _file_name(address: str) -> str:
    return without_query(address).rpartition("/")[2]


def _name_and_kind(address: str) -> tuple[str, type[FileShard]]:
    file_name = _file_name(address)
    suffix = _suffix(file_name)
    return file_name.removesuffix(suffix), KINDS[suffix]


def _category_line(path: Path, number: int, line: bytes) -> tuple[str, list[str]]:
    try:
        record = from_json(line)
        title, names = record.get("page_title"), record.get("categories")
        if not isinstance(title, str) or not isinstance(names, list):
            raise TypeError("the title is not a text or the categories are not a list")
        if not all(isinstance(name, str) for name in names):
            raise TypeError("a category is not a text")
        if not all(map(is_unicode, [title, *names])):
            raise TypeError("a text has half a character")
    except (ValueError, AttributeError, TypeError) as error:
        raise CorpusError(
            f"Line {number} of {path} cannot be used ({error}): it must be "
            '{"page_title": text, "categories": [texts]}.'
        ) from error
    return title, names
