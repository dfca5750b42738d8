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
from resources.importing.release_import import ReleaseFolderError, import_release
from tests.assets.conftest import MakeWorld
from tests.assets.world import (
    ANY_ASSETS,
    Result,
    Row,
    World,
    copy_of,
    data_url_hash,
    made,
    metadata,
)
from tests.doubles.garbling_proxy import Asked

pytestmark = pytest.mark.slow

N_ITEMS = 10
TRANSLATIONS = dg.AssetSelection.assets(["choice", "translations"])
ITEMS = dg.AssetSelection.assets(["choice", "items"])


@dataclass
class Written:
    """A home whose items were written, reviewed by nobody and released, and both runs of it."""

    world: World
    asked: list[Asked]
    run: Result
    release: Result
    items: list[Row]


def items_of(world: World) -> list[Row]:
    return world.rows("SELECT * FROM choice.items ORDER BY item_id")


@pytest.fixture(scope="module")
def written(
    released: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    """Not to be changed: tests go on from copies."""
    root = tmp_path_factory.mktemp("written")
    copy_of(released.root, root)
    world = make_world(root, released.corpus)
    world.write_settings({"choice": {"items": {"n_items": N_ITEMS}}})
    run = world.run(ANY_ASSETS, assets=ITEMS | TRANSLATIONS)
    assert run.success
    asked = world.proxy.asked("item")
    release = world.release()
    assert release.success
    return Written(world, asked, run, release, items_of(world))


@pytest.fixture
def world(written: Written, make_world: MakeWorld, tmp_path: Path) -> World:
    copy_of(written.world.root, tmp_path)
    return make_world(tmp_path, written.world.corpus)


def reply(asked: str) -> str:
    """A reply of the mock writer with another text in a place."""
    return json.dumps({**json.loads(asked), "distractors": []})


# --- Writing -------------------------------------------------------------------------------------


def test_items_are_of_their_entries_and_abilities_in_equal_numbers(written: Written) -> None:
    of_entries = written.world.rows(
        "SELECT DISTINCT i.item_id FROM choice.items AS i JOIN cluster.image_sets AS s "
        "USING (set_id, entry_id, image_id)"
    )
    assert len(of_entries) == len(written.items) == N_ITEMS
    assert set(Counter(row["ability"] for row in written.items).values()) == {1}
    assert {row["ability"] for row in written.items} <= set(ENCYCLOPEDIC)
    uses = Counter(row["image_id"] for row in written.items)
    assert max(uses.values()) == 1


def test_every_request_has_its_picture_and_its_material_and_no_key(written: Written) -> None:
    assert len(written.asked) == N_ITEMS
    shown = sorted(asked.images[0] for asked in written.asked)
    assert shown == sorted(data_url_hash(written.world, row["image_id"]) for row in written.items)
    for asked in written.asked:
        assert "<caption>" in asked.text and "<summary>" in asked.text
        assert "letter" not in asked.text.partition("<ability>")[2]


def test_an_item_names_its_call(written: Written) -> None:
    calls = written.world.ledger.find([row["call_key"] for row in written.items])
    for row in written.items:
        said = json.loads(calls[row["call_key"]].text)
        assert said["answer"] == row["choices"][LETTERS.index(row["answer"])]
        assert said["question"] == row["question"]
        assert row["prompt_version"].startswith("mmbench/write_item@")


def test_written_again_nothing_is_asked_and_nothing_changes(world: World, written: Written) -> None:
    assert world.run(ANY_ASSETS, assets=ITEMS).success
    assert items_of(world) == written.items
    assert world.proxy.requests == []
    # More of them are asked for beside those that there are, which stay as they were placed.
    more = world.run(
        ANY_ASSETS, {"choice__items": {"config": {"n_items": N_ITEMS + 3}}}, assets=ITEMS
    )
    assert more.success and len(world.proxy.requests) == 3
    now = {row["item_id"]: row for row in items_of(world)}
    assert len(now) == N_ITEMS + 3
    assert [now[row["item_id"]] for row in written.items] == written.items


def test_a_reply_that_is_no_item_is_lost_by_name_and_the_others_stay(
    world: World, written: Written
) -> None:
    lost = written.items[0]
    world.forget_calls()
    shown = data_url_hash(world, lost["image_id"])
    world.proxy.rewrite(lambda asked: asked.images == [shown], reply)

    run = world.run(ANY_ASSETS, {"choice__items": {"config": {"n_items": N_ITEMS}}}, assets=ITEMS)

    assert run.success
    (row,) = world.rows("SELECT * FROM choice.failed")
    assert (row["stage"], row["reason"]) == ("items", "too_few_choices")
    assert row["subject"] == f"entry {lost['entry_id']}, {lost['ability']}"
    assert row["detail"] == "There is no distractor: write one to three."
    assert row["call_key"] in world.ledger.find([row["call_key"]])
    kept = {each["item_id"] for each in items_of(world)}
    assert kept == {each["item_id"] for each in written.items} - {lost["item_id"]}
    assert "| too_few_choices | 1 |" in metadata(run, "choice/items")["reasons"]


# --- Review --------------------------------------------------------------------------------------


def test_items_are_queued_with_the_content_of_their_kind(written: Written) -> None:
    queued = written.world.rows("FROM review.queue WHERE kind = 'multiple_choice' ORDER BY item_id")
    assert len(queued) == N_ITEMS
    for row, item in zip(queued, written.items, strict=True):
        assert json.loads(row["content"]) == {
            "image_ids": [item["image_id"]],
            "question": item["question"],
            "hint": None,
            "choices": dict(zip(LETTERS, item["choices"], strict=False)),
            "answer": item["answer"],
            "category": item["ability"],
        }
        (entry,) = written.world.rows(
            "SELECT DISTINCT page_url, caption FROM ingest.entries WHERE entry_id = $e",
            e=item["entry_id"],
        )
        assert json.loads(row["context"]) == {
            "page_urls": [entry["page_url"]],
            "captions": [entry["caption"]],
        }


# --- Releases ------------------------------------------------------------------------------------


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


def test_approved_items_are_a_dev_and_a_test_split_beside_the_dialogues(
    written: Written, released: World
) -> None:
    assert made(written.release) >= {"release/releases", "release/exports"}
    names = written.world.rows("SELECT name, release_id FROM release.current ORDER BY name")
    assert [row["name"] for row in names] == [
        "mmbench-dev",
        "mmbench-test",
        "mmbench-zh-dev",
        "mmbench-zh-test",
        "mmdu",
        "mmdu-instruct",
    ]
    # What was built of dialogues has the id that it had without choices.
    before = released.rows("SELECT name, release_id FROM release.current ORDER BY name")
    assert names[4:] == before
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
    assert [version.partition("@")[0] for version in card["prompt_versions"]] == [
        "mmbench/write_item",
        "mmdu/summary",
    ]
    assert card["language"] == "en" and card["writers"] == ["offline-writer"]


def test_the_dev_split_is_exported_with_its_answers(written: Written) -> None:
    file = folder(written.world, "mmbench-dev") / "mmbench.tsv"
    found = {item.item_id: item for item in read_published(file.name, file.open(newline=""))}
    answers = {row["item_id"]: row["answer"] for row in written.items}
    assert {item_id: item.turns[0].references for item_id, item in found.items()} == {
        item_id: {"key": answers[item_id]} for item_id in found
    }


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
    assert {"mmbench.tsv", "mmbench-circular.tsv", "card.json", "tables.json", "README.md"} <= set(
        texts
    )
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


def test_a_folder_without_answers_is_not_taken_for_the_release(world: World) -> None:
    exported = folder(world, "mmbench-test")
    with pytest.raises(ReleaseFolderError) as caught:
        import_release(exported, world.home / "releases", world.warehouse, world.images)
    assert str(caught.value) == (
        f"{exported} is a split whose answers stayed in the workspace that it is from, so it cannot "
        "be that "
        "release anywhere else: import its published file instead (--benchmark)."
    )


def test_what_a_person_changed_is_no_calls_text_any_more(world: World, written: Written) -> None:
    item = written.items[0]
    rows = world.rows("FROM review.approved")
    for row in rows:
        if row["item_id"] == item["item_id"]:
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
