"""What people decide on a flagged item reaches the next release: kept, edited, rejected."""

from pathlib import Path

import dagster as dg
import pytest

from methods.review import QueueItem
from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, ASKING, Row, World

pytestmark = pytest.mark.slow

N_ITEMS, N_MMIU = 5, 3
EVERYTHING_FAILS = {"wrong_item_models": ["refuser"], "min_models": 1}
FLAGGED = ("observations", "item_statistics", "flagged_items", "item_queue", "item_decisions")
EVALUATE = ASKING | dg.AssetSelection.assets(*(["evaluate", name] for name in FLAGGED))


@pytest.fixture
def world(released: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Five built items on one image each and some on several, released; the only model fails all."""
    world = copied(released, tmp_path)
    world.write_settings(
        {
            "choice": {"items": {"n_items": N_ITEMS}, "mmiu_items": {"n_derived": N_MMIU}},
            "evaluate": {"flagged_items": EVERYTHING_FAILS},
        }
    )
    world.set_models(evaluate=["refuser"])
    assert world.run("choice").success and world.release().success
    assert world.run(ANY_ASSETS, assets=EVALUATE).success
    return world


def in_review(world: World) -> list[QueueItem]:
    """Flagged items; those on several images last."""
    items = world.review_store.items(["flagged_item"])
    return sorted(items, key=lambda item: (len(item["image_ids"]), item["item_id"]))


def released_items(world: World) -> dict[str, Row]:
    """The items of the current multiple-choice releases, without translations."""
    rows = world.rows(
        "SELECT i.item_id, t.question, i.revision, i.reviewers FROM release.current "
        "JOIN release.releases AS r USING (release_id) JOIN release.items AS i USING (release_id) "
        "JOIN release.turns AS t USING (release_id, item_id) WHERE r.benchmark <> 'mmdu' "
        "AND coalesce(r.language, 'en') = 'en'"
    )
    return {row["item_id"]: row for row in rows}


def test_kept_edited_and_rejected(world: World) -> None:
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
    world.decide(again["item_id"], "reject", "eva", reason="factual_error")
    assert world.release().success
    assert released_items(world).keys() == items.keys() - {edited}
    (row,) = world.rows("SELECT * FROM review.approved WHERE item_id = $i", i=edited)
    assert (row["status"], row["revision"], row["reason"]) == ("rejected", 1, "factual_error")
    assert row["reviewers"] == ["policy:none", "anna", "eva"]
