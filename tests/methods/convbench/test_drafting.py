"""Drafts of conversations: what a reply becomes, and what is refused by name."""

import json
from typing import Any

import pytest

from methods.convbench.drafting import (
    TurnDraft,
    item_id,
    leaking_turn,
    read_caption,
    read_instruction,
    read_reference,
    read_turns,
)
from methods.prompts.parsing import ParseError

DISH = {
    "perception": {"question": "Which dish is on the table?", "task": "food recognition."},
    "reasoning": {"question": "Why does it suit a cold day?", "task": "Food  Reasoning"},
    "creation": {"question": "Write its recipe for four guests.", "task": '"Recipe Writing"'},
    "focus": ["It names the dish.", "It says why it suits a cold day.  "],
}


def draft(**changes: Any) -> str:
    return json.dumps({**DISH, **changes})


def reason(read: Any, *given: str) -> str:
    with pytest.raises(ParseError) as caught:
        read(*given)
    return caught.value.reason


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Write it.", "not_json"),
        ('{"text": "Write it."}', "not_json"),
        ('{"instruction": " "}', "empty_text"),
        ('{"instruction": "\\ud800"}', "not_unicode"),
        ('{"instruction": "Write about <image-1>."}', "image_token"),
        ('{"instruction": "Retell the caption."}', "mentions_material"),
        ('{"instruction": "写一份食谱。"}', "other_language"),
    ],
)
def test_an_instruction_that_is_not_sound_is_refused(reply: str, why: str) -> None:
    assert reason(read_instruction, reply) == why


def test_three_turns_are_read_with_the_usual_form_of_their_tasks() -> None:
    found = read_turns(draft())
    assert found.turns == (
        TurnDraft("Which dish is on the table?", "Food Recognition"),
        TurnDraft("Why does it suit a cold day?", "Food Reasoning"),
        TurnDraft("Write its recipe for four guests.", "Recipe Writing"),
    )
    assert found.focus == ("It names the dish.", "It says why it suits a cold day.")


SAME = {"question": "which DISH is on the table", "task": "Food Reasoning"}
LONG = "One Two Three Four Five Six Seven"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"reasoning": None}, "wrong_fields"),
        ({"reasoning": {"question": "Why?"}}, "wrong_fields"),
        ({"reasoning": {"question": "", "task": "Food Reasoning"}}, "empty_text"),
        ({"reasoning": SAME}, "repeated_question"),
        # All of its words are those of the first question.
        ({"creation": {**SAME, "question": "Is the table on which dish?"}}, "repeated_question"),
        ({"reasoning": {**SAME, "question": "为什么适合冷天？"}}, "other_language"),
        ({"reasoning": {"question": "Why?", "task": LONG}}, "task_too_long"),
        ({"reasoning": {"question": "Why?", "task": "..."}}, "task_too_long"),
        ({"focus": []}, "no_focus_points"),
        ({"focus": [" "]}, "no_focus_points"),
        ({"focus": "It names the dish."}, "wrong_fields"),
        ({"focus": ["It names it."] * 7}, "too_many_focus_points"),
        ({"focus": ["word " * 31]}, "focus_point_too_long"),
        ({"focus": ["It agrees with the caption."]}, "mentions_material"),
    ],
)
def test_turns_that_are_not_sound_are_refused(changes: dict[str, Any], why: str) -> None:
    assert reason(read_turns, draft(**changes)) == why


def test_an_id_is_of_picture_instruction_questions_and_focus_and_not_of_names() -> None:
    first = read_turns(draft())
    renamed = read_turns(draft(perception={**DISH["perception"], "task": "Dish Recognition"}))
    other = read_turns(draft(focus=["It names the dish."]))
    assert item_id("p", "i", first) == item_id("p", "i", renamed)
    assert len({item_id("p", "i", first), item_id("q", "i", first), item_id("p", "i", other)}) == 3


def test_an_instruction_a_caption_and_a_reference_are_the_whole_reply():
    assert read_caption(" A pot of stew.\n") == "A pot of stew."
    assert read_reference("Which dish is it?", "It is a stew.\n\n- hot") == "It is a stew.\n\n- hot"
    # An instruction is one line.
    assert read_instruction('{"instruction": " Write the\\nrecipe. "}') == "Write the recipe."
    # A question that says its answer is refused.
    question = "Is it a stew that stands on the table?"
    assert reason(read_reference, question, "It is a stew.") == "gives_answer_away"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("  ", "empty_text"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("As <image-1> shows, a stew.", "image_token"),
        ("According to the caption, a stew.", "mentions_material"),
        ("这是一锅炖菜。", "other_language"),
    ],
)
def test_a_text_that_is_not_sound_is_refused(reply: str, why: str) -> None:
    assert reason(read_caption, reply) == why
    assert reason(read_reference, "Which dish is it?", reply) == why


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
        # The creation may say anything of itself.
        (["What is it?", "Why?", "Write: stew."], ["A pot.", "Cold.", "Stew."], None),
    ],
)
def test_a_later_question_that_says_an_answer_leaks(questions, references, leaks) -> None:
    assert leaking_turn(questions, references) == leaks
