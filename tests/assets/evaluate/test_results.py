"""Rows and losses of a stage of the evaluation: who is taken, who is missing, what counts as lost."""

from typing import Any

import dagster as dg
import pytest

from assets.evaluate.released import EvaluatedRelease
from assets.evaluate.results import ResultSet, write_results
from methods.benchmarks import BENCHMARKS
from resources.llm.usage import Usage
from resources.warehouse import Warehouse

RELEASE = EvaluatedRelease(BENCHMARKS["mmdu"], "r")
PLACE = {"item_id": "i", "trial": "plain", "turn": 1, "detail": "It was so.", "call_key": None}


def results(*lost: tuple[str, str | None, str, int]) -> ResultSet:
    """Results of four turns each: the model, its judge, why a turn failed, and how many are lost."""
    found = ResultSet("evaluate.judgments" if lost[0][1] else "evaluate.answers")
    for model, judge, reason, n_lost in lost:
        of_model = found.results_for(RELEASE, model, judge)
        of_model.n_turns, of_model.n_lost = 4, n_lost
        if reason:
            of_model.fail({**PLACE, "reason": reason})
    return found


def write(warehouse: Warehouse, found: ResultSet, **only: bool) -> dict[str, Any]:
    metadata = write_results(warehouse, found, 0.5, Usage(), **only).metadata or {}
    return {name: getattr(value, "value", value) for name, value in metadata.items()}


def test_losses_of_one_judge_replace_its_own_and_what_lacks_a_reference_is_no_failure(
    empty_warehouse: Warehouse,
) -> None:
    write(empty_warehouse, results(("m", "j", "timeout", 1), ("m", "k", "timeout", 1)))
    told = write(empty_warehouse, results(("m", "j", "no_reference", 0), ("n", "j", "empty", 1)))
    rows = empty_warehouse.select("evaluate.failed", order="ALL").to_pylist()
    found = {(row["model"], row["asked"], row["reason"]) for row in rows}
    assert found == {("m", "j", "no_reference"), ("m", "k", "timeout"), ("n", "j", "empty")}
    assert (told["failed"], told["without a reference"], told["models"]) == (1, 1, 2)


@pytest.mark.parametrize(("only_these", "missing"), [(True, {"m", "o"}), (False, {"m"})])
def test_who_is_missing_is_named_until_a_run_for_all_models(
    empty_warehouse: Warehouse, only_these: bool, missing: set[str]
) -> None:
    write(empty_warehouse, results(("o", None, "empty", 3), ("n", None, "", 0)))
    write(
        empty_warehouse, results(("m", None, "empty", 3), ("n", None, "", 0)), only_these=only_these
    )
    rows = empty_warehouse.select("evaluate.missing").to_pylist()
    assert {row["model"] for row in rows} == missing


@pytest.mark.parametrize(
    ("reasons", "may_pass"), [(("timeout",) * 2, True), (("timeout", "auth"), False)]
)
def test_a_step_without_any_results_is_tried_again_if_every_model_may_answer_then(
    empty_warehouse: Warehouse, reasons: tuple[str, str], may_pass: bool
) -> None:
    found = results(
        *((model, None, reason, 4) for model, reason in zip("mn", reasons, strict=True))
    )
    with pytest.raises(dg.Failure) as raised:
        write(empty_warehouse, found)
    assert raised.value.allow_retries is may_pass
