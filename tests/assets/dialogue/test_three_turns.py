"""Conversations of three turns: from entries to a release that is evaluated."""

import json
from collections import Counter

import dagster as dg
import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, Result, Row, World, metadata, released_after, sentence

pytestmark = pytest.mark.slow

BASE = "base"

MADE = ("instructions", "three_turns", "turn_references", "turn_categories")
CONVERSATIONS = dg.AssetSelection.assets(*(["dialogue", name] for name in MADE))
LOSE_ANY = {
    f"dialogue__{name}": {"config": {"max_failed_share": 1.0}}
    for name in ("instructions", "three_turns", "turn_references")
}


def make(world: World, **settings: Row) -> Result:
    world.write_settings({"dialogue": settings})
    return world.run(ANY_ASSETS, assets=CONVERSATIONS)


@pytest.fixture(scope="module")
def base(released: World, copied: CopyWorld) -> World:
    """Not to be changed: tests go on from copies."""
    return released_after(copied(released), make)


def test_each_drawn_picture_has_a_conversation_with_all_that_is_needed(base: World) -> None:
    instructions = base.table("dialogue.instructions")
    items = base.table("dialogue.three_turns")
    assert len(instructions) == len({row["image_id"] for row in instructions}) == 6
    assert {row["instruction_id"] for row in items} == {
        row["instruction_id"] for row in instructions
    }
    references = base.table("dialogue.turn_references")
    assert Counter((row["item_id"], row["turn"], row["kind"]) for row in references) == {
        (row["item_id"], turn, kind): 1
        for row in items
        for turn, kind in ((1, "caption"), (1, "answer"), (2, "answer"), (3, "answer"))
    }
    told = base.told("dialogue/turn_references")
    assert (told["conversations"], told["failed"]) == (6, 0)
    # Every name of a task has a category of its turn.
    categories = base.table("dialogue.turn_categories")
    found = {(row["capability"], row["name"]): row for row in categories}
    capabilities = ("perception", "reasoning", "creation")
    assert {key: row["n_turns"] for key, row in found.items()} == Counter(
        (capability, turn["task"])
        for item in items
        for capability, turn in zip(capabilities, item["turns"], strict=True)
    )
    assert all((capability, row["category"]) in found for (capability, _), row in found.items())


def captions_of(world: World) -> dict[str, str]:
    """The caption of each conversation, which is in every request for one of its references."""
    rows = world.table("dialogue.turn_references", kind="caption")
    return {row["item_id"]: row["reference"] for row in rows}


def test_a_reference_is_written_over_those_before_it_and_the_caption(world: World) -> None:
    captions = captions_of(world)
    world.forget_calls()
    assert make(world).success
    asked = [each.text for each in world.proxy.asked("reference")]
    for item in world.table("dialogue.three_turns"):
        rows = world.table("dialogue.turn_references", item_id=item["item_id"], kind="answer")
        first, second, _ = (row["reference"] for row in sorted(rows, key=lambda row: row["turn"]))
        wanted = (captions[item["item_id"]], item["turns"][2]["question"], f"<answer>{first}<")
        (last,) = [text for text in asked if all(each in text for each in wanted)]
        assert f"<answer>{second}</answer>" in last
        assert all(f"- {point}" in last for point in item["focus"])


def test_made_again_nothing_is_asked_and_more_keep_what_there_is(world: World, base: World) -> None:
    assert make(world).success
    assert not world.proxy.requests
    assert [world.table(f"dialogue.{name}") for name in MADE] == [
        base.table(f"dialogue.{name}") for name in MADE
    ]
    # More keep what there is, and more than there are pictures is a warning.
    run = make(world, instructions={"n_instructions": 500})
    assert run.success, sentence(run)
    for name in MADE[:3]:
        kept = world.table(f"dialogue.{name}")
        assert all(row in kept for row in base.table(f"dialogue.{name}"))
    n = len(world.table("dialogue.instructions"))
    assert n == len(world.table("dialogue.three_turns")) > 6
    warning = metadata(run, "dialogue/instructions")["warning"]
    assert warning.startswith(f"{n} of 500 were asked for")


def test_a_draft_that_is_not_sound_is_left_out_with_its_reason(world: World) -> None:
    first, second, *_ = world.table("dialogue.three_turns")
    captions = captions_of(world)
    world.forget_calls()
    of_first, of_second = (
        lambda asked, item=item: (
            asked.task == "reference" and captions[item["item_id"]] in asked.text
        )
        for item in (first, second)
    )
    world.proxy.rewrite(of_first, "A text that goes on and", finish="length")
    later = " ".join(turn["question"] for turn in second["turns"][1:])
    question = f"<last>{second['turns'][0]['question']}"
    world.proxy.rewrite(lambda asked: of_second(asked) and question in asked.text, later)
    world.write_settings({})
    run = world.run(ANY_ASSETS, LOSE_ANY, assets=CONVERSATIONS)
    assert run.success, sentence(run)

    lost = world.table("dialogue.failed", stage="turn_references")
    call_of = {row["reason"]: row["call_key"] for row in lost}
    assert {(row["subject"], row["reason"]) for row in lost} == {
        (f"item {first['item_id']}, answer of turn 1", "truncated"),
        (f"item {second['item_id']}", "answer_in_later_question"),
    }
    (leak,) = world.ledger.calls([call_of["answer_in_later_question"]])
    assert leak.response == later
    left = {row["item_id"] for row in world.table("dialogue.turn_references")}
    assert len(left) == 4 and not left & {first["item_id"], second["item_id"]}
    told = metadata(run, "dialogue/turn_references")
    assert (told["conversations"], told["failed"]) == (4, 2)
    assert "answer_in_later_question" in told["reasons"]


def test_a_reviewer_sees_everything_and_what_is_changed_reaches_the_release(world: World) -> None:
    (queued, *_) = world.table("review.queue", kind="three_turns")
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
    rows = world.table("release.references", release_id=item["release_id"], item_id=item["item_id"])
    references = {(row["turn"], row["kind"]): row for row in rows}
    assert references[1, "caption"]["reference"] == "A plain caption."
    assert references[3, "focus"]["reference"] == "It is short."
    assert references[1, "caption"]["call_key"] is references[3, "focus"]["call_key"] is None
    assert references[3, "answer"]["call_key"] is not None


def test_all_that_is_approved_is_one_release(base: World) -> None:
    (card,) = base.table("release.releases", name="convbench")
    assert (card["benchmark"], card["language"], card["n_items"]) == ("convbench", "en", 6)
    images = base.table("release.images", release_id=card["release_id"])
    assert len(images) == 6 and all(row["page_url"] for row in images)
