"""The real sample in WIT's form, where it is there: nothing of it is lost, everything is measured."""

import csv
import gzip
import hashlib
from collections import Counter

import pytest

from resources.files.home import REPO_ROOT
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, WitLine, file_name
from tests.assets.ingesting import rejected, table
from tests.assets.world import World

pytestmark = pytest.mark.slow

SAMPLE = REPO_ROOT.parent / "shared" / "data" / "wit_sample"


@pytest.fixture(scope="module")
def ingested(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The sample in a home of its own, with the default limits of pictures."""
    if not SAMPLE.is_dir():
        pytest.skip(f"the WIT sample is not at {SAMPLE}: only made-up corpora can be tested")
    root = tmp_path_factory.mktemp("sample")
    corpus = Corpus(root / "corpus")
    corpus.folder.mkdir()
    for name in ("wit_sample.tsv.gz", "categories.jsonl", "images"):
        (corpus.folder / name).symlink_to(SAMPLE / name)
    world = make_world(root, corpus)
    assert world.ingest("wit_sample").success
    return world


@pytest.fixture(scope="module")
def lines(ingested: World) -> list[WitLine]:
    """Its rows as Python's own reader has them."""
    with gzip.open(SAMPLE / "wit_sample.tsv.gz", "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_every_row_is_a_row(ingested: World, lines: list[WitLine]) -> None:
    assert rejected(ingested, "row") == {}
    told = ingested.told("ingest/wit_rows")
    assert told["dagster/row_count"] + told["rejected"] == len(lines) == 178
    rows = ingested.rows("FROM ingest.wit_rows ORDER BY line_number")
    for name in ("language", "page_url", "image_url", "page_title", "context_page_description"):
        assert [row[name] or "" for row in rows] == [line[name] for line in lines]
    titles = {(line["page_url"], line["page_title"]) for line in lines}
    pages = table(ingested, "pages")
    assert {(row["page_url"], row["title"]) for row in pages} == titles
    assert all(page["categories"] for page in pages)


def test_every_image_is_measured_or_left_out_as_it_shows_nothing(ingested, lines):
    """Ten pictures of 148, which docs/results/image-limits.md lists; their rows are accounted for."""
    images = {row["image_url"]: row for row in table(ingested, "images")}
    refused = rejected(ingested, "image")
    of_url = {line["image_url"]: line for line in lines}
    assert images.keys() | refused.keys() == of_url.keys() and len(of_url) == 148
    for url, row in images.items():
        data = (SAMPLE / "images" / file_name(of_url[url])).read_bytes()
        assert row["image_id"] == hashlib.sha256(data).hexdigest()
        assert row["mime_type"] == of_url[url]["mime_type"]
        sides = (of_url[url]["original_width"], of_url[url]["original_height"])
        # Nothing in the sample asks to be turned, so what is shown is what is stored.
        assert (str(row["width"]), str(row["height"])) == sides and not row["rotated"]
        assert 0 <= row["entropy"] <= 8 and 0 < row["brightness"] <= 255
        assert ingested.images.read(row["image_id"]) == data
    found = {url.rpartition("/")[2]: reason for url, reason in refused.items()}
    assert Counter(found.values()) == {"faint": 6, "blurred": 2, "blank": 1, "too_long": 1}
    page = (REPO_ROOT / "docs" / "results" / "image-limits.md").read_text(encoding="utf-8")
    assert all(f"| {name} | {reason} |" in page for name, reason in found.items())
    told = ingested.told("ingest/entries")
    assert told["dagster/row_count"] + told["rows left out"] == 178
    # The two rows in Portuguese have pictures of the sky of Jupiter and of the Sun, which are blurs.
    assert len(ingested.rows("SELECT DISTINCT language FROM ingest.entries")) == 9
