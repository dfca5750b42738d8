"""Building MMIU releases: the order of choices, item ids, unanswerable variants, and release rows.

If the choices are images, they are shown in the order of their letters, and the text of each choice
names its image, such as "Image 3".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from methods.choice.lettered import LetteredChoices, assign_letters
from methods.choice.published import ApprovedItem, build_release
from methods.ids import content_id
from methods.mmiu.converting import Form, QuestionDraft, UnusableSampleError
from methods.mmiu.metadata import Sample
from methods.mmiu.published import CONTEXT, LEVEL, RELATION, TASK
from methods.mmiu.taxonomy import ANSWERABLE, TASKS, image_level
from methods.mmiu.unanswerable import ReplacementMaterial, unanswerable
from methods.mmiu.unanswerable_tasks import CANNOT, STRATEGIES_OF, Strategy
from methods.release import Edition, Release, ReviewPolicy

STRATEGY = "strategy"
"""The label with the strategy that made a question unanswerable."""
_RELATIONS = {task.name: task.relation for task in TASKS}


def shown(
    question: QuestionDraft, lettered: LetteredChoices
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the images in display order, and the texts of the choices.

    Args:
        question: The question.
        lettered: Its lettered choices.
    """
    if not question.of_images:
        return question.images, lettered.choices
    images, choices = list(question.images), []
    for choice in lettered.choices:
        if choice == CANNOT:
            choices.append(CANNOT)
        else:
            images.append(choice)
            choices.append(f"Image {len(images)}")
    return tuple(images), tuple(choices)


def item_id(question: QuestionDraft) -> str:
    """Compute the id of a question: a hash of its content without its key and the order of its choices.

    So the id does not reveal which choice is right, and does not change with the order.
    """
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
    """An approved item. Its hint is the context; `strategy` is set if it was made unanswerable.

    It has no `set_id`, because its images are from several image sets or from none.
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
    """Build a release of questions on several images.

    Args:
        name: The name of the release.
        edition: Benchmark, split and language.
        items: The approved questions.
        reviewed: The review policy that they passed.
        sources: The source columns of `images`, by image id.

    Returns:
        The rows of `RELEASE_TABLES`.
    """
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
    """Make the labels of an item: task, relation, level of image count, whether it can be answered, and
    the strategy that made it unanswerable.
    """
    relation = _RELATIONS.get(item.category)
    return {
        TASK: item.category,
        **({RELATION: relation} if relation else {}),
        LEVEL: image_level(len(item.image_ids)),
        ANSWERABLE: "no" if item.strategy else "yes",
        **({STRATEGY: item.strategy} if item.strategy else {}),
    }


class SampleQuestion(NamedTuple):
    """A sample and its question. `group` is set for an unanswerable variant: the original item's id."""

    sample: Sample
    form: Form
    question: QuestionDraft
    strategy: Strategy | None = None
    group: str | None = None


class FinishedItem(NamedTuple):
    """An item with ordered choices; `answer` is the letter of the right choice."""

    sample: SampleQuestion
    item_id: str
    group_id: str
    image_ids: tuple[str, ...]
    choices: tuple[str, ...]
    answer: str


def make_unanswerable(
    sample_questions: Sequence[SampleQuestion], images: Sequence[str], most: int, seed: int
) -> Iterator[SampleQuestion | tuple[SampleQuestion, UnusableSampleError]]:
    """Make unanswerable variants of questions, for each task of MMIU's Table 7.

    If no strategy fits a question, the reason is yielded, and the next question is tried.

    Args:
        sample_questions: The answerable questions to change.
        images: Images that may replace images of a question with unrelated content.
        most: The most variants of each task.
        seed: The seed of the order.

    Yields:
        The unanswerable questions, and pairs of a question with the reason why it cannot be changed.
    """
    by_task: dict[str, list[SampleQuestion]] = {}
    for asking in sorted(
        sample_questions, key=lambda asking: content_id(seed, item_id(asking.question))
    ):
        by_task.setdefault(asking.question.task, []).append(asking)
    for task in sorted(set(by_task) & set(STRATEGIES_OF)):
        n_made = 0
        for asking in by_task[task]:
            if n_made == most:
                break
            try:
                strategy, question = unanswerable(
                    asking.sample,
                    asking.form,
                    asking.question,
                    _elsewhere(asking, sample_questions, images),
                    seed,
                )
            except UnusableSampleError as loss:
                yield asking, loss
                continue
            n_made += 1
            yield SampleQuestion(
                asking.sample, asking.form, question, strategy, item_id(asking.question)
            )


def _elsewhere(
    sample_question: SampleQuestion,
    sample_questions: Sequence[SampleQuestion],
    images: Sequence[str],
) -> ReplacementMaterial:
    sample = sample_question.sample
    own = {*sample.images, sample.output, *sample.wrong, *sample.also_right}
    return ReplacementMaterial(
        tuple(image for image in images if image not in own),
        tuple(
            (asking.question.context, asking.question.question)
            for asking in sample_questions
            if asking.form != sample_question.form
            and asking.question.task != sample_question.question.task
        ),
    )


def finish_items(
    sample_questions: Sequence[SampleQuestion], keys: Mapping[str, str], seed: int
) -> list[FinishedItem]:
    """Order the choices of questions so that each letter is right equally often within a task.

    Args:
        sample_questions: The questions; duplicates are used once.
        keys: The letters of the right choices of existing items, by item id. They do not change.
        seed: The seed of the orders.
    """
    by_id = {item_id(asking.question): asking for asking in sample_questions}
    by_task: dict[str, list[str]] = {}
    for name, asking in by_id.items():
        by_task.setdefault(asking.question.task, []).append(name)
    items = []
    for names in by_task.values():
        questions = [by_id[name].question for name in names]
        stored_keys = {place: keys[name] for place, name in enumerate(names) if name in keys}
        for name, order in zip(names, assign_letters(questions, seed, stored_keys), strict=True):
            chosen = by_id[name]
            images, choices = shown(chosen.question, order)
            items.append(
                FinishedItem(chosen, name, chosen.group or name, images, choices, order.key)
            )
    return items
