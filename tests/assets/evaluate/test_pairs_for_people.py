"""People compare an answer with its reference, as the judge does: queued, decided, measured by hand."""

import json
from typing import Any

import dagster as dg
import pytest

from assets.evaluate.judge_quality import judge_quality
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
    desk.fill("release.items", [{**place(item, 1), "set_id": item} for item in JUDGED])
    desk.fill(
        "release.turns", [{**turn, "question": f"Question {turn['turn']}?"} for turn in turns]
    )
    desk.fill(
        "release.references",
        [{**turn, "kind": "answer", "reference": REFERENCES[turn["turn"]]} for turn in turns],
    )
    asked = {"model": "m", "trial": "plain"}
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
        | {"replicate": 0, "metric": metric, "answer_call_key": "c", "status": "judged"}
        | {"scores": [(metric, share)], "score": share, "value": share}
        for item, share in ((item, float(winner == "model")) for item, winner in JUDGED.items())
        for prefix, metric in (("", REASONING), ("overall-", OVERALL))
        for order in ORDERS
    ]
    desk.fill("evaluate.judgments", verdicts)
    desk.fill("evaluate.observations", verdicts)
    return desk


def materialize(desk: Desk, asset: dg.AssetsDefinition) -> None:
    resources = {"warehouse": desk.warehouse, "review_store": desk.store, "benchmarks": BENCHMARKS}
    images = {"image_store": ImageStore(desk.warehouse.path.parent / "images")}
    dg.materialize([asset], resources={**resources, **images})


def test_a_pair_says_neither_who_answered_nor_what_the_judge_said(compared: Desk) -> None:
    materialize(compared, score_queue)
    items = compared.store.items(["pair"])
    assert len(items) == len(JUDGED)
    for item in items:
        content = item["content"]
        assert set(content) == {"image_ids", "question", "a", "b", "winner"}
        assert (content["question"], content["winner"]) == ("Question 2?", None)
        texts = {content["a"], content["b"]}
        assert texts == {REFERENCES[2], answer(item["set_id"], 2)}
        # The turn before stands above, each text under the letter of its side.
        model_is_a = content["a"] != REFERENCES[2]
        sides = [answer(item["set_id"], 1), REFERENCES[1]]
        first, second = sides if model_is_a else sides[::-1]
        earlier = ["Earlier: Question 1?", f"A: {first}", f"B: {second}"]
        assert item["context"] == {"earlier": earlier}
    rows = compared.rows("FROM evaluate.score_queue")
    assert not any(name in json.dumps(rows) for name in ('"m"', '"j"'))


def test_the_judge_and_people_have_a_share_of_equal_verdicts_and_kappa(compared: Desk) -> None:
    materialize(compared, score_queue)
    queued = sorted(compared.store.items(["pair"]), key=lambda item: item["set_id"])
    by_people = {"i1": "model", "i2": "reference", "i3": "reference", "i4": "reference"}
    decisions = []
    for item in queued:
        model_is_a = item["content"]["a"] != REFERENCES[2]
        winner = "A" if (by_people[item["set_id"]] == "model") == model_is_a else "B"
        decisions.append({"verdict": "edit", "edits": {**item["content"], "winner": winner}})
    compared.decide("ann", decisions)
    materialize(compared, judge_quality)
    rows = compared.rows(
        "SELECT metric, measure, n, value FROM evaluate.judge_quality "
        "WHERE other = 'people' AND unit = 'answer' AND subset_label = ''"
    )
    found = {(row["metric"], row["measure"]): (row["n"], row["value"]) for row in rows}
    # In each order 3 of 4 verdicts are equal; by chance (2 x 1 + 2 x 3) / 16 = half of them are.
    assert found[REASONING, "raw"] == (8, pytest.approx(0.75))
    assert found[REASONING, "cohen_kappa"] == (8, pytest.approx(0.5))
    assert {metric for metric, _ in found} == {REASONING}


@pytest.mark.parametrize("desk", [{"default": {"annotators": 2}}], indirect=True)
def test_a_pair_on_which_two_people_differ_has_no_verdict(compared: Desk) -> None:
    materialize(compared, score_queue)
    queued = sorted(compared.store.items(["pair"]), key=lambda item: item["set_id"])
    for person, winner in (("ann", "A"), ("bob", "B")):
        edits = [{**item["content"], "winner": winner} for item in queued]
        compared.decide(person, [{"verdict": "edit", "edits": edit} for edit in edits])
    materialize(compared, judge_quality)
    assert compared.rows("FROM evaluate.judge_quality WHERE other = 'people'") == []
