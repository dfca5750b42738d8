"""Judges that give nearly all answers the same score: who is marked, and who is not."""

from collections.abc import Callable, Sequence

import pytest

from dagster_project import results
from methods.evaluation.constant_scores import constant_scores_sentence
from resources.warehouse import Warehouse
from tests.assets.evaluate.test_queries import NO_TURNS
from tests.assets.filled import put

HERE = {"benchmark": "b", "release_id": "r"}
JUDGED = {**HERE, "judge": "j", "judge_version": "v", "replicate": 0, "trial": "plain", "turn": 1}
Score = Callable[[int, str], float]


def judge(
    warehouse: Warehouse,
    n_items: int,
    score: Score,
    *,
    models: Sequence[str] = ("m", "n"),
    parts: Sequence[str] = ("answer",),
    answer: str = "answer of {model}",
) -> list[dict[str, object]]:
    """What is marked where each model answered so many items; `score` is of the item and the part."""
    places = [(f"i{n}", model) for n in range(n_items) for model in models]
    answers = [
        {**HERE, "item_id": item, "model": model, "trial": "plain", "turn": 1, "status": "answered"}
        | {"answer": answer.format(model=model)}
        for item, model in places
    ]
    judgments = [
        {**JUDGED, "item_id": item, "model": model, "part": part, "score": score(n, part)}
        for n, (item, model) in enumerate(places)
        for part in parts
    ]
    put(warehouse, {"evaluate.answers": answers, "evaluate.judgments": judgments})
    return warehouse.select("evaluate.constant_judges").to_pylist()


def test_a_judge_with_one_score_is_marked_with_its_numbers(warehouse: Warehouse) -> None:
    (row,) = judge(warehouse, 20, lambda n, _: 5.0 if n else 7.0)

    assert row["judge"] == "j" and row["constant_share"] == 39 / 40
    assert constant_scores_sentence(row) == (
        "Judge j on r: 97 % of its scores of 40 different answers to 20 items are 5, so they do not "
        "tell the models apart. Read some of its judgments, or take another judge."
    )


@pytest.mark.parametrize(
    "of",
    [
        # All tens on a few items may be deserved.
        {"n_items": 3, "score": lambda *_: 10.0},
        {"n_items": 4, "score": lambda *_: 10.0, "models": [f"m{n}" for n in range(9)]},
        # One answer in ten has another score.
        {"n_items": 20, "score": lambda n, _: 5.0 + (n % 10 == 0)},
        # Equal answers deserve equal scores, and one model is told apart from nobody.
        {"n_items": 20, "score": lambda *_: 5.0, "answer": "B"},
        {"n_items": 40, "score": lambda *_: 5.0, "models": ["m"]},
        # Who wins in both orders does not win by its place.
        {"n_items": 20, "score": lambda *_: 1.0, "parts": ["model-first", "model-second"]},
    ],
)
def test_few_or_different_scores_are_not(warehouse: Warehouse, of: dict) -> None:
    assert judge(warehouse, **of) == []


@pytest.mark.parametrize("verdict", [1.0, 0.5, 0.0])
def test_a_judge_that_has_one_verdict_whatever_it_compares_is_marked(warehouse, verdict):
    """The first place wins, loses or ties: the model's share depends on its place alone."""
    (row,) = judge(
        warehouse,
        10,
        lambda _, part: verdict if part == "model-first" else 1 - verdict,
        parts=["model-first", "model-second"],
    )
    assert row["constant_score"] == verdict


def test_the_printed_leaderboard_marks_it_and_says_why_at_the_end(warehouse, monkeypatch, capsys):
    judge(warehouse, 20, lambda *_: 5.0)
    of = {**HERE, **NO_TURNS, "judge": "j", "judge_version": "v", "provider": "p", "n_items": 20}
    score = {
        **of,
        "model": "m",
        "place": 0,
        "form": "floor",
        "subset_label": "",
        "subset_value": "",
    }
    put(warehouse, {"release.current": [{"name": "n", **HERE}], "evaluate.scores": [score]})
    monkeypatch.setattr(results, "warehouse_of_home", lambda: warehouse)

    results.show_results(["j"])

    printed = capsys.readouterr().out
    assert "judge j (constant scores), provider p)" in printed
    assert printed.rstrip().splitlines()[-1].startswith("Judge j on r: 100 % of its scores of 40")
