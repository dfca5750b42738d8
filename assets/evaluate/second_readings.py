"""Second extractions: letters that a model extracts from answers that a rule has already read.

The asset is separate, so that scores never wait for it.
"""

from collections import Counter
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.drops import reasons
from assets.common.isolation import Isolation
from assets.common.progress import show_progress
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.answer_extraction import (
    NO_CHOICES,
    AnswerExtraction,
    answered_choices,
    readings_on,
)
from assets.evaluate.answers import answers, item_limit_of_answers
from assets.evaluate.inference import extraction_request
from assets.evaluate.released import EvaluatedRelease
from methods.benchmarks import Benchmarks
from methods.choice.answer_extraction import sample_answers
from methods.evaluation.candidates import is_model, models_behind
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import ParsedReply, complete_and_parse
from resources.warehouse import Warehouse

TABLE = "evaluate.second_readings"


class SecondExtractionsSettings(AssetConfig):
    """Settings of second extractions: the sample of answers, and further extractors."""

    n_answers: int = Field(
        10,
        ge=0,
        description="Answers of each model and release that a rule has read, for the extractor to read "
        "as well: so many calls at most. 0 asks nothing.",
    )
    seed: int = Field(0, description="Seed of the sample.")
    extractors: list[str] = Field(
        [],
        description="Other models that read the same answers, and all answers that no rule has read: "
        "extraction quality compares their letters and scores with the extractor's.",
    )


@table_asset(TABLE, kinds={"openai"}, deps=[answers])
def second_readings(
    context: dg.AssetExecutionContext,
    config: SecondExtractionsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Second extractions: letters that models extract from a few answers that a rule has already read.

    The models in `extractors` also read all answers that no rule could read. The table shows whether
    rules and models agree; no score depends on it. A failed extraction is a row with its reason. Only
    answers on current releases are read; rows of other releases stay.
    """
    isolation = Isolation(TABLE)
    limit = item_limit_of_answers(context.instance, warehouse)
    chosen: list[tuple[EvaluatedRelease, AnswerExtraction, str]] = []
    releases = answered_choices(warehouse, benchmarks, current_only=True)
    for release in releases:
        with isolation.release(release.release_id):
            extraction_of = {
                reading.answer.place: reading for reading in readings_on(warehouse, release)
            }
            sample = sample_answers(
                (
                    reading.answer
                    for reading in extraction_of.values()
                    if reading.answer.rule and is_model(reading.answer.model)
                ),
                config.n_answers,
                config.seed,
                lambda answer: answer.model,
            )
            by_rule = [extraction_of[answer.place] for answer in sample]
            by_none = [
                reading
                for reading in extraction_of.values()
                if reading.answer.rule is None and is_model(reading.answer.model)
            ]
            chosen += [(release, reading, llm.profile.extractor) for reading in by_rule]
            chosen += [
                (release, reading, extractor)
                for extractor in config.extractors
                for reading in (*by_rule, *by_none)
            ]

    async def read_again(calls: ModelCalls, place: int) -> ParsedReply[str] | None:
        release, reading, extractor = chosen[place]
        with isolation.release(release.release_id, asking=True):
            request = extraction_request(extractor, reading.extract)
            extracting = complete_and_parse(calls, request, reading.extract.read)
            return await limit.ask(calls, release, reading.answer.place[1], extracting)
        return None

    replies, usage = llm.map(
        TABLE,
        range(len(chosen)),
        read_again,
        show_progress(context),
        candidates=lambda place: models_behind(chosen[place][1].answer.model),
    )
    rows = [
        _row(release, reading, reply, extractor)
        for (release, reading, extractor), reply in zip(chosen, replies, strict=True)
        if reply is not None
    ]
    named = {"release_id": [release.release_id for release in releases]}
    table = write_rows(warehouse, {TABLE: rows}, named)
    lost = Counter(row["reason"] for row in rows if row["reason"])
    counted: dict[str, Any] = {"failed": lost.total(), **reasons(lost)}
    return isolation.finish(
        warehouse, report(table, counted if rows else {**counted, "note": NO_CHOICES}, usage=usage)
    )


def _row(
    release: EvaluatedRelease, reading: AnswerExtraction, reply: ParsedReply[str], extractor: str
) -> dict[str, Any]:
    model, item_id, trial, turn = reading.answer.place
    return {
        **release.columns,
        "model": model,
        "item_id": item_id,
        "trial": trial,
        "turn": turn,
        "extractor": extractor,
        "value": reply.value,
        "reason": reply.loss and reply.loss[0],
        "answer_call_key": reading.answer_call_key,
        "call_key": reply.key,
        "prompt_version": reply.prompt_version,
    }
