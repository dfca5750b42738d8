"""The asset `evaluate/judge_agreement`: people's scores against a judge's, worked by hand."""

from typing import Any

import pytest

from tests.assets.review.desk import Desk

pytestmark = pytest.mark.slow

Row = dict[str, Any]

ANSWERS = ["Three owls.", "Two owls.", "An owl.", "No owl."]
GRADES = [9, 6, 4, 1]


def asked(answer: str) -> Row:
    texts = {"question": "How many?", "reference": "Three.", "answer": answer}
    scale = {"dimensions": ["Richness"], "lowest": 1, "highest": 10}
    return {"image_ids": [], **texts, **scale, "scores": {"Richness": None}}


def evaluated(desk: Desk) -> None:
    """A release of one item and one turn, answered by four models and judged.

    What must not mix with it: a judgment of an answer that was replaced, and judgments of the first
    model's other answers - on another release, to another item, in another trial and another turn.
    """
    where = {"release_id": "r", "item_id": "i", "turn": 1, "benchmark": "mmdu"}
    places = [{"release_id": "s"}, {"item_id": "k"}, {"turn": 2}]
    other_places = [where | place | {"question": f"How many {place}?"} for place in places]
    turns = [where | {"question": "How many?"}, *other_places]
    desk.fill("release.turns", [turn | {"image_positions": [1]} for turn in turns])
    reference = {"kind": "answer", "reference": "Three."}
    desk.fill("release.references", [turn | reference for turn in turns])
    models = [
        where | {"model": f"model {n}", "call_key": f"call {n}", "trial": "plain"} for n in range(4)
    ]
    elsewhere = [*other_places, where | {"trial": "shifted"}]
    others = [models[0] | place for place in elsewhere]
    replaced = models[0] | {"model": "model 4"}
    answers = zip(
        [*models, *others, replaced],
        [*ANSWERS, *(ANSWERS[0] for _ in other_places), "Five owls.", ANSWERS[0]],
        strict=True,
    )
    desk.fill(
        "evaluate.answers",
        [model | {"answer": answer, "status": "answered"} for model, answer in answers],
    )
    judged = {"judge": "j", "replicate": 0, "part": "turn", "judge_version": "v"}
    judged_answers = [*models, *others, replaced | {"call_key": "an earlier call"}]
    desk.fill(
        "evaluate.judgments",
        [
            model
            | judged
            | {"answer_call_key": model["call_key"], "score": grade}
            | {"scores": [("Richness", grade), ("Creativity", 5)]}
            for model, grade in zip(judged_answers, [*GRADES, *(1 for _ in others), 1], strict=True)
        ],
    )


def test_the_judge_is_compared_with_people_on_the_answers_that_both_have_scored(desk: Desk) -> None:
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
    against = desk.rows("FROM evaluate.judge_agreement WHERE raters = 'people|judge:j'")
    assert {row["dimension"] for row in against} == {"Richness"}
    assert {row["n_items"] for row in against} == {3}
    found = {row["measure"]: row["value"] for row in against}
    assert found["mae"] == pytest.approx((1 + 0 + 2) / 3)  # 9, 6, 4 against 8, 6, 2.
    assert found["kendall"] == pytest.approx(1)


def test_judgments_under_two_versions_are_those_of_two_judges(desk: Desk) -> None:
    """The same answer by two models, judged 9 under one version and 3 under the next."""
    evaluated(desk)
    answers = desk.rows("FROM evaluate.answers")
    desk.fill(
        "evaluate.answers",
        [{**row, "answer": ANSWERS[0]} if row["model"] == "model 1" else row for row in answers],
    )
    judgments = desk.rows("FROM evaluate.judgments")
    for row in judgments:
        row["scores"] = [("Richness", {"model 0": 9, "model 1": 3}.get(row["model"], 5))]
        row["judge_version"] = "w" if row["model"] == "model 1" else "v"
    desk.fill("evaluate.judgments", judgments)
    desk.queue("score", [asked(ANSWERS[0])])
    scores = {
        row["judge"]: row["score"]
        for row in desk.warehouse.read("evaluate/judged_scores").to_pylist()
    }
    assert scores == {"j v": 9, "j w": 3}
