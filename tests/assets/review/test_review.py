"""Review: agreement and effort, checks on what is approved, answers that are put up for scores."""

import json
from pathlib import Path

import dagster as dg
import pytest

from assets.review.agreement import NO_DECISIONS, NO_PAIRS, agreement
from assets.review.effort import effort
from dagster_project.resources import make_resources
from dagster_project.stage_checks import decided_by_people, on_this_content
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.review.desk import Desk
from tests.assets.world import Row, World, check, copy_of
from tests.resources.review.review_queue import verdict

pytestmark = pytest.mark.slow


REWRITES = [{"original": "How many?", "rewrite": f"Count them, {number}."} for number in range(4)]
BLIND_PAIRS = {"default": {"annotators": 2}}
in_pairs = pytest.mark.parametrize("desk", [BLIND_PAIRS], indirect=True, ids=["in pairs"])


def accepted(n: int) -> list[Row]:
    return [{"verdict": "accept"} for _ in range(n)]


def test_one_annotator_has_effort_and_no_agreement_and_is_told_how_to_ask_for_it(desk, monkeypatch):
    desk.queue("rewrite", REWRITES)
    told = desk.materialize()
    assert told["agreement"]["note"] == told["effort"]["note"] == NO_DECISIONS
    desk.decide("ann", accepted(4))
    monkeypatch.setenv("LOOM_REVIEW", "https://review.example/")
    shown = desk.materialize()
    assert shown["effort"]["lead's page"] == "https://review.example/lead"
    assert shown["agreement"]["note"] == NO_PAIRS
    assert {row["reason"] for row in desk.rows("FROM review.agreement")} == {
        "No item was rated by two."
    }
    assert desk.rows("FROM review.effort") == [
        {
            "kind": "rewrite",
            "round": 1,
            "reviewer": "ann",
            "n_decisions": 4,
            "n_skipped": 0,
            "median_seconds": 30.0,
            "reasons": [],
        }
    ]


@in_pairs
def test_two_annotators_are_compared_and_again_comes_to_the_same(desk: Desk) -> None:
    desk.queue("rewrite", REWRITES)
    rejected = {"verdict": "reject", "reason": "incomplete", "seconds": 90.0}
    desk.decide("ann", [*accepted(2), rejected, rejected])
    desk.decide("bob", [*accepted(3), rejected])
    shown = desk.materialize()
    found = {
        (row["raters"], row["measure"]): row["value"] for row in desk.rows("FROM review.agreement")
    }
    # p_o = 3/4; ann accepts 1/2, bob 3/4: p_e = 3/8 + 1/8. kappa = (3/4 - 1/2) / (1/2).
    assert found[("ann|bob", "cohen_kappa")] == pytest.approx(0.5)
    assert found[("all", "raw")] == 0.75
    assert "note" not in shown["agreement"]
    assert shown["agreement"]["decided by"] == 2
    assert shown["agreement"]["agreement"].count("| 0.75 ") >= 1
    reasons = desk.rows("SELECT reviewer, reasons FROM review.effort ORDER BY reviewer")
    assert [row["reasons"] for row in reasons] == [[("incomplete", 2)], [("incomplete", 1)]]

    before = desk.rows("FROM review.agreement ORDER BY ALL")
    desk.materialize()
    assert desk.rows("FROM review.agreement ORDER BY ALL") == before


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


def wrong(world: World) -> list[str]:
    return [row["why"] for row in world.warehouse.read("review/misapproved").to_pylist()]


def test_an_edit_that_is_not_valid_is_named_and_the_rest_is_released(
    released: World, copied: CopyWorld
) -> None:
    """Earlier versions stored such edits."""
    world = copied(released)
    before = world.current()["mmdu"]
    first, *others = world.rows(
        "SELECT item_id FROM release.items WHERE release_id = $r ORDER BY item_id", r=before
    )
    state = world.review_store.state(first["item_id"])
    assert state is not None
    turns = state.item["content"]["turns"]
    edits = state.item["content"] | {"turns": [turns[0] | {"question_id": {"x": []}}, *turns[1:]]}
    world.review_store.append([verdict(state.item, "anna", "edit", edits)])

    assert world.release().success

    (row,) = world.table("review.approved", item_id=first["item_id"])
    assert row["status"] == "pending"
    told = world.told("review/approved")["warning"]
    assert f"dialogue {first['item_id']}: an edit does not count: edits, turns 1: only" in told
    after = world.rows(
        "SELECT item_id FROM release.items WHERE release_id = $r ORDER BY item_id",
        r=world.current()["mmdu"],
    )
    assert after == others
    assert check(world.release(), "review/approved", "on_this_content").passed


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"content_hash": "other"}, "its content is neither the queued one nor an edit of it"),
        ({"content_hash": "other"}, "people are demanded and nobody approved exactly this content"),
        # `sue` has skipped it.
        ({"reviewers": ["sue"]}, "people are demanded and nobody approved exactly this content"),
        ({"reviewers": ["ann", "policy:all"]}, "demanded and a policy is among the reviewers"),
        (
            {"demanded": False, "policy": "all", "reviewers": ["ann", "policy:all"]},
            "demanded and a policy is among the reviewers",
        ),
        ({"reviewers": ["ann", "zoe"]}, "zoe is among the reviewers without a decision on its"),
        ({"reviewers": ["ann", "sue"]}, "sue is among the reviewers without a decision on its"),
        ({"reviewers": []}, "it is approved without a reviewer, not even a policy"),
    ],
)
def test_an_approval_that_does_not_follow_is_found(approved, fault, says):
    world, item = approved
    assert wrong(world) == []
    world.change("review.approved", item["item_id"], **fault)
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
    world.change("review.approved", half[0]["item_id"], status="approved")
    found = decided_by_people(world.warehouse, world.review_store)
    assert not found.passed
    assert found.metadata["first of them"].value == [f"{half[0]['item_id']}: round_2"]
    # What is decided later is read by the next run, and does not count before.
    world.decide(half[0]["item_id"], "accept", "eve", round=2)
    assert not decided_by_people(world.warehouse, world.review_store).passed
    world.remake("review.queue", f"FROM review.queue WHERE item_id = '{item['item_id']}'")
    found = decided_by_people(world.warehouse, world.review_store)
    assert found.metadata["first of them"].value == [f"{half[0]['item_id']}: not in review.queue"]


def test_judged_answers_are_put_up_without_the_judges_scores_or_the_models_name(
    evaluated: World, copied: CopyWorld, tmp_path: Path
) -> None:
    world = copied(evaluated, tmp_path)
    before = world.table("review.queue")
    config = {"evaluate__score_queue": {"config": {"n_answers": 3}}}
    only = dg.AssetSelection.assets(["evaluate", "score_queue"])
    assert world.run("evaluate", config, assets=only).success

    rows = world.table("evaluate.score_queue")
    # Three of each of two models; equal answers of both are one item.
    assert 3 < len(rows) <= 6
    others = world.table("review.queue")
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
    assert world.table("review.approved", kind="score") == []
    again = world.review_store.items(["score"])
    assert {row["item_id"] for row in again} == {row["item_id"] for row in rows}


def test_decisions_that_the_store_lost_are_not_overruled_by_the_policy(approved):
    world, first = approved
    # A decision that its person takes back is not lost.
    taken = world.review_store.last_decision("ann")
    assert taken is not None and taken.event_id is not None
    world.review_store.take_back(taken.item_id, taken.event_id, "ann")
    assert world.release("all").success
    before = world.table("review.approved")
    for file in world.home.glob("review.sqlite*"):
        file.unlink()
    assert not world.release("none").success
    assert world.table("review.approved") == before
    assert world.release("none", accept_lost_decisions=True).success
    (row,) = world.table("review.approved", item_id=first["item_id"])
    assert row["reviewers"] == ["policy:none", "policy:none"]


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_agreement_is_due_after_decisions_though_nothing_was_ever_judged() -> None:
    of_people = dg.AssetSpec(["review", "approved"])
    graph = dg.Definitions([of_people, agreement, effort], resources=make_resources())

    def due() -> set[str]:
        nonlocal cursor
        result = dg.evaluate_automation_conditions(graph, instance, cursor=cursor)
        cursor = result.cursor
        return {
            each.key.to_user_string()
            for each in result.results
            if result.get_num_requested(each.key)
        }

    cursor = None
    with dg.instance_for_test() as instance:
        assert due() == set()
        instance.report_runless_asset_event(dg.AssetMaterialization(["review", "approved"]))
        assert due() == {"review/agreement", "review/effort"}
        for key in ("agreement", "effort"):
            instance.report_runless_asset_event(dg.AssetMaterialization(["review", key]))
        assert due() == set()
