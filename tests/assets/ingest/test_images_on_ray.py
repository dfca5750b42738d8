"""Images fetched by two workers on Ray: the rows that one process gives, each host at one pace."""

import importlib
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from assets.common import ray_jobs
from dagster_project import resources
from resources.images.fetcher import ImageFetcher
from resources.images.host_pace import HOST_CONNECTIONS
from resources.images.index import ImageIndex
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.ingesting import ingest_part, table, wit_line, write_settings, write_tsv
from tests.assets.local_ray import ON_RAY, LocalRay, one_worker_dies
from tests.assets.world import Row, World
from tests.resources.images.upload_double import (
    UploadDouble,
    busy,
    html,
    ok,
    picture,
    serving_uploads,
    status,
)

pytestmark = ON_RAY

IMAGES, PER_BLOCK, AT_ONCE = 60, 5, 40
ANSWER, PAUSE = 0.2, 1
"""Seconds that a picture takes, and of a Retry-After."""


@pytest.fixture
def uploads() -> Iterator[UploadDouble]:
    with serving_uploads() as uploads:
        yield uploads


@pytest.fixture(autouse=True)
def small_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs, one after the other; the turns of a dead worker last ten seconds."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    make_small(monkeypatch)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in any process."""
    monkeypatch.setattr(ray_jobs, "MIN_ROWS_FOR_JOB", 10)
    module = importlib.import_module("assets.ingest.images")
    monkeypatch.setattr(module, "IMAGES_PER_BLOCK", PER_BLOCK)
    monkeypatch.setattr(module, "IMAGES_AT_ONCE", AT_ONCE)
    impatient = partial(ImageFetcher, timeout=5.0, backoff=0.01)
    monkeypatch.setattr(resources, "ImageFetcher", impatient)


def served(uploads: UploadDouble) -> list[str]:
    """Images of two hosts in turn. `localhost` refuses each fifth of its own once, and asks for a
    pause; some are not to be had, or are no images."""
    urls = []
    for n in range(IMAGES):
        answers = [ok(picture(n), after=ANSWER)]
        if n % 10 == 1:
            answers.insert(0, busy(str(PAUSE)))
        if n % 20 == 2:
            answers = [status(404)]
        if n % 20 == 4:
            answers = [html()]
        urls.append(uploads.serve(f"{n}.png", *answers, host=("127.0.0.1", "localhost")[n % 2]))
    return urls


def write_corpus(folder: Path, urls: list[str]) -> Corpus:
    """One shard, `far`, with a page for each URL."""
    lines = [wit_line(f"Page {n}", url) for n, url in enumerate(urls)]
    write_tsv(folder / "far.tsv", lines)
    write_settings(folder, images={"allow_private_addresses": True})
    return Corpus(folder)


def ingested(world: World, runner: str) -> list[Row]:
    """What a run leaves in the tables."""
    config = {"ingest__images": {"config": {"runner": runner, "max_lost_share": 1.0}}}
    assert ingest_part(world, "far", "wit_rows", "pages", "images", config=config).success
    return [*table(world, "images"), *table(world, "rejected")]


def known(world: World, urls: list[str]) -> set[str]:
    """Those that the index has."""
    path = world.home / "image_index.sqlite"
    if not path.exists():
        return set()
    with closing(ImageIndex(path)) as index:
        return set(index.known(urls))


def least_span(at: list[float]) -> float:
    """Seconds that any requests take, one more than a host has at once: the last of them began when
    another one had its answer."""
    at = sorted(at)
    return min(last - first for first, last in zip(at, at[HOST_CONNECTIONS:], strict=False))


@pytest.mark.nightly
def test_a_killed_worker_costs_its_block_and_no_host_is_asked_faster_than_by_one_process(
    ray: LocalRay, uploads: UploadDouble, make_world: MakeWorld, tmp_path: Path
) -> None:
    urls = served(uploads)
    corpus = write_corpus(tmp_path / "corpus", urls)
    on_workers = make_world(tmp_path, corpus, LOOM_RAY_ADDRESS=ray.address)

    with one_worker_dies(ray, lambda: bool(known(on_workers, urls))) as killed:
        rows = ingested(on_workers, "ray")

    assert len(killed) == 1
    refused = [f"/{n}.png" for n in range(1, IMAGES, 10)]
    plain = {f"/{n}.png" for n in range(IMAGES) if n % 10 != 1 and n % 20 not in (2, 4)}
    for host in ("127.0.0.1", "localhost"):
        at = [asked.at for asked in uploads.log if asked.host == host and asked.path in plain]
        assert least_span(at) >= ANSWER
    # A refusal is the host's, whichever worker meets it.
    firsts = [min(asked.at for asked in uploads.log if asked.path == path) for path in refused]
    assert least_span(firsts) >= PAUSE
    # What one process asks for, and again what the killed worker was at.
    asked = uploads.asked
    once = {path.lstrip("/"): 2 for path in refused}
    again = {name for name, n in asked.items() if n > once.get(name, 1)}
    assert len(asked) == IMAGES and len(again) <= PER_BLOCK
    assert sum(asked.values()) - IMAGES - len(refused) <= PER_BLOCK

    served(uploads)
    assert rows == ingested(make_world(tmp_path / "here", corpus), "local")
    assert len(rows) == IMAGES and {row.get("reason") for row in rows} == {
        None,
        "missing",
        "not_an_image",
    }
    assert not list((on_workers.home / "ray").glob("rows-*/"))


# --- Dagster's process is killed -----------------------------------------------------------------
