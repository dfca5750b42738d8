"""Builds the release of approved questions, their wordings, and dialogues (AlignMMBench, 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from methods.alignmmbench.tasks import CATEGORIES, CATEGORY, LANGUAGE, TASK
from methods.prompts.messages import IMAGE_HERE
from methods.release import RELEASE_TABLES, Edition, Origin, Release, ReviewPolicy, with_release_ids


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
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    ordered = sorted(items, key=lambda item: (item.group_id, item.place))
    for ordinal, item in enumerate(ordered, start=1):
        item_key = {"item_id": item.item_id}
        rows["items"].append(
            {
                **item_key,
                # Its image was found by keywords, whether in a set or not.
                "set_id": None,
                "group_id": item.group_id,
                "ordinal": ordinal,
                "revision": item.revision,
                "reviewers": list(item.reviewers),
                "labels": labels_of(item),
            }
        )
        for number, turn in enumerate(item.turns, start=1):
            is_last = number == len(item.turns)
            rows["turns"].append(
                {
                    **item_key,
                    "turn": number,
                    "question": f"{IMAGE_HERE}\n{turn.question}" if number == 1 else turn.question,
                    "image_positions": [1] if number == 1 else [],
                    "given": None if is_last else turn.answer,
                    **vars(turn.asked_by),
                }
            )
        last = item.turns[-1]
        rows["references"].append(
            {
                **item_key,
                "turn": len(item.turns),
                "kind": "answer",
                "reference": last.answer,
                **vars(last.answered_by),
            }
        )
        rows["images"].append(
            {**item_key, "position": 1, "image_id": item.image_id, **sources[item.image_id]}
        )
    return with_release_ids(name, reviewed, edition, rows)


def labels_of(item: ApprovedWording) -> dict[str, str]:
    """The labels of an item: task, its category, and the language."""
    return {TASK: item.task, CATEGORY: CATEGORIES[item.task], LANGUAGE: item.language}
