"""What assets that ask models have in common: one subject a request, one typed failure a loss.

What belongs here: pairing what was asked with what came back. Asking is `resources/llm`, reading a
reply the methods' parsers.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dagster as dg
import pyarrow as pa

from assets.common.progress import show_progress
from assets.common.refused import reasons
from assets.common.tables import report, rows_to_arrow
from methods.prompts.parsing import JsonSchema
from methods.prompts.template import PromptTemplate
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.reading import Reading, complete_and_read
from resources.llm.request import ChatRequest
from resources.llm.session import Session
from resources.llm.usage import Usage
from resources.warehouse import Warehouse, Write

S = TypeVar("S")
Row = dict[str, Any]

CONSTRUCTION_PARAMS = {"temperature": 0.0, "max_tokens": 4096}
"""Sampling of the calls that build data: as repeatable as the provider allows."""


@dataclass(frozen=True)
class Ask(Generic[S]):
    """One call to make for `subject`: where it belongs, what the template is filled with."""

    subject: S
    bucket: str
    set_id: str
    name: str
    """What a failure is listed under: the entry, the set or the dialogue."""
    images: Sequence[str]
    data: dict[str, Any]


@dataclass
class Written:
    """Rows read from the replies, rows of what was lost, and what the calls came to."""

    rows: list[Row]
    failed: list[Row]
    usage: Usage


def ask_and_read(
    context: dg.AssetExecutionContext,
    llm: Gateway,
    stage: str,
    template: PromptTemplate,
    asks: Sequence[Ask[S]],
    read: Callable[[S, str], list[Row]],
    schema: Callable[[S], JsonSchema] | None = None,
) -> Written:
    """Ask the profile's writer everything in `asks`; `read` makes rows of a reply or raises ParseError.

    A reply that cannot be read is asked for again; `schema` is the form that a model is held to where
    its endpoint can. Each row is given its bucket, set, call and prompt version; what fails for good
    becomes one row for the stage's table `failed` and stops nothing.
    """
    asked = [
        ChatRequest(
            model=llm.profile.writer,
            messages=template.render(images=ask.images, **ask.data),
            prompt_version=template.version,
            params=CONSTRUCTION_PARAMS,
            schema=schema(ask.subject) if schema else None,
            task=template.task,
            superseded=template.superseded,
        )
        for ask in asks
    ]
    provider = llm.registry.model(llm.profile.writer).provider

    async def one(session: Session, place: int) -> Reading[list[Row]]:
        subject = asks[place].subject
        return await complete_and_read(session, asked[place], lambda reply: read(subject, reply))

    readings, usage = llm.map(stage, range(len(asks)), one, show_progress(context))
    rows: list[Row] = []
    failed: list[Row] = []
    for ask, reading in zip(asks, readings, strict=True):
        call_key = reading.key
        where = {"bucket": ask.bucket, "set_id": ask.set_id, "call_key": call_key}
        if reading.loss:
            failed.append(failure(stage, where, ask.name, *reading.loss))
            continue
        made_by = {**where, "prompt_version": reading.prompt_version, "provider": provider}
        rows += [{**row, **made_by} for row in reading.value or []]
    return Written(rows, failed, usage)


def failure(
    stage: str, where: dict[str, Any], subject: str, reason: str, detail: str
) -> dict[str, Any]:
    """A row of `dialogue.failed` or `rewrite.failed`."""
    return {
        **where,
        "stage": stage.split(".")[-1],
        "subject": subject,
        "reason": reason,
        "detail": detail,
    }


def write_buckets(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    table: str,
    written: Written,
    details: Mapping[str, Any] | None = None,
    image_store: ImageStore | None = None,
) -> dg.MaterializeResult:
    """Replace the run's buckets of `table` and of its stage's `failed` at once, and report."""
    buckets = list(context.partition_keys)
    rows: pa.Table = rows_to_arrow(table, written.rows)
    schema, stage = table.split(".")
    losses = f"{schema}.failed"
    failed = rows_to_arrow(losses, written.failed)
    warehouse.replace_all(
        [
            Write(table, rows, {"bucket": buckets}),
            Write(losses, failed, {"bucket": buckets, "stage": stage}),
        ]
    )
    return report(
        rows,
        {
            "buckets in this run": len(buckets),
            "failed": len(written.failed),
            **reasons(Counter(row["reason"] for row in written.failed)),
            **(details or {}),
        },
        usage=written.usage,
        images=image_store,
    )
