"""Multiple choice from entries to releases: written, lost, reviewed, flagged, split and held out."""

import json
from collections import Counter
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest

from methods.choice.lettered import LETTERS
from methods.mmbench.published import read_published
from methods.mmbench.taxonomy import ENCYCLOPEDIC, abilities
from methods.review import QueueItem
from resources.files.parquet_table import tsv_lines_of
from tests.assets.choice.released import N_ITEMS, items_of, released_items
from tests.assets.world import ANY_ASSETS, ASKING, Result, Row, World, data_url_hash, metadata

pytestmark = pytest.mark.slow

BASE = "written"

ITEMS = dg.AssetSelection.assets(["choice", "items"])


def write(world: World, n_items: int = N_ITEMS) -> Result:
    run = world.run(ANY_ASSETS, {"choice__items": {"config": {"n_items": n_items}}}, assets=ITEMS)
    assert run.success
    return run


def test_items_are_of_entries_and_name_their_call_which_was_shown_its_picture_and_no_key(written):
    items = items_of(written)
    of_entries = written.rows(
        "SELECT DISTINCT i.item_id FROM choice.items AS i JOIN cluster.image_sets AS s "
        "USING (set_id, entry_id, image_id)"
    )
    assert len(of_entries) == len(items) == N_ITEMS
    assert {row["ability"] for row in items} <= set(ENCYCLOPEDIC)
    assert set(Counter(row["ability"] for row in items).values()) == {1}
    calls = written.ledger.find([row["call_key"] for row in items])
    for row in items:
        said = json.loads(calls[row["call_key"]].text)
        assert said["answer"] == row["choices"][LETTERS.index(row["answer"])]
        assert said["question"] == row["question"]
        assert row["prompt_version"].startswith("mmbench/write_item@")
    asked = written.proxy.asked("item")
    assert sorted(each.images[0] for each in asked) == sorted(
        data_url_hash(written, row["image_id"]) for row in items
    )
    for each in asked:
        assert "<caption>" in each.text and "<summary>" in each.text
        assert "letter" not in each.text.partition("<ability>")[2]


def test_written_again_nothing_is_asked_and_nothing_changes(world: World, written: World) -> None:
    write(world)
    assert items_of(world) == items_of(written)
    assert world.proxy.requests == []
    # More of them are asked for beside those that there are, which stay as they were placed.
    write(world, N_ITEMS + 3)
    assert len(world.proxy.requests) == 3
    now = {row["item_id"]: row for row in items_of(world)}
    assert len(now) == N_ITEMS + 3
    assert [now[row["item_id"]] for row in items_of(written)] == items_of(written)


def test_a_reply_that_is_no_item_is_lost_by_name_and_the_others_stay(world, written):
    lost = items_of(written)[0]
    world.forget_calls()
    shown = data_url_hash(world, lost["image_id"])
    world.proxy.rewrite(
        lambda asked: asked.images == [shown],
        lambda reply: json.dumps({**json.loads(reply), "distractors": []}),
    )

    run = write(world)

    (row,) = world.table("choice.failed", stage="items")
    assert row["reason"] == "too_few_choices"
    assert row["subject"] == f"entry {lost['entry_id']}, {lost['ability']}"
    assert row["call_key"] in world.ledger.find([row["call_key"]])
    kept = {each["item_id"] for each in items_of(world)}
    assert kept == {each["item_id"] for each in items_of(written)} - {lost["item_id"]}
    assert "| too_few_choices | 1 |" in metadata(run, "choice/items")["reasons"]


def folder(world: World, name: str) -> Path:
    (found,) = (world.home / "releases").glob(f"{name}-*")
    return found


def test_approved_items_are_a_dev_and_a_test_split_beside_the_dialogues(written, released):
    current = "SELECT name, release_id FROM release.current ORDER BY name"
    names = written.rows(current)
    assert [row["name"] for row in names] == [
        *("mmbench-dev", "mmbench-test", "mmbench-zh-dev", "mmbench-zh-test"),
        *("mmdu", "mmdu-instruct", "mmiu"),
    ]
    # What was built of dialogues has the id that it had without choices.
    assert names[4:6] == released.rows(current)
    rows = released_items(written)
    assert Counter(row["split"] for row in rows.values()) == {"dev": 4, "test": 6}
    assert rows.keys() == {row["item_id"] for row in items_of(written)}


def test_rows_of_a_release_say_where_an_item_is_from(written: World) -> None:
    by_id = {row["item_id"]: row for row in items_of(written)}
    rows = released_items(written).values()
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
    (card,) = written.table("release.releases", name="mmbench-test")
    versions = [version.partition("@")[0] for version in card["prompt_versions"]]
    assert versions == ["mmbench/write_item", "mmdu/summary"]
    assert card["language"] == "en" and card["writers"] == ["offline-writer"]
    file = folder(written, "mmbench-dev") / "mmbench.tsv"
    for published in read_published(file.name, file.open(newline="")):
        key = by_id[published.item_id]["answer"]
        assert published.turns[0].references == {"key": key}, "dev is exported with its answers"


@pytest.mark.parametrize("name", ["mmbench-test", "mmbench-zh-test"])
def test_no_file_of_the_test_split_has_an_answer(written: World, name: str) -> None:
    exported = folder(written, name)
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
    test = [row["item_id"] for row in released_items(written).values() if row["split"] == "test"]
    for item in (row for row in items_of(written) if row["item_id"] in test):
        said = written.ledger.find([item["call_key"]])[item["call_key"]].text
        # The reply has the right choice apart.
        key = json.dumps(item["answer"])
        for file, text in texts.items():
            assert said not in text and json.dumps(said) not in text, file
            assert f'"reference": {key}' not in text and f'"answer": {key}' not in text, file
    # This home keeps the key: it can score.
    (kept,) = written.rows(
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


EVERYTHING_FAILS = {"wrong_item_models": ["refuser"], "min_models": 1}
FLAGGED = ("observations", "item_statistics", "flagged_items", "item_queue", "item_decisions")
EVALUATE = ASKING | dg.AssetSelection.assets(*(["evaluate", name] for name in FLAGGED))


def in_force(world: World) -> dict[str, Row]:
    return released_items(world, benchmarks=("mmbench", "mmiu"))


def in_review(world: World) -> list[QueueItem]:
    """Flagged items; those on several images last."""
    items = world.review_store.items(["flagged_item"])
    return sorted(items, key=lambda item: (len(item["image_ids"]), item["item_id"]))


def test_kept_edited_and_rejected(world: World) -> None:
    """The only model fails all items, which flags them; those on several images, too."""
    world.write_settings({"evaluate": {"flagged_items": EVERYTHING_FAILS}})
    world.set_models(evaluate=["refuser"])
    assert world.run(ANY_ASSETS, assets=EVALUATE).success
    rows = world.rows("SELECT review_item_id, item_id FROM evaluate.item_decisions")
    of = {row["review_item_id"]: row["item_id"] for row in rows}
    queued = in_review(world)
    assert len(queued) == len(of) > N_ITEMS
    before = world.rows("FROM release.current ORDER BY name")
    assert world.release().success
    assert world.rows("FROM release.current ORDER BY name") == before, "nothing is decided yet"

    queued = [*queued[:2], queued[-1]]
    kept, edited, rejected = (of[item["item_id"]] for item in queued)
    change = {**queued[1]["content"], "question": "What may be seen here?"}
    world.decide(queued[0]["item_id"], "accept")
    world.decide(queued[1]["item_id"], "edit", edits=change)
    world.decide(queued[2]["item_id"], "reject", reason="common_sense_error")

    assert world.release().success
    items = in_force(world)
    assert items.keys() == set(of.values()) - {rejected}
    assert items[edited]["question"] == "<ImageHere>\nWhat may be seen here?"
    assert (items[edited]["revision"], items[kept]["revision"]) == (1, 0)
    for item_id in (kept, edited):
        assert items[item_id]["reviewers"] == ["policy:none", "anna"]

    # What was edited is flagged again, as it is now, and is decided on again.
    assert world.run(ANY_ASSETS, assets=EVALUATE).success
    said = {row["item_id"]: row for row in world.table("evaluate.item_decisions")}
    assert said.keys() == items.keys()
    assert (said[kept]["decision"], said[kept]["reviewers"]) == ("keep", ["anna"])
    assert said[edited]["decision"] == "pending"
    (again,) = (i for i in in_review(world) if i["item_id"] == said[edited]["review_item_id"])
    assert again["content"] == change
    world.decide(again["item_id"], "reject", "eva", reason="factual_error")
    assert world.release().success
    assert in_force(world).keys() == items.keys() - {edited}
    (row,) = world.table("review.approved", item_id=edited)
    assert (row["status"], row["revision"], row["reason"]) == ("rejected", 1, "factual_error")
    assert row["reviewers"] == ["policy:none", "anna", "eva"]
