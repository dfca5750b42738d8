"""Images that workers elsewhere take in: the same as those that are taken in here, and known after."""

import hashlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits
from methods.ingest.image_quality import ImageFacts, measure_image
from resources.images import intake
from resources.images.fetcher import ImageFetcher
from resources.images.host_pace import HostPace
from resources.images.index import FetchedImage, ImageIndex
from resources.images.intake import ImageIntake, ImageResult, OnWorkers, WantedImage
from resources.images.store import ImageStore, open_images
from tests.resources.images.upload_double import PICTURE, busy, html, ok, picture, status

Store = Callable[[pa.Table], None]


@pytest.fixture
def fetcher() -> ImageFetcher:
    return ImageFetcher(allow_private=True, timeout=5.0, backoff=0.01)


@pytest.fixture
def fetch(
    loom_home: Path, fetcher: ImageFetcher, monkeypatch: pytest.MonkeyPatch
) -> Callable[[pa.Table], pa.Table]:
    """What a worker does with rows; its pace is kept in this process."""
    monkeypatch.setattr(intake, "ClusterPace", HostPace)
    return intake.fetch_on_worker(**fetcher.settings())


def taken(
    path: Path, store: ImageStore, fetcher: ImageFetcher, on: OnWorkers | None, *images: WantedImage
) -> list[tuple[WantedImage, ImageResult | str]]:
    """The images in the order of their URLs; of those rejected the reason."""
    with closing(ImageIndex(path)) as index:
        found = ImageIntake(fetcher, store, index, ImageLimits(min_side=10), {}, on).take(images)
        return sorted(
            (
                (image, result.reason if isinstance(result, ImageRejected) else result)
                for image, result in found
            ),
            key=lambda pair: pair[0].url,
        )


def test_workers_give_what_is_given_here_and_it_is_not_asked_for_again(
    uploads, fetcher, fetch, loom_home, tmp_path
):
    """Two rows want one address, one image is rejected by its bytes, two are not had."""

    def wanted() -> list[WantedImage]:
        names = {"one.png": [ok(picture(1))], "shaky.png": [busy(), status(502), ok(picture(2))]}
        names |= {"page.png": [html()], "gone.png": [status(404)]}
        urls = [uploads.serve(name, *answers) for name, answers in names.items()]
        images = [WantedImage(url, url) for url in [*urls, "ftp://example.org/a.png"]]
        return [*images, WantedImage("https://example.org/original.png", urls[0], "0" * 40)]

    def on_workers(rows: pa.Table, store: Store) -> None:
        asked.extend(rows["address"].to_pylist())
        for start in range(0, rows.num_rows, 2):
            store(fetch(rows.slice(start, 2)))

    asked: list[str] = []
    here = taken(tmp_path / "here", ImageStore(tmp_path / "images"), fetcher, None, *wanted())
    index = loom_home / "image_index.sqlite"
    there = taken(index, open_images(), fetcher, on_workers, *wanted())

    assert there == here and len(here) == 6
    reasons = [result for _, result in here if isinstance(result, str)]
    assert reasons == ["unreachable", "missing", "not_an_image"]
    assert len(asked) == len(set(asked)) == 5
    asked.clear()
    before = len(uploads.log)
    assert taken(index, open_images(), fetcher, on_workers, *wanted()) == here
    assert {url.rpartition("/")[2] for url in asked} == {"a.png", "gone.png", "page.png"}
    assert len(uploads.log) == before + 2


def test_what_workers_left_is_fetched_here_and_an_earlier_runs_block_is_recorded(
    uploads, fetcher, fetch, loom_home, monkeypatch
):
    """They may have had too few rows to begin. Files that they stored are not read again."""
    mine, earlier = (uploads.serve(f"{n}.png", ok(picture(n))) for n in range(2))
    block = fetch(pa.table({"address": [earlier]}))
    file, store = loom_home / "index.sqlite", open_images()

    found = taken(file, store, fetcher, lambda _, record: record(block), WantedImage(mine, mine))

    assert [image.url for image, _ in found] == [mine]
    with closing(ImageIndex(file)) as index:
        assert index.entries([mine, earlier]).keys() == {mine, earlier}
    assert uploads.asked == {"0.png": 1, "1.png": 1}
    monkeypatch.setattr(hashlib, "file_digest", None)
    ((_, facts),) = taken(file, store, fetcher, None, WantedImage(earlier, earlier))
    assert store.relative_path(facts.image_id).endswith(".png")


def test_facts_of_an_earlier_version_are_made_anew_from_the_stored_file(uploads, tmp_path):
    store = ImageStore(tmp_path / "images")
    stored = store.put(PICTURE)
    facts = measure_image(PICTURE)
    with closing(ImageIndex(tmp_path / "index.sqlite")) as index:
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


def test_equal_images_are_checked_once(tmp_path, monkeypatch):
    """A file of kilobytes may have a thousand records with the same large image."""
    measured = []

    def measure(data: bytes) -> ImageFacts:
        measured.append(data)
        return measure_image(data)

    monkeypatch.setattr(intake, "measure_image", measure)
    monkeypatch.setattr(intake, "MOST_REMEMBERED", 2)
    lost = ImageRejected("missing", "It is away.")
    arrived = [PICTURE, b"no image", lost, PICTURE, b"no image", lost]
    results = [
        result
        for _, result in intake.check_images(enumerate(arrived), ImageStore(tmp_path), n_threads=2)
    ]
    assert results[::3] == [measure_image(PICTURE)] * 2
    assert [result.reason for result in results[1:3]] == ["not_an_image", "missing"]
    assert results[1].__traceback__ is None, "it would keep the bytes"
    assert results[4:] == results[1:3] and sorted(measured) == sorted({PICTURE, b"no image"})
    other = PICTURE + b"\0"
    list(intake.check_images(enumerate([PICTURE, b"", other, PICTURE]), ImageStore(tmp_path), 1))
    assert measured[2:] == [PICTURE, b"", other, PICTURE], "results are forgotten beyond the limit"
