"""The checks on review/approved find what a run would never make, and answers are put up for scores."""

import json
from pathlib import Path

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from dagster_project.stage_checks import decided_by_people, on_this_content
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.world import Row, World, check, copy_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def decided(released: World, copied: CopyWorld) -> tuple[World, Row]:
    """One dialogue that ann and eve approved and sue skipped, and another that only ann approved,
    people required."""
    world = copied(released)
    first, second, *_ = world.rows("SELECT * FROM release.items JOIN review.queue USING (item_id)")
    world.decide(first["item_id"], "skip", "sue")
    world.decide(first["item_id"], "accept", "ann")
    world.decide(first["item_id"], "accept", "eve", round=2)
    world.decide(second["item_id"], "accept", "ann", decided_at="2026-01-02T00:00:00+00:00")
    run = world.release("all")
    assert check(run, "review/approved", "decided_by_people").passed
    assert check(run, "review/approved", "on_this_content").passed
    return world, first


@pytest.fixture
def approved(
    decided: tuple[World, Row], make_world: MakeWorld, tmp_path: Path
) -> tuple[World, Row]:
    """The same, to put a fault into."""
    world, first = decided
    copy_of(world.root, tmp_path)
    return make_world(tmp_path, world.corpus), first


def with_fault(world: World, item_id: str, **changes: object) -> None:
    rows = world.rows("SELECT * FROM review.approved")
    (row,) = (row for row in rows if row["item_id"] == item_id)
    row.update(changes)
    world.warehouse.replace("review.approved", rows_to_arrow("review.approved", rows))


def wrong(world: World) -> list[str]:
    return [row["why"] for row in world.warehouse.read("review/misapproved").to_pylist()]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"content_hash": "other"}, "its content is neither the queued one nor an edit of it"),
        ({"content_hash": "other"}, "people are demanded and nobody approved exactly this content"),
        ({"reviewers": ["ann", "policy:all"]}, "demanded and a policy is among the reviewers"),
        ({"reviewers": ["ann", "zoe"]}, "zoe is among the reviewers without a decision on its"),
        ({"reviewers": ["ann", "sue"]}, "sue is among the reviewers without a decision on its"),
        ({"reviewers": []}, "it is approved without a reviewer, not even a policy"),
    ],
)
def test_an_approval_that_does_not_follow_is_found(approved, fault, says):
    world, item = approved
    assert wrong(world) == []
    with_fault(world, item["item_id"], **fault)
    assert any(says in why for why in wrong(world))
    assert not on_this_content(world.warehouse).passed


def test_an_approval_that_awaits_its_expert_is_found(approved: tuple[World, Row]) -> None:
    world, item = approved
    half = world.rows(
        "SELECT * FROM review.approved WHERE item_id <> $i AND len(reviewers) = 1",
        i=item["item_id"],
    )
    assert [row["reviewers"] for row in half] == [["ann"]]
    assert decided_by_people(world.warehouse, world.review_store).passed
    with_fault(world, half[0]["item_id"], status="approved")
    found = decided_by_people(world.warehouse, world.review_store)
    assert not found.passed
    assert found.metadata["first of them"].value == [f"{half[0]['item_id']}: round_2"]


def test_judged_answers_are_put_up_without_the_judges_scores_or_the_models_name(
    evaluated: World, copied: CopyWorld, tmp_path: Path
) -> None:
    world = copied(evaluated, tmp_path)
    before = world.rows("SELECT * FROM review.queue ORDER BY item_id")
    config = {"evaluate__score_queue": {"config": {"n_answers": 3}}}
    only = dg.AssetSelection.assets(["evaluate", "score_queue"])
    assert world.run("evaluate", config, assets=only).success

    rows = world.rows("SELECT * FROM evaluate.score_queue")
    # Three of each of two models; equal answers of both are one item.
    assert 3 < len(rows) <= 6
    others = world.rows("SELECT * FROM review.queue ORDER BY item_id")
    assert others == before
    for row in rows:
        content = json.loads(row["content"])
        assert set(content["scores"].values()) == {None}
        assert (content["lowest"], content["highest"]) == (1, 10)
        assert content["image_ids"] == row["image_ids"] != []
        rubric = json.loads(row["context"])["rubric"]
        assert [text.partition(" - ")[0] for text in rubric] == content["dimensions"]
        assert "careful" not in json.dumps(row) and "careless" not in json.dumps(row)
    # People see all of the queue, and a score that nobody gave is let through by no policy.
    queued = {each.item_id for each in world.review_store.page(limit=100)[0]}
    assert queued == {row["item_id"] for row in rows + others}
    assert world.release().success
    assert world.rows("SELECT * FROM review.approved WHERE kind = 'score'") == []
    again = world.review_store.items(["score"])
    assert {row["item_id"] for row in again} == {row["item_id"] for row in rows}


def test_decisions_that_the_store_lost_are_not_overruled_by_the_policy(
    approved: tuple[World, Row],
) -> None:
    world, first = approved
    # A decision that its person takes back is not lost.
    taken = world.review_store.last_decision("ann")
    assert taken is not None and taken.event_id is not None
    world.review_store.take_back(taken.item_id, taken.event_id, "ann")
    assert world.release("all").success
    before = world.rows("SELECT * FROM review.approved ORDER BY ALL")
    for file in world.home.glob("review.sqlite*"):
        file.unlink()
    assert not world.release("none").success
    assert world.rows("SELECT * FROM review.approved ORDER BY ALL") == before
    assert world.release("none", accept_lost_decisions=True).success
    (row,) = world.rows("SELECT * FROM review.approved WHERE item_id = $i", i=first["item_id"])
    assert row["reviewers"] == ["policy:none", "policy:none"]
