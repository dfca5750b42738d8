"""Samples to items: questions with their choices in order, answerable ones and the others (MMIU, 3.2).

What belongs here: the order of these steps. Making wrong choices is `converting.py` and
`distractors.py`, leaving questions without an answer is `unanswerable.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from methods.choice.placing import placed
from methods.ids import content_id
from methods.mmiu.building import item_id, shown
from methods.mmiu.converting import Form, NoQuestion, Question
from methods.mmiu.metadata import Sample
from methods.mmiu.unanswerable import Elsewhere, unanswerable
from methods.mmiu.unanswerable_tasks import STRATEGIES_OF, Strategy


class Asked(NamedTuple):
    """A sample and the question that was made of it; `group` is the item it is a variant of."""

    sample: Sample
    form: Form
    question: Question
    strategy: Strategy | None = None
    group: str | None = None


class MadeItem(NamedTuple):
    """A finished item: `of` is the question it was made of."""

    of: Asked
    item_id: str
    group_id: str
    image_ids: tuple[str, ...]
    choices: tuple[str, ...]
    answer: str


def made_unanswerable(
    asked: Sequence[Asked], images: Sequence[str], most: int, seed: int
) -> Iterator[Asked | tuple[Asked, NoQuestion]]:
    """At most `most` unanswerable questions of each task of Table 7, drawn by seed from `asked`.

    `images` are pictures of entries or metadata that may be shown where they have nothing to do. A
    question that no strategy fits comes with the reason, and another one takes its place.
    """
    by_task: dict[str, list[Asked]] = {}
    for each in sorted(asked, key=lambda each: content_id(seed, item_id(each.question))):
        by_task.setdefault(each.question.task, []).append(each)
    for task in sorted(set(by_task) & set(STRATEGIES_OF)):
        made = 0
        for each in by_task[task]:
            if made == most:
                break
            try:
                strategy, question = unanswerable(
                    each.sample, each.form, each.question, _elsewhere(each, asked, images), seed
                )
            except NoQuestion as loss:
                yield each, loss
                continue
            made += 1
            yield Asked(each.sample, each.form, question, strategy, item_id(each.question))


def _elsewhere(of: Asked, asked: Sequence[Asked], images: Sequence[str]) -> Elsewhere:
    sample = of.sample
    own = {*sample.images, sample.output, *sample.wrong, *sample.also_right}
    return Elsewhere(
        tuple(image for image in images if image not in own),
        tuple(
            (each.question.context, each.question.question)
            for each in asked
            if each.form != of.form and each.question.task != of.question.task
        ),
    )


def finished(asked: Sequence[Asked], keys: Mapping[str, str], seed: int) -> list[MadeItem]:
    """The items, each once, their right choices under each letter equally often in every task.

    `keys` has the letters of items that there are already, by item id: they stay.
    """
    by_id = {item_id(each.question): each for each in asked}
    by_task: dict[str, list[str]] = {}
    for name, each in by_id.items():
        by_task.setdefault(each.question.task, []).append(name)
    found = []
    for names in by_task.values():
        questions = [by_id[name].question for name in names]
        kept = {place: keys[name] for place, name in enumerate(names) if name in keys}
        for name, order in zip(names, placed(questions, seed, kept), strict=True):
            of = by_id[name]
            images, choices = shown(of.question, order)
            found.append(MadeItem(of, name, of.group or name, images, choices, order.key))
    return found
