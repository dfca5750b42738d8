"""People compare an answer with its reference, as the judge does: queued, decided, measured by hand."""

from typing import Any

import dagster as dg
import pytest

from assets.evaluate.score_queue import score_queue
from methods.benchmarks import BENCHMARKS
from methods.convbench.scores import OVERALL, REASONING
from methods.evaluation.verdicts import ORDERS
from resources.images.store import ImageStore
from tests.assets.review.desk import Desk

pytestmark = pytest.mark.slow

Row = dict[str, Any]

RELEASE = {"benchmark": "convbench", "release_id": "r"}
REFERENCES = {1: "Two owls.", 2: "To sleep."}
JUDGED = {"i1": "model", "i2": "model", "i3": "reference", "i4": "reference"}
"""Who wins the second turn of each item by the judge, in both orders."""


def place(item: str, turn: int) -> Row:
    return {**RELEASE, "item_id": item, "turn": turn}


def answer(item: str, turn: int) -> str:
    return f"Answer {turn} of {item}."


@pytest.fixture
def compared(desk: Desk) -> Desk:
    """Items of two turns, answered by one model; a judge has compared the second one both ways."""
    turns = [place(item, turn) for item in JUDGED for turn in REFERENCES]
    desk.fill("release.current", [{"name": "n", "release_id": "r"}])
    desk.fill(
        "release.items",
        [
            {**RELEASE, "item_id": item, "set_id": item, "ordinal": 1, "revision": 0}
            | {"reviewers": [], "labels": []}
            for item in JUDGED
        ],
    )
    desk.fill(
        "release.turns",
        [
            {**turn, "question": f"Question {turn['turn']}?", "image_positions": []}
            for turn in turns
        ],
    )
    desk.fill(
        "release.references",
        [{**turn, "kind": "answer", "reference": REFERENCES[turn["turn"]]} for turn in turns],
    )
    asked = {"model": "m", "provider": "x", "trial": "plain", "prompt_version": "p"}
    desk.fill(
        "evaluate.answers",
        [
            {**turn, **asked, "status": "answered", "call_key": "c"}
            | {"answer": answer(turn["item_id"], turn["turn"])}
            for turn in turns
        ],
    )
    verdicts = [
        {**place(item, 2), **asked, "judge": "j", "judge_version": "v", "part": prefix + order}
        | {"replicate": 0, "value": float(winner == "model"), "metric": metric}
        for item, winner in JUDGED.items()
        for prefix, metric in (("", REASONING), ("overall-", OVERALL))
        for order in ORDERS
    ]
    desk.fill(
        "evaluate.judgments",
        [
            {**verdict, "answer_call_key": "c", "call_key": "k", "explanation": ""}
            | {"scores": [(verdict["metric"], verdict["value"])], "score": verdict["value"]}
            for verdict in verdicts
        ],
    )
    desk.fill("evaluate.observations", [{**verdict, "status": "judged"} for verdict in verdicts])
    return desk


def materialize(desk: Desk, asset: dg.AssetsDefinition) -> None:
    resources = {"warehouse": desk.warehouse, "review_store": desk.store, "benchmarks": BENCHMARKS}
    images = {"image_store": ImageStore(desk.warehouse.path.parent / "images")}
    dg.materialize([asset], resources={**resources, **images})


def test_a_pair_says_neither_who_answered_nor_what_the_judge_said(compared: Desk) -> None:
    materialize(compared, score_queue)
