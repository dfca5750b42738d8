"""Multi-turn dialogues, composed of the answered questions of an image set (MMDU, 2.2)."""

from collections.abc import Iterator
from typing import Annotated

import dagster as dg
from pydantic import Field

from assets.cluster import image_sets
from assets.common.generation import (
    GenerationResult,
    GenerationSettings,
    failed_row,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.answers import answers
from assets.dialogue.questions import questions
from assets.dialogue.set_rows import (
    EXAMPLES,
    KINDS,
    NumberByKind,
    Row,
    at_least,
    by_set,
    images_of_sets,
    questions_of_sets,
    weights_of,
)
from methods.ids import content_id
from methods.image_sets.spec import Kind
from methods.mmdu.composing import QuestionAnswer, compose
from methods.mmdu.stacking import stacked_turns, stacks
from methods.prompts.parsing import ParseError
from resources.images.store import ImageStore
from resources.llm.usage import Usage
from resources.warehouse import Warehouse


class DialoguesSettings(GenerationSettings):
    """Settings of dialogues: stacking, and the share of image sets that may have no dialogue."""

    stack: Annotated[NumberByKind, at_least(1)] = Field(
        1,
        description="Dialogues of a kind that are put one after another into one, images renumbered: "
        f"{EXAMPLES}.",
    )
    seed: int = Field(0, description="Seed of which dialogues are stacked.")


@table_asset(
    "dialogue.dialogues",
    side_tables=["dialogue.failed", "dialogue.dialogue_images"],
    kinds={"image"},
    deps=[answers, questions, image_sets],
)
def dialogues(
    config: DialoguesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Single- and multi-image questions combined into one dialogue per set, with renumbered
    `<image-i>`.
    """
    answered = [row for row in questions_of_sets(warehouse) if row["answer"] is not None]
    qas_of = {set_id: rows for set_id, rows in by_set(answered)}
    generated = GenerationResult([], [], Usage())
    for set_id, images in by_set(images_of_sets(warehouse)):
        where = {"set_id": set_id}
        try:
            row, lost = _dialogue(images, qas_of.get(set_id, []))
        except ParseError as error:
            generated.failed.append(
                failed_row("dialogues", where, set_id, error.reason, error.detail)
            )
        else:
            generated.rows.append({**where, **row})
            generated.parts += [
                failed_row("dialogues", where, question_id, error.reason, error.detail)
                for question_id, error in lost
            ]
    n_sets = len(generated.rows)
    generated.rows = [row for kind in KINDS for row in _stacked(generated.rows, kind, config)]
    return write_generated(
        warehouse,
        "dialogue.dialogues",
        generated,
        config.max_failed_share,
        {
            "turns": sum(row["n_turns"] for row in generated.rows),
            "lost turns": len(generated.parts),
            **({"sets": n_sets} if n_sets > len(generated.rows) else {}),
        },
        image_store,
    )


def _dialogue(images: list[Row], qas: list[Row]) -> tuple[Row, tuple[tuple[str, ParseError], ...]]:
    """Compose the dialogue of an image set; return its columns and dropped questions.

    Raises ParseError if the set has too few usable questions.
    """
    dialogue = compose(
        [
            QuestionAnswer(
                row["question_id"],
                tuple(row["positions"]),
                row["question"],
                row["answer"],
                row["follows"],
            )
            for row in qas
        ],
        n_images=len(images),
    )
    image_ids = [images[position - 1]["image_id"] for position in dialogue.positions]
    turns = [
        {"question_id": turn.question_id, "question": turn.question, "answer": turn.answer}
        for turn in dialogue.turns
    ]
    return _row(images[0]["kind"], image_ids, turns), dialogue.lost


def _row(kind: Kind, image_ids: list[str], turns: list[dict[str, str]]) -> Row:
    return {
        "dialogue_id": content_id("dialogue", kind, image_ids, turns),
        "kind": kind,
        "image_ids": image_ids,
        "n_images": len(image_ids),
        "n_turns": len(turns),
        "turns": turns,
    }


def _stacked(rows: list[Row], kind: Kind, settings: DialoguesSettings) -> Iterator[Row]:
    """Stack the dialogues of a kind; a stack has the set id of its first dialogue."""
    row_of = {row["dialogue_id"]: row for row in rows if row["kind"] == kind}
    n_dialogues = weights_of(settings.stack, kind)
    if set(n_dialogues) == {1}:
        yield from row_of.values()
        return
    images_of = {dialogue: set(row["image_ids"]) for dialogue, row in row_of.items()}
    for stack in stacks(images_of, n_dialogues, settings.seed):
        parts = [row_of[dialogue] for dialogue in stack]
        turns = stacked_turns([(part["n_images"], part["turns"]) for part in parts])
        image_ids = [image for part in parts for image in part["image_ids"]]
        yield {"set_id": parts[0]["set_id"], **_row(kind, image_ids, turns)}
