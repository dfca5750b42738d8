"""What a step of generation asks, of whom and in which language, and what a reply cut off costs."""

from collections import defaultdict
from pathlib import Path

import dagster as dg
import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, World, any_loss, metadata, models_yaml, sentence

pytestmark = pytest.mark.slow

TASKS = ("summary", "questions", "answers", "rewrite", "item")
CHOICES = dg.AssetSelection.assets(["choice", "items"], ["choice", "translations"])
QUALITY = dg.AssetSelection.groups("quality")


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    """One set of three images."""
    made = copied(clustered, tmp_path)
    first = made.warehouse.sql(
        "FROM cluster.image_sets WHERE set_id = "
        "(SELECT min(set_id) FROM cluster.image_sets WHERE kind = 'benchmark')"
    )
    made.warehouse.replace("cluster.image_sets", first)
    return made


def test_each_question_is_a_draft_and_is_answered_by_itself_with_the_one_that_it_goes_on_from(
    world,
):
    assert world.generate({"dialogue__questions": {"config": {"per_set": 4, "seed": 5}}}).success

    asked = world.proxy.asked("answers")
    assert sorted(len(request.images) for request in asked) == [1, 1, 1, 3, 3, 3, 3]
    assert all(request.texts[1].count("<question>") == 1 for request in asked)
    questions = world.rows("FROM dialogue.questions WHERE len(positions) = 3 ORDER BY ordinal")
    first, _, third, _ = questions
    assert [row["follows"] for row in questions] == [None, None, first["question_id"], None]
    (following,) = [request for request in asked if "<earlier>" in request.texts[1]]
    assert f"<earlier>{first['question']}</earlier>" in following.texts[1]
    assert f"<question>{third['question']}</question>" in following.texts[1]
    (dialogue,) = world.rows("SELECT n_turns FROM dialogue.dialogues")
    assert dialogue["n_turns"] == 3 + 4

    drafts, answers = (
        [call.request for call in world.ledger if call.stage == f"dialogue.{name}"]
        for name in ("questions", "answers")
    )
    assert {(each["params"]["temperature"], each["replicate"]) for each in drafts} == {(0.7, 5)}
    assert {each["params"]["temperature"] for each in answers} == {0.0}
    assert not any("replicate" in each for each in answers)


def test_an_answer_that_does_not_fit_is_lost_by_its_name_and_costs_its_turn(world):
    limited = {"model": "offline-writer", "token_limit": {"tokens": 60}}
    world.set_models({"limited": limited}, answer="limited")

    run = world.generate(any_loss("dialogue__answers", "dialogue__dialogues", "rewrite__rewrites"))

    lost = world.rows("SELECT * FROM dialogue.failed WHERE stage = 'answers' ORDER BY subject")
    assert {row["reason"] for row in lost} == {"truncated"}
    on_all = [row["subject"].split(", ")[1:] for row in lost if "image" not in row["subject"]]
    assert on_all == [["question 1"], ["question 2"], ["question 3"]]
    assert metadata(run, "dialogue/answers")["failed"] == len(lost) == 6
    assert not any("Again: your last reply" in each.text for each in world.proxy.requests)


def test_each_step_asks_the_model_that_the_profile_gives_it(world):
    models = models_yaml(world.proxy.base_url)
    models["profiles"]["test"] |= {"summary": "judge", "answer": "careful", "rewrite": "careless"}
    models["models"]["careful"] = {"provider": "mock", "model": "offline-careful"}
    world.write_models(models)

    assert world.generate().success

    asked = defaultdict(set)
    for call in world.ledger:
        asked[call.stage].add(call.model)
    assert asked == {
        "dialogue.summaries": {"offline-judge"},
        "dialogue.questions": {"offline-writer"},
        "dialogue.answers": {"offline-careful"},
        "rewrite.rewrites": {"offline-careless"},
    }
    # A row names the provider of the model that was asked, which is no other step's.
    for table, provider in (("questions", "openai"), ("answers", "mock")):
        rows = world.rows(f"SELECT DISTINCT provider FROM dialogue.{table}")
        assert [row["provider"] for row in rows] == [provider]


def language_faults(world: World, **settings: str) -> set[bool]:
    """Whether the check `language` finds something in pairs."""
    config = {"quality__checks": {"config": {"model_checks": False, **settings}}}
    run = world.run(ANY_ASSETS, config, assets=QUALITY)
    assert run.success, sentence(run)
    rows = world.rows("SELECT DISTINCT language IS NOT NULL AS is_fault FROM quality.checks")
    return {row["is_fault"] for row in rows}


def test_prompts_name_the_language_of_the_pages_and_the_checks_expect_it(world):
    german = world.warehouse.sql("SELECT * REPLACE ('de' AS language) FROM ingest.entries")
    world.warehouse.replace("ingest.entries", german)
    for run in (world.generate(), world.run(ANY_ASSETS, assets=CHOICES)):
        assert run.success, sentence(run)
    for task in TASKS:
        asked = world.proxy.asked(task)
        assert asked
        assert all("Write all texts of your reply in German." in each.texts[0] for each in asked)
    # Translations are from English.
    assert world.warehouse.count("choice.translations") == 0
    # The mock model writes English, and the setting counts more than the pages.
    assert language_faults(world) == {True}
    assert language_faults(world, language="en") == {False}
