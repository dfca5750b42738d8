"""Questions of dialogues, generated from images, captions and summaries (MMDU, 2.2, B.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import dagster as dg
from pydantic import Field

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
    by_set,
    images_of_sets,
    request_name,
    weights_of,
)
from assets.dialogue.summaries import summaries
from methods.ids import content_id
from methods.mmdu.composing import DialogueShape, followed_question, shape_of
from methods.mmdu.reading import ON_ONE, ON_SEVERAL, Angle, assign_angles, read_questions
from methods.prompts.parsing import numbered_schema
from methods.quality.echoes import require_own_questions, sentences_of
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

QUESTION_WORDS = 31
"""Average words of a question (MMDU, Table 1)."""
PER_IMAGE = {"benchmark": (1, 2), "instruction": {0: 7, 1: 3}}
"""Questions about each image, by kind: a range, or each number with its weight."""
PER_SET = {
    "benchmark": {3: 9, 8: 24, 13: 43, 17: 24},
    "instruction": {3: 8, 5: 18, 7: 30, 8: 22, 12: 13, 16: 6, 24: 3},
}
"""Questions about several images of a set, by kind: each number with its weight, chosen to match MMDU
(Table 1, Figure 4). In its benchmark, 10 % of dialogues have up to 10 turns, 22.7 % have 11 to 15,
42.7 % have 16 to 20 and 24.6 % have more; 62.9 % of questions are about several images and 27.1 %
about one. In its instruction set, dialogues have 9 turns on average, and 90 % of questions are about
several images.
"""


class QuestionsSettings(GenerationSettings):
    """Numbers of questions about each image and each set; the defaults match MMDU."""

    per_image: NumberByKind = Field(
        PER_IMAGE,
        description=f"Questions about each image: {EXAMPLES}.",
    )
    per_set: Annotated[NumberByKind, at_least(1)] = Field(
        PER_SET,
        description=f"Questions about several images of each set: {EXAMPLES}.",
    )
    most_turns: int = Field(
        27,
        gt=0,
        description="Most questions of a dialogue; surplus questions about single images are "
        "dropped first.",
    )
    most_together: int = Field(
        6,
        ge=3,
        description="Most images in a group. In a set of up to so many images every question about "
        "several is about all of them. A larger set is asked about in groups, and at the end "
        "as a whole.",
    )
    seed: int = Field(
        0, description="Seed of the numbers, of the angles and of the writer's samples."
    )


@dataclass(frozen=True)
class QuestionTask:
    """The questions of one call, which shows the images at `positions` (from 1) of a set of `n_images`.

    `titles` are the titles of these images' Wikipedia pages.
    """

    set_id: str
    positions: Sequence[int]
    n_images: int
    angles: Sequence[Angle]
    titles: Sequence[str]

    def followed(self, ordinal: int) -> int | None:
        """Return the earlier question of this call that a question follows up; both count from 1."""
        return followed_question(ordinal) if len(self.positions) > 1 else None


@table_asset(
    "dialogue.questions",
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[summaries],
)
def questions(
    context: dg.AssetExecutionContext,
    config: QuestionsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Questions about each image and each set, generated from images, captions and summaries. Each
    question has a randomly assigned angle. If a question repeats the prompt or names the Wikipedia
    page, the model is asked again.
    """
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
        ids = [
            _question_id(subject, ordinal, question)
            for ordinal, question in enumerate(texts, start=1)
        ]
        return [
            {
                "question_id": ids[ordinal - 1],
                "positions": list(subject.positions),
                "ordinal": ordinal,
                "question": question,
                "angle": angle.name,
                "follows": earlier and ids[earlier - 1],
            }
            for ordinal, (question, angle) in enumerate(
                zip(texts, subject.angles, strict=True), start=1
            )
            for earlier in [subject.followed(ordinal)]
        ]

    generated = ask_and_read(
        context,
        llm,
        "dialogue.questions",
        template,
        asks,
        read,
        lambda subject: numbered_schema("Q", len(subject.angles)),
        draft_seed=config.seed,
    )
    return write_generated(warehouse, "dialogue.questions", generated, config.max_failed_share)


def _question_id(subject: QuestionTask, ordinal: int, question: str) -> str:
    # Questions about one image, or about all images, keep the ids that earlier versions gave them.
    place: object = list(subject.positions)
    if len(subject.positions) == 1:
        place = subject.positions[0]
    elif len(subject.positions) == subject.n_images:
        place = None
    return content_id("question", subject.set_id, place, ordinal, question)


def _shape(set_id: str, images: Sequence[Row], settings: QuestionsSettings) -> DialogueShape:
    kind = images[0]["kind"]
    return shape_of(
        len(images),
        weights_of(settings.per_image, kind),
        weights_of(settings.per_set, kind),
        settings.most_turns,
        settings.most_together,
        settings.seed,
        set_id,
    )


def _asks(
    set_id: str, images: Sequence[Row], shape: DialogueShape, seed: int
) -> Iterator[GenerationRequest[QuestionTask]]:
    """Yield the requests for one set: first about single images, then about several images."""
    for position, (image, n_questions) in enumerate(
        zip(images, shape.singles, strict=True), start=1
    ):
        if n_questions:
            # The seed is the image's, so an image gets the same angles in every set.
            angles = assign_angles(ON_ONE, n_questions, seed, image["image_id"])
            yield _ask(set_id, images, [position], angles)
    n_together = sum(group.n_questions for group in shape.together)
    angles_left = assign_angles(ON_SEVERAL, n_together, seed, set_id)
    for group in shape.together:
        angles, angles_left = angles_left[: group.n_questions], angles_left[group.n_questions :]
        yield _ask(set_id, images, group.positions, angles)


def _ask(
    set_id: str, images: Sequence[Row], positions: Sequence[int], angles: Sequence[Angle]
) -> GenerationRequest[QuestionTask]:
    shown = [images[position - 1] for position in positions]
    titles = [image["title"] for image in shown]
    subject = QuestionTask(set_id, positions, len(images), angles, titles)
    return GenerationRequest(
        subject=subject,
        set_id=set_id,
        name=request_name(set_id, positions, len(images)),
        images=[image["image_id"] for image in shown],
        data={
            "n_questions": len(angles),
            "n_words": QUESTION_WORDS,
            "angles": [
                {"says": angle.says, "follows": subject.followed(ordinal)}
                for ordinal, angle in enumerate(angles, start=1)
            ],
            # A missing summary is replaced by an empty text.
            "entries": [
                {"caption": image["caption"], "summary": image["summary"] or ""} for image in shown
            ],
        },
        n_words=QUESTION_WORDS * len(angles),
        language=shown[0]["language"],
    )
