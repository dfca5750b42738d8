"""Prompt sensitivity: the effect of a question's wording (paraphrase) on each model's score.

`methods/evaluation/prompt_sensitivity.py` defines the styles and computes the effects.
"""

import dagster as dg

from assets.common.isolation import Isolation
from assets.evaluate.findings import AnalysisResult, Row, analysis, rows_of
from assets.evaluate.observations import observations
from assets.evaluate.observed import ScoringSettings, slices
from assets.evaluate.released import items_of
from methods.benchmarks import Benchmarks
from methods.evaluation.items import Item
from methods.evaluation.prompt_sensitivity import sensitivity_findings
from resources.warehouse import Warehouse

NO_GROUPS = "No release that was judged has questions in several wordings."


@analysis(
    "prompt_sensitivity",
    {
        "difference": "mean of the wordings in a style less the mean of their group",
        "n_wordings": "wordings in the style, in groups that have others, too",
        "mean": "of a model's ratings over the wordings of a group, failures at the floor",
        "deviation": "standard deviation of these ratings",
        "lowest": "the lowest of them; `other` is the item",
        "highest": "the highest of them",
    },
    version="2",
    deps=[observations],
)
def prompt_sensitivity(
    config: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> AnalysisResult:
    """Prompt sensitivity: the score of each wording style minus that of the question's other wordings.


    A group has the wordings of one question. The interval of `difference` is over groups; its p-value
    is given with and without Holm's adjustment for all models and styles. The style is the item's label
    `style`, or follows by rule: as a question, polite, shorter or longer than the group's median.
    """
    isolation = Isolation("evaluate.prompt_sensitivity")
    rows: list[Row] = []
    items: dict[str, list[Item]] = {}
    for slice_ in slices(warehouse, benchmarks, config.panel, isolation):
        if slice_.release_id not in items:
            # Slices are sorted by release, so the items of one release are enough.
            items = {slice_.release_id: items_of(warehouse, slice_.release_id)}
        with isolation.release(slice_.release_id):
            findings = sensitivity_findings(
                slice_.benchmark.metrics,
                items[slice_.release_id],
                slice_.observed,
            )
            rows += rows_of(findings, slice_.columns)
    n_groups = sum(row["measure"] == "deviation" for row in rows)
    return AnalysisResult(rows, {"groups": n_groups} if rows else {"note": NO_GROUPS}, isolation)
