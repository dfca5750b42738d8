"""Finished questions: their choices in order, their ids, and the rows of a release.

What belongs here: what becomes of a question once it is known which letter is right. Images that are
choices are shown in order of letter, and are named by their place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from methods.choice.lettered import with_hint
from methods.choice.placing import Placed
from methods.ids import content_id
from methods.mmiu.converting import Question
from methods.mmiu.published import CONTEXT, LEVEL, RELATION, TASK
from methods.mmiu.taxonomy import TASKS, image_level
from methods.mmiu.unanswerable_tasks import CANNOT
from methods.release import RELEASE_TABLES, Edition, Origin, Release, ReviewPolicy, frozen

ANSWERABLE, STRATEGY = "answerable", "strategy"
"""Labels beside those of the published form: yes or no, and what made a question unanswerable."""
_RELATIONS = {task.name: task.relation for task in TASKS}


def shown(question: Question, placed: Placed) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Images in the order that they are shown in, and the choices as they are read."""
    if not question.of_images:
        return question.images, placed.choices
    images, choices = list(question.images), []
    for choice in placed.choices:
        if choice == CANNOT:
            choices.append(CANNOT)
        else:
            images.append(choice)
            choices.append(f"Image {len(images)}")
    return tuple(images), tuple(choices)


def item_id(question: Question) -> str:
    """A hash of the question without its key and the order of its choices: it tells nobody which is
    right, and stays when the choices are put into another order."""
    return content_id(
        "mmiu item",
        question.task,
        question.context,
        question.question,
        question.images,
        sorted((question.answer, *question.distractors)),
    )


@dataclass(frozen=True)
class ApprovedQuestion:
    """One approved item: its content after review, its reviewers, and the calls that wrote it."""

    item_id: str
    group_id: str
    revision: int
    reviewers: tuple[str, ...]
    image_ids: tuple[str, ...]
    context: str
    question: str
    choices: tuple[str, ...]
    key: str
    task: str
    strategy: str | None
    asked_by: Origin = field(default_factory=Origin)
    answered_by: Origin = field(default_factory=Origin)


def build_questions(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedQuestion],
    reviewed: ReviewPolicy,
    sources: Mapping[str, Mapping[str, Any]],
) -> Release:
    """Rows of `RELEASE_TABLES` for `items`, in order of item id.

    `sources` has the source columns of `images`, by image id.
    """
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in RELEASE_TABLES}
    for ordinal, item in enumerate(sorted(items, key=lambda item: item.item_id), start=1):
        here = {"item_id": item.item_id}
        n_images = len(item.image_ids)
        rows["items"].append(
            {
                **here,
                # Its pictures are of several image sets, or of none.
                "set_id": None,
                "group_id": item.group_id,
                "ordinal": ordinal,
                "revision": item.revision,
                "reviewers": list(item.reviewers),
                "labels": labels_of(item),
            }
        )
        rows["turns"].append(
            {
                **here,
                "turn": 1,
                "question": with_hint(item.question, item.context, CONTEXT, n_images),
                "image_positions": list(range(1, n_images + 1)),
                **vars(item.asked_by),
            }
        )
        rows["references"].append(
            {**here, "turn": 1, "kind": "key", "reference": item.key, **vars(item.answered_by)}
        )
        rows["choices"] += [
            {**here, "position": position, "choice": choice}
            for position, choice in enumerate(item.choices, start=1)
        ]
        rows["images"] += [
            {**here, "position": position, "image_id": image_id, **sources[image_id]}
            for position, image_id in enumerate(item.image_ids, start=1)
        ]
    return frozen(name, reviewed, edition, rows)


def labels_of(item: ApprovedQuestion) -> dict[str, str]:
    """Task, relation, number of images, whether it can be answered, and if not, by which strategy."""
    relation = _RELATIONS.get(item.task)
    return {
        TASK: item.task,
        **({RELATION: relation} if relation else {}),
        LEVEL: image_level(len(item.image_ids)),
        ANSWERABLE: "no" if item.strategy else "yes",
        **({STRATEGY: item.strategy} if item.strategy else {}),
    }
