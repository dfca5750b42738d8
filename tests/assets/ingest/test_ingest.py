"""Ingestion: what is no row or image is refused by name, and what did not change is not read again."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from assets.common.partitions import wit_shards
from assets.ingest.images import LOST
from assets.ingest.wit_rows import REJECTED
from resources.corpus.settings import CorpusError
from resources.corpus.tsv import TsvShard
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, file_name, raw, sample_rows
from tests.assets.ingesting import (
    ANY_LOSS,
    READ_UNCHANGED,
    by_title,
    ingest_part,
    ingest_range,
    ingest_unchecked,
    rejected,
    table,
)
from tests.assets.world import ANY_ASSETS, Result, Row, World, made, metadata, sentence

pytestmark = pytest.mark.slow

BALLOONS = sample_rows("balloon")
BUTTERFLIES = sample_rows("butterfly")
TABLES = ("shards", "wit_rows", "pages", "images", "entries", "rejected")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two shards, `balloons` and `butterflies`; the first ends in a line that is no row."""
    corpus = Corpus(tmp_path / "corpus")
    corpus.write_shard("balloons", [*BALLOONS, b"a line of its own"])
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
    shown = {row["reference"]: row["excerpt"] for row in world.table("ingest.rejected")}
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
    assert len(world.table("ingest.entries")) == len(BALLOONS)


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
    others = world.table("ingest.wit_rows", wit_shard="butterflies")
    # The shard does not count as read: without the limit it is, and its rows are replaced alone.
    assert world.ingest("balloons", ANY_LOSS).success
    assert len(table(world, "entries")) == 4 + len(BUTTERFLIES)
    titles = {row["title"] for row in world.table("ingest.pages", wit_shard="balloons")}
    assert titles == {row["page_title"] for row in BALLOONS[:4]}
    assert world.table("ingest.wit_rows", wit_shard="butterflies") == others


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


def test_a_shard_of_the_same_bytes_is_not_read_again_unless_it_is_asked_for(
    world: World, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = metadata(ingest_part(world, "balloons", "wit_rows"), "ingest/wit_rows")
    assert (first["dagster/row_count"], first["rejected"], first["unchanged shards"]) == (6, 1, 0)
    rows = table(world, "wit_rows")

    def refuse(*_: object) -> None:
        raise CorpusError("The shard was read.")

    monkeypatch.setattr("resources.corpus.tsv.TsvShard.stage", refuse)
    os.utime(corpus.folder / "shards" / "balloons.tsv", (0, 0))
    again = metadata(ingest_part(world, "balloons", "wit_rows"), "ingest/wit_rows")
    # What is said of it is what was found when it was read.
    assert again == {**first, "unchanged shards": 1}
    assert table(world, "wit_rows") == rows

    asked = ingest_part(world, "balloons", "wit_rows", config=READ_UNCHANGED)
    assert sentence(asked) == "The shard was read."
    assert table(world, "wit_rows") == rows


@dataclass
class Seen:
    changed: int
    """As the run says it."""
    changes: list[Row]
    entry_ids: dict[str, str]
    """By title."""


PAGE, *OTHERS = BALLOONS
CAPTIONED = [{**OTHERS[0], "caption_reference_description": "Seen from below"}, *OTHERS[1:]]
TEXTS = ["A basket.", "A basket and a flame.", "A basket and a flame.", "A basket."]


@pytest.fixture(scope="module")
def edited(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Four ingestions of a shard whose one page has these TEXTS.

    At the third the shard has other bytes, but the page says the same: another page has a new caption,
    and keeps it.
    """
    root = tmp_path_factory.mktemp("edited")
    corpus = Corpus(root / "corpus")
    world = make_world(root, corpus)
    world.instance.add_dynamic_partitions(str(wit_shards.name), ["balloons"])
    seen = []
    for text, rest in zip(TEXTS, (OTHERS, OTHERS, CAPTIONED, CAPTIONED), strict=True):
        corpus.write_shard("balloons", [{**PAGE, "context_page_description": text}, *rest])
        run = ingest_unchecked(world, "balloons")
        assert metadata(run, "ingest/wit_rows")["unchanged shards"] == 0
        seen.append(
            Seen(
                metadata(run, "ingest/pages")["changed pages"],
                world.rows("FROM ingest.changes ORDER BY changed_at"),
                {title: row["entry_id"] for title, row in by_title(world, "entries").items()},
            )
        )
    return seen


def test_a_page_with_another_text_is_one_row_of_changes_each_time(edited: list[Seen]) -> None:
    assert [seen.changed for seen in edited] == [0, 1, 0, 1]
    assert [len(seen.changes) for seen in edited] == [0, 1, 1, 2]
    there, back = edited[-1].changes
    assert (there["text_before"], there["text_after"]) == (TEXTS[0], TEXTS[1])
    assert (back["text_before"], back["text_after"]) == (TEXTS[1], TEXTS[0])
    assert there["title"] == back["title"] == PAGE["page_title"]
    assert there["page_id"] == back["page_id"]
    assert there["changed_at"] < back["changed_at"]
    # What was written down once is not touched again.
    assert edited[1].changes == edited[2].changes == [there]


def test_the_ids_of_what_did_not_change_stay(edited: list[Seen]) -> None:
    """An id is a hash of what an entry says: with its old words it has its old id."""
    first, second, third, fourth = (seen.entry_ids for seen in edited)

    def other(one: dict[str, str], another: dict[str, str]) -> set[str]:
        assert len(one) == len(another) == 6
        return {title for title in one if one[title] != another[title]}

    assert other(first, second) == {PAGE["page_title"]}
    assert other(second, third) == {OTHERS[0]["page_title"]}
    assert other(first, fourth) == {OTHERS[0]["page_title"]}


def shown(run: Result) -> dict[tuple[str, str], Row]:
    """(table, shard) -> metadata of its materialization."""
    return {
        (event.asset_key.path[-1], str(event.partition)): {
            name: value.value for name, value in event.materialization.metadata.items()
        }
        for event in run.get_asset_materialization_events()
    }


def test_the_page_of_a_partition_shows_its_own_rows_where_a_run_had_several_shards(world, corpus):
    corpus.write_shard("balloons", BALLOONS[:4])
    shards = ("balloons", "butterflies")
    run = ingest_range(world, shards)
    assert run.success
    pages = shown(run)
    for name in ("wit_rows", "pages", "images", "entries"):
        for shard, other in (shards, shards[::-1]):
            rows = world.rows(f"FROM ingest.{name} WHERE wit_shard = $s", s=shard)
            assert pages[name, shard]["dagster/row_count"] == len(rows)
            assert other not in pages[name, shard]["preview"]
    # What the run counted by itself is of all its shards, and says so.
    assert pages["images", "balloons"]["all other counts are of"] == "balloons, butterflies"


@pytest.mark.parametrize("step", [1, -1], ids=["first", "last"])
def test_a_run_with_a_shard_that_is_damaged_for_good_is_not_tried_again_for_the_others(
    world, corpus, monkeypatch, step
):
    """Of three shards one is no shard, one is whole, and one cannot be read for now."""
    monkeypatch.setattr("assets.common.failures.RETRY_SECONDS", 0)
    monkeypatch.setattr("assets.common.failures.unattended", always := threading.Event())
    always.set()
    (corpus.folder / "shards" / "balloons.tsv").write_bytes(b"no header\n")
    corpus.write_shard("owls", BALLOONS)
    fetch = TsvShard.fetch

    def fetch_some(shard, log):
        if shard.name == "owls":
            raise CorpusError("The disk is away.", passing=True)
        return fetch(shard, log)

    monkeypatch.setattr(TsvShard, "fetch", fetch_some)
    run = ingest_range(world, ("balloons", "butterflies", "owls")[::step])
    assert sentence(run).startswith("2 of 3 shards were not read, the others were: ")
    assert not [event for event in run.all_events if event.is_step_up_for_retry]
    shards = [row["wit_shard"] for row in table(world, "wit_rows")]
    assert shards == ["butterflies"] * len(BUTTERFLIES)
