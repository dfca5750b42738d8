"""Ingesting again: the same is not read, what changed replaces what was, and both texts are kept."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from assets.common.partitions import wit_shards
from resources.corpus.settings import CorpusError
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, WitLine, sample_rows
from tests.assets.ingesting import (
    READ_UNCHANGED,
    by_title,
    ingest_part,
    ingest_range,
    ingest_unchecked,
    table,
)
from tests.assets.world import Result, Row, World, metadata, sentence

pytestmark = pytest.mark.slow

BALLOONS = sample_rows("balloon")
BUTTERFLIES = sample_rows("butterfly")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two shards, `balloons` and `butterflies`; the first ends in a line that is no row."""
    corpus = Corpus(tmp_path / "corpus")
    corpus.write_shard("balloons", [*BALLOONS, b"a line of its own"])
    corpus.write_shard("butterflies", BUTTERFLIES)
    corpus.write_categories()
    return corpus


def forbid_reading(patch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise CorpusError("The shard was read.")

    patch.setattr("resources.corpus.tsv.TsvShard.stage", refuse)


def with_text(row: WitLine, text: str) -> WitLine:
    return {**row, "context_page_description": text}


def test_a_shard_of_the_same_bytes_is_not_read_again_unless_it_is_asked_for(
    world: World, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = metadata(ingest_part(world, "balloons", "wit_rows"), "ingest/wit_rows")
    assert (first["dagster/row_count"], first["rejected"], first["unchanged shards"]) == (6, 1, 0)
    rows = table(world, "wit_rows")

    forbid_reading(monkeypatch)
    os.utime(corpus.folder / "shards" / "balloons.tsv", (0, 0))
    again = metadata(ingest_part(world, "balloons", "wit_rows"), "ingest/wit_rows")
    # What is said of it is what was found when it was read.
    assert again == {**first, "unchanged shards": 1}
    assert table(world, "wit_rows") == rows

    asked = ingest_part(world, "balloons", "wit_rows", config=READ_UNCHANGED)
    assert sentence(asked) == "The shard was read."
    assert table(world, "wit_rows") == rows


def test_a_shard_that_changed_replaces_its_rows_and_no_others(world: World, corpus: Corpus) -> None:
    for shard in ("balloons", "butterflies"):
        assert ingest_part(world, shard, "wit_rows", "pages").success
    others = [row for row in table(world, "wit_rows") if row["wit_shard"] == "butterflies"]

    changed = {**BALLOONS[0], "caption_alt_text_description": "Another caption"}
    corpus.write_shard("balloons", [changed, *BALLOONS[2:]])
    told = metadata(ingest_part(world, "balloons", "wit_rows", "pages"), "ingest/wit_rows")

    assert (told["dagster/row_count"], told["rejected"], told["unchanged shards"]) == (5, 0, 0)
    rows = {"balloons": [], "butterflies": []}
    for row in table(world, "wit_rows"):
        rows[row["wit_shard"]].append(row)
    assert rows["butterflies"] == others
    captions = [row["caption_alt_text_description"] for row in rows["balloons"]]
    assert captions[0] == "Another caption"
    titles = {row["title"] for row in table(world, "pages") if row["wit_shard"] == "balloons"}
    assert titles == {row["page_title"] for row in [BALLOONS[0], *BALLOONS[2:]]}
    assert BALLOONS[1]["page_title"] not in titles


@dataclass
class Seen:
    """What was there after one ingestion."""

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
        corpus.write_shard("balloons", [with_text(PAGE, text), *rest])
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
