"""Generation: image sets to dialogues, by summary, question, answer, composition (MMDU, 2.2, B.2).

Partitioned by a hash of the set's id. What belongs here: what is asked about which images, and where
the replies go. Composing is `methods/mmdu/composing.py`, the prompts stand in `methods/mmdu/prompts`.
"""

from itertools import groupby
from typing import Any

import dagster as dg
from pydantic import Field

from assets.calls import Ask, Written, ask_and_read, failure, write_buckets
from assets.cluster import image_sets, require_whole_sets
from assets.partitions import buckets
from assets.tables import WHEN_READY, table_asset
from methods.ids import content_id
from methods.mmdu.composing import QA, compose
from methods.parsing import ParseError, numbered_schema, parse_numbered
from resources.image_store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.usage import Usage
from resources.prompts import prompt
from resources.warehouse import Warehouse

Row = dict[str, Any]


class SummariesConfig(dg.Config):
    """How long a page's summary may be."""

    max_words: int = Field(120, gt=0)


class QuestionsConfig(dg.Config):
    """How many questions are asked about each image and about each set."""

    per_image: int = Field(1, gt=0)
    per_set: int = Field(3, gt=0)


class AnswersConfig(dg.Config):
    """MMDU asks for about 500 words an answer (Figure 8)."""

    n_words: int = Field(500, gt=0)


@table_asset(
    "dialogue.summaries",
    kinds={"openai"},
    deps=[image_sets],
    partitions_def=buckets,
    automation_condition=WHEN_READY,
)
def summaries(
    context: dg.AssetExecutionContext,
    config: SummariesConfig,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Page texts condensed to what a picture could raise a question about."""
    asks = [
        Ask(
            subject=image,
            bucket=image["bucket"],
            set_id=image["set_id"],
            name=image["entry_id"],
            images=(),
            data={
                "max_words": config.max_words,
                **{key: image[key] for key in ("title", "categories", "caption", "page_text")},
            },
        )
        for image in _images(context, warehouse)
    ]

    def read(image: Row, reply: str) -> list[Row]:
        return [{"entry_id": image["entry_id"], "summary": reply.strip()}]

    written = ask_and_read(context, llm, "dialogue.summaries", prompt("mmdu/summary"), asks, read)
    return write_buckets(context, warehouse, "dialogue.summaries", written)


@table_asset(
    "dialogue.questions",
    kinds={"openai"},
    deps=[summaries],
    partitions_def=buckets,
    automation_condition=WHEN_READY,
)
def questions(
    context: dg.AssetExecutionContext,
    config: QuestionsConfig,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Questions on each image and on each set, from images, captions and summaries."""
    asks = []
    for set_id, images in _by_set(_images(context, warehouse)):
        # A lost summary costs the questions their background, not the set its place.
        parts = [([image], image["position"], config.per_image) for image in images]
        for shown, position, n_questions in [*parts, (images, None, config.per_set)]:
            asks.append(
                Ask(
                    subject=(set_id, position, n_questions),
                    bucket=images[0]["bucket"],
                    set_id=set_id,
                    name=set_id if position is None else f"{set_id} image {position}",
                    images=[image["image_id"] for image in shown],
                    data={
                        "n_questions": n_questions,
                        "entries": [
                            {"caption": image["caption"], "summary": image["summary"] or ""}
                            for image in shown
                        ],
                    },
                )
            )

    def read(subject: tuple[str, int | None, int], reply: str) -> list[Row]:
        set_id, position, n_questions = subject
        return [
            {
                "question_id": content_id("question", set_id, position, ordinal, question),
                "scope": "multi" if position is None else "single",
                "position": position,
                "ordinal": ordinal,
                "question": question,
            }
            for ordinal, question in enumerate(parse_numbered(reply, "Q", n_questions), start=1)
        ]

    written = ask_and_read(
        context,
        llm,
        "dialogue.questions",
        prompt("mmdu/questions"),
        asks,
        read,
        lambda subject: numbered_schema("Q", subject[2]),
    )
    return write_buckets(context, warehouse, "dialogue.questions", written)


@table_asset(
    "dialogue.answers",
    kinds={"openai"},
    deps=[questions],
    partitions_def=buckets,
    automation_condition=WHEN_READY,
)
def answers(
    context: dg.AssetExecutionContext,
    config: AnswersConfig,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Answers from the images alone: no caption and no page text, so that they rest on pixels."""
    images_of = dict(_by_set(_images(context, warehouse)))
    asks = []
    for (set_id, position), group in groupby(
        _questions(context, warehouse), key=lambda row: (row["set_id"], row["position"])
    ):
        asked = list(group)
        shown = [
            image
            for image in images_of.get(set_id, [])
            if position is None or image["position"] == position
        ]
        asks.append(
            Ask(
                subject=asked,
                bucket=asked[0]["bucket"],
                set_id=set_id,
                name=set_id if position is None else f"{set_id} image {position}",
                images=[image["image_id"] for image in shown],
                data={
                    "n_words": config.n_words,
                    "questions": [question["question"] for question in asked],
                },
            )
        )

    def read(asked: list[Row], reply: str) -> list[Row]:
        texts = parse_numbered(reply, "A", len(asked))
        return [
            {"question_id": question["question_id"], "answer": text}
            for question, text in zip(asked, texts, strict=True)
        ]

    written = ask_and_read(
        context,
        llm,
        "dialogue.answers",
        prompt("mmdu/answers"),
        asks,
        read,
        lambda asked: numbered_schema("A", len(asked)),
    )
    return write_buckets(context, warehouse, "dialogue.answers", written)


@table_asset(
    "dialogue.dialogues",
    kinds={"image"},
    deps=[answers, questions, image_sets],
    partitions_def=buckets,
    automation_condition=WHEN_READY,
)
def dialogues(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Single- and multi-image questions combined into one dialogue a set, `<image-i>` renumbered."""
    answered = [row for row in _questions(context, warehouse) if row["answer"] is not None]
    qas_of = {set_id: rows for set_id, rows in _by_set(answered)}
    written = Written([], [], Usage())
    for set_id, images in _by_set(_images(context, warehouse)):
        where = {"bucket": images[0]["bucket"], "set_id": set_id}
        try:
            row = _dialogue(images, qas_of.get(set_id, []))
        except ParseError as error:
            written.failed.append(failure("dialogues", where, set_id, error.reason, error.detail))
        else:
            written.rows.append({**where, **row})
    return write_buckets(
        context,
        warehouse,
        "dialogue.dialogues",
        written,
        {"turns": sum(row["n_turns"] for row in written.rows)},
        image_store,
    )


def _dialogue(images: list[Row], qas: list[Row]) -> Row:
    """Columns of one dialogue. Raises ParseError when the set cannot carry one."""
    dialogue = compose(
        [QA(row["question_id"], row["position"], row["question"], row["answer"]) for row in qas],
        n_images=len(images),
    )
    image_ids = [images[position - 1]["image_id"] for position in dialogue.positions]
    turns = [
        {"question_id": turn.question_id, "question": turn.question, "answer": turn.answer}
        for turn in dialogue.turns
    ]
    return {
        "dialogue_id": content_id("dialogue", images[0]["kind"], image_ids, turns),
        "kind": images[0]["kind"],
        "image_ids": image_ids,
        "n_images": len(image_ids),
        "n_turns": len(turns),
        "turns": turns,
    }


def _images(context: dg.AssetExecutionContext, warehouse: Warehouse) -> list[Row]:
    """Images of the run's sets with their entries, set by set, in order of position."""
    require_whole_sets(warehouse)
    return warehouse.read(
        "dialogue/sets_of_buckets", {"buckets": list(context.partition_keys)}
    ).to_pylist()


def _questions(context: dg.AssetExecutionContext, warehouse: Warehouse) -> list[Row]:
    return warehouse.read(
        "dialogue/questions_of_buckets", {"buckets": list(context.partition_keys)}
    ).to_pylist()


def _by_set(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    return [(set_id, list(group)) for set_id, group in groupby(rows, key=lambda row: row["set_id"])]


ASSETS = [summaries, questions, answers, dialogues]
