"""Comparisons of scores: paired differences of every two models, with p-values, and ranks."""

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.observations import observations
from assets.evaluate.observed import ScoringSettings, slices
from assets.evaluate.released import writers_of
from methods.benchmarks import Benchmarks
from methods.evaluation.item_sample import partial_evaluation_note
from methods.evaluation.ranking import compare, compare_parts
from methods.evaluation.related import relations_to_judges
from resources.llm.registry import load_registry
from resources.warehouse import Warehouse

PARTS = "evaluate.ability_comparisons"


class ComparisonsSettings(ScoringSettings):
    """Settings of comparisons: the judged share that a rank without a mark needs."""

    least_coverage: float = Field(
        0.95,
        ge=0,
        le=1,
        description="A rank by a metric of whose units a smaller share was judged has a mark.",
    )


@table_asset(
    "evaluate.comparisons",
    version="2",
    side_tables=["evaluate.ranks", PARTS],
    deps=[observations],
)
def comparisons(
    config: ComparisonsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """The difference of each two models with its interval, its p-value, and the p-value after Holm.

    Two models differ if `p_holm` is small. Overlapping intervals of their scores say little, because
    hard items are hard for both models. `detectable` is the smallest true difference that is found with
    80 % power. `evaluate.ranks` has ranks with their intervals, and marks models that judged or wrote
    the release, are of the same family as such a model, or have a partial score.
    `evaluate.ability_comparisons` compares models by ability.
    """
    isolation = Isolation("evaluate.comparisons")
    pairs, ranks, parts = [], [], []
    families = load_registry().families
    writers: dict[str, list[str]] = {}
    partial = {
        (row["release_id"], row["model"]): partial_evaluation_note(row["n_asked"], row["n_items"])
        for row in warehouse.read("evaluate/asked_items").to_pylist()
    }
    for slice_ in slices(warehouse, benchmarks, config.panel, isolation):
        judges = [member.judge for member in slice_.members or [slice_]]
        if slice_.release_id not in writers:
            writers[slice_.release_id] = writers_of(warehouse, slice_.release_id)
        with isolation.release(slice_.release_id):
            compared, ranked = compare(
                slice_.benchmark.metrics,
                slice_.observed,
                least_coverage=config.least_coverage,
            )
            pairs += [{**slice_.columns, **row} for row in compared]
            for row in ranked:
                remarks = relations_to_judges(
                    row["model"], judges, writers[slice_.release_id], families
                )
                marks = [partial.get((slice_.release_id, row["model"])), row["mark"]]
                ranks.append(
                    {
                        **slice_.columns,
                        **row,
                        "related": ", ".join(remarks) or None,
                        "mark": " ".join(filter(None, marks)) or None,
                    }
                )
            # Without the finest abilities, which have too few items each.
            by_ability = compare_parts(
                slice_.benchmark.metrics,
                slice_.observed,
                slice_.benchmark.abilities[:-1],
            )
            parts += [{**slice_.columns, **row} for row in by_ability]
    table = write_rows(
        warehouse, {"evaluate.comparisons": pairs, "evaluate.ranks": ranks, PARTS: parts}
    )
    return isolation.finish(warehouse, report(table))
