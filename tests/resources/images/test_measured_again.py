"""An image that an earlier version measured is measured again from the store, and not fetched."""

from contextlib import closing
from dataclasses import asdict

from methods.ingest.image_filters import ImageLimits
from methods.ingest.image_quality import ImageFacts, measure_image
from resources.images.fetcher import ImageFetcher
from resources.images.index import FetchedImage, ImageIndex
from resources.images.intake import ImageIntake, ImageResult, WantedImage
from resources.images.store import ImageStore
from tests.resources.images.upload_double import PICTURE, ok, serving_uploads


def test_facts_of_an_earlier_version_are_made_anew_from_the_stored_file(tmp_path):
    store = ImageStore(tmp_path / "images")
    stored = store.put(PICTURE)
    facts = measure_image(PICTURE)
    with closing(ImageIndex(tmp_path / "index.sqlite")) as index, serving_uploads() as uploads:
        url = uploads.serve("owl.png", ok())
        earlier = {name: value for name, value in asdict(facts).items() if name != "contrast"}
        index.record([FetchedImage(url, stored.image_id, earlier)])
        intake = ImageIntake(
            ImageFetcher(allow_private=True), store, index, ImageLimits(), excluded={}
        )

        def taken() -> list[ImageResult]:
            return [result for _, result in intake.take([WantedImage(url, url)])]

        assert taken() == [facts]
        assert uploads.log == []
        assert ImageFacts(**index.entries([url])[url].facts) == facts

        # A damaged file is fetched again.
        index.record([FetchedImage(url, stored.image_id, earlier)])
        store.path(stored.image_id).write_bytes(PICTURE[:100])
        assert taken() == [facts]
        assert len(uploads.log) == 1
