"""A corpus in WIT's form, written from rows, and the words of WordNet that describe what is in them."""

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from PIL import Image, UnidentifiedImageError

from methods.ingest.wit import COLUMNS

MOST_ROWS = 75
MIME_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml"}
LONGEST_RUN = 3
"""Words of a caption that are looked up together."""
MOST_SENSES = 3


@dataclass(frozen=True)
class Row:
    """A picture on a page: what a row of a shard says, and the file with the picture."""

    title: str
    caption: str
    text: str
    picture: Path
    attribution: str
    categories: tuple[str, ...] = ()
    language: str = "en"


class WordNet:
    """Nouns and their meanings, read from WordNet's files `index.noun` and `data.noun`."""

    def __init__(self, index: str, data: bytes):
        self._lines = index.splitlines()
        self._data = data

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where the meanings of each noun stand, the most frequent one first."""
        found = {}
        for line in self._lines:
            if not line.startswith(" "):
                lemma, _, _, rest = line.split(" ", 3)
                n_senses = int(line.split(" ", 3)[2])
                found[lemma] = [int(place) for place in rest.split()[-n_senses:]]
        return found

    def about(self, phrase: str) -> str:
        """What the longest run of words of `phrase` that is a noun means; empty where none is."""
        words = re.findall(r"[a-z]+", phrase.lower())
        for length in range(LONGEST_RUN, 0, -1):
            for first in range(len(words) - length, -1, -1):
                lemma = "_".join(words[first : first + length])
                if len(lemma) > 2 and lemma in self._places:
                    senses = [self._gloss(place) for place in self._places[lemma][:MOST_SENSES]]
                    name = lemma.replace("_", " ")
                    return " ".join(f"{name.capitalize()}: {sense}." for sense in senses)
        return ""

    def _gloss(self, place: int) -> str:
        line = self._data[place : self._data.index(b"\n", place)].decode()
        return line.partition(" | ")[2].strip()


def some_of(rows: Iterable[Row], most: int = MOST_ROWS) -> list[Row]:
    """At most so many rows, those that hash to the lowest numbers: the same ones each time."""

    def drawn(row: Row) -> str:
        return hashlib.sha256(f"{row.language} {row.title} {row.picture.name}".encode()).hexdigest()

    return sorted(rows, key=drawn)[:most]


def write_corpus(folder: Path, rows: Sequence[Row]) -> None:
    """The rows as a shard, with their pictures and categories, in a new folder."""
    (folder / "images").mkdir(parents=True)
    with (folder / "rows.tsv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter="\t", lineterminator="\n")
        lines.writerow(COLUMNS)
        for row in rows:
            name = hashlib.sha256(str(row.picture).encode()).hexdigest()[:16]
            name += row.picture.suffix.lower()
            (folder / "images" / name).write_bytes(row.picture.read_bytes())
            values = _values(row, name)
            lines.writerow(values[column] for column in COLUMNS)
    categories = {row.title: row.categories for row in rows}
    (folder / "categories.jsonl").write_text(
        "".join(
            json.dumps({"page_title": title, "categories": names}, ensure_ascii=False) + "\n"
            for title, names in categories.items()
        ),
        encoding="utf-8",
    )


def _values(row: Row, name: str) -> Mapping[str, str]:
    width, height = _size(row.picture)
    title = _line(row.title)
    page = quote(title.replace(" ", "_"), safe="_()")
    return {
        **dict.fromkeys(COLUMNS, ""),
        "language": row.language,
        "page_url": f"https://{row.language}.wiki.example.org/wiki/{page}",
        "image_url": f"https://pictures.example.org/{name}",
        "page_title": title,
        "hierarchical_section_title": title,
        "caption_reference_description": _line(row.caption),
        "caption_attribution_description": _line(row.attribution),
        "mime_type": MIME_TYPES[row.picture.suffix.lower()],
        "original_height": str(height),
        "original_width": str(width),
        "is_main_image": "true",
        "attribution_passes_lang_id": "true",
        "page_changed_recently": "false",
        "context_page_description": _line(row.text),
        "context_section_description": _line(row.text),
    }


def _size(picture: Path) -> tuple[int, int]:
    """Width and height; 0, which is not known, of what is no bitmap."""
    try:
        with Image.open(picture) as image:
            return image.size
    except UnidentifiedImageError:
        return 0, 0


def _line(text: str) -> str:
    return " ".join(text.split())
