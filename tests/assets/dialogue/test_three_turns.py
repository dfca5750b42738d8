"""Conversations of three turns: from entries to a release that is evaluated."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, Result, Row, World, made_and_released, metadata, sentence

pytestmark = pytest.mark.slow

MADE = ("instructions", "three_turns", "turn_references", "turn_categories")
CONVERSATIONS = dg.AssetSelection.assets(*(["dialogue", name] for name in MADE))
LOSE_ANY = {
    f"dialogue__{name}": {"config": {"max_failed_share": 1.0}}
    for name in ("instructions", "three_turns", "turn_references")
}


@dataclass
class Made:
    """A home whose conversations were drafted and released, with nobody required to review them."""

    world: World
    run: Result


def make(world: World, **settings: Row) -> Result:
    world.write_settings({"dialogue": settings})
    return world.run(ANY_ASSETS, assets=CONVERSATIONS)


@pytest.fixture(scope="module")
def base(released: World, copied: CopyWorld) -> Made:
    """Not to be changed: tests go on from copies."""
    world = copied(released)
    run = made_and_released(world, make)
    return Made(world, run)


@pytest.fixture
def world(base: Made, copied: CopyWorld, tmp_path: Path) -> World:
    return copied(base.world, tmp_path)


def test_each_drawn_picture_has_a_conversation_with_all_that_is_needed(base: Made) -> None:
    instructions = base.world.table("dialogue.instructions")
    items = base.world.table("dialogue.three_turns")
    assert len(instructions) == len({row["image_id"] for row in instructions}) == 6
    assert {row["instruction_id"] for row in items} == {
        row["instruction_id"] for row in instructions
    }
    references = base.world.table("dialogue.turn_references")
    assert Counter((row["item_id"], row["turn"], row["kind"]) for row in references) == {
        (row["item_id"], turn, kind): 1
        for row in items
        for turn, kind in ((1, "caption"), (1, "answer"), (2, "answer"), (3, "answer"))
    }
    told = metadata(base.run, "dialogue/turn_references")
    assert (told["conversations"], told["failed"]) == (6, 0)
    # Every name of a task has a category of its turn.
    categories = base.world.table("dialogue.turn_categories")
    found = {(row["capability"], row["name"]): row for row in categories}
    capabilities = ("perception", "reasoning", "creation")
    assert {key: row["n_turns"] for key, row in found.items()} == Counter(
        (capability, turn["task"])
        for item in items
        for capability, turn in zip(capabilities, item["turns"], strict=True)
    )
    assert all((capability, row["category"]) in found for (capability, _), row in found.items())


def test_a_reference_is_written_over_those_before_it_and_the_caption(world: World) -> None:
    world.forget_calls()
    assert make(world).success
    asked = [each.text for each in world.proxy.asked("reference")]
    for item in world.table("dialogue.three_turns"):
        said = {
            (row["turn"], row["kind"]): row["reference"]
            for row in world.table("dialogue.turn_references")
            if row["item_id"] == item["item_id"]
        }
        (last,) = [
            text
            for text in asked
            if said[1, "caption"] in text
            and item["turns"][2]["question"] in text
            and f"<answer>{said[1, 'answer']}</answer>" in text
        ]
        assert f"<answer>{said[2, 'answer']}</answer>" in last
        assert all(f"- {point}" in last for point in item["focus"])


def test_made_again_nothing_is_asked_and_more_keep_what_there_is(world: World, base: Made) -> None:
    assert make(world).success
    assert not world.proxy.requests
    assert [world.table(f"dialogue.{name}") for name in MADE] == [
        base.world.table(f"dialogue.{name}") for name in MADE
    ]
    # More keep what there is, and more than there are pictures is a warning.
    run = make(world, instructions={"n_instructions": 500})
    assert run.success, sentence(run)
    for name in MADE[:3]:
        kept = world.table(f"dialogue.{name}")
        assert all(row in kept for row in base.world.table(f"dialogue.{name}"))
    n = len(world.table("dialogue.instructions"))
    told = metadata(run, "dialogue/instructions")
    assert told["warning"].startswith(f"{n} of 500 were asked for")
    assert (
        told["pictures that do not look alike"] == n == len(world.table("dialogue.three_turns")) > 6
    )


def test_a_draft_that_is_not_sound_is_left_out_with_its_reason(world: World) -> None:
    first, second, third, *_ = world.table("dialogue.three_turns")
    references = {
        (row["item_id"], row["turn"], row["kind"]): row["reference"]
        for row in world.table("dialogue.turn_references")
    }
    world.forget_calls()

    def of(item: Row, task: str, *texts: str):
        caption = references[item["item_id"], 1, "caption"]
        return lambda asked: (
            asked.task == task and all(text in asked.text for text in (caption, *texts))
        )

    world.proxy.rewrite(of(first, "reference", "<focus>"), "I'm sorry, but I can't help with that.")
    world.proxy.rewrite(of(second, "reference"), "A text that goes on and", finish="length")
    told = " ".join(turn["question"] for turn in third["turns"][1:])
    world.proxy.rewrite(of(third, "reference", f"<last>{third['turns'][0]['question']}"), told)
    world.write_settings({})
    run = world.run(ANY_ASSETS, LOSE_ANY, assets=CONVERSATIONS)
    assert run.success, sentence(run)

    lost = world.rows("FROM dialogue.failed")
    assert {(row["subject"], row["reason"]) for row in lost} == {
        (f"item {first['item_id']}, answer of turn 3", "refusal"),
        (f"item {second['item_id']}, answer of turn 1", "truncated"),
        (f"item {third['item_id']}", "answer_in_later_question"),
    }
    assert {row["stage"] for row in lost} == {"turn_references"}
    left = {row["item_id"] for row in world.table("dialogue.turn_references")}
    assert len(left) == 3 and not left & {first["item_id"], second["item_id"], third["item_id"]}
    told = metadata(run, "dialogue/turn_references")
    assert (told["conversations"], told["failed"]) == (3, 3)
    assert "answer_in_later_question" in told["reasons"]


def test_a_reviewer_sees_everything_and_what_is_changed_reaches_the_release(world: World) -> None:
    (queued, *_) = world.rows("FROM review.queue WHERE kind = 'three_turns' ORDER BY item_id")
    content, context = json.loads(queued["content"]), json.loads(queued["context"])
    assert [line.split(":")[0] for line in context["why"]] == [
        *("ConvBench, perception", "ConvBench, reasoning", "ConvBench, creation")
    ]
    assert context["captions"] and context["page_urls"]
    edited = {
        **content,
        "caption": "A plain caption.",
        "reasoning": {**content["reasoning"], "category": "Wood Reasoning"},
        "creation": {**content["creation"], "focus": "It is short."},
    }
    world.decide(queued["item_id"], "edit", "ann", edits=edited)
    assert world.release().success
    of = "WHERE release_id = (SELECT release_id FROM release.current WHERE name = 'convbench')"
    (item,) = world.rows(f"FROM release.items {of} AND item_id = $item", item=queued["item_id"])
    assert item["reviewers"] == ["ann", "policy:none"] and item["revision"] == 1
    assert dict(item["labels"])["reasoning"] == "Wood Reasoning"
    references = {
        (row["turn"], row["kind"]): row
        for row in world.rows(
            f"FROM release.references {of} AND item_id = $item", item=queued["item_id"]
        )
    }
    assert references[1, "caption"]["reference"] == "A plain caption."
    assert references[3, "focus"]["reference"] == "It is short."
    assert references[1, "caption"]["call_key"] is references[3, "focus"]["call_key"] is None
    assert references[3, "answer"]["call_key"] is not None


def test_all_that_is_approved_is_one_release(base: Made) -> None:
    (card,) = base.world.rows("FROM release.releases WHERE name = 'convbench'")
    assert (card["benchmark"], card["language"], card["n_items"]) == ("convbench", "en", 6)
    images = base.world.rows("FROM release.images WHERE release_id = $of", of=card["release_id"])
    assert len(images) == 6 and all(row["page_url"] for row in images)
