"""Broken rows and shards, as files."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from methods.ingest.wit import COLUMNS, MAX_LINE_BYTES
from resources.corpus.corpus import Corpus
from resources.corpus.settings import CorpusError
from resources.corpus.shard import Shard
from tests.resources.broken_outcomes import Case, Outcome, Refused, Stopped, Taken

HEADER = "\t".join(COLUMNS).encode() + b"\n"
SOUND = {
    **dict.fromkeys(COLUMNS, ""),
    "language": "en",
    "page_url": "https://en.wikipedia.org/wiki/Owl",
    "image_url": "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg",
    "page_title": "Owl",
    "original_height": "300",
    "original_width": "400",
    "is_main_image": "true",
    "context_page_description": "An owl is a bird.",
}
SHARD = HEADER + b"\t".join(value.encode() for value in SOUND.values()) + b"\n"


def line(end: bytes = b"\n", **values: str) -> bytes:
    """A line of a shard that differs from a sound one in these columns."""
    return "\t".join((SOUND | values)[name] for name in COLUMNS).encode() + end


def read(shard: Shard, folder: Path) -> tuple[int, list[dict[str, str]]]:
    """Number of rows in a shard, and what was refused."""
    shard.fetch(lambda _: None)
    staging = folder / "staging"
    staging.mkdir()
    staged = shard.stage(staging)
    if staged.broken:
        raise CorpusError(staged.broken)  # As `ingest/wit_rows` does.
    refused = [row for path in staged.rejected.paths for row in pq.read_table(path).to_pylist()]
    assert staged.reasons == {row["reason"]: 1 for row in refused}
    return staged.n_rows, refused


def outcome_of(shard: Shard, folder: Path) -> Outcome:
    """What becomes of a shard one record of which is broken."""
    n_rows, refused = read(shard, folder)
    # A sound one stands before it and one behind it.
    if not refused:
        assert n_rows == 3
        return Taken("it is read like any other row")
    ((row,), n_others) = refused, n_rows
    assert n_others == 2
    return Refused("row", row["reference"], row["reason"], row["detail"])


def of_line(broken: bytes, before: bytes = HEADER) -> Callable[[Path], Outcome]:
    """A shard in which this line stands between two sound ones."""

    def feed(folder: Path) -> Outcome:
        (folder / "owls.tsv").write_bytes(before + line() + broken + line())
        return outcome_of(Corpus(folder, folder).shard("owls"), folder)

    return feed


ROWS = [
    Case("A line of fifteen columns", of_line(line().rsplit(b"\t", 2)[0] + b"\n")),
    Case("A tab in a text without quotes", of_line(line(page_title="Owl\tstone"))),
    Case("An empty line", of_line(b"\n")),
    Case(
        "A byte that is not valid UTF-8",
        of_line(line(page_title="Cafe").replace(b"Cafe", b"Caf\xe9")),
    ),
    Case("A width of `12px`", of_line(line(original_width="12px"))),
    Case("A height of ten digits", of_line(line(original_height="1000000000"))),
    Case("A boolean of `yes`", of_line(line(is_main_image="yes"))),
    Case("No page title", of_line(line(page_title=" "))),
    Case("No image address", of_line(line(image_url=""))),
    Case("An image address of `ftp://`", of_line(line(image_url="ftp://example.org/owl.jpg"))),
    Case(
        "A space in a page's address", of_line(line(page_url="https://en.wikipedia.org/wiki/ Owl"))
    ),
    Case("An unclosed double quote", of_line(line(section_title='"Owls'))),
    Case("A quote inside a text", of_line(line(section_title='A 5" owl'))),
    Case(
        "A quote inside quotes that is not doubled",
        of_line(line(section_title='"Owls" and kites"')),
    ),
    Case("Spaces and null bytes around a title", of_line(line(page_title="\0 Owl\u00a0"))),
    Case("A line of more than 1,000,000 bytes", of_line(line(section_title="x" * MAX_LINE_BYTES))),
    Case("A line break inside quotes", of_line(line(section_title='"Owls\nat night"'))),
    Case("A null byte in a text", of_line(line(section_title="Owls\0at night"))),
    Case("Windows line endings", of_line(line(b"\r\n"))),
    Case("A byte order mark", of_line(line(), b"\xef\xbb\xbf" + HEADER)),
]

PAGE = {"language": "en", "page_title": "Owl", "page_url": "https://en.wikipedia.org/wiki/Owl"}
IMAGE_URL = "https://upload.wikimedia.org/wikipedia/commons/a/ab/Owl.jpg"


def record(pages: dict[str, list[str]], image_url: str | None = IMAGE_URL) -> dict:
    """A record of wit_base; the pages' values are in a list for each column."""
    return {
        "image": {"bytes": b"", "path": None},
        "image_url": image_url,
        "mime_type": "image/jpeg",
        "original_height": 300,
        "original_width": 400,
        "caption_attribution_description": None,
        "wit_features": {name: pages.get(name, []) for name in PAGE},
    }


def of_record(broken: dict) -> Callable[[Path], Outcome]:
    """The same with a record of wit_base."""

    def feed(folder: Path) -> Outcome:
        sound = record({name: [value] for name, value in PAGE.items()})
        table = pa.Table.from_pylist([sound, broken, sound])
        pq.write_table(table, folder / "owls.parquet")
        return outcome_of(Corpus(folder, folder).shard("owls"), folder)

    return feed


RECORDS = [
    Case(
        "A wit_base record with lists of different lengths",
        of_record(
            record({**{name: [value] for name, value in PAGE.items()}, "language": ["en", "de"]})
        ),
    ),
    Case("A wit_base record without a page", of_record(record({}))),
    Case(
        "A wit_base record without an image address",
        of_record(record({name: [value] for name, value in PAGE.items()}, None)),
    ),
]


def of_files(files: dict[str, bytes], shard: str = "owls") -> Callable[[Path], Outcome]:
    """A corpus of these files, of which this shard is read."""

    def feed(folder: Path) -> Outcome:
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return stopped(folder, shard)

    return feed


def stopped(folder: Path, shard: str) -> Outcome:
    try:
        read(Corpus(folder, folder).shard(shard), folder)
    except CorpusError as error:
        return Stopped("ingest/wit_rows", str(error))
    raise AssertionError("The shard was read.")


def no_folder(folder: Path) -> Outcome:
    return stopped(folder / "not there", "owls")


MANY = HEADER + b"".join(line(page_title=f"Owl {number:x}") for number in range(5_000))
PACKED = gzip.compress(MANY)
# Its checksum, so that the error is that of every zlib.
DAMAGED = PACKED[:-8] + bytes(4) + PACKED[-4:]
SHUFFLED = b"\t".join(sorted(HEADER.strip().split(b"\t"))) + b"\n"


def parquet(rows: list[dict]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


SHARDS = [
    Case("A truncated gzip shard", of_files({"owls.tsv.gz": PACKED[:-2_000]})),
    Case("A gzip shard with a damaged byte", of_files({"owls.tsv.gz": DAMAGED})),
    Case("A file named `.tsv.gz` that is not gzip", of_files({"owls.tsv.gz": SHARD})),
    Case("An empty file", of_files({"owls.tsv": b""})),
    Case("A shard without a header line", of_files({"owls.tsv": line()})),
    Case("A header with columns in another order", of_files({"owls.tsv": SHUFFLED + line()})),
    Case("A file named `.parquet` that is not Parquet", of_files({"owls.parquet": b"PAR1"})),
    Case(
        "A Parquet file of another dataset", of_files({"owls.parquet": parquet([{"text": "Owl"}])})
    ),
    Case(
        "Two files with the same shard name", of_files({"owls.tsv": SHARD, "owls.tsv.gz": PACKED})
    ),
    Case("A shard that the folder does not have", of_files({"kites.tsv": SHARD})),
    Case("A corpus folder that does not exist", no_folder),
]


def of_categories(content: bytes) -> Callable[[Path], Outcome]:
    """A corpus with this `categories.jsonl`."""

    def feed(folder: Path) -> Outcome:
        (folder / "categories.jsonl").write_bytes(content)
        try:
            Corpus(folder, folder).categories()
        except CorpusError as error:
            return Stopped("ingest/pages", str(error))
        raise AssertionError("The file was read.")

    return feed


CATEGORIES = [
    Case("A line of `categories.jsonl` that is not JSON", of_categories(b'{"page_title": \n')),
    Case(
        "A line of `categories.jsonl` without categories", of_categories(b'{"page_title": "Owl"}\n')
    ),
    Case(
        "Categories as one string instead of a list",
        of_categories(json.dumps({"page_title": "Owl", "categories": "Birds"}).encode()),
    ),
    Case(
        "A category that is a number",
        of_categories(json.dumps({"page_title": "Owl", "categories": [7]}).encode()),
    ),
]
