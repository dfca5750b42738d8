"""The unanswerable set: five strategies that remove the right choice of a question (MMIU, A.4).

A changed question has the same number of choices, and `CANNOT` is right. The choice that was right
before is now a wrong choice, unless its image was replaced.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from methods.ids import content_id
from methods.mmiu.converting import Form, QuestionDraft, UnusableSampleError, in_form, places_of
from methods.mmiu.metadata import Sample
from methods.mmiu.unanswerable_tasks import (
    ANSWER_IMAGE,
    CANNOT,
    IRRELEVANT,
    KEY_WORD,
    OTHER_IMAGES,
    SHUFFLE,
    STRATEGIES_OF,
    Strategy,
)

MOST_SHUFFLES = 24
"""The most random orders of images that are tried."""


class ReplacementMaterial(NamedTuple):
    """Replacements for parts of a sample: unrelated images, and questions of tasks with another
    output format, as (context, question).
    """

    images: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]


def unanswerable(
    sample: Sample, form: Form, question: QuestionDraft, elsewhere: ReplacementMaterial, seed: int
) -> tuple[Strategy, QuestionDraft]:
    """Make a question unanswerable by one of the strategies of its task.

    Args:
        sample: The sample.
        form: The form of its output, such as number or order.
        question: The question of the sample.
        elsewhere: Images and questions of other samples.
        seed: The seed of the order of strategies.

    Raises:
        UnusableSampleError: `no_strategy`: no strategy can be applied.
    """
    order_key = partial(content_id, "unanswerable", seed, question)
    for strategy in sorted(STRATEGIES_OF.get(question.task, ()), key=order_key):
        altered = change_question(strategy, sample, form, question, elsewhere, seed)
        if altered is not None:
            return strategy, altered
    raise UnusableSampleError(
        "no_strategy", f"No strategy of {question.task} makes this sample unanswerable."
    )


def change_question(
    strategy: Strategy,
    sample: Sample,
    form: Form,
    question: QuestionDraft,
    elsewhere: ReplacementMaterial,
    seed: int,
) -> QuestionDraft | None:
    """Change a question by one strategy; None if the strategy cannot be applied to it."""
    order_key = partial(content_id, strategy, seed, question)
    pictures = sorted(elsewhere.images, key=order_key)
    if strategy == KEY_WORD:
        return _replace_key_word(sample, question)
    if strategy == ANSWER_IMAGE:
        return _replace_answer_image(question, pictures)
    if strategy == OTHER_IMAGES:
        return _replace_other_image(question, pictures, order_key)
    if strategy == SHUFFLE:
        return _shuffle(form, question, order_key)
    assert strategy == IRRELEVANT
    ways = [
        _irrelevant_images(question, pictures),
        _irrelevant_question(question, sorted(elsewhere.questions, key=order_key)),
    ]
    return next((ways[way] for way in sorted((0, 1), key=order_key) if ways[way]), None)


def _wrong(question: QuestionDraft) -> tuple[str, ...]:
    return tuple(choice for choice in question.distractors if choice != CANNOT)


def _none_right(question: QuestionDraft) -> QuestionDraft:
    """The question with `CANNOT` as the right choice and all other choices wrong."""
    return question._replace(answer=CANNOT, distractors=(question.answer, *_wrong(question)))


def _replace_key_word(sample: Sample, question: QuestionDraft) -> QuestionDraft | None:
    if not sample.key_word:
        return None
    changed = question._replace(
        question=question.question.replace(sample.key_word, sample.other_word),
        context=question.context.replace(sample.key_word, sample.other_word),
    )
    return _none_right(changed)


def _replace_answer_image(question: QuestionDraft, pictures: Sequence[str]) -> QuestionDraft | None:
    if not question.of_images or not pictures:
        return None
    return question._replace(answer=CANNOT, distractors=(pictures[0], *_wrong(question)))


def _replace_other_image(
    question: QuestionDraft, pictures: Sequence[str], order_key: Callable[[object], str]
) -> QuestionDraft | None:
    """Replace one of the images that the question is about. Images that are choices are not replaced,
    because the right one would remain.
    """
    if not question.images or not pictures:
        return None
    place = min(range(len(question.images)), key=order_key)
    images = (*question.images[:place], pictures[0], *question.images[place + 1 :])
    return _none_right(question)._replace(images=images)


def _shuffle(
    form: Form, question: QuestionDraft, order_key: Callable[[object], str]
) -> QuestionDraft | None:
    """Shuffle the images to an order in which none of the choices is right."""
    offered = {question.answer, *question.distractors}
    n_images = len(question.images)
    for draw in range(MOST_SHUFFLES):
        draws = [order_key((draw, place)) for place in range(n_images)]
        order = sorted(range(n_images), key=draws.__getitem__)
        images = tuple(question.images[place] for place in order)
        if images == question.images:
            continue
        if form == "order" and _order_after(question.answer, order) in offered:
            continue
        return _none_right(question)._replace(images=images)
    return None


def _order_after(answer: str, order: Sequence[int]) -> str:
    """The right answer after the images are put in `order`, in the format of `answer`."""
    places = places_of(answer)
    named = sorted(places)
    current = [named[order.index(named.index(place))] for place in places]
    return in_form(answer, current)


def _irrelevant_images(question: QuestionDraft, pictures: Sequence[str]) -> QuestionDraft | None:
    n_images = len(question.images)
    n_choices = len(_wrong(question)) + 1 if question.of_images else 0
    if len(pictures) < n_images + n_choices or not n_images + n_choices:
        return None
    altered = _none_right(question)._replace(images=tuple(pictures[:n_images]))
    if question.of_images:
        altered = altered._replace(distractors=tuple(pictures[n_images : n_images + n_choices]))
    return altered


def _irrelevant_question(
    question: QuestionDraft, questions: Sequence[tuple[str, str]]
) -> QuestionDraft | None:
    if not questions:
        return None
    context, other_question = questions[0]
    return _none_right(question)._replace(context=context, question=other_question)
