"""Rows of a wiki that repeat the text of their page or of their file."""

import tracemalloc
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from methods.wikimedia.facts import FileFacts, PageFacts, PageImage
from resources.corpus.settings import CorpusError, WikipediaPages
from resources.corpus.wikipedia_shard import WikipediaShard

API = "https://en.wikipedia.org/w/api.php"


def page(number: int, title: str, extract: str) -> PageFacts:
    url = f"https://en.wikipedia.org/wiki/{title}"
    return PageFacts(title, "en", title, number, 7, url, (), extract)


def file(title: str, description: str) -> FileFacts:
    url = f"https://upload.wikimedia.org/{title}"
    names = (None, None, None, None)
    return FileFacts(
        title, title, url, None, 40, 30, 100, "image/jpeg", "0" * 40, *names, description
    )


def shard_of(
    n_images: dict[str, int], extract: str = "An owl.", description: str = "An owl."
) -> WikipediaShard:
    """Pages with the same text and so many images of them, which all have the same description."""
    pages = {title: page(number, title, extract) for number, title in enumerate(n_images)}
    images = {
        title: tuple(PageImage(f"File:{number}.jpg", "An owl", 0, False) for number in range(n))
        for title, n in n_images.items()
    }

    def files(_shard: str, _language: str, titles: list[str], _: object) -> dict[str, FileFacts]:
        return {title: file(title, description) for title in titles}

    wikipedia = Mock(pages=lambda *_: pages, page_images=lambda *_: images, files=files)
    return WikipediaShard("owls", WikipediaPages(pages=list(pages)), lambda: wikipedia, API)


def test_a_page_that_would_fill_the_disk_is_rejected_and_the_others_are_read(
    tmp_path: Path,
) -> None:
    """A megabyte of text with a thousand images is a gigabyte of rows."""
    shard = shard_of({"Owl": 1_000, "Elm": 20}, extract="An owl. " * 100_000)
    shard.fetch(lambda _: None)
    staged = shard.stage(tmp_path)
    assert (staged.n_rows, staged.reasons) == (20, {"too_long": 1})
    (rejected,) = pq.read_table(staged.rejected.paths[0]).to_pylist()
    assert (rejected["reference"], rejected["excerpt"]) == ("record 1", "Owl")
    assert rejected["detail"] == (
        "The rows of its 1,000 images, which all repeat the text of the page, have over 20 times the "
        "characters of the page: choose other pages under wikipedia.shards in corpus.yaml."
    )


def test_a_file_that_would_fill_the_disk_is_rejected_and_the_others_are_read(
    tmp_path: Path,
) -> None:
    """The first file is on 40 pages, the second on 20: with a long description, that is the limit."""
    n_images = {f"Owl{number}": 1 + (number < 20) for number in range(40)}
    shard = shard_of(n_images, description="An owl. " * 30_000)
    shard.fetch(lambda _: None)
    staged = shard.stage(tmp_path)
    assert (staged.n_rows, staged.reasons) == (20, {"too_long": 40})
    urls = pa.ipc.open_stream(staged.rows.path).read_all()["image_url"].unique().to_pylist()
    assert urls == ["https://upload.wikimedia.org/File:1.jpg"]
    (rejected, *_) = pq.read_table(staged.rejected.paths[0]).to_pylist()
    assert rejected["excerpt"] == "File:0.jpg" and "shorten its description" in rejected["detail"]


def test_a_shard_is_hashed_without_the_text_of_all_its_rows() -> None:
    """The 20 rows of a page share its text of 900 kB."""
    shard = shard_of({"Owl": 20, "Elm": 20}, extract="x" * 900_000)
    tracemalloc.start()
    first = shard.fetch(lambda _: None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 15_000_000
    assert shard.fetch(lambda _: None) == first
    assert shard_of({"Owl": 20, "Elm": 19}, extract="x" * 900_000).fetch(lambda _: None) != first


def test_a_page_with_many_images_is_taken_while_its_rows_are_small() -> None:
    """The rows have 100 times the text of the page, 4 MB; rows of 6 MB are too large."""
    shard_of({"Owl": 100}, extract="x" * 40_000).fetch(lambda _: None)
    with pytest.raises(CorpusError, match=r"has no row of en.wikipedia.org \(1 too_long\)"):
        shard_of({"Owl": 100}, extract="x" * 60_000).fetch(lambda _: None)
