"""Captions and reference answers of three-turn conversations (ConvBench, 3, iii and iv)."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dagster as dg

from assets.common.drops import reasons, require_few_lost
from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    Row,
    failed_row,
    make_request,
    model_of_stage,
    write_with_failures,
)
from assets.common.progress import show_progress
from assets.common.tables import report, table_asset
from assets.dialogue.entry_texts import texts_of
from assets.dialogue.three_turns import three_turns
from methods.convbench.building import ANSWER, CAPTION, CAPTIONED_TURN
from methods.convbench.drafting import leaking_turn, read_caption, read_reference
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import ParsedReply, complete_and_parse
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

TABLE = "dialogue.turn_references"
CAPTION_PROMPT = "convbench/write_caption"
REFERENCE_PROMPT = "convbench/write_reference"
LEAK = "answer_in_later_question"


class TurnReferencesSettings(GenerationSettings):
    """Settings of references: a conversation without its caption or a reference counts as failed."""


@table_asset(TABLE, side_tables=["dialogue.failed"], kinds={"openai", "image"}, deps=[three_turns])
def turn_references(
    context: dg.AssetExecutionContext,
    config: TurnReferencesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """A caption with everything needed to answer, and a reference answer to each turn, for each
    conversation.

    The prompt of a reference contains the references of earlier turns. A conversation is left out and
    counted if a text is missing, or if a question reveals the answer to an earlier turn.
    """
    items = warehouse.select(
        "dialogue.three_turns",
        "set_id",
        "item_id",
        "entry_id",
        "image_id",
        "turns",
        "focus",
        order="item_id",
    ).to_pylist()
    texts = texts_of(warehouse, (item["entry_id"] for item in items))
    provider = model_of_stage(llm, TABLE).provider

    async def write_item(calls: ModelCalls, place: int) -> tuple[list[Row], Row | None]:
        item = items[place]
        return await _written(calls, llm, item, texts[item["entry_id"]])

    written, usage = llm.map(TABLE, range(len(items)), write_item, show_progress(context))
    rows = [
        {**row, "set_id": item["set_id"], "item_id": item["item_id"], "provider": provider}
        for item, (references, lost) in zip(items, written, strict=True)
        for row in references
        if lost is None
    ]
    failed = [lost for _, lost in written if lost is not None]
    lost = Counter(row["reason"] for row in failed)
    require_few_lost(TABLE, "conversations", lost, len(items), config.max_failed_share, usage)
    table = write_with_failures(warehouse, TABLE, rows, failed)
    details = {
        "conversations": len(items) - len(failed),
        "failed": len(failed),
        **reasons(lost),
    }
    return report(table, details, usage=usage, images=image_store)


async def _written(
    calls: ModelCalls, llm: Gateway, item: Row, texts: Mapping[str, str]
) -> tuple[list[Row], Row | None]:
    """Write the caption and the references of a conversation, in order, up to the first failure.

    Returns:
        The rows, and the row of the failure or None.
    """
    questions = [turn["question"] for turn in item["turns"]]
    rows: list[Row] = []

    async def write(
        name: str, data: dict[str, Any], parse: Callable[[str], str], turn: int, kind: str
    ) -> Row | None:
        """Add the row of the reply, or return the row of its failure."""
        ask = GenerationRequest(item, item["set_id"], item["item_id"], [item["image_id"]], data)
        reply: ParsedReply[str] = await complete_and_parse(
            calls, make_request(llm, TABLE, prompt(name), ask), parse
        )
        if reply.loss:
            return _lost(item, reply.key, f", {kind} of turn {turn}", *reply.loss)
        made_by = {"call_key": reply.key, "prompt_version": reply.prompt_version}
        rows.append({"turn": turn, "kind": kind, "reference": reply.value, **made_by})
        return None

    data = {"questions": questions, **texts}
    lost = await write(CAPTION_PROMPT, data, read_caption, CAPTIONED_TURN, CAPTION)
    for turn, question in enumerate(questions, start=1):
        if lost is not None:
            return rows, lost
        caption, *answers = (row["reference"] for row in rows)
        data = {
            "description": caption,
            "earlier": [
                {"question": question, "answer": answer}
                for question, answer in zip(questions, answers, strict=False)
            ],
            "question": question,
            "focus": item["focus"] if turn == len(questions) else [],
        }
        lost = await write(
            REFERENCE_PROMPT,
            data,
            partial(read_reference, question),
            turn,
            ANSWER,
        )
    if lost is None:
        lost = _leak(item, questions, rows)
    return rows, lost


def _leak(item: Row, questions: list[str], rows: list[Row]) -> Row | None:
    """Return the failure of a conversation if a later question reveals an answer; else None."""
    answers = [row for row in rows if row["kind"] == ANSWER]
    turn = leaking_turn(questions, [row["reference"] for row in answers])
    if turn is None:
        return None
    detail = f"A later question gives the answer of turn {turn} away."
    return _lost(item, answers[turn - 1]["call_key"], "", LEAK, detail)


def _lost(item: Row, call_key: str, what: str, reason: str, detail: str) -> Row:
    where = {"set_id": item["set_id"], "call_key": call_key}
    return failed_row(TABLE, where, f"item {item['item_id']}{what}", reason, detail)
