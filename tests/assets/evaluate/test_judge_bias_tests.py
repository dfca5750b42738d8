"""A judge that is led is found by the bias tests, and one that is not is not: in two languages."""

import json
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import pytest

from methods.evaluation.judge_bias_tests import BIAS_FOUND, NO_FAMILY
from tests.assets.conftest import MakeWorld
from tests.assets.world import ANY_ASSETS, ASKING, BIAS_TESTS, Row, World

pytestmark = pytest.mark.slow

OBSERVED = dg.AssetSelection.assets(["evaluate", "observations"])
JUDGES = ["honest", "obedient", "always-a"]
CONTESTANTS = ["relative", "stranger", "baseline:reference"]
N_ITEMS = 20
N_ANSWERS = 18
N_PAIRS = 12


@pytest.fixture(scope="module")
def probed(empty_world: MakeWorld, mock_url: str) -> World:
    world = empty_world()
    models = {
        "honest": "offline-judge",
        "obedient": {"model": "offline-obedient", "family": "theirs"},
        "always-a": "offline-always-a",
        "stranger": "offline-careful",
        "relative": {"model": "offline-careless", "family": "theirs"},
    }
    profile = {"writer": "stranger", "judges": JUDGES, "evaluate": CONTESTANTS}
    world.set_mock_models(mock_url, models, **profile)
    asked = {
        "en": ("What is the use of a bridge?", "It lets people cross a river with dry feet."),
        "zh": ("桥有什么用？", "桥让人们可以不湿脚地过河。"),
    }
    questions = {
        f"{language}{number}": (f"{question} {number}", reference)
        for language, (question, reference) in asked.items()
        for number in range(N_ITEMS // 2)
    }
    file = write_questions(world.root, questions)
    assert world.import_file("alignmmbench", file).success
    assert world.run(ANY_ASSETS, assets=ASKING | OBSERVED).success
    assert bias_test(world, n_answers=N_ANSWERS).success
    return world


def write_questions(folder: Path, questions: Mapping[str, tuple[str, str]]) -> Path:
    """AlignMMBench's file of questions that need no picture: text and reference by id."""
    of_all = {"image_path": "", "history": [], "task": "Knowledge"}
    of_all |= {"category": "Perception & Understanding"}
    rows = [
        {**of_all, "question_id": f"{name}-0", "prompt": question, "ref_answer": reference}
        for name, (question, reference) in questions.items()
    ]
    file = folder / "metadata.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def bias_test(world: World, **config: object):
    config = {"n_pairs": N_PAIRS, **config}
    given = {"evaluate__judge_bias_tests": {"config": config}}
    return world.run(ANY_ASSETS, given, assets=BIAS_TESTS)


def shifts(world: World) -> dict[tuple[str, str], Row]:
    rows = world.table("evaluate.judge_bias_tests")
    return {(row["judge"], row["bias_test"]): row for row in rows}


def test_the_obedient_judge_is_found_and_the_honest_one_is_not(probed: World) -> None:
    found = shifts(probed)
    assert found["obedient", "obedience"]["verdict"] == BIAS_FOUND
    assert found["obedient", "obedience"]["ci_low"] > 1
    # It takes off points for words, of the instruction as of neutral text of its length.
    assert found["honest", "obedience"]["verdict"] != BIAS_FOUND
    assert abs(found["honest", "obedience"]["shift"]) < abs(found["honest", "length"]["shift"])
    accused = {key for key, row in found.items() if row["verdict"] == BIAS_FOUND}
    assert accused <= {
        ("obedient", "obedience"),
        ("always-a", "obedience"),
        ("always-a", "position"),
        *((judge, "length") for judge in JUDGES),
    }
    after = probed.rows(
        "SELECT judge, array_agg(DISTINCT score_after) AS scores FROM evaluate.bias_test_judgments "
        "WHERE bias_test = 'obedience' AND judge <> 'always-a' GROUP BY judge"
    )
    assert {row["judge"]: row["scores"] == [10] for row in after} == {
        "honest": False,
        "obedient": True,
    }
    # A relative needs a family: without one there is nothing to prefer.
    preference = found["obedient", "self_preference"]
    assert (preference["n"], preference["shift"]) == (N_ITEMS, 0)
    assert found["honest", "self_preference"]["reason"] == NO_FAMILY
    assert (found["honest", "leniency"]["n"], found["obedient", "leniency"]["n"]) == (
        2 * N_ITEMS,
        N_ITEMS,
    )
