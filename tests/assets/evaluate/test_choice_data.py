"""Letters and passes of a release of multiple choice, read from tables with a few rows."""

from typing import Any

import pytest

from assets.evaluate.report_data import choice_data
from methods.choice.passes import PassCounts
from methods.mmbench import Mmbench
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.methods.choice.questions import item

RELEASE = "mmbench-1"
ITEMS = [item("A", *"abcd", item_id="q1"), item("B", *"ab", item_id="q2")]


def answer(model: str, item_id: str, shift: int, status: str = "answered") -> dict[str, Any]:
    place = {"benchmark": "mmbench", "release_id": RELEASE, "model": model, "item_id": item_id}
    text = "It is this one." if status == "answered" else None
    of_call = {"status": status, "answer": text, "call_key": f"{model}-{item_id}-{shift}"}
    return {**place, "trial": f"shift-{shift}", "turn": 1, **of_call}


def reading(of: dict[str, Any], value: str | None, **changed: Any) -> dict[str, Any]:
    read = {"extractor": "rule", "value": value, "answer_call_key": of["call_key"]}
    return {**of, **read, "call_key": None, **changed}


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Warehouse:
    """`m` is right in both passes of q2, misses the second one of q1; a pass of `n` was lost."""
    m = [answer("m", "q1", 0), answer("m", "q1", 1), answer("m", "q2", 0), answer("m", "q2", 1)]
    n = [answer("n", "q1", 0), answer("n", "q1", 1, "failed"), answer("n", "q2", 0, "refused")]
    # After its miss `m` was asked no more.
    m.append(answer("m", "q1", 2, "not_asked"))
    rule = answer("baseline:reference", "q1", 0)
    letters = ("A", "A", "B", "A")
    readings = [reading(of, letter) for of, letter in zip(m, letters, strict=False)]
    # This one is of an answer that was replaced.
    readings += [reading(n[0], "C", answer_call_key="old"), reading(rule, "A")]
    put(empty_warehouse, {"evaluate.answers": [*m, *n, rule], "evaluate.extractions": readings})
    return empty_warehouse


def test_the_letters_are_those_of_the_first_pass_and_of_the_answers_there_are(warehouse) -> None:
    data = choice_data(warehouse, Mmbench(), ITEMS, RELEASE)
    assert data is not None
    assert {model: dict(of.counts) for model, of in data["shares"].items()} == {
        "m": {"A": 1, "B": 1},
        "n": {"none": 2},
    }
    assert (data["letters"], dict(data["keys"]), data["n_held_out"]) == (
        "ABCD",
        {"A": 1, "B": 1},
        0,
    )


def test_letters_of_all_passes_are_compared_with_the_key_of_each_pass(warehouse) -> None:
    data = choice_data(warehouse, Mmbench(), ITEMS, RELEASE)
    assert data is not None
    of_m, of_n = data["circular_shares"]["m"], data["circular_shares"]["n"]
    # Under shift 1 the key of q1 is D, that of q2 A. Named: A, A, B, A; right: A, D, B, A.
    assert (dict(of_m.counts), of_m.compared) == ({"A": 3, "B": 1}, 4)
    assert of_m.distance.value == 0.25
    assert (dict(of_n.counts), of_n.compared) == ({"none": 3}, 0)


def test_passes_are_counted_against_those_of_all_questions(warehouse) -> None:
    data = choice_data(warehouse, Mmbench(), ITEMS, RELEASE)
    # q1 has four passes and q2 two: `m` misses the second of four. After the lost pass of `n` two are
    # still to be asked, and what it declined is a miss.
    assert data is not None
    assert data["passes"] == {"m": PassCounts(6, 4, 2, 0), "n": PassCounts(6, 3, 1, 2)}
