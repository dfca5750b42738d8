"""Ingestion: what is no row or no image is refused by name, counted, and stops only its own shard."""

from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from assets.ingest.images import LOST
from assets.ingest.wit_rows import REJECTED
from tests.assets.corpus import Corpus, file_name, raw, sample_rows
from tests.assets.ingesting import ANY_LOSS, rejected, table
from tests.assets.world import ANY_ASSETS, Row, World, made, metadata, sentence

pytestmark = pytest.mark.slow

BALLOONS = sample_rows("balloon")
BUTTERFLIES = sample_rows("butterfly")
TABLES = ("shards", "wit_rows", "pages", "images", "entries", "rejected")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two shards, `balloons` and `butterflies`, both sound."""
    corpus = Corpus(tmp_path / "corpus")
    corpus.write_shard("balloons", BALLOONS)
    corpus.write_shard("butterflies", BUTTERFLIES)
    corpus.write_categories()
    return corpus


def break_rows(corpus: Corpus) -> None:
    """Two of the six lines of `balloons` are no rows: one is short, one is Latin-1."""
    fifteen_columns = b"\t".join(raw(BALLOONS[0]).split(b"\t")[:15])
    latin_1 = raw(BALLOONS[1]).replace(b"balloon", "ball\u00f3n".encode("latin-1"), 1)
    corpus.write_shard("balloons", [*BALLOONS[:4], fifteen_columns, latin_1])


def break_images(corpus: Corpus) -> dict[str, str]:
    """Spoil three of the six pictures of `butterflies`; reason by URL."""
    truncated, text, missing = BUTTERFLIES[:3]
    file = corpus.images / file_name(truncated)
    file.write_bytes(file.read_bytes()[:400])
    (corpus.images / file_name(text)).write_bytes(b"<!doctype html><p>Not found</p>")
    (corpus.images / file_name(missing)).unlink()
    reasons = ("truncated", "not_an_image", "missing")
    return {row["image_url"]: why for row, why in zip(BUTTERFLIES[:3], reasons, strict=True)}


def tables(world: World) -> dict[str, list[Row]]:
    """Every table that ingestion writes."""
    return {name: table(world, name) for name in TABLES}


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({}, "The run names no shard for ingest/wit_rows: choose partitions in the UI, or run"),
        (
            {"dagster/partition": "baloons"},
            "ingest/wit_rows has no partition 'baloons'; the nearest is balloons: choose another",
        ),
    ],
)
def test_a_run_without_a_known_shard_says_what_to_choose(world, tags, message):
    world.instance.add_dynamic_partitions("wit_shard", ["balloons"])
    rows = dg.AssetSelection.assets(["ingest", "wit_rows"])
    assert sentence(world.run(ANY_ASSETS, assets=rows, tags=tags)).startswith(message)


def test_lines_that_are_no_rows_are_refused_with_a_reason_and_the_rest_goes_on(world, corpus):
    break_rows(corpus)
    run = world.ingest("balloons", ANY_LOSS)
    assert run.success
    assert rejected(world, "row") == {"line 6": "wrong_column_count", "line 7": "not_utf8"}
    told = metadata(run, "ingest/wit_rows")
    assert (told["dagster/row_count"], told["rejected"]) == (4, 2)
    assert "| wrong_column_count | 1 |" in told["reasons"]
    assert "| not_utf8 | 1 |" in told["reasons"]
    shown = {row["reference"]: row["excerpt"] for row in world.rows("FROM ingest.rejected")}
    assert "ball\\xf3n" in shown["line 7"]
    assert "\t" not in shown["line 6"]
    titles = {row["title"] for row in world.rows("SELECT title FROM ingest.entries")}
    assert titles == {row["page_title"] for row in BALLOONS[:4]}

    # A shard that was mended leaves nothing refused, and one that has gone keeps the rows it gave.
    corpus.write_shard("balloons", BALLOONS)
    assert world.ingest("balloons").success
    assert rejected(world, "row") == {}
    (corpus.folder / "shards" / "balloons.tsv").unlink()
    assert not world.ingest("balloons").success
    assert len(world.rows("SELECT * FROM ingest.entries")) == len(BALLOONS)


def test_a_picture_of_another_type_than_its_row_says_is_taken_and_noted(world, corpus):
    wrong, jpg = BUTTERFLIES[0], {**BUTTERFLIES[1], "mime_type": "image/PNG; q=1"}
    with Image.open(corpus.images / file_name(wrong)) as image:
        kind = "JPEG" if wrong["mime_type"] == "image/png" else "PNG"
        image.convert("RGB").save(corpus.images / file_name(wrong), kind)
    assert BUTTERFLIES[1]["mime_type"] == "image/png"
    corpus.write_shard("butterflies", [wrong, jpg, *BUTTERFLIES[2:]])
    run = world.ingest("butterflies")
    assert run.success
    assert rejected(world, "image") == {}
    stated = {row["image_url"]: row["stated_mime_type"] for row in table(world, "images")}
    assert stated == {
        row["image_url"]: wrong["mime_type"] if row is wrong else None for row in BUTTERFLIES
    }
    types = {row["image_url"]: row["mime_type"] for row in table(world, "images")}
    assert types[wrong["image_url"]] == f"image/{kind.lower()}" != wrong["mime_type"]
    assert metadata(run, "ingest/images")["types corrected"] == 1


def test_too_many_refused_rows_leave_the_earlier_ones_and_stop_what_stands_on_them(world, corpus):
    assert world.ingest("balloons").success
    before = tables(world)
    break_rows(corpus)
    run = world.ingest("balloons")
    assert not run.success
    assert sentence(run) == (
        "balloons keeps its earlier rows: 2 of 6 lines were lost (1 not_utf8, "
        f"1 wrong_column_count), and at most 20% may be. {REJECTED}"
    )
    assert made(run) == set()
    # What is wrong is listed all the same.
    assert rejected(world, "row") == {"line 6": "wrong_column_count", "line 7": "not_utf8"}
    assert tables(world) | {"rejected": before["rejected"]} == before
    # Another shard's run is not stopped by it.
    assert world.ingest("butterflies").success
    assert len(table(world, "entries")) == len(BALLOONS) + len(BUTTERFLIES)
    # The shard does not count as read: without the limit it is.
    assert world.ingest("balloons", ANY_LOSS).success
    assert len(table(world, "entries")) == 4 + len(BUTTERFLIES)


def test_too_many_lost_images_leave_the_earlier_ones_and_stop_what_stands_on_them(world, corpus):
    assert world.ingest("butterflies").success
    before = tables(world)
    lost = break_images(corpus)
    run = world.ingest("butterflies")
    assert not run.success
    why = ", ".join(f"1 {reason}" for reason in sorted(lost.values()))
    assert sentence(run) == (
        f"ingest.images keeps its earlier rows: 3 of 6 images were lost ({why}), and at most 20% "
        f"may be. {LOST}"
    )
    assert made(run) == {"ingest/wit_rows", "ingest/pages"}
    # The images that are lost are listed all the same.
    assert rejected(world, "image") == lost
    assert tables(world) | {"rejected": before["rejected"]} == before
