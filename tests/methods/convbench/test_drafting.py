"""Conversations: drafts that are read or refused by name, names of tasks, and the rows of a release."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.convbench.building import (
    ApprovedConversation,
    ApprovedTurn,
    TextWithOrigin,
    build_conversations,
)
from methods.convbench.drafting import (
    EntryImage,
    TaskNameMatch,
    TurnDraft,
    categories_of,
    leaking_turn,
    read_caption,
    read_instruction,
    read_reference,
    read_turns,
    sample_entries,
    task_name,
)
from methods.convbench.scores import TASK_LABELS
from methods.errors import UserError
from methods.release import Edition, Origin, ReviewPolicy
from methods.release_items import items_of_release
from tests.methods.clustering.clustered import at_angles
from tests.methods.refusals import reason_of

DISH = {
    "perception": {"question": "Which dish is on the table?", "task": "food recognition."},
    "reasoning": {"question": "Why does it suit a cold day?", "task": "Food  Reasoning"},
    "creation": {"question": "Write its recipe for four guests.", "task": '"Recipe Writing"'},
    "focus": ["It names the dish.", "It says why it suits a cold day.  "],
}


def draft(**changes: Any) -> str:
    return json.dumps({**DISH, **changes})


def test_three_turns_are_read_with_the_usual_form_of_their_tasks() -> None:
    found = read_turns(draft())
    assert found.turns == (
        TurnDraft("Which dish is on the table?", "Food Recognition"),
        TurnDraft("Why does it suit a cold day?", "Food Reasoning"),
        TurnDraft("Write its recipe for four guests.", "Recipe Writing"),
    )
    assert found.focus == ("It names the dish.", "It says why it suits a cold day.")


SAME = {"question": "which DISH is on the table", "task": "Food Reasoning"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"reasoning": {"question": "Why?"}}, "wrong_fields"),
        ({"reasoning": {"question": "", "task": "Food Reasoning"}}, "empty_text"),
        # All of its words are those of the first question.
        ({"creation": {**SAME, "question": "Is the table on which dish?"}}, "repeated_question"),
        ({"reasoning": {**SAME, "question": "为什么适合冷天？"}}, "other_language"),
        ({"reasoning": {"question": "Why?", "task": "..."}}, "task_too_long"),
        ({"focus": []}, "no_focus_points"),
        ({"focus": "It names the dish."}, "wrong_fields"),
        ({"focus": ["It names it."] * 7}, "too_many_focus_points"),
        ({"focus": ["It agrees with the caption."]}, "mentions_material"),
    ],
)
def test_turns_that_are_not_sound_are_refused(changes: dict[str, Any], why: str) -> None:
    assert reason_of(read_turns, draft(**changes)) == why


def test_an_instruction_a_caption_and_a_reference_are_the_whole_reply():
    assert read_caption(" A pot of stew.\n") == "A pot of stew."
    assert read_reference("Which dish is it?", "It is a stew.\n\n- hot") == "It is a stew.\n\n- hot"
    # An instruction is one line.
    assert read_instruction('{"instruction": " Write the\\nrecipe. "}') == "Write the recipe."
    assert reason_of(read_instruction, "Write it.") == "not_json"
    for refused, why in (
        ("Retell the caption.", "mentions_material"),
        ("写食谱。", "other_language"),
    ):
        assert reason_of(read_instruction, json.dumps({"instruction": refused})) == why
    # A question that says its answer is refused.
    question = "Is it a stew that stands on the table?"
    assert reason_of(read_reference, question, "It is a stew.") == "gives_answer_away"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("  ", "empty_text"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("According to the caption, a stew.", "mentions_material"),
        ("这是一锅炖菜。", "other_language"),
    ],
)
def test_a_text_that_is_not_sound_is_refused(reply: str, why: str) -> None:
    assert reason_of(read_caption, reply) == why
    assert reason_of(read_reference, "Which dish is it?", reply) == why


DISH_ASKED = "Which dish is on the table?"
STEW = ["A beef stew with carrots.", "It warms.", "Take a pot."]
LATER = ["Why are there seven of them?", "Write about them in two sentences."]
BOATS = [
    "There are 7 fishing boats and two rowing boats lying on the shore near an old pier.",
    *("It is Sunday.", "They rest."),
]


@pytest.mark.parametrize(
    ("questions", "references", "leaks"),
    [
        ([DISH_ASKED, "Why does it suit a cold day?", "Write its recipe."], STEW, None),
        # Half of what only the answer says: "beef", "stew".
        ([DISH_ASKED, "Why does a beef stew suit a cold day?", "Write its recipe."], STEW, 1),
        # What the question says itself is no secret.
        ([DISH_ASKED, "Why does this dish suit a cold day?", "Write its recipe."], STEW, None),
        # A number leaks where a number was asked for.
        (["How many boats are there?", *LATER], BOATS, 1),
        (["Which boats are there?", *LATER], BOATS, None),
    ],
)
def test_a_later_question_that_says_an_answer_leaks(questions, references, leaks) -> None:
    assert leaking_turn(questions, references) == leaks


ENTRIES = [EntryImage(f"e{n}", f"i{n}", f"g{n // 2}") for n in range(20)]


def test_of_pictures_that_look_alike_the_first_entry_is_drawn() -> None:
    found = sample_entries(ENTRIES, 99, 0)
    assert sorted(each.entry_id for each in found) == sorted(f"e{n}" for n in range(0, 20, 2))
    assert set(found[:4]) != set(sample_entries(ENTRIES, 4, 1))


@given(st.permutations(ENTRIES), st.integers(0, 9), st.integers(0, 3))
def test_asking_for_more_keeps_what_there_is_in_any_order(entries, n, seed):
    assert sample_entries(entries, n, seed) == sample_entries(ENTRIES, n + 1, seed)[:n]


def test_a_name_has_its_usual_form() -> None:
    for written, name in (
        ("Formulating A  Travel\nPlan.", "Formulating a Travel Plan"),
        ('"the Making of OCR"', "The Making of OCR"),
        ("...", ""),
    ):
        assert task_name(written) == task_name(name) == name


def test_synonyms_are_one_category_called_as_most_turns_are() -> None:
    # 0 and 30 degrees: cosine 0.866; 80 degrees: 0.643 to the one, 0.174 to the other.
    plan, travel, poem = "Formulating a Travel Plan", "Travel Plan Writing", "Poem Writing"
    found = categories_of({plan: 1, poem: 4, travel: 3}, at_angles(0, 80, 30), 0.75)
    by_name = {each.name: each for each in found}
    categories = {name: each.category for name, each in by_name.items()}
    assert categories == {plan: travel, travel: travel, poem: poem}
    assert by_name[plan].similarity == pytest.approx(0.866, abs=1e-3)
    for name, nearest, similarity in ((plan, poem, 0.174), (poem, travel, 0.643)):
        assert by_name[name].nearest == nearest
        assert by_name[name].nearest_similarity == pytest.approx(similarity, abs=1e-3)


def test_of_names_with_equally_many_turns_the_shortest_is_the_category() -> None:
    plan, travel = "Formulating a Travel Plan", "Travel Plan Writing"
    found = categories_of({plan: 2, travel: 2}, at_angles(0, 30), 0.75)
    assert [each.category for each in found] == [travel, travel]


def test_a_single_name_is_its_category_and_has_no_other() -> None:
    (alone,) = categories_of({"OCR": 3}, at_angles(10), 0.75)
    assert alone == TaskNameMatch("OCR", 3, "OCR", 1.0, None, None)
    assert categories_of({}, np.empty((0, 2)), 0.75) == []
    with pytest.raises(UserError, match="tau"):
        categories_of({"OCR": 3}, at_angles(10), 1.5)


TURNS, REFERENCE = (
    Origin("call", "convbench/write_turns@1"),
    Origin("answering", "write_reference@1"),
)
CONVERSATION = ApprovedConversation(
    "item",
    "a" * 64,
    1,
    ("ann",),
    (
        ApprovedTurn(
            TextWithOrigin("What is it?", TURNS),
            TextWithOrigin("A stew.", REFERENCE),
            "Food Recognition",
        ),
        # Somebody changed the question.
        ApprovedTurn(
            TextWithOrigin("Why?"), TextWithOrigin("It warms.", REFERENCE), "Food Reasoning"
        ),
        ApprovedTurn(
            TextWithOrigin("Write it.", TURNS), TextWithOrigin("Take.", REFERENCE), "Recipe Writing"
        ),
    ),
    TextWithOrigin("A pot.", REFERENCE),
    TextWithOrigin("It names it.\nIt is short.", TURNS),
)
SOURCE = {"page_url": "u", "title": "T", "attribution": "by", "licence": None}
EDITION, POLICY = Edition("convbench", None, "en"), ReviewPolicy("none", 0.0)
ROWS = build_conversations(
    "convbench", EDITION, [CONVERSATION], POLICY, {CONVERSATION.image_id: SOURCE}
).rows


def test_a_conversation_is_an_item_that_the_benchmark_can_ask() -> None:
    (item,) = items_of_release(ROWS)
    assert item.labels == {
        **{"perception": "Food Recognition", "reasoning": "Food Reasoning"},
        **{"creation": "Recipe Writing"},
    }
    assert tuple(item.labels) == tuple(TASK_LABELS.values())
    questions = ["<ImageHere>\nWhat is it?", "Why?", "Write it."]
    assert [turn.question for turn in item.turns] == questions
    assert [turn.references for turn in item.turns] == [
        {"answer": "A stew.", "caption": "A pot."},
        {"answer": "It warms."},
        {"answer": "Take.", "focus": "It names it.\nIt is short."},
    ]
    assert [turn.given for turn in item.turns] == [None, None, None]
    assert item.turns[0].image_positions == (1,)
    # The order in which items come does not count.
    both = [CONVERSATION, replace(CONVERSATION, item_id="other")]
    first, second = (
        build_conversations("convbench", EDITION, items, POLICY, {CONVERSATION.image_id: SOURCE})
        for items in (both, both[::-1])
    )
    assert first.release_id == second.release_id
