"""Open questions in several wordings: from entries to a release that is evaluated."""

import json
from collections import Counter

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from methods.alignmmbench.tasks import CATEGORIES
from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, Result, Row, World, metadata, released_after, sentence
from tests.doubles.tiny_clip import make_tiny_clip

pytestmark = pytest.mark.slow

BASE = "base"

MADE = ("candidates", "seeds", "seed_rewrites", "contexts")
QUESTIONS = dg.AssetSelection.assets(*(["rewrite", name] for name in MADE))
CANDIDATES = dg.AssetSelection.assets(["rewrite", "candidates"])


def lost(world: World, stage: str) -> list[Row]:
    return world.table("rewrite.failed", stage=stage)


def make(world: World, assets: dg.AssetSelection = QUESTIONS, **settings: Row) -> Result:
    world.write_settings({"rewrite": settings})
    return world.run(ANY_ASSETS, assets=assets)


@pytest.fixture(scope="module")
def base(released: World, copied: CopyWorld) -> World:
    """Not to be changed: tests go on from copies."""
    return released_after(copied(released), make)


def test_candidates_have_the_keywords_that_found_them(base: World) -> None:
    found = base.table("rewrite.candidates")
    entries = {row["entry_id"]: row for row in base.table("ingest.entries")}
    assert {row["task"] for row in found} >= {"Recognition", "Counting", "Coherence"}
    for row in found:
        entry = entries[row["entry_id"]]
        text = " ".join([entry["title"], entry["caption"], *entry["categories"]]).casefold()
        assert entry["image_id"] == row["image_id"]
        assert all(keyword[:-1] in text for keyword in row["keywords"])
    told = base.told("rewrite/candidates")
    left_out = told["entries left out, in the instruction split"]
    assert told["entries"] + left_out == len(entries)
    assert "Chart" in told["warning"]


def test_listed_pictures_are_not_taken_and_are_counted(world, base, tmp_path):
    taken = sorted({row["image_id"] for row in base.table("rewrite.candidates")})
    (second,) = base.rows("FROM ingest.images WHERE image_id = $i LIMIT 1", i=taken[1])
    listed = tmp_path / "known.txt"
    names = f"{taken[0].upper()}  a.png\n\n{second['md5']}  b.png\n"
    listed.write_text(f"# pictures of other benchmarks\n{names}")
    run = make(world, CANDIDATES, candidates={"excluded": str(listed)})
    assert run.success, sentence(run)
    assert {row["image_id"] for row in world.table("rewrite.candidates")} == set(taken[2:])
    assert {(row["reason"], row["set_id"]) for row in lost(world, "candidates")} == {
        ("excluded", image_id) for image_id in taken[:2]
    }


def test_a_picture_that_looks_like_another_is_taken_once(world: World, base: World) -> None:
    one, other = sorted({row["image_id"] for row in base.table("rewrite.candidates")})[:2]
    alike = [
        {"image_id": each, "group_id": one, "n_urls": 1, "distance": 2} for each in (one, other)
    ]
    world.warehouse.replace("cluster.duplicates", rows_to_arrow("cluster.duplicates", alike))
    assert make(world, CANDIDATES).success
    left = {row["image_id"] for row in world.table("rewrite.candidates")}
    assert len(left & {one, other}) == 1
    (row,) = lost(world, "candidates")
    assert row["reason"] == "near_duplicate"
    entries = world.rows(
        "SELECT entry_id FROM ingest.entries WHERE image_id = $i", i=[*left & {one, other}][0]
    )
    assert any(entry["entry_id"] in row["detail"] for entry in entries)


def test_pictures_are_looked_at_by_a_clip_like_encoder_and_encoded_once(
    world: World, base: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    encoder = str(make_tiny_clip(tmp_path_factory.mktemp("clip") / "tiny"))
    by_texts = {
        (row["task"], row["image_id"]): row["keywords"] for row in base.table("rewrite.candidates")
    }
    everything = {"picture_encoder": encoder, "picture_similarity": -1}
    run = make(world, CANDIDATES, candidates=everything)

    assert run.success
    rows = world.table("rewrite.candidates")
    told = metadata(run, "rewrite/candidates")
    # With the lowest bar every picture shows every keyword of every task.
    assert {row["task"] for row in rows} == set(CATEGORIES) and all(row["seen"] for row in rows)
    assert all(row["keywords"] == by_texts.get((row["task"], row["image_id"]), []) for row in rows)
    vectors = world.table("rewrite.picture_vectors")
    assert told["pictures encoded"] == told["pictures that show a keyword"] == len(vectors) > 0
    assert "median" in told["cosine with the nearest keyword"]

    again = make(world, CANDIDATES, candidates={**everything, "picture_similarity": 1})
    assert metadata(again, "rewrite/candidates")["pictures encoded"] == 0
    assert metadata(again, "rewrite/candidates")["pictures that show a keyword"] == 0
    found = {
        (row["task"], row["image_id"]): row["keywords"] for row in world.table("rewrite.candidates")
    }
    assert found == by_texts


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"picture_encoder": "/nowhere/clip"}, "The embedding model '/nowhere/clip' "),
        ({"excluded": "/nowhere/x.txt"}, "The list of pictures /nowhere/x.txt cannot be used"),
        ({"excluded_releases": ["other"]}, "excluded_releases names other, but no such release"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(world: World, settings: Row, told: str) -> None:
    assert sentence(make(world, CANDIDATES, candidates=settings)).startswith(told)


def test_seeds_are_of_different_tasks_and_shown_their_picture_and_caption(base: World) -> None:
    seeds = base.table("rewrite.seeds")
    assert len(seeds) == 4 and len({row["task"] for row in seeds}) == 4
    asked = [each for each in base.proxy.requests if each.task == "seed"]
    assert len(asked) == 4 and all(len(each.images) == 1 for each in asked)
    calls = base.ledger.find([row["call_key"] for row in seeds])
    for row in seeds:
        said = json.loads(calls[row["call_key"]].text)
        assert (row["question"], row["reference"]) == (said["question"], said["reference"])
        assert row["language"] == "en" and row["set_id"] == row["image_id"]


def test_each_seed_has_five_rewrites_within_the_band(base: World) -> None:
    seeds = {row["seed_id"]: row for row in base.table("rewrite.seeds")}
    rewrites = base.table("rewrite.seed_rewrites")
    assert Counter(row["seed_id"] for row in rewrites) == dict.fromkeys(seeds, 5)
    for row in rewrites:
        assert row["original"] == seeds[row["seed_id"]]["question"] != row["rewrite"]
        assert 0.6 <= row["similarity"] <= 0.99
    assert base.told("rewrite/seed_rewrites")["seeds with fewer than asked for"] == 0
    dialogues = {row["task"]: row for row in base.table("rewrite.contexts")}
    assert set(dialogues) == {"Coherence", "Incoherence"}
    assert dialogues["Coherence"]["error"] is None
    wrong = dialogues["Incoherence"]
    assert any(wrong["error"] in turn["answer"] for turn in wrong["turns"][:-1])


def test_made_again_nothing_is_asked_and_more_keep_what_there_is(world: World, base: World) -> None:
    assert make(world).success
    assert not world.proxy.requests
    assert [world.table(f"rewrite.{name}") for name in MADE] == [
        base.table(f"rewrite.{name}") for name in MADE
    ]
    assert make(world, seeds={"n_seeds": 6}).success
    kept = world.table("rewrite.seeds")
    assert len(kept) == 6 and all(row in kept for row in base.table("rewrite.seeds"))


def test_every_text_is_queued_with_its_picture_and_what_helps_to_decide(base: World) -> None:
    queued = {row["item_id"]: row for row in base.table("review.queue")}
    for seed in base.table("rewrite.seeds"):
        row = queued[seed["seed_id"]]
        content, context = json.loads(row["content"]), json.loads(row["context"])
        assert row["kind"] == "reference" and row["image_ids"] == [seed["image_id"]]
        assert (content["question"], content["reference"]) == (seed["question"], seed["reference"])
        assert context["why"] == [f"AlignMMBench, {seed['task']}"] and context["captions"]
    assert all(
        queued[row["rewrite_id"]]["kind"] == "rewrite"
        for row in base.table("rewrite.seed_rewrites")
    )
    for dialogue in base.table("rewrite.contexts"):
        row = queued[dialogue["dialogue_id"]]
        assert row["kind"] == "dialogue"
        planted = [f"planted error: {dialogue['error']}"] if dialogue["error"] else []
        assert json.loads(row["context"])["why"][1:] == planted


def test_wordings_of_a_seed_are_a_group_with_its_labels_and_reference(base: World) -> None:
    world = base
    (card,) = world.table("release.releases", name="alignmmbench")
    assert (card["benchmark"], card["language"], card["n_items"]) == ("alignmmbench", "en", 26)
    items = world.table("release.items", release_id=card["release_id"])
    sizes = Counter(row["group_id"] for row in items)
    assert sorted(sizes.values()) == [1, 1, 6, 6, 6, 6]
    for row in items:
        labels = dict(row["labels"])
        assert labels["category"] == CATEGORIES[labels["task"]] and labels["language"] == "en"
        assert row["item_id"].startswith(f"{row['group_id']}-")
    for picture in world.table("release.images", release_id=card["release_id"]):
        assert picture["page_url"] and picture["attribution"]


def test_the_task_that_a_person_says_reaches_the_release(world: World, base: World) -> None:
    one, other = base.table("rewrite.seeds")[:2]
    new = next(task for task in CATEGORIES if task not in (one["task"], other["task"]))
    queued = {row["item_id"]: row for row in world.table("review.queue")}
    edit, reject = (queued[f"{seed['seed_id']}-task"] for seed in (one, other))
    assert edit["kind"] == "category" and edit["image_ids"] == [one["image_id"]]
    content = json.loads(edit["content"])
    assert (content["text"], content["category"]) == (one["question"], one["task"])
    assert content["categories"] == list(CATEGORIES)
    world.decide(edit["item_id"], "edit", edits=content | {"category": new})
    world.decide(reject["item_id"], "reject", reason="other", note="none of them")
    run = world.release()
    assert run.success, sentence(run)
    items = world.rows(
        "SELECT i.* FROM release.items AS i JOIN release.current USING (release_id) "
        "WHERE name = 'alignmmbench'"
    )
    of_seed = [row for row in items if row["group_id"] == one["seed_id"]]
    labels = [dict(row["labels"]) for row in of_seed]
    assert len(labels) == 6
    assert {(each["task"], each["category"]) for each in labels} == {(new, CATEGORIES[new])}
    # A question whose task nobody can say is not released, nor are its rewrites.
    assert other["seed_id"] not in {row["group_id"] for row in items}
