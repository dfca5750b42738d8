"""Item filters: flags items that models answer correctly without the image (blind runs), or that no
model answers correctly (MMBench, 3.2).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.observations import observations
from assets.evaluate.right_items import ItemOutcomes, right_items
from methods.benchmarks import Benchmarks
from methods.choice.filters import TEXT_ONLY, WRONG_ITEM, FilterResult, FlaggedItem, filtered
from methods.evaluation.candidates import NO_IMAGES, ablation_of
from methods.ids import canonical_json
from resources.warehouse import Warehouse

Row = dict[str, Any]
NOTHING = "No release of a benchmark with right and wrong answers has observations."


class FilterSettings(AssetConfig):
    """The models of each filter, and the number of results that an item needs."""

    text_only_models: list[str] = Field(
        [],
        description="Candidates that are asked without the picture, such as no-images:gpt-4o; none "
        "given: every no-images candidate of the release.",
    )
    wrong_item_models: list[str] = Field(
        [], description="Models of which all must fail; none given: every model of the release."
    )
    min_models: int = Field(
        3, ge=1, description="Known results that an item needs to be flagged by a filter."
    )


@table_asset("evaluate.flagged_items", side_tables=["evaluate.filters"], deps=[observations])
def flagged_items(
    config: FilterSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Items that most models answer correctly without the image, and items that no model answers
    correctly.

    Each row has the models' outcomes and answers. A filter with too few models flags nothing, and
    `evaluate.filters` has the reason.
    """
    isolation = Isolation("evaluate.flagged_items")
    summaries: list[Row] = []
    rows: list[Row] = []
    for right in right_items(warehouse, benchmarks, isolation):
        with isolation.release(right.slice.release_id):
            for name, result in _filtered(right, config).items():
                where = {**right.slice.columns, "filter": name}
                summaries.append({**where, **_summary(result), "min_models": config.min_models})
                rows += [{**where, **row} for row in _rows(warehouse, right, result)]
    table = write_rows(warehouse, {"evaluate.flagged_items": rows, "evaluate.filters": summaries})
    sentences = [
        f"{row['release_id']}, {row['filter']}: {row['why']}" for row in summaries if row["why"]
    ]
    return isolation.finish(
        warehouse,
        report(
            table,
            {
                "releases": len({row["release_id"] for row in summaries}),
                "undecided": sum(row["n_undecided"] for row in summaries),
                **({"nothing flagged": sentences} if sentences else {}),
                **({} if summaries else {"note": NOTHING}),
            },
        ),
    )


def _filtered(outcomes: ItemOutcomes, settings: FilterSettings) -> dict[str, FilterResult]:
    blind = [name for name in sorted(outcomes.outcomes) if ablation_of(name) == NO_IMAGES]
    models = {
        TEXT_ONLY: settings.text_only_models or blind,
        WRONG_ITEM: settings.wrong_item_models or outcomes.models,
    }
    return {
        name: filtered(name, outcomes.outcomes, chosen, outcomes.items, settings.min_models)
        for name, chosen in models.items()
    }


def _summary(result: FilterResult) -> Row:
    return {
        "models": list(result.models),
        "n_items": result.n_items,
        "n_flagged": len(result.flagged),
        "n_undecided": result.n_undecided,
        "why": result.why,
    }


def _rows(warehouse: Warehouse, outcomes: ItemOutcomes, result: FilterResult) -> Iterable[Row]:
    if not result.flagged:
        return
    rows = warehouse.read(
        "evaluate/answers_of_items",
        {
            "release_id": outcomes.slice.release_id,
            "item_ids": [item.item_id for item in result.flagged],
            "models": list(result.models),
        },
    ).to_pylist()
    answers: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        answer = {name: row[name] for name in ("trial", "status", "answer", "reading")}
        answers.setdefault((row["item_id"], row["model"]), []).append(answer)
    for item in result.flagged:
        groups = (("right", item.right), ("wrong", item.wrong), ("not known", item.unknown))
        yield {
            "item_id": item.item_id,
            **_models(item),
            "answers": canonical_json(
                [
                    {
                        "model": model,
                        "outcome": outcome,
                        "answers": answers.get((item.item_id, model), []),
                    }
                    for outcome, models in groups
                    for model in models
                ]
            ),
        }


def _models(flagged: FlaggedItem) -> dict[str, Sequence[str]]:
    return {
        f"{name}_models": list(getattr(flagged, name)) for name in ("right", "wrong", "unknown")
    }
