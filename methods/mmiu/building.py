"""Finished questions: their choices in order, their ids, and the rows of a release.

What belongs here: what becomes of a question once it is known which letter is right. Images that are
choices are shown in order of letter, and are named by their place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from methods.choice.building import ApprovedItem, build_release
from methods.choice.placing import Placed
from methods.ids import content_id
from methods.mmiu.converting import Question
from methods.mmiu.published import CONTEXT, LEVEL, RELATION, TASK
from methods.mmiu.taxonomy import TASKS, image_level
from methods.mmiu.unanswerable_tasks import CANNOT
from methods.release import Edition, Release, ReviewPolicy

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


@dataclass(frozen=True, kw_only=True)
class ApprovedQuestion(ApprovedItem):
    """One approved item; `strategy` made it unanswerable, and its context is its hint.

    Its pictures are of several image sets, or of none.
    """

    set_id: None = None
    strategy: str | None


def build_questions(
    name: str,
    edition: Edition,
    items: Sequence[ApprovedQuestion],
    reviewed: ReviewPolicy,
    sources: Mapping[str, Mapping[str, Any]],
) -> Release:
    """The release of `items`; `sources` has the source columns of `images`, by image id."""
    return build_release(
        name,
        edition,
        items,
        reviewed,
        hint_name=CONTEXT,
        labels=labels_of,
        source=lambda _, image_id: sources[image_id],
    )


def labels_of(item: ApprovedQuestion) -> dict[str, str]:
    """Task, relation, number of images, whether it can be answered, and if not, by which strategy."""
    relation = _RELATIONS.get(item.category)
    return {
        TASK: item.category,
        **({RELATION: relation} if relation else {}),
        LEVEL: image_level(len(item.image_ids)),
        ANSWERABLE: "no" if item.strategy else "yes",
        **({STRATEGY: item.strategy} if item.strategy else {}),
    }
