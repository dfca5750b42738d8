"""What assets that ask models have in common: one subject a request, one typed failure a loss.

What belongs here: pairing what was asked with what came back. Asking is `resources/llm/gateway.py`,
reading a reply the methods' parsers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dagster as dg
import pyarrow as pa

from assets.ingest import reasons
from assets.progress import show_progress
from assets.tables import report, rows_to_arrow
from methods.parsing import ParseError
from methods.prompting import PromptTemplate
from resources.image_store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.request import ChatRequest, Completion
from resources.llm.usage import Usage
from resources.warehouse import Warehouse, Write

S = TypeVar("S")

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
class Reading:
    """Rows read from the replies, rows of what was lost, and what the calls came to."""

    rows: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    usage: Usage


def ask_and_read(
    context: dg.AssetExecutionContext,
    llm: Gateway,
    stage: str,
    template: PromptTemplate,
    asks: Sequence[Ask[S]],
    read: Callable[[S, str], list[dict[str, Any]]],
) -> Reading:
    """Ask the profile's writer everything in `asks`; `read` makes rows of a reply or raises ParseError.

    Each row is given its bucket, set, call and prompt version; a call or a reading that fails
    becomes one row for `dialogue.failed` and stops nothing.
    """
    requests = [
        ChatRequest(
            model=llm.profile.writer,
            messages=template.render(images=ask.images, **ask.data),
            prompt_version=template.version,
            params=CONSTRUCTION_PARAMS,
        )
        for ask in asks
    ]
    provider = llm.registry.model(llm.profile.writer).provider
    outcomes, usage = llm.ask(stage, requests, show_progress(context))
    reading = Reading([], [], usage)
    for ask, outcome in zip(asks, outcomes, strict=True):
        where = {"bucket": ask.bucket, "set_id": ask.set_id, "call_key": outcome.key}
        if not isinstance(outcome, Completion):
            reading.failed.append(failure(stage, where, ask.name, outcome.kind, outcome.detail))
            continue
        try:
            rows = read(ask.subject, outcome.text)
        except ParseError as error:
            reading.failed.append(failure(stage, where, ask.name, error.reason, error.detail))
        else:
            made_by = {**where, "prompt_version": template.version, "provider": provider}
            reading.rows += [{**row, **made_by} for row in rows]
    return reading


def failure(
    stage: str, where: dict[str, Any], subject: str, reason: str, detail: str
) -> dict[str, Any]:
    """A row of `dialogue.failed`."""
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
    reading: Reading,
    details: Mapping[str, Any] | None = None,
    image_store: ImageStore | None = None,
) -> dg.MaterializeResult:
    """Replace the run's buckets of `table` and of `dialogue.failed` at once, and report."""
    buckets = list(context.partition_keys)
    rows: pa.Table = rows_to_arrow(table, reading.rows)
    failed = rows_to_arrow("dialogue.failed", reading.failed)
    stage = table.split(".")[-1]
    warehouse.replace_all(
        [
            Write(table, rows, {"bucket": buckets}),
            Write("dialogue.failed", failed, {"bucket": buckets, "stage": stage}),
        ]
    )
    return report(
        rows,
        {
            "buckets in this run": len(buckets),
            "failed": len(reading.failed),
            **reasons(reading.failed),
            **(details or {}),
        },
        usage=reading.usage,
        images=image_store,
    )
