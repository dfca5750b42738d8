"""Flagged items: the content that is decided on, what people read, and what a decision does."""

from dataclasses import replace
from string import ascii_uppercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.lettered import with_hint
from methods.evaluation.items import Item, Turn
from methods.ids import content_id
from methods.review import Decision, QueueItem, Resolution, flagged_items
from methods.review.process import Rules
from methods.review.resolution import DEFAULT_RULES
from tests.resources.review.review_queue import verdict

CONTENT: dict[str, Any] = {
    **{"image_ids": ["sha"], "question": "What is it?", "hint": None, "answer": "A"},
    **{"choices": {"A": "A tower", "B": "A mill"}, "category": "image_topic"},
}


def item_of(content: dict[str, Any]) -> Item:
    text = with_hint(content["question"], content["hint"] or "", "Hint", len(content["image_ids"]))
    return Item(
        "one",
        (Turn(1, text, (1,), {"key": content["answer"]}),),
        tuple(content["image_ids"]),
        tuple(content["choices"].values()),
        labels={"category": content["category"]},
    )


TEXTS = st.sampled_from(["What is it?", "Hint: a\nQuestion: b", "Look", " ", "<ImageHere> What?"])


@given(TEXTS, st.one_of(st.none(), st.just(""), TEXTS))
def test_the_content_is_the_same_from_the_approval_and_from_the_release(question, hint):
    content = {**CONTENT, "question": question, "hint": hint}
    released = flagged_items.as_released(content)
    assert flagged_items.released_content(item_of(content)) == released
    assert flagged_items.as_released(released) == released


def test_an_item_without_a_key_or_choices_is_not_decided_on():
    whole = item_of(CONTENT)
    assert flagged_items.released_content(replace(whole, choices=())) is None
    without = replace(whole.turns[0], references={})
    assert flagged_items.released_content(replace(whole, turns=(without,))) is None
    # A label may be missing, and a hint may stand as context.
    context = replace(
        whole.turns[0], question=with_hint("What?", "Look.", flagged_items.CONTEXT, 1)
    )
    found = flagged_items.released_content(replace(whole, labels={}, turns=(context,)))
    assert found is not None and (found["category"], found["hint"]) == ("none", "Look.")


def test_people_read_who_was_right_and_what_each_answered():
    passes = [
        {"trial": "shift-0", "answer": "A.\nA  tower", "reading": "A"},
        {"trial": "shift-1", "answer": None, "reading": None},
    ]
    answers = [
        {"model": "m", "outcome": "right", "answers": passes},
        {"model": "n", "outcome": "not known", "answers": []},
    ]
    of = {"right_models": ["m"], "wrong_models": [], "unknown_models": ["n"], "answers": answers}
    assert flagged_items.evidence([{"flag": "text_only", **of}]) == [
        "Text-only: 1 of 1 models have it right without the picture (right: m; not known: n).",
        "m, right. shift-0: “A. A tower” (read as A); shift-1: no answer",
        "n, not known. No answer is there.",
        "Letters are those of each pass: in shift-1 the second choice is A.",
    ]
    figures = {"n_models": 9, "discrimination": -0.314, "answers": []}
    assert flagged_items.evidence([{"flag": "negative_discrimination", **figures}]) == [
        "Negative discrimination, -0.31 over 9 models: those that are better on the other items are "
        "more often wrong here."
    ]


def test_long_answers_and_many_models_are_cut_and_counted():
    answer = {"trial": "plain", "answer": "x" * 500, "reading": "Z"}
    said = [{"model": f"m{n}", "outcome": "wrong", "answers": [answer]} for n in range(14)]
    row = {"flag": "wrong_item", "wrong_models": ["m"] * 14, "answers": said}
    lines = flagged_items.evidence([row])
    assert lines[0] == "Wrong item: none of 14 models has it right."
    assert len(lines) == 14 and lines[-1] == "2 more models answered."
    assert lines[1] == f"m0, wrong. plain: “{'x' * 89}…” (read as Z)"


APPROVED = Resolution(
    "one", content_id(CONTENT), "approved", CONTENT, 0, ("policy:none",), None, False
)


def decision(item: QueueItem, says: str, reviewer: str = "anna", **more: Any) -> Decision:
    return verdict(item, reviewer, says, **more)


FIRST = flagged_items.flagged_queue_item("one", CONTENT)
EDITED = {**CONTENT, "question": "What stands there?"}
SECOND = flagged_items.flagged_queue_item("one", EDITED)


def after(*decisions: Decision, approved: Resolution = APPROVED) -> Resolution:
    decided: dict[str, list[Decision]] = {}
    for number, each in enumerate(decisions, start=1):
        decided.setdefault(each.item_id, []).append(replace(each, event_id=number))
    return flagged_items.apply_flag_decision(approved, decided, DEFAULT_RULES)[0]


def test_a_rejection_takes_it_back_and_an_edit_is_a_revision_that_may_be_decided_on_again():
    assert FIRST["image_ids"] == ["sha"]
    rejected = after(decision(FIRST, "reject", reason="factual_error"))
    assert (rejected.status, rejected.reason) == ("rejected", "factual_error")
    assert after(decision(FIRST, "accept")).reviewers == ("policy:none", "anna")
    edit = decision(FIRST, "edit", edits=EDITED)
    edited = after(edit)
    assert (edited.content, edited.revision) == (EDITED, 1)
    assert edited.reviewers == ("policy:none", "anna")
    assert edited.content_hash == content_id(EDITED)
    both = after(edit, decision(SECOND, "reject", "eva", reason="incomplete"))
    assert (both.status, both.revision, both.reason) == ("rejected", 1, "incomplete")
    # Edits in a circle end.
    back = after(edit, decision(SECOND, "edit", "eva", edits=CONTENT))
    assert (back.status, back.content, back.revision) == ("approved", CONTENT, 2)


@pytest.mark.parametrize("demanded", [False, True])
def test_the_rework_of_a_rejected_item_waits_for_an_expert(demanded):
    approved = replace(APPROVED, demanded=demanded)
    steps = [
        decision(FIRST, "reject", reason="factual_error"),
        decision(FIRST, "edit", "ben", edits=EDITED),
    ]
    waiting = after(*steps, approved=approved)
    assert (waiting.status, waiting.content) == ("rejected", CONTENT)
    assert waiting.reason == "factual_error"
    by_expert = replace(decision(SECOND, "accept", "eva", round=2), item_id=FIRST["item_id"])
    confirmed = after(*steps, by_expert, approved=approved)
    assert (confirmed.status, confirmed.content) == ("approved", EDITED)


def test_an_edit_that_is_not_valid_changes_nothing_and_is_named():
    too_many = {**CONTENT, "choices": {letter: letter for letter in ascii_uppercase[:16]}}
    edited = after(decision(FIRST, "edit", edits=too_many))
    assert replace(edited, fault=None) == APPROVED
    assert "there are at most 10 choices" in edited.fault


def test_where_people_are_demanded_the_rules_say_when_it_is_decided():
    demanded = replace(APPROVED, demanded=True, reviewers=("ben", "carl"))
    edit = decision(FIRST, "edit", edits=EDITED)
    assert after(edit, approved=demanded) == demanded
    confirmed = after(edit, decision(SECOND, "accept", "eva", round=2), approved=demanded)
    assert confirmed == demanded, "it is on the id of the second content, not of the first"
    by_expert = replace(decision(SECOND, "accept", "eva", round=2), item_id=FIRST["item_id"])
    assert after(edit, by_expert, approved=demanded).content == EDITED


def test_decisions_are_given_back_as_those_on_the_approved_item():
    hinted = {**CONTENT, "hint": ""}
    approved = replace(APPROVED, content=hinted, content_hash=content_id(hinted))
    said = decision(FIRST, "edit", edits=EDITED)
    _, read = flagged_items.apply_flag_decision(approved, {FIRST["item_id"]: [said]}, DEFAULT_RULES)
    assert read == [replace(said, item_id="one", content_hash=approved.content_hash)]


def test_two_who_disagree_have_decided_nothing():
    rules = Rules.model_validate({"annotators": 2})
    said = [
        replace(decision(FIRST, "accept"), event_id=1),
        replace(decision(FIRST, "reject", "ben", reason="factual_error"), event_id=2),
    ]
    parts = (said, [], said[:1], said[1:])
    results = [flagged_items.decision_in_words(FIRST, of, False, rules) for of in parts]
    assert results[:2] == [None, None]
    words = [flagged_items.decision_of(FIRST, each) for each in results[1:]]
    assert words == ["pending", "keep", "reject"]
