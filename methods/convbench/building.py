"""Builds the release of approved conversations of three turns (ConvBench, 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from methods.convbench.drafting import CAPABILITIES
from methods.prompts.messages import IMAGE_HERE
from methods.release import Edition, Origin, Release, ReleaseRows, ReviewPolicy, with_release_ids

ANSWER, CAPTION, FOCUS = "answer", "caption", "focus"
"""Kinds of references: each turn's answer, the image's caption, and the creation's focus points."""
CAPTIONED_TURN, FOCUSED_TURN = 1, 3
"""The turns whose references include the caption and the focus points."""


class TextWithOrigin(NamedTuple):
    """A text, with the call that wrote it if nobody edited it."""

    text: str
    origin: Origin = Origin()


class ApprovedTurn(NamedTuple):
    """A question, its reference answer, and its task category."""

    question: TextWithOrigin
    reference: TextWithOrigin
    category: str


@dataclass(frozen=True)
class ApprovedConversation:
    """An approved conversation about one image: perception, reasoning and creation, in order."""

    item_id: str
    image_id: str
    revision: int
    reviewers: tuple[str, ...]
    turns: tuple[ApprovedTurn, ApprovedTurn, ApprovedTurn]
    caption: TextWithOrigin
    focus: TextWithOrigin


def build_conversations(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedConversation],
    reviewed: ReviewPolicy,
    sources: Mapping[str, Mapping[str, Any]],
) -> Release:
    """Build a release of conversations, in order of their ids.

    Labels are the task categories by capability.

    Args:
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The approved conversations.
        reviewed: The review policy that they passed.
        sources: The source columns of `images`, by image id.

    Returns:
        The rows of `RELEASE_TABLES`.
    """
    rows = ReleaseRows()
    ordered = sorted(items, key=lambda item: item.item_id)
    for ordinal, item in enumerate(ordered, start=1):
        labels = {name: turn.category for name, turn in zip(CAPABILITIES, item.turns, strict=True)}
        # Its image was sampled from all entries, whether in a set or not.
        rows.add_item(ordinal, item.item_id, item.revision, item.reviewers, labels)
        for number, turn in enumerate(item.turns, start=1):
            question, asked_by = turn.question
            shown = f"{IMAGE_HERE}\n{question}" if number == 1 else question
            rows.add_turn(number, shown, [1] if number == 1 else [], asked_by)
            rows.add_reference(number, ANSWER, *turn.reference)
        rows.add_reference(CAPTIONED_TURN, CAPTION, *item.caption)
        rows.add_reference(FOCUSED_TURN, FOCUS, *item.focus)
        rows.add_images([item.image_id], sources.__getitem__)
    return with_release_ids(name, reviewed, edition, rows.tables)
