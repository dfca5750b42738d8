"""Rows of a release of conversations."""

from dataclasses import replace

from methods.convbench.building import (
    ApprovedConversation,
    ApprovedTurn,
    TextWithOrigin,
    build_conversations,
)
from methods.convbench.scores import TASK_LABELS
from methods.release import Edition, Origin, Release, ReviewPolicy
from methods.release_items import items_of_release

TURNS, REFERENCE = (
    Origin("call", "convbench/write_turns@1"),
    Origin("answering", "write_reference@1"),
)
CONVERSATION = ApprovedConversation(
    item_id="item",
    image_id="a" * 64,
    revision=1,
    reviewers=("ann",),
    turns=(
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
    caption=TextWithOrigin("A pot.", REFERENCE),
    focus=TextWithOrigin("It names it.\nIt is short.", TURNS),
)
SOURCE = {
    **{"page_url": "u", "title": "T", "attribution": "by"},
    **{"licence": None, "licence_url": None, "artist": None},
}


def build(*items: ApprovedConversation) -> Release:
    edition = Edition("convbench", None, "en")
    policy = ReviewPolicy("none", 0.0)
    return build_conversations("convbench", edition, items, policy, {"a" * 64: SOURCE})


def test_a_conversation_is_an_item_that_the_benchmark_can_ask() -> None:
    (item,) = items_of_release(build(CONVERSATION).rows)
    assert item.labels == {
        "perception": "Food Recognition",
        "reasoning": "Food Reasoning",
        "creation": "Recipe Writing",
    }
    assert tuple(item.labels) == tuple(TASK_LABELS.values())
    assert [turn.question for turn in item.turns] == [
        "<ImageHere>\nWhat is it?",
        "Why?",
        "Write it.",
    ]
    assert [turn.references for turn in item.turns] == [
        {"answer": "A stew.", "caption": "A pot."},
        {"answer": "It warms."},
        {"answer": "Take.", "focus": "It names it.\nIt is short."},
    ]
    assert [turn.given for turn in item.turns] == [None, None, None]
    assert item.turns[0].image_positions == (1,)


def test_a_text_that_somebody_changed_is_no_calls() -> None:
    rows = build(CONVERSATION).rows
    assert [row["call_key"] for row in rows["turns"]] == ["call", None, "call"]
    calls = {(row["turn"], row["kind"]): row["call_key"] for row in rows["references"]}
    assert calls == {
        (1, "answer"): "answering",
        (2, "answer"): "answering",
        (3, "answer"): "answering",
        (1, "caption"): "answering",
        (3, "focus"): "call",
    }


def test_the_order_in_which_items_come_does_not_count_and_their_words_do() -> None:
    other = replace(CONVERSATION, item_id="other")
    assert build(CONVERSATION, other).release_id == build(other, CONVERSATION).release_id
    changed = replace(CONVERSATION, focus=TextWithOrigin("It is long."))
    assert build(CONVERSATION).release_id != build(changed).release_id
