"""Generation: what a step asks of whom, and on a bad day what cannot be used is lost by name alone."""

from collections import Counter, defaultdict
from pathlib import Path

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from tests.assets.conftest import CopyWorld
from tests.assets.world import (
    ANY_ASSETS,
    ANY_LOSS_IN_GENERATION,
    FIRST_SETS,
    Row,
    World,
    data_url_hash,
    made,
    models_yaml,
    sentence,
)
from tests.doubles.garbling_proxy import When

pytestmark = pytest.mark.slow


def asked_of(world: World, task: str, images: list[Row]) -> When:
    wanted = [data_url_hash(world, image["image_id"]) for image in images]
    return lambda asked: asked.task == task and asked.images == wanted


def four_sets(world: World) -> list[str]:
    """The benchmark's sets: without numbers, with a short answer, sound, with a question astray."""
    return [*world.image_sets("benchmark")]


@pytest.fixture(scope="module")
def bad_day(clustered: World, copied: CopyWorld) -> World:
    """One run of generation in which four things went wrong. Not to be changed."""
    world = copied(clustered)
    sets, proxy = world.image_sets("benchmark"), world.proxy
    unnumbered, shortened, _, astray = four_sets(world)
    proxy.rewrite(
        asked_of(world, "questions", sets[unnumbered]),
        "Some questions come to mind: what is red, and why?",
    )
    on_shortened = asked_of(world, "answers", sets[shortened])
    proxy.rewrite(
        lambda asked: on_shortened(asked) and "<earlier>" in asked.text, "I hope this helps!"
    )
    proxy.rewrite(
        asked_of(world, "questions", sets[astray]),
        lambda reply: reply.replace("<image-3>", "<image-9>"),
    )
    (lost,) = world.table("ingest.entries", entry_id=sets[shortened][0]["entry_id"])
    title = f"<title>{lost['title']}</title>"
    proxy.refuse(
        lambda asked: asked.task == "summary" and title in asked.text,
        400,
        "the model is out of luck today",
    )
    assert world.generate(ANY_LOSS_IN_GENERATION).success, "it goes on past all that went wrong"
    return world


def test_an_answer_without_a_text_costs_its_turn_and_no_other(bad_day: World) -> None:
    shortened = four_sets(bad_day)[1]
    (lost,) = bad_day.table("dialogue.failed", stage="answers")
    assert (lost["set_id"], lost["reason"]) == (shortened, "empty_block")
    assert lost["subject"] == f"{shortened}, question 3"
    assert lost["call_key"] in bad_day.ledger.find([lost["call_key"]])
    answers = bad_day.rows(
        "SELECT q.positions, q.ordinal FROM dialogue.answers JOIN dialogue.questions AS q "
        "USING (question_id) WHERE q.set_id = $s ORDER BY ALL",
        s=shortened,
    )
    on_several = [row["ordinal"] for row in answers if len(row["positions"]) == 3]
    assert len(answers) == 5 and on_several == [1, 2]


def test_what_was_lost_costs_a_dialogue_only_the_turns_that_needed_it(bad_day: World) -> None:
    unnumbered, shortened, sound, astray = four_sets(bad_day)
    dialogues = bad_day.table("dialogue.dialogues")
    assert {row["set_id"]: row["n_turns"] for row in dialogues} == {
        sound: 6,
        shortened: 5,
        **dict.fromkeys(bad_day.image_sets("instruction"), 5),
    }
    for row in dialogues:
        text = " ".join(turn["question"] + turn["answer"] for turn in row["turns"])
        assert "out of luck" not in text
        assert text.count("<ImageHere>") == row["n_images"] == len(set(row["image_ids"]))
    # A set without a question on several images is no dialogue.
    lost = bad_day.table("dialogue.failed", stage="dialogues")
    assert {row["reason"] for row in lost} == {"no_multi_image_question"}
    assert {row["set_id"] for row in lost} == {unnumbered, astray}


@pytest.mark.parametrize("stage", ["summaries", "questions", "answers", "dialogues"])
def test_losses_are_counted_where_people_look(bad_day: World, stage: str) -> None:
    told = bad_day.told(f"dialogue/{stage}")
    lost = bad_day.table("dialogue.failed", stage=stage)
    assert told["failed"] == len(lost) > 0
    for reason, n in Counter(row["reason"] for row in lost).items():
        assert f"| {reason} | {n} |" in told["reasons"]
    if stage == "summaries":
        # Twelve entries for the benchmark and twelve to instruct, none of them in two sets.
        assert (told["calls"], told["failed calls"], told["cache hits"]) == (23, 1, 0)


def test_the_next_run_asks_only_what_got_no_answer_and_what_hangs_on_it(bad_day, copied):
    again = copied(bad_day)
    assert again.generate(ANY_LOSS_IN_GENERATION).success
    asked = [(request.task, len(request.images)) for request in again.proxy.requests]
    # Questions rest on the summary: on the image's own page, and on its set.
    assert sorted(asked) == [("questions", 1), ("questions", 3), ("summary", 0)]


EARLIER = {"set_id": "s", "subject": "e", "reason": "empty", "detail": "Nothing.", "call_key": None}


@pytest.fixture
def again(released: World, copied: CopyWorld, tmp_path: Path) -> World:
    """A generated world that is asked everything again; its earlier run lost something, too."""
    world = copied(released, tmp_path)
    world.forget_calls()
    for table, stage in (("dialogue", "answers"), ("rewrite", "rewrites")):
        lost = rows_to_arrow(f"{table}.failed", [{**EARLIER, "stage": stage}])
        world.warehouse.replace(f"{table}.failed", lost)
    return world


def generated(world: World) -> dict[str, list[Row]]:
    tables = ("dialogue.answers", "dialogue.dialogues", "dialogue.failed")
    return {
        table: world.rows(f"FROM {table} ORDER BY ALL")
        for table in (*tables, "rewrite.rewrites", "rewrite.failed")
    }


def test_too_many_losses_leave_the_earlier_rows_and_stop_what_stands_on_them(again: World) -> None:
    before = generated(again)
    # Four sets of three images and six of two: 24 requests on one image, 3 on all of each set.
    again.proxy.rewrite(
        lambda asked: asked.task == "answers" and len(asked.images) == 1, "I would rather not."
    )
    run = again.generate()
    assert not run.success
    assert sentence(run).startswith(
        "dialogue.answers keeps its earlier rows: 24 of 54 requests were lost "
        "(24 short_answer), and at most 20% may be. 24 replies could not be read: "
    )
    assert made(run) == {"dialogue/summaries", "dialogue/questions"}
    assert generated(again) == before


TASKS = ("summary", "questions", "answers", "rewrite", "item")
CHOICES = dg.AssetSelection.assets(["choice", "items"], ["choice", "translations"])
QUALITY = dg.AssetSelection.groups("quality")


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    """One set of three images."""
    world = copied(clustered, tmp_path)
    world.remake("cluster.image_sets", f"{FIRST_SETS} AND kind = 'benchmark'")
    return world


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
    world.remake("ingest.entries", "SELECT * REPLACE ('de' AS language) FROM ingest.entries")
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
