"""Corpora for tests: a part of the sample corpus, and whatever a test does to it."""

import csv
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from methods.ingest.wit import COLUMNS
from resources.files.home import REPO_ROOT

SAMPLE = REPO_ROOT / "resources" / "sample_corpus"
TOPICS = ("balloon", "butterfly")
"""Beginnings of picture names; six sound pictures each."""
OTHER_TOPICS = ("sailboat", "windmill")
"""The same, of the shard `others`; one more picture of the latter is in no cluster."""

WitLine = dict[str, str]


def sample_rows(*topics: str) -> list[WitLine]:
    """Sound English rows of the sample corpus whose pictures are of these topics and intact."""
    rows = []
    for shard in sorted((SAMPLE / "shards").glob("*.tsv")):
        # Two rows there are damaged on purpose, one of them in its encoding.
        with shard.open(newline="", encoding="utf-8", errors="replace") as file:
            rows += list(csv.DictReader(file, delimiter="\t"))
    return [
        row
        for row in rows
        if row["language"] == "en"
        and file_name(row).startswith(topics)
        and file_name(row) != "balloon-truncated.png"
    ]


def file_name(row: WitLine) -> str:
    return row["image_url"].rpartition("/")[2]


@dataclass(frozen=True)
class Corpus:
    """A WIT folder that a test may damage."""

    folder: Path

    @property
    def images(self) -> Path:
        return self.folder / "images"

    def write_shard(self, name: str, rows: Sequence[WitLine | bytes]) -> None:
        """Write a shard: a row as a mapping, or the raw bytes of a line that may be none."""
        self.images.mkdir(parents=True, exist_ok=True)
        (self.folder / "shards").mkdir(exist_ok=True)
        lines = ["\t".join(COLUMNS).encode()]
        for row in rows:
            if isinstance(row, bytes):
                lines.append(row)
                continue
            lines.append(raw(row))
            known = SAMPLE / "images" / file_name(row)
            if known.is_file() and not (self.images / known.name).exists():
                shutil.copyfile(known, self.images / known.name)
        (self.folder / "shards" / f"{name}.tsv").write_bytes(b"\n".join(lines) + b"\n")

    def write_categories(self) -> None:
        shutil.copyfile(SAMPLE / "categories.jsonl", self.folder / "categories.jsonl")

    def add_categories(self, title: str, categories: list[str]) -> None:
        with (self.folder / "categories.jsonl").open("a") as file:
            file.write(json.dumps({"page_title": title, "categories": categories}) + "\n")


def raw(row: WitLine) -> bytes:
    return "\t".join(row[name] for name in COLUMNS).encode()


def two_sided_corpus(folder: Path) -> Corpus:
    """The mini corpus, and two clusters of six on other topics in a shard of their own, `others`."""
    corpus = mini_corpus(folder)
    corpus.write_shard("others", sample_rows(*OTHER_TOPICS))
    return corpus


def mini_corpus(folder: Path) -> Corpus:
    """Twelve entries on two topics in one shard, `mini`, with pictures and categories."""
    corpus = Corpus(folder)
    corpus.write_shard("mini", sample_rows(*TOPICS))
    corpus.write_categories()
    return corpus
