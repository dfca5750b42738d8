"""The assets `review/agreement` and `review/effort`: from the stores to tables and a picture."""

from typing import Any

import dagster as dg
import pytest

from assets.review.agreement import NO_PAIRS, agreement
from assets.review.effort import effort
from dagster_project.resources import make_resources
from tests.assets.review.desk import Desk

pytestmark = pytest.mark.slow

Row = dict[str, Any]
REWRITES = [{"original": "How many?", "rewrite": f"Count them, {number}."} for number in range(4)]
BLIND_PAIRS = {"default": {"annotators": 2}}
in_pairs = pytest.mark.parametrize("desk", [BLIND_PAIRS], indirect=True, ids=["in pairs"])


def accepted(n: int) -> list[Row]:
    return [{"verdict": "accept"} for _ in range(n)]


def test_one_annotator_has_effort_and_no_agreement_and_is_told_how_to_ask_for_it(desk, monkeypatch):
    desk.queue("rewrite", REWRITES)
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
