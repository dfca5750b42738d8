"""Rows of a release of conversations."""

from dataclasses import replace

from methods.convbench.building import (
    ApprovedConversation,
    ApprovedTurn,
    TextWithOrigin,
    build_conversations,
)
from methods.convbench.scores import TASK_LABELS
from methods.release import Edition, Origin, ReviewPolicy
from methods.release_items import items_of_release

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


def test_a_text_that_somebody_changed_is_no_calls() -> None:
    assert [row["call_key"] for row in ROWS["turns"]] == ["call", None, "call"]
    calls = {(row["turn"], row["kind"]): row["call_key"] for row in ROWS["references"]}
    answering = [(1, "answer"), (2, "answer"), (3, "answer"), (1, "caption")]
    assert calls == {**dict.fromkeys(answering, "answering"), (3, "focus"): "call"}
