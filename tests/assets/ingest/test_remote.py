"""A shard of wit_base: Parquet that brings its images along."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.ingesting import ANY_LOSS, ingest_part, rejected, table, write_settings
from tests.assets.world import metadata
from tests.resources.images.upload_double import UploadDouble, ok, picture

pytestmark = pytest.mark.slow


def page(language: str, title: str) -> dict[str, object]:
    return {
        "language": language,
        "page_title": title,
        "page_url": f"https://{language}.wikipedia.org/wiki/{title}",
        "caption_title_and_reference_description": f"{title} [SEP] This is {title}",
        "context_page_description": f"{title} is a bird.",
    }


def record(url: str, data: bytes | None, *pages: dict, mime_type: str = "image/png") -> dict:
    """An image with the pages it stands on."""
    return {
        "image": {"bytes": data, "path": None},
        "image_url": url,
        "mime_type": mime_type,
        "original_height": 3000,
        "original_width": 4000,
        "caption_attribution_description": "English: A bird",
        "wit_features": list(pages),
    }


def test_wit_base_brings_its_images_along(
    make_world: MakeWorld, tmp_path: Path, uploads: UploadDouble
) -> None:
    """They are pictures 300 pixels wide, made of the originals: a drawing's is a PNG."""
    owl, drawn, far = (uploads.base + name for name in ("/o.png", "/d.svg", "/f"))
    uploads.serve("f", ok())
    records = [
        record(owl, picture(1), page("en", "Owl"), page("de", "Eule")),
        record(drawn, picture(2), page("en", "Owl"), mime_type="image/svg+xml"),
        record(far, None, page("en", "Sparrow")),
        record(owl, picture(1)),
    ]
    corpus = Corpus(tmp_path / "corpus")
    write_settings(corpus.folder, images={"allow_private_addresses": True})
    pq.write_table(pa.Table.from_pylist(records), corpus.folder / "base.parquet")
    world = make_world(tmp_path, corpus)

    assert world.ingest("base", ANY_LOSS).success
    assert set(rejected(world, "row").values()) == {"no_page"}
    # Only the one that the file has no bytes of is fetched.
    assert uploads.asked == {"f": 1}
    # The type of a drawing's rendition does not contradict the type of its row.
    images = [(row["image_url"], row["stated_mime_type"]) for row in table(world, "images")]
    assert sorted(images) == [(url, None) for url in sorted([owl, drawn, far])]
    found = [(row["title"], row["caption"]) for row in table(world, "entries")]
    titles = ["Eule", "Owl", "Owl", "Sparrow"]
    assert sorted(found) == [(title, f"This is {title}") for title in titles]

    again = ingest_part(world, "base", "wit_rows")
    assert metadata(again, "ingest/wit_rows")["unchanged shards"] == 1
