"""What is read from a writer's drafts, and what is refused by which reason."""

import json
from typing import Any

import pytest

from methods.alignmmbench.drafting import (
    DEMANDS,
    DIALOGUE_TASKS,
    SINGLE_TASKS,
    Seed,
    dialogue_id,
    read_dialogue,
    read_seed,
    seed_id,
)
from methods.alignmmbench.tasks import CATEGORIES
from methods.prompts.parsing import ParseError

SEED = {"question": "How many mills are there?", "reference": "There are three mills in a field."}
DIALOGUE = {
    "history": [
        {"user": "What is on the left?", "assistant": "On the left stands a red mill."},
        {"user": "And behind it?", "assistant": "A canal."},
    ],
    "error": "",
    "question": "Write one sentence on the thing that you named first.",
    "reference": "A red mill stands on the left, its sails still.",
}


def refused(read: Any, *of: str) -> str:
    with pytest.raises(ParseError) as caught:
        read(*of)
    return caught.value.reason


def test_there_is_a_demand_for_each_of_the_thirteen_tasks() -> None:
    assert set(DEMANDS) == set(CATEGORIES) == {*SINGLE_TASKS, *DIALOGUE_TASKS}
    assert (len(SINGLE_TASKS), len(DIALOGUE_TASKS)) == (11, 2)


CHINESE = {"question": "图中有几座风车？", "reference": "田野里有三座风车。"}


@pytest.mark.parametrize(
    ("reply", "seed", "language"),
    [
        *((form.format(json.dumps(SEED)), SEED, "en") for form in ("```json\n{}\n```", "\n {} ")),
        (json.dumps(CHINESE), CHINESE, "zh"),
    ],
)
def test_a_seed_is_read(reply, seed, language) -> None:
    assert read_seed(reply, language) == Seed(**seed)


TOLD = {"question": "Are there three mills in a field?", "reference": "There are three mills."}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": None}, "wrong_fields"),
        ({"question": "What does the caption say?"}, "mentions_material"),
        ({"question": "How many mills? And boats?"}, "several_questions"),
        (TOLD, "gives_answer_away"),
        ({"question": "图中有几座风车？"}, "other_language"),
        ({"reference": "田野里有三座风车。"}, "other_language"),
    ],
)
def test_a_seed_that_is_not_sound_is_refused_by_name(changes: dict[str, Any], reason: str) -> None:
    assert refused(read_seed, json.dumps({**SEED, **changes}), "en") == reason


def test_what_is_no_object_or_mentions_material_in_chinese_is_refused() -> None:
    assert refused(read_seed, "Three mills.", "en") == "not_json"
    given = {"question": "根据所给资料，图中有几座风车？", "reference": "三座。"}
    assert refused(read_seed, json.dumps(given), "zh") == "mentions_material"


def test_a_dialogue_is_read_with_its_history_and_its_planted_error() -> None:
    dialogue = read_dialogue(json.dumps(DIALOGUE), "Coherence", "en")
    assert dialogue.history == tuple(tuple(turn.values()) for turn in DIALOGUE["history"])
    assert dialogue.last == Seed(DIALOGUE["question"], DIALOGUE["reference"])
    assert dialogue.error is None
    given = {**DIALOGUE, "error": "a red mill", "question": "Is what you said first right?"}
    assert read_dialogue(json.dumps(given), "Incoherence", "en").error == "a red mill"


@pytest.mark.parametrize(
    ("task", "changes", "reason"),
    [
        ("Coherence", {"history": []}, "wrong_length"),
        ("Coherence", {"history": DIALOGUE["history"] * 2}, "wrong_length"),
        ("Coherence", {"history": "none"}, "wrong_fields"),
        ("Coherence", {"history": [{"user": "What?"}]}, "wrong_fields"),
        ("Coherence", {"history": [DIALOGUE["history"][0]] * 2}, "repeated_question"),
        ("Coherence", {"question": "and behind it?"}, "repeated_question"),
        ("Coherence", {"error": "a red mill"}, "planted_error"),
        ("Incoherence", {"error": ""}, "no_planted_error"),
        ("Incoherence", {"error": "a blue mill"}, "error_not_in_history"),
        ("Coherence", {"reference": ""}, "empty_text"),
    ],
)
def test_a_dialogue_that_is_not_sound_is_refused_by_name(task, changes, reason):
    assert refused(read_dialogue, json.dumps({**DIALOGUE, **changes}), task, "en") == reason


def test_ids_are_hashes_of_what_they_name() -> None:
    seed = read_seed(json.dumps(SEED), "en")
    ids = {seed_id(image, task, seed) for image in "ab" for task in ("Counting", "Writing")}
    assert len(ids) == 4 and seed_id("a", "Counting", seed) in ids
    dialogue = read_dialogue(json.dumps(DIALOGUE), "Coherence", "en")
    changed = dialogue._replace(history=dialogue.history[:1])
    assert dialogue_id("a", "Coherence", dialogue) != dialogue_id("a", "Coherence", changed)
