"""Builds the release of approved questions, their wordings, and dialogues (AlignMMBench, 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from methods.alignmmbench.tasks import CATEGORIES, CATEGORY, LANGUAGE, TASK
from methods.prompts.messages import IMAGE_HERE
from methods.release import Edition, Origin, Release, ReleaseRows, ReviewPolicy, with_release_ids


class ApprovedExchange(NamedTuple):
    """An approved question and answer, with the calls that wrote unedited texts."""

    question: str
    answer: str
    asked_by: Origin = Origin()
    answered_by: Origin = Origin()


@dataclass(frozen=True)
class ApprovedWording:
    """An approved question in one wording, or a dialogue; the last answer is the reference.

    `place` is the position in its group: 0 is the seed itself or the dialogue, others are rewrites.
    """

    group_id: str
    place: int
    image_id: str
    task: str
    language: str
    revision: int
    reviewers: tuple[str, ...]
    turns: tuple[ApprovedExchange, ...]

    @property
    def item_id(self) -> str:
        """`<seed>-<place>`, as in published ids."""
        return f"{self.group_id}-{self.place}"


def build_wordings(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedWording],
    reviewed: ReviewPolicy,
    sources: Mapping[str, Mapping[str, Any]],
) -> Release:
    """Build a release of wordings, in order of group and place.

    Answers of a history are reference turns; the last answer is the reference.

    Args:
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The approved wordings and dialogues.
        reviewed: The review policy that they passed.
        sources: The source columns of `images`, by image id.

    Returns:
        The rows of `RELEASE_TABLES`.
    """
    rows = ReleaseRows()
    ordered = sorted(items, key=lambda item: (item.group_id, item.place))
    for ordinal, item in enumerate(ordered, start=1):
        # Its image was found by keywords, whether in a set or not.
        labels = labels_of(item)
        rows.add_item(
            ordinal, item.item_id, item.revision, item.reviewers, labels, group_id=item.group_id
        )
        n_turns = len(item.turns)
        for number, turn in enumerate(item.turns, start=1):
            question = f"{IMAGE_HERE}\n{turn.question}" if number == 1 else turn.question
            positions = [1] if number == 1 else []
            given_answer = None if number == n_turns else turn.answer
            rows.add_turn(number, question, positions, turn.asked_by, given_answer)
        rows.add_reference(n_turns, "answer", item.turns[-1].answer, item.turns[-1].answered_by)
        rows.add_images([item.image_id], sources.__getitem__)
    return with_release_ids(name, reviewed, edition, rows.tables)


def labels_of(item: ApprovedWording) -> dict[str, str]:
    """The labels of an item: task, its category, and the language."""
    return {TASK: item.task, CATEGORY: CATEGORIES[item.task], LANGUAGE: item.language}
