"""Images over HTTP, in Parquet and by shared names: checked, refused by reason, never fetched twice.

The server is real and on the loopback address, which the settings allow or forbid.
"""

import base64
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from dagster_project import resources
from resources.files.home import REPO_ROOT
from resources.images.fetcher import ImageFetcher
from resources.images.index import ImageIndex
from resources.images.intake import RECORDED_AT_ONCE
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, WitLine, file_name, sample_rows
from tests.assets.ingesting import (
    ANY_LOSS,
    ANY_LOSS_OF_IMAGES,
    ingest_part,
    rejected,
    table,
    wit_line,
    write_settings,
    write_tsv,
)
from tests.assets.world import Result, World
from tests.resources.images.upload_double import Exchange, UploadDouble, ok, picture, status

pytestmark = pytest.mark.slow

ASSETS = ("wit_rows", "pages", "images")
LIMITS = {"min_side": 300}
"""Every picture of the server is 256 pixels wide and high."""
Make = Callable[..., World]


@pytest.fixture
def make(make_world: MakeWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A world with one shard, `far`, of a page for each of these URLs; its fetcher is impatient."""
    quick = partial(ImageFetcher, timeout=1.0, backoff=0.01)
    monkeypatch.setattr(resources, "ImageFetcher", quick)

    def make(urls: list[str], allow_private: bool = True, **environment: str) -> World:
        folder = tmp_path / "corpus"
        write_tsv(folder / "far.tsv", [wit_line(url.rpartition("/")[2], url) for url in urls])
        write_settings(folder, images={"allow_private_addresses": allow_private})
        return make_world(tmp_path, Corpus(folder), **environment)

    return make


def taken(world: World) -> set[str]:
    """URLs of the images that are in the table; each is in the store as well."""
    rows = table(world, "images")
    assert all(world.images.has(row["image_id"]) for row in rows)
    return {row["image_url"] for row in rows}


def test_by_default_no_address_of_this_machine_is_asked(make: Make, uploads: UploadDouble) -> None:
    url = uploads.serve("a.png", ok())
    world = make([url], allow_private=False)
    assert ingest_part(world, "far", *ASSETS, config=ANY_LOSS_OF_IMAGES).success
    assert rejected(world, "image") == {url: "private_address"}
    assert uploads.log == []


def test_what_was_fetched_is_not_fetched_again(make: Make, uploads: UploadDouble) -> None:
    good = uploads.serve("good.png", ok(picture(1)))
    lost = uploads.serve("lost.png", ok(picture(2)))
    late = uploads.serve("late.png", status(404), ok(picture(3)))
    world = make([good, lost, late])
    run = partial(ingest_part, world, "far", *ASSETS, config=ANY_LOSS_OF_IMAGES)

    assert run().success
    assert rejected(world, "image") == {late: "missing"}
    # Another run asks for what was refused, and for what is no longer in the store.
    (row,) = [row for row in table(world, "images") if row["image_url"] == lost]
    world.images.path(row["image_id"]).unlink()
    assert run().success
    assert taken(world) == {good, lost, late}
    assert uploads.asked == {"good.png": 1, "lost.png": 2, "late.png": 2}

    # Other limits are other judgments on the same facts.
    write_settings(world.corpus.folder, images={"allow_private_addresses": True, "limits": LIMITS})
    assert run().success
    assert set(rejected(world, "image").values()) == {"too_small"}
    assert len(uploads.log) == 5


MATERIALIZE = """
    import dagster as dg
    from dagster_project.definitions import build_defs
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("wit_shard", ["far"])
        job = build_defs().resolve_job_def("ingest")
        job.execute_in_process(instance=instance, partition_key="far")
"""


def test_a_run_that_was_killed_goes_on_from_where_it_was(make: Make, uploads: UploadDouble) -> None:
    """A hundred images, the last of which keeps the server waiting until the run is dead."""
    dead = threading.Event()

    def hold(exchange: object) -> None:
        dead.wait(240)
        ok(picture(99))(exchange)

    urls = [uploads.serve(f"{number:02}.png", ok(picture(number))) for number in range(99)]
    urls.append(uploads.serve("99.png", hold))
    world = make(urls)
    with world.environment():
        environment = {**os.environ, "PYTHONPATH": str(REPO_ROOT)}
    command = [sys.executable, "-c", textwrap.dedent(MATERIALIZE)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with (
        closing(ImageIndex(world.home / "image_index.sqlite")) as index,
        subprocess.Popen(command, cwd=world.root, env=environment, **quiet) as run,
    ):
        try:
            deadline = time.monotonic() + 240
            while len(known := set(index.entries(urls))) < RECORDED_AT_ONCE:
                assert run.poll() is None and time.monotonic() < deadline
                time.sleep(0.02)
        finally:
            run.kill()
            run.wait()
            dead.set()
        assert run.returncode == -signal.SIGKILL
        assert set(index.entries(urls)) == known
    assert table(world, "images") == []
    assert list((world.home / "staging").glob("*/*")) != []

    before = uploads.asked
    assert world.ingest("far").success
    assert taken(world) == set(urls)
    again = {name for name, n_times in (uploads.asked - before).items() if n_times}
    assert again == {url.rpartition("/")[2] for url in urls if url not in known}
    assert list((world.home / "staging").glob("*/*")) == []


def test_passwords_in_addresses_are_sent_to_the_mirror_and_stored_nowhere(make, uploads, capfd):
    sent = []

    def guarded(exchange: Exchange) -> None:
        sent.append((exchange.headers["Authorization"], exchange.path.partition("?")[2]))
        ok()(exchange)

    uploads.serve("a.png", guarded)
    uploads.serve("b.png", guarded)
    mirror = uploads.base.replace("//", "//ada:s3cr%40et@") + "?token=t0ken"
    urls = [
        "https://bob:hidd3n@example.org/x/a.png",
        "https://example.org/y/b.png?width=3&access_token=hidd3n",
        "https://bob:hidd3n@example.org/x/none.png",
        "ftp://bob:hidd3n@example.org/x/a.png",
    ]
    world = make([], LOOM_IMAGES=mirror)
    rows = [wit_line(f"Page {number}", url) for number, url in enumerate(urls)]
    write_tsv(world.corpus.folder / "far.tsv", rows)
    # The second run takes them out of the store.
    runs = [ingest_part(world, "far", *ASSETS, config=ANY_LOSS) for _ in range(2)]
    assert all(run.success for run in runs)
    basic = "Basic " + base64.b64encode(b"ada:s3cr@et").decode()
    assert sent == [(basic, "token=t0ken")] * 2
    assert {row["image_url"]: row["fetched_from"] for row in table(world, "images")} == {
        "https://example.org/x/a.png": f"{uploads.base}/a.png",
        "https://example.org/y/b.png?width=3": f"{uploads.base}/b.png",
    }
    kept = [path for path in world.home.rglob("*") if path.is_file()]
    assert {"image_index.sqlite", "warehouse.duckdb"} <= {path.name for path in kept}
    everything = b"".join(path.read_bytes() for path in kept) + "".join(capfd.readouterr()).encode()
    logged = "".join(str(event) for run in runs for event in run.all_events).encode()
    for secret in (b"s3cr", b"t0ken", b"hidd3n", basic.encode()):
        assert secret not in everything + logged, secret


ROWS = sample_rows("balloon", "butterfly")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def at(row: WitLine, path: str) -> WitLine:
    return {**row, "image_url": f"https://images.example.org/{path}"}


def ingested(world: World, shard: str) -> Result:
    return ingest_part(world, shard, "wit_rows", "pages", "images", config=ANY_LOSS)


def images(world: World) -> set[str]:
    return {row["image_url"] for row in world.rows("SELECT image_url FROM ingest.images")}


def test_an_address_of_another_shard_counts_and_that_shard_is_named(world, corpus, capfd):
    name = file_name(ROWS[0])
    first, second = at(ROWS[0], f"a/{name}?v=1"), at(ROWS[1], f"a/{name}?v=2")
    corpus.write_shard("one", ROWS[:1])
    corpus.write_shard("one", [first, *ROWS[2:5]])
    corpus.write_shard("two", [second, *ROWS[5:8]])
    assert ingested(world, "one").success
    assert first["image_url"] in images(world)
    capfd.readouterr()
    assert ingested(world, "two").success
    assert f"Images of the shard one have file names that addresses of two have, too ({name})" in (
        "".join(capfd.readouterr())
    )
    assert ingested(world, "one").success
    assert not {first["image_url"], second["image_url"]} & images(world)
