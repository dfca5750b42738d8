"""Questions on images and sets, from images, captions and summaries (MMDU, 2.2, B.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_READY
from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.set_rows import (
    EXAMPLES,
    NumberByKind,
    Row,
    at_least,
    between,
    by_set,
    images_of_sets,
    request_name,
)
from assets.dialogue.summaries import summaries
from methods.ids import content_id
from methods.mmdu.composing import DialogueShape, shape_of
from methods.mmdu.reading import ON_ONE, ON_SEVERAL, Angle, assign_angles, read_questions
from methods.prompts.parsing import numbered_schema
from methods.quality.echoes import require_own_questions, sentences_of
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

QUESTION_WORDS = 31
"""Words of a question on average (MMDU, Table 1), for estimates."""


class QuestionsSettings(GenerationSettings):
    """How many questions are asked about each image and about each set, and what they are after."""

    per_image: NumberByKind = Field(1, description=f"Questions about each image: {EXAMPLES}.")
    per_set: Annotated[NumberByKind, at_least(1)] = Field(
        3, description=f"Questions about several images of each set: {EXAMPLES}."
    )
    most_turns: int = Field(
        27,
        gt=0,
        description="Questions of a dialogue at most; those about single images are left out first.",
    )
    enter_together: Annotated[NumberByKind, at_least(1)] | None = Field(
        None,
        description="How many images enter at a time where they enter over several turns, each time "
        f"with a question of their own: {EXAMPLES}. Null: a question about several is about all.",
    )
    seed: int = Field(0, description="Seed of the numbers and of the angles.")


@dataclass(frozen=True)
class QuestionTask:
    """Questions of one call: about the image at `position`, or about the images 1 to `until`.

    `titles` are those of the pages of the images shown.
    """

    set_id: str
    position: int | None
    until: int | None
    angles: Sequence[Angle]
    titles: Sequence[str]


@table_asset(
    "dialogue.questions",
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[summaries],
    automation_condition=WHEN_READY,
)
def questions(
    context: dg.AssetExecutionContext,
    config: QuestionsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Questions on each image and on each set, from images, captions and summaries; each has an angle
    that was drawn for it. A question that repeats the prompt or names the page is asked again."""
    asks = [
        ask
        for set_id, images in by_set(images_of_sets(warehouse))
        for ask in _asks(set_id, images, _shape(set_id, images, config), config.seed)
    ]

    template = prompt("mmdu/questions")
    instructions = sentences_of(template.text)

    def read(subject: QuestionTask, reply: str) -> list[Row]:
        texts = read_questions(reply, len(subject.angles), len(subject.titles))
        instruction_texts = [*instructions, *(angle.says for angle in subject.angles)]
        require_own_questions(texts, instruction_texts, subject.titles)
        place = subject.position if subject.until is None else f"to {subject.until}"
        return [
            {
                "question_id": content_id("question", subject.set_id, place, ordinal, question),
                "scope": "multi" if subject.position is None else "single",
                "position": subject.position,
                "until_position": subject.until,
                "ordinal": ordinal,
                "question": question,
                "angle": angle.name,
            }
            for ordinal, (question, angle) in enumerate(
                zip(texts, subject.angles, strict=True), start=1
            )
        ]

    generated = ask_and_read(
        context,
        llm,
        "dialogue.questions",
        template,
        asks,
        read,
        lambda subject: numbered_schema("Q", len(subject.angles)),
    )
    return write_generated(warehouse, "dialogue.questions", generated, config.max_failed_share)


def _shape(set_id: str, images: Sequence[Row], settings: QuestionsSettings) -> DialogueShape:
    kind, entering = images[0]["kind"], settings.enter_together
    return shape_of(
        len(images),
        between(settings.per_image, kind),
        between(settings.per_set, kind),
        settings.most_turns,
        settings.seed,
        set_id,
        None if entering is None else between(entering, kind),
    )


def _asks(
    set_id: str, images: Sequence[Row], shape: DialogueShape, seed: int
) -> Iterator[GenerationRequest[QuestionTask]]:
    """The requests for one set: on each image that has questions, then on images together."""
    for image, n_questions in zip(images, shape.singles, strict=True):
        if n_questions:
            # What is asked about a picture is the same in every set that it is in.
            angles = assign_angles(ON_ONE, n_questions, seed, image["image_id"])
            yield _ask(
                QuestionTask(set_id, image["position"], None, angles, _titles([image])), [image]
            )
    n_together = sum(block.n_questions for block in shape.together)
    angles_left = assign_angles(ON_SEVERAL, n_together, seed, set_id)
    for block in shape.together:
        angles, angles_left = angles_left[: block.n_questions], angles_left[block.n_questions :]
        # Where all images are there from the first question on, no place is named.
        until = None if len(shape.together) == 1 else block.until
        shown = images[: block.until]
        subject = QuestionTask(set_id, None, until, angles, _titles(shown))
        yield _ask(subject, shown, block.n_earlier)


def _titles(images: Sequence[Row]) -> list[str]:
    return [image["title"] for image in images]


def _ask(
    subject: QuestionTask, shown: Sequence[Row], n_earlier: int = 0
) -> GenerationRequest[QuestionTask]:
    return GenerationRequest(
        subject=subject,
        set_id=subject.set_id,
        name=request_name(subject.set_id, subject.position, subject.until),
        images=[image["image_id"] for image in shown],
        data={
            "n_questions": len(subject.angles),
            "n_earlier": n_earlier,
            "angles": [angle.says for angle in subject.angles],
            # Where a summary is missing, questions are asked without it.
            "entries": [
                {"caption": image["caption"], "summary": image["summary"] or ""} for image in shown
            ],
        },
        n_words=QUESTION_WORDS * len(subject.angles),
        language=shown[0]["language"],
    )
