"""The real sample in WIT's form, where it is there: nothing of it is lost, everything is measured."""

import csv
import gzip
import hashlib
import math
from collections import Counter
from collections.abc import Callable

import pytest

from resources.files.home import REPO_ROOT
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, WitLine, file_name
from tests.assets.ingesting import rejected, table, write_settings
from tests.assets.world import Result, World, metadata

pytestmark = pytest.mark.slow

DEFAULT_LIMITS = (
    "max_aspect",
    "min_side",
    "min_visible",
    "min_contrast",
    "min_entropy",
    "min_blur",
)
SAMPLE = REPO_ROOT.parent / "shared" / "data" / "wit_sample"


Ingest = Callable[[dict[str, object]], tuple[World, Result]]


@pytest.fixture(scope="module")
def ingest(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> Ingest:
    """The sample in a home of its own, with these settings of its pictures."""
    if not SAMPLE.is_dir():
        pytest.skip(f"the WIT sample is not at {SAMPLE}: only made-up corpora can be tested")

    def run(images: dict[str, object]) -> tuple[World, Result]:
        root = tmp_path_factory.mktemp("sample")
        corpus = Corpus(root / "corpus")
        write_settings(corpus.folder, images=images)
        for name in ("wit_sample.tsv.gz", "categories.jsonl", "images"):
            (corpus.folder / name).symlink_to(SAMPLE / name)
        world = make_world(root, corpus)
        return world, world.ingest("wit_sample")

    return run


@pytest.fixture(scope="module")
def ingested(ingest: Ingest) -> tuple[World, Result]:
    """The sample with all its pictures, whatever is to be seen on them."""
    return ingest({"limits": dict.fromkeys(DEFAULT_LIMITS)})


@pytest.fixture(scope="module")
def lines() -> list[WitLine]:
    """Its rows as Python's own reader has them."""
    if not SAMPLE.is_dir():
        pytest.skip(f"the WIT sample is not at {SAMPLE}")
    with gzip.open(SAMPLE / "wit_sample.tsv.gz", "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_every_row_is_a_row(ingested: tuple[World, Result], lines: list[WitLine]) -> None:
    world, run = ingested
    assert run.success
    assert rejected(world, "row") == {}
    told = metadata(run, "ingest/wit_rows")
    assert told["dagster/row_count"] + told["rejected"] == len(lines) == 178
    rows = world.rows("FROM ingest.wit_rows ORDER BY line_number")
    for name in ("language", "page_url", "image_url", "page_title", "context_page_description"):
        assert [row[name] or "" for row in rows] == [line[name] for line in lines]
    titles = {(line["page_url"], line["page_title"]) for line in lines}
    assert {(row["page_url"], row["title"]) for row in table(world, "pages")} == titles
    assert all(page["categories"] for page in table(world, "pages"))


def test_every_image_is_decoded_and_measured(ingested, lines):
    world, _ = ingested
    assert rejected(world, "image") == {}
    images = {row["image_url"]: row for row in table(world, "images")}
    of_url = {line["image_url"]: line for line in lines}
    assert len(images) == len(of_url) == 148
    for url, row in images.items():
        line = of_url[url]
        data = (SAMPLE / "images" / file_name(line)).read_bytes()
        assert row["image_id"] == hashlib.sha256(data).hexdigest()
        assert row["md5"] == hashlib.md5(data).hexdigest()
        assert row["mime_type"] == line["mime_type"]
        # Nothing in the sample asks to be turned, so what is shown is what is stored.
        assert not row["rotated"]
        assert (row["width"], row["height"]) == (
            int(line["original_width"]),
            int(line["original_height"]),
        )
        assert row["n_bytes"] == len(data)
        assert math.isclose(row["aspect"], row["width"] / row["height"])
        assert 0 <= row["entropy"] <= 8 and 0 < row["brightness"] <= 255
        assert world.images.read(row["image_id"]) == data
    # Only where there is nothing to be sharp: white lines on white, and a strip two pixels high.
    flat = {url.rpartition("/")[2] for url, row in images.items() if row["blur"] == 0}
    assert flat == {"skyculture_aztec_aztec0.png", "solarsystem_saturn_rings_radial.png"}
    assert len({row["phash"] for row in images.values()}) > 140


def test_the_default_limits_leave_out_what_shows_nothing(ingest: Ingest) -> None:
    """Ten pictures of 148, which docs/results/image-limits.md lists; their rows are accounted for."""
    world, run = ingest({})
    assert run.success
    found = {url.rpartition("/")[2]: reason for url, reason in rejected(world, "image").items()}
    assert Counter(found.values()) == {"faint": 6, "blurred": 2, "blank": 1, "too_long": 1}
    page = (REPO_ROOT / "docs" / "results" / "image-limits.md").read_text(encoding="utf-8")
    assert all(f"| {name} | {reason} |" in page for name, reason in found.items())
    told = metadata(run, "ingest/entries")
    assert told["dagster/row_count"] + told["rows left out"] == 178
    # The two rows in Portuguese have pictures of the sky of Jupiter and of the Sun, which are blurs.
    languages = world.rows("SELECT DISTINCT language FROM ingest.entries")
    assert len(languages) == 9
