"""What people decide on a flagged item reaches the next release: kept, edited, rejected."""

import json
from pathlib import Path

import dagster as dg
import pytest

from methods.review import QueueItem, check_decision
from tests.assets.conftest import MakeWorld
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Row, World, copy_of, models_yaml

pytestmark = pytest.mark.slow

N_ITEMS, N_MMIU = 5, 3
EVERYTHING_FAILS = {"wrong_item_models": ["refuser"], "min_models": 1}
FLAGGED = ("flagged_items", "item_queue", "item_decisions")
EVALUATE = ASKING | SCORING | dg.AssetSelection.assets(*(["evaluate", name] for name in FLAGGED))


@pytest.fixture(scope="module")
def flagged(
    released: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> World:
    """Five built items, released, and failed by the only model. Not to be changed."""
    root = tmp_path_factory.mktemp("flagged")
    copy_of(released.root, root)
    world = make_world(root, released.corpus)
    world.write_settings(
        {
            "choice": {"items": {"n_items": N_ITEMS}, "mmiu_items": {"n_derived": N_MMIU}},
            "evaluate": {"flagged_items": EVERYTHING_FAILS},
        }
    )
    models = models_yaml(world.proxy.base_url)
    models["profiles"]["test"]["evaluate"] = ["refuser"]
    world.write_models(models)
    assert world.run("choice").success and world.release().success
    assert world.run(ANY_ASSETS, assets=EVALUATE).success
    return world


@pytest.fixture
def world(flagged: World, make_world: MakeWorld, tmp_path: Path) -> World:
    copy_of(flagged.root, tmp_path)
    made = make_world(tmp_path, flagged.corpus)
    models = models_yaml(made.proxy.base_url)
    models["profiles"]["test"]["evaluate"] = ["refuser"]
    made.write_models(models)
    return made


def in_review(world: World) -> list[QueueItem]:
    return sorted(world.review_store.items(["flagged_item"]), key=lambda item: item["item_id"])


def decide(
    world: World, item: QueueItem, verdict: str, reviewer: str = "anna", **said: Row
) -> None:
    record = {
        "item_id": item["item_id"],
        "content_hash": item["content_hash"],
        "round": 1,
        "reviewer": reviewer,
        "verdict": verdict,
        "decided_at": "2026-01-01T00:00:00+00:00",
        **said,
    }
    world.review_store.append([check_decision(record, item)])


def released_items(world: World) -> dict[str, Row]:
    """The items of the current multiple-choice releases, without translations."""
    rows = world.rows(
        "SELECT i.item_id, t.question, i.revision, i.reviewers FROM release.current "
        "JOIN release.releases AS r USING (release_id) JOIN release.items AS i USING (release_id) "
        "JOIN release.turns AS t USING (release_id, item_id) WHERE r.benchmark <> 'mmdu' "
        "AND coalesce(r.language, 'en') = 'en'"
    )
    return {row["item_id"]: row for row in rows}


def built_items(world: World) -> dict[str, str]:
    """The built item that each item of the review queue is about."""
    rows = world.rows("SELECT review_item_id, item_id FROM evaluate.item_decisions")
    return {row["review_item_id"]: row["item_id"] for row in rows}


def test_every_item_is_before_people_as_it_was_released(flagged: World) -> None:
    items = in_review(flagged)
    approved = flagged.rows("SELECT content FROM review.approved WHERE kind = 'multiple_choice'")
    contents = [json.loads(row["content"]) for row in approved]
    assert len(items) == len(contents) > N_ITEMS, "of one image and of several, and no translation"
    assert all(item["content"] in contents for item in items)
    assert {item["context"]["why"][0] for item in items} == {
        "Wrong item: none of 1 models has it right."
    }
    assert all(item["context"]["page_urls"][0].startswith("http") for item in items)


def test_without_a_decision_the_next_release_is_the_same(world: World) -> None:
    before = world.rows("FROM release.current ORDER BY name")
    assert world.release().success
    assert world.rows("FROM release.current ORDER BY name") == before


def test_kept_edited_and_rejected(world: World) -> None:
    queued, of = in_review(world), built_items(world)
    # The last one is about several images, as MMIU's are.
    queued.sort(key=lambda item: len(item["image_ids"]))
    queued = [*queued[:2], queued[-1]]
    kept, edited, rejected = (of[item["item_id"]] for item in queued)
    change = {**queued[1]["content"], "question": "What may be seen here?"}
    decide(world, queued[0], "accept")
    decide(world, queued[1], "edit", edits=change)
    decide(world, queued[2], "reject", reason="common_sense_error")

    assert world.release().success
    items = released_items(world)
    assert items.keys() == set(of.values()) - {rejected}
    assert items[edited]["question"] == "<ImageHere>\nWhat may be seen here?"
    assert (items[edited]["revision"], items[kept]["revision"]) == (1, 0)
    for item_id in (kept, edited):
        assert items[item_id]["reviewers"] == ["policy:none", "anna"]

    # What was edited is flagged again, as it is now, and is decided on again.
    assert world.run(ANY_ASSETS, assets=EVALUATE).success
    said = {row["item_id"]: row for row in world.rows("FROM evaluate.item_decisions")}
    assert said.keys() == items.keys()
    assert (said[kept]["decision"], said[kept]["reviewers"]) == ("keep", ["anna"])
    assert said[edited]["decision"] == "pending"
    (again,) = (i for i in in_review(world) if i["item_id"] == said[edited]["review_item_id"])
    assert again["content"] == change

    decide(world, again, "reject", "eva", reason="factual_error")
    assert world.release().success
    assert released_items(world).keys() == items.keys() - {edited}
    (row,) = world.rows("SELECT * FROM review.approved WHERE item_id = $i", i=edited)
    assert (row["status"], row["revision"], row["reason"]) == ("rejected", 1, "factual_error")
    assert row["reviewers"] == ["policy:none", "anna", "eva"]


def test_where_people_are_demanded_an_approval_stands_until_the_second_look_is_complete(
    world: World,
) -> None:
    for item in world.review_store.items(["multiple_choice"]):
        decide(world, item, "accept", "anna")
        decide(world, item, "accept", "eva", round=2)
    assert world.release("all").success
    (one, two, *_), of = in_review(world), built_items(world)
    assert released_items(world).keys() == set(of.values())

    # An edit goes to an expert; a rejection by all annotators that the rules ask for is complete.
    change = {**one["content"], "question": "What else is there?"}
    decide(world, one, "edit", "ben", edits=change)
    decide(world, two, "reject", "ben", reason="factual_error")
    assert world.release("all").success
    items = released_items(world)
    assert items.keys() == set(of.values()) - {of[two["item_id"]]}
    assert items[of[one["item_id"]]]["revision"] == 0

    state = world.review_store.state(one["item_id"])
    assert state is not None
    decide(world, state.item, "accept", "eva", round=2)
    assert world.release("all").success
    row = released_items(world)[of[one["item_id"]]]
    assert (row["revision"], row["reviewers"]) == (1, ["anna", "eva", "ben"])
