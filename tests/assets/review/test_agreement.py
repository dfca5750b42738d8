"""The assets `review/agreement` and `review/effort`: from the stores to tables and a picture."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from PIL import Image

from assets.common.tables import rows_to_arrow
from assets.evaluate.benchmark import evaluation_assets
from assets.review.agreement import NOBODY, NOBODY_TWICE, agreement_assets
from dagster_project.checks import schema_check
from dagster_project.resources import make_resources
from methods.ids import canonical_json, content_id
from methods.mmdu import Mmdu
from methods.review import Decision
from resources.home import review_path
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

Row = dict[str, Any]
REWRITES = [{"original": "How many?", "rewrite": f"Count them, {number}."} for number in range(4)]
BLIND_PAIRS = {"default": {"annotators": 2}}


class Desk:
    """A home with a queue and people who decide."""

    def __init__(self, home: Path, rules: Row):
        home.mkdir()
        (home / "review.yaml").write_text(yaml.safe_dump(rules))
        self.warehouse = Warehouse(home / "warehouse.duckdb")
        self.store = ReviewStore(review_path())

    def queue(self, kind: str, contents: list[Row]) -> None:
        rows = [
            {
                "item_id": content_id(content, "item"),
                "kind": kind,
                "bucket": "00",
                "set_id": f"set {number}",
                "content": canonical_json(content),
                "content_hash": content_id(content),
                "image_ids": [],
            }
            for number, content in enumerate(contents)
        ]
        self.fill("review.queue", rows)

    def decide(self, reviewer: str, verdicts: list[Row]) -> None:
        """One decision on each item, in the order of the queue's sets."""
        items = self.warehouse.sql("SELECT * FROM review.queue ORDER BY set_id").to_pylist()
        self.store.append(
            Decision(
                item_id=item["item_id"],
                content_hash=item["content_hash"],
                round=1,
                reviewer=reviewer,
                verdict=said["verdict"],
                edits=said.get("edits"),
                reason=said.get("reason"),
                note=None,
                seconds=said.get("seconds", 30.0),
                decided_at="2026-01-01T00:00:00+00:00",
            )
            for item, said in zip(items, verdicts, strict=True)
        )

    def fill(self, table: str, rows: list[Row]) -> None:
        self.warehouse.replace(table, rows_to_arrow(table, rows))

    def materialize(self) -> dict[str, Row]:
        """Metadata of both assets."""
        result = dg.materialize(
            agreement_assets([evaluation_assets(Mmdu())[1]]),
            resources={"warehouse": self.warehouse, "review_store": self.store},
        )
        return {
            event.asset_key.path[-1]: {
                name: value.value for name, value in event.materialization.metadata.items()
            }
            for event in result.get_asset_materialization_events()
            if event.asset_key
        }

    def rows(self, text: str) -> list[Row]:
        return self.warehouse.sql(text).to_pylist()


@pytest.fixture
def desk(loom_home: Path, request: pytest.FixtureRequest) -> Desk:
    return Desk(loom_home, getattr(request, "param", {}))


in_pairs = pytest.mark.parametrize("desk", [BLIND_PAIRS], indirect=True, ids=["in pairs"])


def accepted(n: int) -> list[Row]:
    return [{"verdict": "accept"} for _ in range(n)]


def test_without_decisions_the_tables_are_empty_and_a_sentence_says_so(desk: Desk) -> None:
    for _ in range(2):  # Without a queue, and with one.
        shown = desk.materialize()
        assert [shown[name]["note"] for name in ("agreement", "effort")] == [NOBODY, NOBODY]
        assert "agreement" not in shown["agreement"]
        assert desk.rows("FROM review.agreement UNION ALL BY NAME FROM review.effort") == []
        desk.queue("rewrite", REWRITES)


def test_one_annotator_has_effort_and_no_agreement_and_is_told_how_to_ask_for_it(
    desk: Desk,
) -> None:
    desk.queue("rewrite", REWRITES)
    desk.decide("ann", accepted(4))
    shown = desk.materialize()
    assert shown["agreement"]["note"] == NOBODY_TWICE
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
def test_two_annotators_are_compared_and_drawn_and_again_comes_to_the_same(desk: Desk) -> None:
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
    encoded = shown["agreement"]["agreement"].split("base64,")[1].rstrip(")")
    assert Image.open(io.BytesIO(base64.b64decode(encoded))).format == "PNG"
    reasons = desk.rows("SELECT reviewer, reasons FROM review.effort ORDER BY reviewer")
    assert [row["reasons"] for row in reasons] == [[("incomplete", 2)], [("incomplete", 1)]]

    before = desk.rows("FROM review.agreement ORDER BY ALL")
    desk.materialize()
    assert desk.rows("FROM review.agreement ORDER BY ALL") == before


@in_pairs
def test_a_changed_item_takes_its_decisions_out_of_the_agreement(desk: Desk) -> None:
    desk.queue("rewrite", REWRITES)
    for who in ("ann", "bob"):
        desk.decide(who, accepted(4))
    desk.materialize()
    ids = [row["item_id"] for row in desk.rows("FROM review.queue ORDER BY set_id")]
    rows = desk.rows("FROM review.queue ORDER BY set_id")
    for row in rows[:3]:
        content = json.loads(row["content"]) | {"rewrite": "Tell their number."}
        row |= {"content": canonical_json(content), "content_hash": content_id(content)}
    desk.fill("review.queue", rows)
    assert [row["item_id"] for row in rows] == ids
    desk.materialize()
    (raw,) = desk.rows("FROM review.agreement WHERE raters = 'all' AND measure = 'raw'")
    assert raw["n_items"] == 1


# --- The judge -----------------------------------------------------------------------------------

ANSWERS = ["Three owls.", "Two owls.", "An owl.", "No owl."]
GRADES = [9, 6, 4, 1]


def asked(answer: str) -> Row:
    return {
        "image_ids": [],
        "question": "How many?",
        "reference": "Three.",
        "answer": answer,
        "dimensions": ["Richness"],
        "lowest": 1,
        "highest": 10,
        "scores": {"Richness": None},
    }


def evaluated(desk: Desk) -> None:
    """A release of one item and one turn, answered by four models and judged."""
    where = {"release_id": "r", "item_id": "i", "turn": 1, "benchmark": "mmdu", "provider": "x"}
    where |= {"prompt_version": "p"}
    desk.fill("release.turns", [where | {"question": "How many?", "image_positions": [1]}])
    desk.fill("release.references", [where | {"reference": "Three."}])
    models = [
        where | {"model": f"model {number}", "call_key": f"call {number}", "status": "answered"}
        for number in range(4)
    ]
    desk.fill(
        "evaluate.answers",
        [model | {"answer": answer} for model, answer in zip(models, ANSWERS, strict=True)],
    )
    desk.fill(
        "evaluate.judgments",
        [
            model
            | {"judge": "j", "answer_call_key": model["call_key"], "explanation": ""}
            | {"scores": [("Richness", grade), ("Creativity", 5)], "score": grade}
            for model, grade in zip(models, GRADES, strict=True)
        ],
    )


def test_the_judge_is_compared_with_people_on_the_answers_that_both_have_scored(
    desk: Desk,
) -> None:
    evaluated(desk)
    contents = [asked(answer) for answer in [*ANSWERS[:3], "Nobody was judged for this."]]
    desk.queue("score", contents)
    desk.decide(
        "ann",
        [
            {"verdict": "edit", "edits": content | {"scores": {"Richness": points}}}
            for content, points in zip(contents, (8, 6, 2, 10), strict=True)
        ],
    )
    desk.materialize()
    against = desk.rows("FROM review.agreement WHERE raters = 'people|judge:j'")
    assert {row["dimension"] for row in against} == {"Richness"}
    assert {row["n_items"] for row in against} == {3}
    found = {row["measure"]: row["value"] for row in against}
    assert found["mae"] == pytest.approx((1 + 0 + 2) / 3)  # 9, 6, 4 against 8, 6, 2.
    assert found["kendall"] == pytest.approx(1)


# --- In the graph --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_agreement_is_due_after_decisions_though_nothing_was_ever_judged() -> None:
    judgments = evaluation_assets(Mmdu())[1]
    of_people = dg.AssetSpec(["review", "approved"])
    graph = dg.Definitions(
        [of_people, judgments, *agreement_assets([judgments])],
        asset_checks=[schema_check(*judgments.specs)],
        resources=make_resources(),
    )

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
        instance.add_dynamic_partitions("model", ["careful"])
        assert due() == set()
        instance.report_runless_asset_event(dg.AssetMaterialization(["review", "approved"]))
        assert due() == {"review/agreement", "review/effort"}
        for key in ("agreement", "effort"):
            instance.report_runless_asset_event(dg.AssetMaterialization(["review", key]))
        assert due() == set()
        # What is judged later is compared.
        instance.report_runless_asset_event(
            dg.AssetMaterialization(["evaluate", "mmdu_judgments"], partition="careful")
        )
        assert "review/agreement" in due()
