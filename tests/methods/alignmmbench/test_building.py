"""From pictures to a release: candidates of each task, what a writer's drafts become, the rows."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.alignmmbench.building import ApprovedExchange, ApprovedWording, build_wordings
from methods.alignmmbench.candidates import (
    DroppedEntry,
    SearchableEntry,
    TaskImage,
    candidates,
    sample_candidates,
)
from methods.alignmmbench.drafting import Seed, dialogue_id, read_dialogue, read_seed, seed_id
from methods.alignmmbench.tasks import found_keywords, phrase, seen_keywords
from methods.release import Edition, Origin, Release, ReviewPolicy
from tests.methods.refusals import reason_of

WORDS = {"Counting": ("two", "三只"), "Recognition": ("butterfly", "fruit")}


def pictured(number: int, image: str, text: str) -> SearchableEntry:
    return SearchableEntry(f"entry {number}", image, (text,))


def test_an_english_keyword_is_a_word_and_a_chinese_one_stands_anywhere():
    for text, keyword in (
        *(("Two boats", "two"), ("Boats at noon", "boat"), ("Two butterflies", "butterfly")),
        *(("A subway\n map of Tollen", "subway map"), ("三只风车", "三只")),
    ):
        assert found_keywords([text], [keyword]) == (keyword,)
    assert found_keywords(["A network of canals"], ["two"]) == ()
    # No keyword spans two texts.
    assert found_keywords(["An old subway", "map of Tollen"], ["subway map"]) == ()


def test_each_entry_is_a_candidate_or_is_removed_for_one_reason() -> None:
    entries = [
        pictured(1, "a", "Two butterflies"),
        pictured(2, "a", "Two more"),
        pictured(3, "b", "Two of a kind, seen again"),
        pictured(4, "c", "A lighthouse"),
        pictured(5, "d", "Fruit"),
        pictured(6, "e", "Fruit on a table"),
        pictured(7, "f", "fruit"),
        pictured(8, "copy", "Two boats"),
    ]
    groups = {"a": "a", "b": "a", "d": "d", "e": "d"}
    # Whatever stands for both: an excluded picture that is not among the entries.
    groups |= {"published": "third", "copy": "third"}
    found = candidates(entries, WORDS, groups, {"d", "published"})
    assert found.candidates == [
        TaskImage("Counting", "entry 1", "a", ("two",)),
        TaskImage("Recognition", "entry 1", "a", ("butterfly",)),
        TaskImage("Recognition", "entry 7", "f", ("fruit",)),
    ]
    assert found.removed == [
        DroppedEntry("entry 2", "a", "exact_duplicate", "entry 1"),
        DroppedEntry("entry 3", "b", "near_duplicate", "entry 1"),
        DroppedEntry("entry 4", "c", "no_keyword"),
        DroppedEntry("entry 5", "d", "excluded"),
        DroppedEntry("entry 6", "e", "near_excluded"),
        DroppedEntry("entry 8", "copy", "near_excluded"),
    ]


def test_a_picture_that_shows_a_keyword_is_a_candidate_whatever_its_texts_say() -> None:
    entries = [
        pictured(1, "a", "Two mills"),
        *(pictured(n, "abc"[n - 1], "A mill") for n in (2, 3)),
    ]
    seen = {"a": {"Recognition": ("fruit",)}, "b": {"Counting": ("two",)}}
    found = candidates(entries, WORDS, {}, set(), seen)
    assert found.candidates == [
        TaskImage("Counting", "entry 1", "a", ("two",)),
        TaskImage("Counting", "entry 2", "b", (), ("two",)),
        TaskImage("Recognition", "entry 1", "a", (), ("fruit",)),
    ]
    assert found.removed == [DroppedEntry("entry 3", "c", "no_keyword")]


POOL = [
    TaskImage(task, f"e{image}", image, ("word",))
    for task, images in (("Counting", "abc"), ("Recognition", "ab"), ("Writing", ""))
    for image in images
]
TASKS = ["Counting", "Recognition", "Writing"]


@given(st.integers(0, 8), st.integers(0, 50))
def test_tasks_take_turns_and_asking_for_more_keeps_what_there_is(n: int, seed: int) -> None:
    some, more = (sample_candidates(POOL, TASKS, most, seed) for most in (n, n + 1))
    assert len(some) == min(n, len(POOL)) and more[:n] == some
    assert len(set(some)) == len(some)
    counts = [sum(each.task == task for each in some) for task in TASKS]
    # Recognition has two pictures, and Writing none.
    assert counts[2] == 0 and (n > 4 or abs(counts[0] - counts[1]) <= 1)
    # Pictures differ as long as they can, and other tasks are not drawn.
    assert len({each.image_id for each in some[:2]}) == min(n, 2)
    assert all(each.task == "Counting" for each in sample_candidates(POOL, ["Counting"], n, seed))


SEEN_WORDS = {"Chart": ("bar chart", "map"), "Recognition": ("fruit",)}
COSINES = np.array([[1, 0.6, 0], [0.8, 0.96, 0.6], [-1, -0.6, 0]], dtype=np.float32)


def test_a_picture_shows_the_keywords_at_least_so_close_to_it() -> None:
    assert seen_keywords(["a", "b", "c"], COSINES, SEEN_WORDS, np.float32(0.6)) == {
        "a": {"Chart": ("bar chart", "map")},
        "b": {"Chart": ("bar chart", "map"), "Recognition": ("fruit",)},
    }
    # A higher bar leaves fewer, and a picture with none is absent.
    assert seen_keywords(["a", "b", "c"], COSINES, SEEN_WORDS, 0.9) == {
        "a": {"Chart": ("bar chart",)},
        "b": {"Chart": ("map",)},
    }
    assert phrase("bar chart") == "a picture of bar chart"


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

TOLD = {"question": "Are there three mills in a field?", "reference": "There are three mills."}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": None}, "wrong_fields"),
        ({"question": "What does the caption say?"}, "mentions_material"),
        ({"question": "How many mills? And boats?"}, "several_questions"),
        (TOLD, "gives_answer_away"),
        ({"reference": "田野里有三座风车。"}, "other_language"),
    ],
)
def test_a_seed_that_is_not_sound_is_refused_by_name(changes: dict[str, Any], reason: str) -> None:
    assert reason_of(read_seed, json.dumps({**SEED, **changes}), "en") == reason


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
        ("Coherence", {"history": DIALOGUE["history"] * 2}, "wrong_length"),
        ("Coherence", {"history": [{"user": "What?"}]}, "wrong_fields"),
        ("Coherence", {"history": [DIALOGUE["history"][0]] * 2}, "repeated_question"),
        ("Coherence", {"question": "and behind it?"}, "repeated_question"),
        ("Coherence", {"error": "a red mill"}, "planted_error"),
        ("Incoherence", {"error": ""}, "no_planted_error"),
        ("Incoherence", {"error": "a blue mill"}, "error_not_in_history"),
    ],
)
def test_a_dialogue_that_is_not_sound_is_refused_by_name(task, changes, reason):
    assert reason_of(read_dialogue, json.dumps({**DIALOGUE, **changes}), task, "en") == reason


def test_ids_are_hashes_of_what_they_name() -> None:
    seed = read_seed(json.dumps(SEED), "en")
    ids = {seed_id(image, task, seed) for image in "ab" for task in ("Counting", "Writing")}
    assert len(ids) == 4 and seed_id("a", "Counting", seed) in ids
    dialogue = read_dialogue(json.dumps(DIALOGUE), "Coherence", "en")
    changed = dialogue._replace(history=dialogue.history[:1])
    assert dialogue_id("a", "Coherence", dialogue) != dialogue_id("a", "Coherence", changed)


MADE = Origin("call", "alignmmbench/write_seed@1")
ANSWERED = Origin("call of the answer", "alignmmbench/write_seed@1")
POLICY = ReviewPolicy("all", 1.0)
SOURCE = {"page_url": "https://en.wikipedia.org/wiki/Mill", "title": "Mill", "licence": "CC0"}


def wording(place: int, question: str, task: str = "Counting") -> ApprovedWording:
    turns = (ApprovedExchange(question, "Three mills.", MADE, ANSWERED),)
    return ApprovedWording("seed", place, "image", task, "en", 1, ("ann",), turns)


def built(*items: ApprovedWording) -> Release:
    edition = Edition("alignmmbench", None, "en")
    return build_wordings("alignmmbench", edition, items, POLICY, {"image": SOURCE})


def test_wordings_of_a_seed_are_a_group_in_order_of_place() -> None:
    release = built(wording(2, "Count them."), wording(0, "How many mills?"))
    items, turns = release.rows["items"], release.rows["turns"]
    assert [row["item_id"] for row in items] == ["seed-0", "seed-2"]
    assert {row["group_id"] for row in items} == {"seed"}
    labels = {"task": "Counting", "category": "Perception & Understanding", "language": "en"}
    assert items[0]["labels"] == labels
    questions = ["<ImageHere>\nHow many mills?", "<ImageHere>\nCount them."]
    assert [row["question"] for row in turns] == questions
    assert {row["call_key"] for row in turns} == {MADE.call_key}
    references = {(row["reference"], row["call_key"]) for row in release.rows["references"]}
    assert references == {("Three mills.", ANSWERED.call_key)}
    image = {"release_id": release.release_id, "item_id": "seed-0", "position": 1}
    assert release.rows["images"][0] == {**image, "image_id": "image", **SOURCE}


def test_a_history_is_given_and_the_last_answer_is_the_reference() -> None:
    turns = (
        ApprovedExchange("What is it?", "A kite.", MADE, MADE),
        ApprovedExchange("Sure?", "No: a mill."),
    )
    dialogue = ApprovedWording("d", 0, "image", "Incoherence", "en", 2, ("ann", "bob"), turns)
    release = built(dialogue)
    first, last = release.rows["turns"]
    assert (first["question"], first["given"], first["image_positions"]) == (
        *("<ImageHere>\nWhat is it?", "A kite."),
        [1],
    )
    assert (last["question"], last["given"], last["image_positions"]) == ("Sure?", None, [])
    # A text that a person changed is no call's.
    assert (first["call_key"], last["call_key"]) == ("call", None)
    (reference,) = release.rows["references"]
    assert (reference["turn"], reference["reference"]) == (2, "No: a mill.")
