"""What the checks find leads to the queue, to reviewers, to instruction sets and to cards."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from assets.quality.model_checks import MOST_READ
from assets.release.built_dialogues import apply_checks
from methods.release import ApprovedDialogue
from tests.assets.conftest import CopyWorld
from tests.assets.world import (
    ANY_ASSETS,
    Result,
    Row,
    World,
    any_loss,
    data_url_hash,
    metadata,
    sentence,
)

pytestmark = pytest.mark.slow

QUALITY = dg.AssetSelection.groups("quality")
RULES_ONLY = {"quality__checks": {"config": {"model_checks": False}}}


def plant(world: World, kind: str, place: int, turn: int, **texts: Callable[[str], str]) -> Row:
    """Change texts of one turn of the dialogue of this kind at this place (from 0); the dialogue."""
    rows = world.rows("SELECT * FROM dialogue.dialogues ORDER BY kind, dialogue_id")
    row = [each for each in rows if each["kind"] == kind][place]
    for name, change in texts.items():
        row["turns"][turn][name] = change(row["turns"][turn][name])
    world.warehouse.replace("dialogue.dialogues", rows_to_arrow("dialogue.dialogues", rows))
    return row


def check_pairs(world: World, config: Row | None = None) -> Result:
    run = world.run(ANY_ASSETS, RULES_ONLY if config is None else config, assets=QUALITY)
    assert run.success, sentence(run)
    return run


@pytest.fixture
def world(released: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Two dialogues of each kind."""
    world = copied(released, tmp_path)
    number = "row_number() OVER (PARTITION BY kind ORDER BY dialogue_id)"
    world.remake("dialogue.dialogues", f"FROM dialogue.dialogues QUALIFY {number} <= 2")
    return world


def quality_of(world: World, name: str) -> dict[str, int]:
    (row,) = world.rows(
        "SELECT quality FROM release.releases JOIN release.current USING (name, release_id) "
        "WHERE name = $name",
        name=name,
    )
    return dict(json.loads(row["quality"]))


def test_what_is_dropped_is_left_out_of_an_instruction_set_and_seen_first_in_a_benchmark(world):
    """One pair of the first dialogue, all of the second that are on several pictures, one to test."""
    refusal: Callable[[str], str] = lambda text: "I'm sorry, but I can't help."  # noqa: E731
    refused = plant(world, "instruction", 0, 0, answer=refusal)
    gone = plant(world, "instruction", 1, 0)
    together = [
        place
        for place, turn in enumerate(gone["turns"])
        if len(set(re.findall(r"<image-\d+>", turn["question"] + turn["answer"]))) > 1
    ]
    for place in together:
        plant(world, "instruction", 1, place, answer=refusal)
    (count,) = world.rows("SELECT count(*) AS n FROM dialogue.dialogues WHERE kind = 'benchmark'")
    told = lambda text: f"According to the caption: {text}"  # noqa: E731
    last = plant(world, "benchmark", count["n"] - 1, 1, answer=told)
    check_pairs(world)
    assert world.release().success

    released = world.rows(
        "SELECT t.* FROM release.turns AS t JOIN release.current USING (release_id) "
        "WHERE name = 'mmdu-instruct' AND item_id = $item ORDER BY turn",
        item=refused["dialogue_id"],
    )
    assert len(released) == refused["n_turns"] - 1
    # The first picture enters with the second turn, whose text is still that of its call.
    assert released[0]["question"].startswith("Image1: <ImageHere>. Image2: <ImageHere>. ")
    assert released[0]["image_positions"] == [1, 2] and all(row["call_key"] for row in released)
    counted, n_dropped = quality_of(world, "mmdu-instruct"), 1 + len(together)
    assert (counted["drop"], counted["refusal"]) == (n_dropped, n_dropped)
    assert (counted["pairs_left_out"], counted["dialogues_left_out"]) == (n_dropped, 1)
    # Pairs that go with their dialogue are counted for themselves.
    assert counted["pairs_with_dialogues"] == gone["n_turns"] - len(together) > 0
    assert counted["unchecked"] == 0

    first = world.review_store.items()[0]
    assert first["item_id"] == last["dialogue_id"]
    note = first["context"]["checks"][last["turns"][1]["question_id"]]
    assert note == {
        "turn": 2,
        "outcome": "review",
        "found": [["material", "answer: According to the caption"]],
    }
    counted = quality_of(world, "mmdu")
    assert (counted["review"], counted["material"], counted.get("pairs_left_out")) == (1, 1, None)


def test_one_request_a_dialogue_and_step_checks_all_pairs(world: World) -> None:
    run = check_pairs(world, {})
    dialogues = world.table("dialogue.dialogues")
    asked = world.table("quality.asked")
    steps = {"blind", "other images", "blind grades", "other grades", "grounding", "texts"}
    assert {row["step"] for row in asked} == steps
    assert len(asked) == len(steps) * len(dialogues) == metadata(run, "quality/checks")["calls"]
    rows = world.table("quality.checks")
    # The mock writer says nothing that the pictures do not support, and needs them.
    assert all(
        row["unsupported"] == row["contradictions"] == row["sensitive"] == [] for row in rows
    )
    assert all(row["blind_grade"] == 0 and row["not_checked"] is None for row in rows)
    assert (
        metadata(run, "quality/checks")["pass"] == len(rows) == sum(d["n_turns"] for d in dialogues)
    )
    assert world.table("quality.failed") == []

    # The pictures of another set are shown, and none of its own.
    own = {row["dialogue_id"]: row["image_ids"] for row in dialogues}
    calls = {call.key: call for call in world.ledger}
    for row in asked:
        messages = calls[row["call_key"]].request["messages"]
        parts = [part for message in messages for part in message["parts"]]
        shown = [part["image"] for part in parts if isinstance(part, dict)]
        images = own[row["dialogue_id"]]
        if row["step"] == "grounding":
            assert shown == images
        elif row["step"] == "other images":
            assert len(shown) == len(images) and not set(shown) & set(images)
        else:
            assert not shown

    again = metadata(check_pairs(world, {}), "quality/checks")
    assert (again["calls"], again["cache hits"]) == (0, len(asked))


def test_without_another_dialogue_there_are_no_other_pictures_to_ask_about(world: World) -> None:
    world.remake("dialogue.dialogues", "FROM dialogue.dialogues ORDER BY dialogue_id LIMIT 1")
    check_pairs(world, {})

    assert {row["step"] for row in world.table("quality.asked")} == {
        *("blind", "blind grades", "grounding", "texts")
    }
    assert [row["reason"] for row in world.table("quality.failed")] == ["no_other_set"]
    rows = world.table("quality.checks")
    assert {(row["not_checked"], row["other_answer"], row["other_grade"]) for row in rows} == {
        ("other images: no_other_set", None, None)
    }


def test_what_a_model_finds_and_what_it_cannot_check_is_a_reason(world: World) -> None:
    """Planted: two pairs with a fault, an answer without end, a dialogue whose check is lost."""
    known = "The capital of France is Paris, which lies on the river Seine."
    also = "Also: what is the capital of France, and where does it lie?"
    plant(world, "instruction", 0, 0, question=lambda t: f"{t} {also}", answer=lambda _: known)
    plant(world, "instruction", 1, 0, answer=lambda text: text + " again" * 7 * MOST_READ)
    plant(world, "benchmark", 0, 0, answer=lambda text: f"{text} The man is called Peter Hansen.")
    lost = plant(world, "benchmark", 1, 0)
    hashes = [data_url_hash(world, image) for image in lost["image_ids"]]
    world.proxy.rewrite(
        lambda asked: asked.task == "ground" and asked.images == hashes,
        lambda reply: "All is well.",
    )
    run = check_pairs(world, any_loss("quality__checks"))

    rows = world.rows("SELECT * FROM quality.checks WHERE outcome <> 'pass'")
    reasons = {(row["kind"], row["turn"], row["outcome"], *row["reasons"]) for row in rows}
    assert ("benchmark", 1, "drop", "sensitive") in reasons
    assert any("needs_no_picture" in each for each in reasons if each[0] == "instruction")
    # Of an answer without end the checks read the beginning.
    assert any(each[0] == "instruction" and {"drop", "length"} <= {*each} for each in reasons)
    longest = max(len(json.dumps(call.request["messages"])) for call in world.ledger)
    assert longest < 30 * MOST_READ
    # A pair whose check could not be made does not pass.
    assert metadata(run, "quality/checks")["checks not made"] == 1
    (failed,) = world.table("quality.failed")
    assert (failed["reason"], failed["stage"]) == ("not_json", "checks")
    unmade = [row for row in rows if row["dialogue_id"] == lost["dialogue_id"]]
    assert len(unmade) == lost["n_turns"]
    assert {(row["not_checked"], row["unsupported"], row["outcome"]) for row in unmade} == {
        ("grounding: not_json", None, "review")
    }
    others = world.rows("SELECT * FROM quality.checks WHERE not_checked IS NULL")
    assert len(others) > len(unmade) and "review" not in {row["outcome"] for row in others}


def test_a_step_that_fails_as_a_whole_stops_the_checks_however_many_others_are_made(world):
    # One step of six: less than a fifth of all requests.
    world.proxy.rewrite(lambda asked: asked.task == "reread", lambda reply: "All is well.")
    run = world.run(ANY_ASSETS, assets=QUALITY)
    n = world.rows("SELECT count(*) AS n FROM dialogue.dialogues")[0]["n"]
    assert sentence(run).startswith(
        f"quality.checks keeps its earlier rows: {n} of {n} requests of the step 'texts' were lost "
        f"({n} not_json), and at most 20% may be. {n} replies could not be read: "
    )
    assert world.table("quality.checks") == []


BOTH = "Compare <image-1> and <image-2>."
FIRST = f"Image1: <ImageHere>, Image2: <ImageHere>. {BOTH}"
TURNS = (
    {"question_id": "a", "question": FIRST, "answer": "A."},
    {"question_id": "b", "question": BOTH, "answer": "B."},
    {"question_id": "c", "question": BOTH, "answer": "C."},
)
LAST = {"question_id": "d", "question": BOTH, "answer": "D."}
FOLLOWS = {"c": "a"}
DIALOGUE = ApprovedDialogue("d", "s", 0, (), ("x", "y"), TURNS, TURNS)


def found(
    outcomes: dict[str, str], follows: dict[str, str] = FOLLOWS
) -> dict[tuple[str, str], dict]:
    return {
        ("d", question_id): {
            "question_id": question_id,
            "outcome": outcome,
            "reasons": [],
            "follows": follows.get(question_id),
        }
        for question_id, outcome in outcomes.items()
    }


def left(outcomes: dict[str, str]) -> list[str]:
    (dialogue,) = apply_checks([DIALOGUE], found(outcomes), leave_out=True).dialogues
    return [turn["question_id"] for turn in dialogue.turns]


def test_a_pair_goes_with_the_earlier_one_that_it_goes_on_from() -> None:
    assert left({"a": "drop", "b": "pass", "c": "pass"}) == ["b"]
    assert left({"a": "pass", "b": "drop", "c": "pass"}) == ["a", "c"]
    assert left({"a": "pass", "b": "pass", "c": "pass"}) == ["a", "b", "c"]


def test_a_pair_that_goes_on_from_a_follow_up_goes_with_it() -> None:
    dialogue = replace(DIALOGUE, turns=(*TURNS, LAST), generated=(*TURNS, LAST))
    outcomes = {"a": "drop", "b": "pass", "c": "pass", "d": "pass"}
    (rest,) = apply_checks(
        [dialogue], found(outcomes, {"c": "a", "d": "c"}), leave_out=True
    ).dialogues
    assert [turn["question_id"] for turn in rest.turns] == ["b"]
