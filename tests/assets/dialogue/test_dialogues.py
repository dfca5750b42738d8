"""Generation on a bad day: what cannot be used is lost by name, and nothing else is lost with it."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from assets.common.tables import rows_to_arrow
from tests.assets.conftest import CopyWorld
from tests.assets.world import (
    ANY_LOSS_IN_GENERATION,
    Result,
    Row,
    World,
    data_url_hash,
    made,
    metadata,
    sentence,
)
from tests.doubles.garbling_proxy import Asked, When

pytestmark = pytest.mark.slow


@dataclass
class BadDay:
    """One run of generation in which four things went wrong, and then one without them."""

    world: World
    unnumbered: str
    """Set whose questions on all images came without numbers."""
    shortened: str
    """Set in whose answers one of three is missing."""
    sound: str
    """Set of which nothing went wrong."""
    astray: str
    """Set of three images of which a question names the ninth."""
    run: Result
    failed: list[Row]
    dialogues: dict[str, Row]
    again: Result
    asked_again: list[Asked]

    def failed_of(self, stage: str) -> list[Row]:
        return [row for row in self.failed if row["stage"] == stage]


def asked_of(world: World, task: str, images: list[Row]) -> When:
    """Requests of a task about exactly these images."""
    wanted = [data_url_hash(world, image["image_id"]) for image in images]
    return lambda asked: asked.task == task and asked.images == wanted


@pytest.fixture(scope="module")
def bad_day(clustered: World, copied: CopyWorld) -> BadDay:
    world = copied(clustered)
    sets = world.image_sets("benchmark")
    unnumbered, shortened, sound, astray = sets
    lost = sets[shortened][0]
    proxy = world.proxy
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
    (of_page,) = world.rows("FROM ingest.entries WHERE entry_id = $e", e=lost["entry_id"])
    title = f"<title>{of_page['title']}</title>"
    proxy.refuse(
        lambda asked: asked.task == "summary" and title in asked.text,
        400,
        "the model is out of luck today",
    )

    run = world.generate(ANY_LOSS_IN_GENERATION)
    assert run.success, "it goes on past everything that went wrong"
    failed = world.rows("FROM dialogue.failed ORDER BY ALL")
    dialogues = {row["set_id"]: row for row in world.rows("SELECT * FROM dialogue.dialogues")}
    proxy.heal()
    again = world.generate(ANY_LOSS_IN_GENERATION)
    return BadDay(
        world, unnumbered, shortened, sound, astray, run, failed, dialogues, again, proxy.requests
    )


def test_an_answer_without_a_text_costs_its_turn_and_no_other(bad_day: BadDay) -> None:
    (lost,) = bad_day.failed_of("answers")
    assert (lost["set_id"], lost["reason"]) == (bad_day.shortened, "empty_block")
    assert lost["subject"] == f"{bad_day.shortened}, question 3"
    assert lost["call_key"] in bad_day.world.ledger.find([lost["call_key"]])
    answers = bad_day.world.rows(
        "SELECT q.positions, q.ordinal FROM dialogue.answers JOIN dialogue.questions AS q "
        "USING (question_id) WHERE q.set_id = $s ORDER BY ALL",
        s=bad_day.shortened,
    )
    on_several = [row["ordinal"] for row in answers if len(row["positions"]) == 3]
    assert len(answers) == 5 and on_several == [1, 2]


def test_a_set_without_a_question_on_several_images_is_no_dialogue(bad_day: BadDay) -> None:
    lost = bad_day.failed_of("dialogues")
    assert {row["reason"] for row in lost} == {"no_multi_image_question"}
    without = {row["set_id"] for row in lost}
    assert without == {bad_day.unnumbered, bad_day.astray}
    assert not without & bad_day.dialogues.keys()


def test_what_was_lost_costs_a_dialogue_only_the_turns_that_needed_it(bad_day: BadDay) -> None:
    n_turns = {set_id: row["n_turns"] for set_id, row in bad_day.dialogues.items()}
    instruction = bad_day.world.image_sets("instruction")
    assert n_turns == {
        bad_day.sound: 6,
        bad_day.shortened: 5,
        **dict.fromkeys(instruction, 5),
    }
    for row in bad_day.dialogues.values():
        text = " ".join(turn["question"] + turn["answer"] for turn in row["turns"])
        assert "out of luck" not in text
        assert text.count("<ImageHere>") == row["n_images"] == len(set(row["image_ids"]))


@pytest.mark.parametrize("stage", ["summaries", "questions", "answers", "dialogues"])
def test_losses_are_counted_where_people_look(bad_day: BadDay, stage: str) -> None:
    told = metadata(bad_day.run, f"dialogue/{stage}")
    lost = bad_day.failed_of(stage)
    assert told["failed"] == len(lost) > 0
    for reason, n in Counter(row["reason"] for row in lost).items():
        assert f"| {reason} | {n} |" in told["reasons"]


def test_calls_that_failed_are_counted_apart_from_those_that_were_answered(bad_day: BadDay) -> None:
    told = metadata(bad_day.run, "dialogue/summaries")
    # Twelve entries for the benchmark and twelve to instruct, none of them in two sets.
    assert (told["calls"], told["failed calls"], told["cache hits"]) == (23, 1, 0)


def test_the_next_run_asks_only_what_got_no_answer_and_what_hangs_on_it(bad_day: BadDay) -> None:
    assert bad_day.again.success
    asked = [(request.task, len(request.images)) for request in bad_day.asked_again]
    assert sorted(asked) == [
        # Questions rest on the summary: on the image's own page, and on its set.
        ("questions", 1),
        ("questions", 3),
        ("summary", 0),
    ]


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
