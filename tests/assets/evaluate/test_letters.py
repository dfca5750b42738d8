"""Whether letters are read rightly: a blind queue, second readings, figures, other rules."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from methods.choice import strict
from tests.assets.conftest import MakeWorld
from tests.assets.evaluate.test_multiple_choice import question, write_mmbench
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    CALLING,
    SCORING,
    Row,
    World,
    copy_of,
    metadata,
    sentence,
)

pytestmark = pytest.mark.slow

N_QUESTIONS = 8
QUEUE = dg.AssetSelection.assets(["evaluate", "extraction_queue"])
QUALITY = dg.AssetSelection.assets(["evaluate", "extraction_quality"])
MODELS = ("careful", "refuser")
PLANTED = {
    # No rule reads it, and the extractor does.
    0: "The answer is plain to see, rather red.",
    # No strict rule reads it; VLMEvalKit's rules read D.
    1: "The answer is dark, rather red.",
    # No rule reads it, and the extractor reads it wrongly.
    2: "Red without doubt, I should think, as I see it.",
    # The extractor says no letter, however often it is asked.
    3: "Red as a rose, I should think, or green as a tomato.",
}
WRONG, NO_LETTER = "A", "I cannot say."


@pytest.fixture(scope="module")
def read(empty_world: MakeWorld) -> World:
    """Eight questions on a red picture, asked of a model that knows and of one that declines.

    The first one is asked without the picture, too. A second model reads the answers.
    """
    world = empty_world()
    candidates = [*MODELS, "no-images:careful", "baseline:reference"]
    world.set_models({"second": {"model": "offline-judge"}}, evaluate=candidates)
    imported = world.import_file("mmbench", questions(world.root), split="dev", language="en")
    assert imported.success, sentence(imported)
    world.proxy.rewrite(lambda asked: extracts(asked, 2), WRONG)
    world.proxy.rewrite(lambda asked: extracts(asked, 3), NO_LETTER)
    for number, answer in PLANTED.items():
        world.proxy.rewrite(
            lambda asked, number=number: (
                asked.model == "offline-careful" and f"Question {number}." in asked.text
            ),
            answer,
        )
    world.write_settings(
        {
            "evaluate": {
                # Without the picture an answer in four is not read.
                "answers": {"max_failed_share": 0.5},
                "extraction_queue": {"n_answers": 5},
                "second_readings": {"extractors": ["second"]},
            }
        }
    )
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING | QUEUE | QUALITY).success
    return world


@pytest.fixture
def changed(read: World, tmp_path: Path) -> World:
    """A copy of `read` that a test may change."""
    copy_of(read.root, tmp_path)
    world = replace(read, root=tmp_path)
    shutil.copy(read.root / "models.yaml", tmp_path)
    return world


def extracts(asked: Any, number: int) -> bool:
    return asked.task == "extract" and f"Question {number}." in asked.text


def questions(root: Path) -> Path:
    """The right choice, red, stands second in each: its letter is B."""
    asked = "Question {}. Which colour has the picture, as in <image-2>?"
    others = [
        question(number, "red", 1, question=asked.format(number), image="0")
        for number in range(1, N_QUESTIONS)
    ]
    return write_mmbench(root, [question(0, "red", 1, question=asked.format(0)), *others])


def figure(world: World, model: str, measure: str, reader: str, other: str = "", **of: str) -> Row:
    (row,) = world.rows(
        "SELECT * FROM evaluate.extraction_quality WHERE subject = $model AND measure = $measure "
        "AND judge = $reader AND other = $other AND subset_value = $subset AND metric = $metric",
        **{"model": model, "measure": measure, "reader": reader, "other": other},
        **{"subset": "", "metric": "", **of},
    )
    return row


def test_the_extractor_reads_what_rules_have_read_and_mostly_agrees(read: World) -> None:
    rows = read.rows(
        "SELECT model, value, reason FROM evaluate.second_readings WHERE extractor <> 'second'"
    )
    models = [row["model"] for row in rows]
    assert {name: models.count(name) for name in models} == {"careful": 10, "refuser": N_QUESTIONS}
    # A refusal to question 2 is misread as A, and one to question 3 is not read.
    lost = [row for row in rows if row["value"] is None]
    assert [(row["model"], row["reason"]) for row in lost] == [("refuser", "no_letter")]
    agreed = figure(read, "refuser", "raw", "rule", "extractor")
    assert (agreed["n"], agreed["value"]) == (7, pytest.approx(6 / 7))
    assert figure(read, "careful", "raw", "rule", "extractor")["value"] == 1


def test_another_extractor_reads_the_sample_and_what_no_rule_has_read_of_models(
    read: World,
) -> None:
    """No rule reads the four planted answers. Three are given in all four passes; the one that is
    misread is wrong in the first pass, after which no other one is asked.
    """
    rows = read.rows("SELECT extractor, model FROM evaluate.second_readings")
    assert Counter((row["extractor"], row["model"]) for row in rows) == {
        ("judge", "careful"): 10,
        ("judge", "refuser"): N_QUESTIONS,
        ("second", "careful"): 10 + 3 * 4 + 1,
        ("second", "refuser"): N_QUESTIONS,
    }


def test_the_queue_has_every_stratum_and_is_blind(read: World) -> None:
    items = read.review_store.items(["extraction"])
    outputs = {item["content"]["output"] for item in items}
    assert set(PLANTED.values()) <= outputs and any("help" in output for output in outputs)
    for item in items:
        assert item["content"]["choice"] is None
        assert set(item["content"]) == {"question", "choices", "output", "choice"}
        assert not item.get("context") and item["image_ids"] == []
        assert not any(model in json.dumps(item) for model in (*MODELS, "baseline"))
        state = read.review_store.state(item["item_id"])
        assert state is not None and state.status.name == "round_1"


def test_what_people_read_is_compared_with_every_reader(changed: World) -> None:
    (changed.home / "review.yaml").write_text("default: {annotators: 2, expert: none}")
    items = [item for item in changed.review_store.items(["extraction"])]
    planted = [item for item in items if item["content"]["output"] in PLANTED.values()]
    for item in planted:
        red = next(name for name, text in item["content"]["choices"].items() if text == "red")
        # Two people read two letters in the answers that nobody else has read.
        other = "Z" if item["content"]["output"] == PLANTED[3] else red
        for person, letter in (("ann", red), ("bob", other)):
            edits = {**item["content"], "choice": letter}
            changed.decide(item["item_id"], "edit", person, edits=edits)
    review = dg.AssetSelection.assets(["review", "agreement"])
    run = changed.run(ANY_ASSETS, assets=QUALITY | review)
    assert run.success
    n_apart = sum(item["content"]["output"] == PLANTED[3] for item in planted)
    told = metadata(run, "evaluate/extraction_quality")
    assert told["people disagree"] == n_apart > 0
    assert told["read by people"] == len(planted) - n_apart
    # People read red; where the readings differ, VLMEvalKit's D is red in one pass of four at most.
    for reader, value in (("strict", 1), ("compat", 0)):
        differ = figure(changed, "careful", "raw", reader, "people", subset="differ")
        assert differ["value"] == value and differ["n"] > 0
    extractor = figure(changed, "careful", "raw", "extractor", "people")
    assert 0 < extractor["value"] < 1, "it was made to misread question 2"
    # A blank item has no verdict worth comparing.
    rows = changed.table("review.agreement", kind="extraction")
    assert {row["dimension"] for row in rows} == {"choice"}


def test_other_rules_read_the_answers_again_and_ask_nobody(changed, monkeypatch):
    before = changed.table("evaluate.extractions")
    n_calls, n_asked = len(changed.ledger), len(changed.proxy.requests)
    monkeypatch.setattr(strict, "VERSION", "changed")
    run = changed.run(ANY_ASSETS, assets=CALLING)
    assert run.success
    assert (len(changed.ledger), len(changed.proxy.requests)) == (n_calls, n_asked)
    assert changed.table("evaluate.extractions") == before
