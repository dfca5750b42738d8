"""Judges against people and each other: scores, pairs and figures, on tables filled by hand."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from assets.evaluate.judge_quality import judge_quality
from assets.evaluate.score_queue import _queued, score_queue
from methods.benchmarks import BENCHMARKS
from methods.convbench.scores import OVERALL as WHOLE
from methods.convbench.scores import REASONING
from methods.evaluation.verdicts import ORDERS
from methods.mmdu.judging import DIMENSIONS, OVERALL
from resources.images.store import ImageStore
from tests.assets.review.desk import Desk
from tests.assets.world import metadata

pytestmark = pytest.mark.slow


Row = dict[str, Any]
Scores = Mapping[tuple[str, str, int], tuple[int, ...]]
"""Replicates by judge, model and item."""
BENCHMARK = {"benchmark": "mmdu", "release_id": "r"}
PLAIN = {"trial": "plain", "turn": 1, "part": "turn"}
MODELS = ("a", "b", "c")
WORDS = {"a": "one", "b": "one two", "c": "one two three"}


def answer(model: str, item: int) -> str:
    """As many words as the model writes, and the item's number as one more."""
    return f"{WORDS[model]} {item}"


@pytest.fixture
def evaluated(desk: Desk) -> Desk:
    """Two releases of the same two items of one turn, answered by three models; none is observed."""
    turns = [
        {**BENCHMARK, **PLAIN, "release_id": release_id, "item_id": f"{item}"}
        | {"question": f"Question {item}?", "reference": "It is so."}
        for release_id in "rs"
        for item in (1, 2)
    ]
    desk.release(turns)
    answers = [
        {
            **turn,
            "model": model,
            "status": "answered",
            "answer": answer(model, int(turn["item_id"])),
        }
        for turn in turns
        for model in MODELS
    ]
    desk.fill("evaluate.answers", answers)
    return desk


def observe(desk: Desk, scores: Scores) -> None:
    """Observations in the place of all others: every dimension has the same score.

    On the other release each judge gave everyone a 1.
    """
    judged = {**BENCHMARK, **PLAIN, "judge_version": "v", "status": "judged"}
    desk.fill(
        "evaluate.observations",
        [
            {**judged, "model": model, "judge": judge, "item_id": f"{item}", "metric": metric}
            | {"release_id": release_id, "replicate": replicate, "value": float(value)}
            for (judge, model, item), replicates in scores.items()
            for replicate, score in enumerate(replicates)
            for metric in DIMENSIONS
            for release_id, value in (("r", score), ("s", 1))
        ],
    )


def of(judge: str, first: tuple[int, ...], second: tuple[int, ...]) -> Scores:
    """What a judge gave the models' answers to both items."""
    return {
        (judge, model, item): (score,)
        for item, given in ((1, first), (2, second))
        for model, score in zip(MODELS, given, strict=True)
    }


def materialize(desk: Desk, asset: dg.AssetsDefinition = judge_quality) -> Row:
    """Metadata of the asset."""
    resources = {"warehouse": desk.warehouse, "review_store": desk.store, "benchmarks": BENCHMARKS}
    resources["image_store"] = ImageStore(desk.warehouse.path.parent / "images")
    few = {"evaluate__judge_quality": {"config": {"n_resamples": 100}}}
    config = {"ops": few} if asset is judge_quality else None
    return metadata(dg.materialize([asset], resources=resources, run_config=config))


def figures(desk: Desk, judge: str, other: str = "") -> dict[tuple[str, str], Row]:
    """Overall figures of one judge, or of it and another: by unit or model, and measure."""
    rows = desk.rows(
        f"FROM evaluate.judge_quality WHERE judge = '{judge}' AND other = '{other}' "
        f"AND metric = '{OVERALL}' AND release_id = 'r'"
    )
    return {(row["unit"] or row["subject"], row["measure"]): row for row in rows}


def test_two_judges_agree_and_make_a_panel(evaluated: Desk) -> None:
    observe(evaluated, {**of("k", (5, 7, 8), (5, 7, 9)), **of("j", (4, 6, 9), (5, 7, 9))})
    shown = materialize(evaluated)
    found = figures(evaluated, "j", "k")
    # Of 6 answers three are 1 point apart.
    assert found["answer", "mae"]["value"] == pytest.approx(3 / 6)
    assert figures(evaluated, "k", "j") == {}, "a pair has one row"
    # Longer answers have higher scores throughout.
    assert figures(evaluated, "j")["", "length_correlation"]["value"] > 0.9
    panel = figures(evaluated, "panel")
    assert panel["", "mean"]["value"] == pytest.approx((4.5 + 6.5 + 8.5 + 5 + 7 + 9) / 6)
    assert panel["", "variance_share_judge"]["value"] is not None
    (version,) = {row["judge_version"] for row in panel.values()}
    assert version == "mean of j, k, v"
    assert "| `r` | `j` | `v` | `k` |" in shown["agreement"]


def test_judges_of_two_versions_make_no_panel_and_are_not_compared(evaluated: Desk) -> None:
    observe(evaluated, of("j", (4, 6, 9), (5, 7, 9)))
    rows = evaluated.rows("FROM evaluate.observations")
    other = [{**row, "judge": "k", "judge_version": "v images=none"} for row in rows]
    evaluated.fill("evaluate.observations", [*rows, *other])
    materialize(evaluated)
    assert figures(evaluated, "panel") == figures(evaluated, "j", "k") == {}
    assert figures(evaluated, "j") != {} != figures(evaluated, "k")


def test_people_are_compared_with_a_judge_on_each_model_s_answers(evaluated: Desk) -> None:
    observe(evaluated, of("j", (4, 6, 9), (5, 7, 9)))
    contents = [
        {"image_ids": [], "question": "Question 1?", "reference": "It is so."}
        | {"answer": answer(model, 1), "dimensions": [OVERALL], "lowest": 1, "highest": 10}
        | {"scores": {OVERALL: None}}
        for model in MODELS
    ]
    evaluated.score("ann", contents, OVERALL, [2, 6, 10])
    shown = materialize(evaluated)
    found = figures(evaluated, "j", "people")
    # 4, 6, 9 against 2, 6, 10.
    assert (found["answer", "mae"]["n"], found["answer", "mae"]["value"]) == (3, pytest.approx(1))
    assert found["model", "spearman"]["value"] == pytest.approx(1)
    assert "| `r` | `j` | `v` | `people` | 0.67 " in shown["agreement on answers, 1 to 10"]
    others = evaluated.rows(
        "SELECT DISTINCT metric, other FROM evaluate.judge_quality WHERE other <> ''"
    )
    assert others == [{"metric": OVERALL, "other": "people"}]
    assert "| `r` | `j` | `v` | `people` | 1.00 | 1.00 | 1.00 |" in shown["agreement"]


ANSWERS = ["Three owls.", "Two owls.", "An owl.", "No owl."]
GRADES = [9, 6, 4, 1]


def asked(answer: str) -> Row:
    texts = {"question": "How many?", "reference": "Three.", "answer": answer}
    scale = {"dimensions": ["Richness"], "lowest": 1, "highest": 10}
    return {"image_ids": [], **texts, **scale, "scores": {"Richness": None}}


def agreeing(desk: Desk) -> None:
    """A release of one item and one turn, answered by four models and judged.

    What must not mix with it: a judgment of an answer that was replaced, and judgments of the first
    model's other answers - on another release, to another item, in another trial and another turn.
    """
    where = {"release_id": "r", "item_id": "i", "turn": 1, "benchmark": "mmdu", "trial": "plain"}
    turns = [{**where, "question": "How many?", "reference": "Three."}]
    turns += [
        {**turns[0], **place, "question": f"How many {place}?"}
        for place in ({"release_id": "s"}, {"item_id": "k"}, {"turn": 2})
    ]
    desk.release(turns)
    first = {**turns[0], "model": "model 0", "call_key": "call 0", "answer": ANSWERS[0]}
    judged = [
        ({**first, "model": f"model {n}", "call_key": f"call {n}", "answer": text}, grade)
        for n, (text, grade) in enumerate(zip(ANSWERS, GRADES, strict=True))
    ]
    judged += [({**first, **turn}, 1) for turn in turns[1:]]
    judged.append(({**first, "trial": "shifted", "answer": "Five owls."}, 1))
    judged.append(({**first, "model": "model 4", "judged_call": "an earlier call"}, 1))
    desk.fill("evaluate.answers", [{**row, "status": "answered"} for row, _ in judged])
    by = {"judge": "j", "replicate": 0, "part": "turn", "judge_version": "v"}
    desk.fill(
        "evaluate.judgments",
        [
            {**row, **by, "answer_call_key": row.get("judged_call", row["call_key"])}
            | {"score": grade, "scores": [("Richness", grade), ("Creativity", 5)]}
            for row, grade in judged
        ],
    )


def test_the_judge_is_compared_with_people_on_the_answers_that_both_have_scored(desk: Desk) -> None:
    agreeing(desk)
    contents = [asked(answer) for answer in [*ANSWERS[:3], "Nobody was judged for this."]]
    desk.score("ann", contents, "Richness", [8, 6, 2, 10])
    desk.materialize()
    against = desk.rows("FROM evaluate.judge_agreement WHERE raters = 'people|judge:j'")
    assert {row["dimension"] for row in against} == {"Richness"}
    assert {row["n_items"] for row in against} == {3}
    found = {row["measure"]: row["value"] for row in against}
    assert found["mae"] == pytest.approx((1 + 0 + 2) / 3)  # 9, 6, 4 against 8, 6, 2.
    assert found["kendall"] == pytest.approx(1)


RELEASE = {"benchmark": "convbench", "release_id": "r"}
REFERENCES = {1: "Two owls.", 2: "To sleep."}
JUDGED = {"i1": "model", "i2": "model", "i3": "reference", "i4": "reference"}
"""Who wins the second turn of each item by the judge, in both orders."""


def place(item: str, turn: int) -> Row:
    return {**RELEASE, "item_id": item, "turn": turn}


def text_of(item: str, turn: int) -> str:
    return f"Answer {turn} of {item}."


@pytest.fixture
def compared(desk: Desk) -> Desk:
    """Items of two turns, answered by one model; a judge has compared the second one both ways."""
    asked = {"model": "m", "trial": "plain", "status": "answered", "call_key": "c"}
    turns = [
        place(item, turn) | {"question": f"Question {turn}?", "reference": reference}
        for item in JUDGED
        for turn, reference in REFERENCES.items()
    ]
    desk.fill("release.current", [{"name": "n", "release_id": "r"}])
    desk.release([{**turn, "image_positions": []} for turn in turns])
    answers = [{**turn, "answer": text_of(turn["item_id"], turn["turn"])} for turn in turns]
    blind = {"model": "no-images:m", "trial": "plain"}
    desk.fill(
        "evaluate.answers",
        [
            *({**answer, **asked} for answer in answers),
            # Nobody scores what was answered without the images.
            *({**answer, **asked, **blind, "answer": "I see nothing."} for answer in answers),
        ],
    )
    verdicts = [
        {**place(item, 2), **asked, "judge": "j", "judge_version": "v", "part": prefix + order}
        | {"replicate": 0, "metric": metric, "answer_call_key": "c", "status": "judged"}
        | {"scores": [(metric, share)], "score": share, "value": share}
        for item, share in ((item, float(winner == "model")) for item, winner in JUDGED.items())
        for prefix, metric in (("", REASONING), ("overall-", WHOLE))
        for order in ORDERS
    ]
    desk.fill("evaluate.judgments", [*verdicts, *({**row, **blind} for row in verdicts)])
    desk.fill("evaluate.observations", verdicts)
    return desk


def test_a_pair_says_neither_who_answered_nor_what_the_judge_said(compared: Desk) -> None:
    materialize(compared, score_queue)
    items = compared.store.items(["pair"])
    assert len(items) == len(JUDGED)
    for item in items:
        content = item["content"]
        assert set(content) == {"image_ids", "question", "a", "b", "winner"}
        assert (content["question"], content["winner"]) == ("Question 2?", None)
        texts = {content["a"], content["b"]}
        assert texts == {REFERENCES[2], text_of(item["set_id"], 2)}
        # The turn before stands above, each text under the letter of its side.
        model_is_a = content["a"] != REFERENCES[2]
        sides = [text_of(item["set_id"], 1), REFERENCES[1]]
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
    materialize(compared)
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
    materialize(compared)
    assert compared.rows("FROM evaluate.judge_quality WHERE other = 'people'") == []


def test_an_answer_that_equals_its_reference_is_no_pair() -> None:
    answer = {
        "is_pair": True,
        "answer": "Red.",
        "reference": "Red.",
        "image_ids": [],
        "earlier": [],
    }
    answer |= {"question": "Which?", "set_id": "s", "page_urls": []}
    better: Any = SimpleNamespace(score_range=(0, 1))
    assert _queued(answer, better) is None
    pair = _queued({**answer, "answer": "Blue."}, better)
    assert pair is not None and pair["kind"] == "pair"
