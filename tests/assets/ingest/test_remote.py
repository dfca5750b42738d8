"""A shard of wit_base: Parquet that brings its images along."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.ingesting import (
    ANY_LOSS,
    ingest_part,
    rejected,
    table,
    write_settings,
)
from tests.assets.world import World, metadata
from tests.resources.images.upload_double import UploadDouble, ok, picture, serving_uploads

pytestmark = pytest.mark.slow

Make = Callable[..., World]


@pytest.fixture
def uploads() -> Iterator[UploadDouble]:
    with serving_uploads() as uploads:
        yield uploads


@pytest.fixture
def make(make_world: MakeWorld, tmp_path: Path) -> Make:
    """A world whose corpus has these settings."""

    def make(**settings: object) -> World:
        corpus = Corpus(tmp_path / "corpus")
        write_settings(corpus.folder, **settings)
        return make_world(tmp_path, corpus)

    return make


PAGE = {
    "language": "en",
    "page_title": "Owl",
    "page_url": "https://en.wikipedia.org/wiki/Owl",
    "caption_reference_description": "An owl",
    "caption_title_and_reference_description": "Owl [SEP] An owl",
    "context_page_description": "An owl is a bird.",
    "is_main_image": True,
}
EULE = {
    **PAGE,
    "language": "de",
    "page_title": "Eule",
    "page_url": "https://de.wikipedia.org/wiki/Eule",
    "caption_reference_description": None,
    "caption_title_and_reference_description": "Eule [SEP] Eine Eule",
    "context_page_description": "Die Eule ist ein Vogel.",
}


def jpeg() -> bytes:
    buffer = io.BytesIO()
    image = Image.linear_gradient("L")
    image.paste(255, (32, 32, 96, 96))
    image.save(buffer, "JPEG")
    return buffer.getvalue()


def record(url: str, data: bytes | None, *pages: dict, **values: object) -> dict:
    """An image with the pages it stands on, each of their values in a list of its own."""
    return {
        "image": {"bytes": data, "path": None},
        "image_url": url,
        "mime_type": "image/png",
        "original_height": 3000,
        "original_width": 4000,
        "caption_attribution_description": "English: A bird",
        "metadata_url": "https://commons.example.org/about",
        "embedding": [0.5, 0.25],
        "wit_features": {name: [page[name] for page in pages] for name in PAGE},
        **values,
    }


def test_wit_base_brings_its_images_along(make: Make, uploads: UploadDouble) -> None:
    """They are pictures 300 pixels wide, made of the originals: a drawing's is a PNG."""
    owl, drawn, far = (uploads.base + name for name in ("/o.jpg", "/d.svg", "/f"))
    uploads.serve("f", ok())
    sparrow = {**PAGE, "page_title": "Sparrow", "page_url": "https://en.wikipedia.org/wiki/Sparrow"}
    records = [
        record(owl, jpeg(), PAGE, EULE, mime_type="image/jpeg"),
        record(drawn, picture(1), PAGE, mime_type="image/svg+xml"),
        record(far, None, sparrow),
        record(owl, jpeg()),
    ]
    world = make(languages=["en", "de"], images={"allow_private_addresses": True})
    pq.write_table(pa.Table.from_pylist(records), world.corpus.folder / "base.parquet")

    assert world.ingest("base", ANY_LOSS).success
    assert set(rejected(world, "row").values()) == {"no_page"}
    # Only the one that the file has no bytes of is fetched.
    assert uploads.asked == {"f": 1}
    images = {row["image_url"]: row["mime_type"] for row in table(world, "images")}
    assert images == {owl: "image/jpeg", drawn: "image/png", far: "image/png"}
    # The type of a drawing's rendition does not contradict the type of its row.
    assert {row["stated_mime_type"] for row in table(world, "images")} == {None}
    found = [(row["title"], row["language"], row["caption"]) for row in table(world, "entries")]
    assert sorted(found) == [
        ("Eule", "de", "Eine Eule"),
        ("Owl", "en", "An owl"),
        ("Owl", "en", "An owl"),
        ("Sparrow", "en", "An owl"),
    ]
    row = table(world, "wit_rows")[0]
    assert (row["original_height"], row["is_main_image"]) == (3000, True)

    again = ingest_part(world, "base", "wit_rows")
    assert metadata(again, "ingest/wit_rows")["unchanged shards"] == 1
