"""Multiple choice from entries to releases: what is written, lost, reviewed, split and held out."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest

from assets.common.tables import rows_to_arrow
from methods.choice.lettered import LETTERS
from methods.mmbench.published import read_published
from methods.mmbench.taxonomy import ENCYCLOPEDIC, abilities
from resources.files.parquet_table import tsv_lines_of
from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, Result, Row, World, data_url_hash, metadata

pytestmark = pytest.mark.slow

N_ITEMS = 10
TRANSLATIONS = dg.AssetSelection.assets(["choice", "translations"])
ITEMS = dg.AssetSelection.assets(["choice", "items"])


@dataclass
class Written:
    """A home whose items were written, reviewed by nobody and released."""

    world: World
    items: list[Row]


def items_of(world: World) -> list[Row]:
    return world.rows("SELECT * FROM choice.items ORDER BY item_id")


@pytest.fixture(scope="module")
def written(released: World, copied: CopyWorld) -> Written:
    """Not to be changed: tests go on from copies."""
    world = copied(released)
    world.write_settings({"choice": {"items": {"n_items": N_ITEMS}}})
    assert world.run(ANY_ASSETS, assets=ITEMS | TRANSLATIONS).success
    assert world.release().success
    return Written(world, items_of(world))


@pytest.fixture
def world(written: Written, copied: CopyWorld, tmp_path: Path) -> World:
    return copied(written.world, tmp_path)


def write(world: World, n_items: int = N_ITEMS) -> Result:
    run = world.run(ANY_ASSETS, {"choice__items": {"config": {"n_items": n_items}}}, assets=ITEMS)
    assert run.success
    return run


def test_items_are_of_entries_and_name_their_call_which_was_shown_its_picture_and_no_key(written):
    world, items = written.world, written.items
    of_entries = world.rows(
        "SELECT DISTINCT i.item_id FROM choice.items AS i JOIN cluster.image_sets AS s "
        "USING (set_id, entry_id, image_id)"
    )
    assert len(of_entries) == len(items) == N_ITEMS
    assert {row["ability"] for row in items} <= set(ENCYCLOPEDIC)
    assert set(Counter(row["ability"] for row in items).values()) == {1}
    calls = world.ledger.find([row["call_key"] for row in items])
    for row in items:
        said = json.loads(calls[row["call_key"]].text)
        assert said["answer"] == row["choices"][LETTERS.index(row["answer"])]
        assert said["question"] == row["question"]
        assert row["prompt_version"].startswith("mmbench/write_item@")
    asked = world.proxy.asked("item")
    assert sorted(each.images[0] for each in asked) == sorted(
        data_url_hash(world, row["image_id"]) for row in items
    )
    for each in asked:
        assert "<caption>" in each.text and "<summary>" in each.text
        assert "letter" not in each.text.partition("<ability>")[2]


def test_written_again_nothing_is_asked_and_nothing_changes(world: World, written: Written) -> None:
    write(world)
    assert items_of(world) == written.items
    assert world.proxy.requests == []
    # More of them are asked for beside those that there are, which stay as they were placed.
    write(world, N_ITEMS + 3)
    assert len(world.proxy.requests) == 3
    now = {row["item_id"]: row for row in items_of(world)}
    assert len(now) == N_ITEMS + 3
    assert [now[row["item_id"]] for row in written.items] == written.items


def test_a_reply_that_is_no_item_is_lost_by_name_and_the_others_stay(world, written):
    lost = written.items[0]
    world.forget_calls()
    shown = data_url_hash(world, lost["image_id"])
    world.proxy.rewrite(
        lambda asked: asked.images == [shown],
        lambda reply: json.dumps({**json.loads(reply), "distractors": []}),
    )

    run = write(world)

    (row,) = world.rows("SELECT * FROM choice.failed")
    assert (row["stage"], row["reason"]) == ("items", "too_few_choices")
    assert row["subject"] == f"entry {lost['entry_id']}, {lost['ability']}"
    assert row["call_key"] in world.ledger.find([row["call_key"]])
    kept = {each["item_id"] for each in items_of(world)}
    assert kept == {each["item_id"] for each in written.items} - {lost["item_id"]}
    assert "| too_few_choices | 1 |" in metadata(run, "choice/items")["reasons"]


def test_items_are_queued_with_the_content_of_their_kind(written: Written) -> None:
    queued = written.world.rows("FROM review.queue WHERE kind = 'multiple_choice' ORDER BY item_id")
    entries = {row["entry_id"]: row for row in written.world.rows("FROM ingest.entries")}
    for row, item in zip(queued, written.items, strict=True):
        assert json.loads(row["content"]) == {
            "image_ids": [item["image_id"]],
            "question": item["question"],
            "hint": None,
            "choices": dict(zip(LETTERS, item["choices"], strict=False)),
            "answer": item["answer"],
            "category": item["ability"],
        }
        entry = entries[item["entry_id"]]
        assert json.loads(row["context"]) == {
            "page_urls": [entry["page_url"]],
            "captions": [entry["caption"]],
        }


def released_items(world: World) -> dict[str, set[str]]:
    """Ids of the items of each split's current release."""
    rows = world.rows(
        "SELECT r.split, i.item_id FROM release.current JOIN release.releases AS r USING (release_id) "
        "JOIN release.items AS i USING (release_id) WHERE r.benchmark = 'mmbench'"
    )
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["split"], set()).add(row["item_id"])
    return found


def folder(world: World, name: str) -> Path:
    (found,) = (world.home / "releases").glob(f"{name}-*")
    return found


def test_approved_items_are_a_dev_and_a_test_split_beside_the_dialogues(written, released):
    current = "SELECT name, release_id FROM release.current ORDER BY name"
    names = written.world.rows(current)
    assert [row["name"] for row in names] == [
        *("mmbench-dev", "mmbench-test", "mmbench-zh-dev", "mmbench-zh-test"),
        *("mmdu", "mmdu-instruct"),
    ]
    # What was built of dialogues has the id that it had without choices.
    assert names[4:] == released.rows(current)
    splits = released_items(written.world)
    assert {split: len(items) for split, items in splits.items()} == {"dev": 4, "test": 6}
    assert splits["dev"] | splits["test"] == {row["item_id"] for row in written.items}


def test_rows_of_a_release_say_where_an_item_is_from(written: Written) -> None:
    by_id = {row["item_id"]: row for row in written.items}
    rows = written.world.rows(
        "SELECT i.item_id, i.reviewers, i.labels, r.split, t.question, t.image_positions, "
        "t.call_key, t.prompt_version, f.kind, f.reference, f.call_key AS answered, m.image_id, "
        "m.page_url, (SELECT list(c.choice ORDER BY c.position) FROM release.choices AS c "
        "WHERE c.release_id = i.release_id AND c.item_id = i.item_id) AS choices "
        "FROM release.items AS i JOIN release.releases AS r USING (release_id) "
        "JOIN release.turns AS t USING (release_id, item_id) "
        'JOIN release."references" AS f USING (release_id, item_id) '
        "JOIN release.images AS m USING (release_id, item_id) WHERE r.benchmark = 'mmbench' "
        "AND r.language = 'en'"
    )
    assert len(rows) == N_ITEMS
    for row in rows:
        item = by_id[row["item_id"]]
        assert row["question"] == f"<ImageHere>\n{item['question']}"
        assert row["image_positions"] == [1] and row["image_id"] == item["image_id"]
        assert (row["kind"], row["reference"]) == ("key", item["answer"])
        assert row["choices"] == item["choices"]
        assert row["call_key"] == row["answered"] == item["call_key"]
        assert row["prompt_version"] == item["prompt_version"]
        assert set(row["reviewers"]) == {"policy:none"} and row["page_url"]
        labels = {"category": item["ability"]}
        assert dict(row["labels"]) == {**labels, **abilities(labels), "split": row["split"]}
    (card,) = written.world.rows("FROM release.releases WHERE name = 'mmbench-test'")
    versions = [version.partition("@")[0] for version in card["prompt_versions"]]
    assert versions == ["mmbench/write_item", "mmdu/summary"]
    assert card["language"] == "en" and card["writers"] == ["offline-writer"]
    file = folder(written.world, "mmbench-dev") / "mmbench.tsv"
    for published in read_published(file.name, file.open(newline="")):
        key = by_id[published.item_id]["answer"]
        assert published.turns[0].references == {"key": key}, "dev is exported with its answers"


@pytest.mark.parametrize("name", ["mmbench-test", "mmbench-zh-test"])
def test_no_file_of_the_test_split_has_an_answer(written: Written, name: str) -> None:
    world, exported = written.world, folder(written.world, name)
    texts = {
        file.name: file.read_bytes().decode(errors="replace")
        for file in exported.rglob("*")
        if file.is_file() and file.parent.name != "images"
    }
    for packed_name in ("mmbench.parquet", "mmbench-circular.parquet"):
        # What is packed is looked at, too.
        texts[packed_name] += all_of_parquet(exported / packed_name)
    for table_name in ("mmbench.tsv", "mmbench-circular.tsv"):
        packed = tsv_lines_of((exported / table_name).with_suffix(".parquet"))
        for lines in (texts[table_name].splitlines(keepends=True), packed):
            items = list(read_published(table_name, lines))
            assert len(items) == 6 and all(not item.turns[0].references for item in items)
    tables = json.loads(texts["tables.json"])
    assert tables["references"] == [] and len(tables["items"]) == 6
    assert "held out" in texts["README.md"]
    # The seed would tell where right choices are likely to stand.
    assert "seed" not in json.loads(texts["card.json"])["settings"]["choice.items"]
    test = released_items(world)["test"]
    for item in (row for row in written.items if row["item_id"] in test):
        said = world.ledger.find([item["call_key"]])[item["call_key"]].text
        # The reply has the right choice apart.
        key = json.dumps(item["answer"])
        for file, text in texts.items():
            assert said not in text and json.dumps(said) not in text, file
            assert f'"reference": {key}' not in text and f'"answer": {key}' not in text, file
    # This home keeps the key: it can score.
    (kept,) = world.rows(
        'SELECT count(*) AS n FROM release."references" JOIN release.releases USING (release_id) '
        "WHERE split = 'test' AND name = $n",
        n=name,
    )
    assert kept["n"] == 6


def all_of_parquet(file: Path) -> str:
    """Every text of a Parquet file: cells, metadata of the file and of the schema, statistics."""
    meta, table = pq.read_metadata(file), pq.read_table(file)
    assert meta.metadata is None and table.schema.metadata is None
    columns = [
        meta.row_group(group).column(column)
        for group in range(meta.num_row_groups)
        for column in range(meta.num_columns)
    ]
    assert not any(column.is_stats_set for column in columns)
    assert table.column("answer").null_count == table.num_rows
    return json.dumps([table.to_pylist(), str(meta), str(meta.schema)], ensure_ascii=False)


def test_what_a_person_changed_is_no_calls_text_any_more(world: World, written: Written) -> None:
    item = written.items[0]
    rows = world.rows("FROM review.approved")
    (row,) = (row for row in rows if row["item_id"] == item["item_id"])
    content = json.loads(row["content"])
    other = next(letter for letter in content["choices"] if letter != content["answer"])
    row["content"] = json.dumps({**content, "answer": other})
    world.warehouse.replace("review.approved", rows_to_arrow("review.approved", rows))

    assert world.run("release").success

    (row,) = world.rows(
        "SELECT t.call_key AS asked, f.call_key AS answered, f.reference "
        'FROM release."references" AS f '
        "JOIN release.current USING (release_id) JOIN release.turns AS t USING (release_id, item_id) "
        "JOIN release.releases AS r USING (release_id) WHERE f.item_id = $i AND r.language = 'en'",
        i=item["item_id"],
    )
    assert row == {"asked": item["call_key"], "answered": None, "reference": other}
