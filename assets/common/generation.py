"""Shared code of assets that generate data with models: requests, rows and typed failures."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.common.drops import reasons, require_few_lost
from assets.common.progress import show_progress
from assets.common.settings import AssetConfig
from assets.common.tables import report, rows_to_arrow
from methods.prompts.parsing import JsonSchema
from methods.prompts.prompt_template import PromptTemplate
from methods.prompts.reply_language import LANGUAGE_OF_PROMPTS, with_reply_language
from methods.wikimedia.languages import language_name
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.parsed_reply import ParsedReply, complete_and_parse
from resources.llm.registry import Role
from resources.llm.request import ChatRequest
from resources.llm.usage import Usage
from resources.warehouse import TableWrite, Warehouse

S = TypeVar("S")


class GenerationSettings(AssetConfig):
    """The settings of every generating asset: the share of requests that may fail."""

    max_failed_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="If a larger share of the requests fails, the table keeps its earlier rows.",
    )


Row = dict[str, Any]

ROLES: Mapping[str, Role] = {
    "dialogue.summaries": "summary",
    "dialogue.questions": "question",
    "dialogue.answers": "answer",
    "dialogue.instructions": "question",
    "dialogue.three_turns": "question",
    "dialogue.turn_references": "answer",
    "rewrite.rewrites": "rewrite",
    "rewrite.seed_rewrites": "rewrite",
    "quality.checks": "check",
    **dict.fromkeys(("rewrite.seeds", "rewrite.contexts"), "writer"),
    **dict.fromkeys(("choice.items", "choice.translations"), "writer"),
}
"""Table -> the role in the profile of the model that generates its rows; others use `writer`."""

CONSTRUCTION_PARAMS = {"temperature": 0.0, "max_tokens": 4096}
"""Sampling parameters of calls that generate data: as repeatable as the provider allows."""
DRAFT_TEMPERATURE = 0.7
"""Temperature of calls that invent a text: at 0, similar images would get similar questions."""


@dataclass(frozen=True)
class GenerationRequest(Generic[S]):
    """One request about `subject`: its set, and the values for the prompt template."""

    subject: S
    set_id: str
    name: str
    """The id of the entry, image set or dialogue, which names the request in lists of failures."""
    images: Sequence[str]
    data: dict[str, Any]
    n_words: int | None = None
    """Expected length of the reply in words, for the estimates of a dry run."""
    language: str = LANGUAGE_OF_PROMPTS
    """Language of the reply, as the code of its Wikipedia."""


@dataclass
class GenerationResult:
    """Rows read from the replies, rows of failed requests, and the usage of the calls.

    `parts` are rows of parts that a successful reply lacks, such as a turn of a dialogue. They are
    counted, but not as failed requests.
    """

    rows: list[Row]
    failed: list[Row]
    usage: Usage
    parts: list[Row] = field(default_factory=list)


def ask_and_read(
    context: dg.AssetExecutionContext,
    llm: Gateway,
    stage: str,
    template: PromptTemplate,
    asks: Sequence[GenerationRequest[S]],
    parse: Callable[[S, str], list[Row]],
    schema: Callable[[S], JsonSchema] | None = None,
    draft_seed: int | None = None,
) -> GenerationResult:
    """Send requests to the model of a stage's role, and parse the replies into rows.

    If a reply cannot be parsed, the model is asked to repair it. Each row gets its set, call and prompt
    version. A request that fails becomes a row for the stage's table `failed`; the others continue.

    Args:
        context: The context of the run, for progress.
        llm: The gateway to the models.
        stage: The stage, whose role in the profile names the model.
        template: The prompt.
        asks: The requests.
        parse: Returns rows for a request's subject and its reply, or raises ParseError.
        schema: Returns the JSON schema of a reply, for endpoints with structured output.
        draft_seed: The seed for texts that the model invents: requests are sent at
            `DRAFT_TEMPERATURE`, and another seed gives another sample. None: temperature 0.

    Returns:
        The rows, the failures and the usage.
    """

    def request(ask: GenerationRequest[S]) -> ChatRequest:
        reply_schema = schema(ask.subject) if schema else None
        return make_request(llm, stage, template, ask, reply_schema, draft_seed)

    # All requests are made first, so that a prompt that cannot be filled in stops the stage before a
    # call is paid.
    requests = [request(ask) for ask in asks]
    provider = model_of_stage(llm, stage).provider

    async def ask_for(calls: ModelCalls, place: int) -> ParsedReply[list[Row]]:
        subject = asks[place].subject
        return await complete_and_parse(calls, requests[place], lambda text: parse(subject, text))

    replies, usage = llm.map(stage, range(len(asks)), ask_for, show_progress(context))
    rows: list[Row] = []
    failed: list[Row] = []
    for ask, reply in zip(asks, replies, strict=True):
        call_key = reply.key
        where = {"set_id": ask.set_id, "call_key": call_key}
        if reply.loss:
            failed.append(failed_row(stage, where, ask.name, *reply.loss))
            continue
        made_by = {**where, "prompt_version": reply.prompt_version, "provider": provider}
        rows += [{**row, **made_by} for row in reply.value or []]
    return GenerationResult(rows, failed, usage)


def model_of_stage(llm: Gateway, stage: str) -> ModelSpec:
    """Find the model of a stage.

    Args:
        llm: The gateway, with the profile and the registry.
        stage: The stage.

    Returns:
        The entry of the model that has the stage's role.
    """
    return llm.registry.model(llm.profile.model_for(ROLES.get(stage, "writer")))


def make_request(
    llm: Gateway,
    stage: str,
    template: PromptTemplate,
    ask: GenerationRequest[Any],
    schema: JsonSchema | None = None,
    draft_seed: int | None = None,
) -> ChatRequest:
    """Make the request to the model of a stage's role.

    Args:
        llm: The gateway.
        stage: The stage.
        template: The prompt. Its value `structured` says whether the reply must match a schema.
        ask: The values of the prompt.
        schema: The JSON schema of the reply; None for a text.
        draft_seed: As in `ask_and_read`. It is part of the request's key, as the replicate.
    """
    drafted = {} if draft_seed is None else {"temperature": DRAFT_TEMPERATURE}
    spec = model_of_stage(llm, stage)
    structured = schema is not None and bool(spec.structured_output)
    messages = template.render(images=ask.images, structured=structured, **ask.data)
    if ask.language != LANGUAGE_OF_PROMPTS:
        messages = with_reply_language(messages, language_name(ask.language))
    return ChatRequest(
        model=spec.name,
        messages=messages,
        prompt_version=template.version,
        params={**CONSTRUCTION_PARAMS, **drafted},
        replicate=draft_seed or 0,
        schema=schema,
        task=template.task,
        n_words=ask.n_words,
    )


def failed_row(
    stage: str, where: dict[str, Any], subject: str, reason: str, detail: str
) -> dict[str, Any]:
    """Make a row of a stage's table `failed`.

    Args:
        stage: The stage, such as `dialogue.answers`.
        where: Columns that locate the subject.
        subject: The name of the thing that failed, for people.
        reason: The kind of the failure.
        detail: A sentence about it.
    """
    return {
        **where,
        "stage": stage.split(".")[-1],
        "subject": subject,
        "reason": reason,
        "detail": detail,
    }


def write_with_failures(
    warehouse: Warehouse, table: str, rows: Sequence[Row], failed: Sequence[Row]
) -> pa.Table:
    """Replace a table together with its rows in its stage's `failed`. Returns the rows as written."""
    schema, stage = table.split(".")
    written, losses = rows_to_arrow(table, rows), f"{schema}.failed"
    failures = TableWrite(losses, rows_to_arrow(losses, failed), {"stage": stage})
    warehouse.replace_all([TableWrite(table, written, {}), failures])
    return written


def write_generated(
    warehouse: Warehouse,
    table: str,
    generated: GenerationResult,
    max_failed_share: float,
    details: Mapping[str, Any] | None = None,
    image_store: ImageStore | None = None,
) -> dg.MaterializeResult:
    """Replace a table together with its rows in its stage's `failed`, and report.

    Args:
        warehouse: The tables.
        table: The table.
        generated: The rows and the failures.
        max_failed_share: The largest share of requests that may have failed, 0 to 1.
        details: More metadata for the UI.
        image_store: The images, for thumbnails in the preview.

    Raises:
        dg.Failure: Too many requests failed. Both tables keep their rows.
    """
    lost = Counter(row["reason"] for row in generated.failed)
    # Several rows of one reply count as one request.
    sets = {(row["set_id"], row.get("call_key")) for row in generated.rows}
    n_requests = len(sets) + len(generated.failed)
    require_few_lost(table, "requests", lost, n_requests, max_failed_share, generated.usage)
    lost.update(row["reason"] for row in generated.parts)
    failed = [*generated.failed, *generated.parts]
    rows = write_with_failures(warehouse, table, generated.rows, failed)
    return report(
        rows,
        {"failed": len(generated.failed), **reasons(lost), **(details or {})},
        usage=generated.usage,
        images=image_store,
    )
