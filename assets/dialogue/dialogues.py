"""Dialogues: the answered questions of a set, combined (MMDU, 2.2).

What belongs here: which rows form a dialogue. Composing is `methods/mmdu/composing.py`.
"""

import dagster as dg

from assets.cluster import image_sets
from assets.common.automation import WHEN_READY
from assets.common.generation import Generated, GenerationSettings, failure, write_generated
from assets.common.tables import table_asset
from assets.dialogue.answers import answers
from assets.dialogue.questions import questions
from assets.dialogue.set_rows import Row, by_set, images_of_sets, questions_of_sets
from methods.ids import content_id
from methods.mmdu.composing import QA, compose
from methods.prompts.parsing import ParseError
from resources.images.store import ImageStore
from resources.llm.usage import Usage
from resources.warehouse import Warehouse


class DialoguesSettings(GenerationSettings):
    """A set without a dialogue counts as failed."""


@table_asset(
    "dialogue.dialogues",
    settings=DialoguesSettings,
    side_tables=["dialogue.failed"],
    kinds={"image"},
    deps=[answers, questions, image_sets],
    automation_condition=WHEN_READY,
)
def dialogues(
    settings: DialoguesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Single- and multi-image questions combined into one dialogue a set, `<image-i>` renumbered."""
    answered = [row for row in questions_of_sets(warehouse) if row["answer"] is not None]
    qas_of = {set_id: rows for set_id, rows in by_set(answered)}
    generated = Generated([], [], Usage())
    for set_id, images in by_set(images_of_sets(warehouse)):
        where = {"set_id": set_id}
        try:
            row, lost = _dialogue(images, qas_of.get(set_id, []))
        except ParseError as error:
            generated.failed.append(failure("dialogues", where, set_id, error.reason, error.detail))
        else:
            generated.rows.append({**where, **row})
            generated.parts += [
                failure("dialogues", where, question_id, error.reason, error.detail)
                for question_id, error in lost
            ]
    return write_generated(
        warehouse,
        "dialogue.dialogues",
        generated,
        settings.max_failed_share,
        {
            "turns": sum(row["n_turns"] for row in generated.rows),
            "lost turns": len(generated.parts),
        },
        image_store,
    )


def _dialogue(images: list[Row], qas: list[Row]) -> tuple[Row, tuple[tuple[str, ParseError], ...]]:
    """Columns of one dialogue, and its lost turns. Raises ParseError when the set cannot carry one."""
    dialogue = compose(
        [QA(row["question_id"], row["position"], row["question"], row["answer"]) for row in qas],
        n_images=len(images),
    )
    image_ids = [images[position - 1]["image_id"] for position in dialogue.positions]
    turns = [
        {"question_id": turn.question_id, "question": turn.question, "answer": turn.answer}
        for turn in dialogue.turns
    ]
    row = {
        "dialogue_id": content_id("dialogue", images[0]["kind"], image_ids, turns),
        "kind": images[0]["kind"],
        "image_ids": image_ids,
        "n_images": len(image_ids),
        "n_turns": len(turns),
        "turns": turns,
    }
    return row, dialogue.lost
