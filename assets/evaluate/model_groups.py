"""Comparison of model groups, such as open and proprietary models, and the best model by ability."""

import dagster as dg

from assets.common.isolation import Isolation
from assets.evaluate.findings import AnalysisResult, Row, analysis, rows_of
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.observed import ScoringSettings, slices
from methods.benchmarks import Benchmarks
from methods.evaluation.model_groups import group_findings
from resources.warehouse import Warehouse

FIELDS = ("access", "main_language")
"""Fields of models.yaml that define the groups."""


@analysis(
    "model_groups",
    {
        "mean": "mean score of the models of a group on the units that all of them have",
        "best": "score of the best model of a group, `other`, with its interval; a row for each of "
        "several with equal scores",
        "difference": "mean of a group less that of the `other` group",
    },
    deps=[leaderboard],
)
def model_groups(
    config: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> AnalysisResult:
    """Means, best models and differences of groups of models, for all items and by ability.

    Groups are by `access` and `main_language` of models.yaml; `subject` is empty for all models. A
    model's failures count as the lowest value.
    """
    isolation = Isolation("evaluate.model_groups")
    models = warehouse.select("evaluate.models").to_pylist()
    fields = {field: {row["model"]: row[field] for row in models if row[field]} for field in FIELDS}
    rows: list[Row] = []
    for slice_ in slices(warehouse, benchmarks, config.panel, isolation):
        with isolation.release(slice_.release_id):
            benchmark = slice_.benchmark
            findings = group_findings(
                benchmark.metrics, slice_.observed, fields, benchmark.abilities
            )
            rows += rows_of(findings, slice_.columns)
    groups = {row["subject"] for row in rows if row["subject"]}
    return AnalysisResult(rows, {"groups": len(groups)}, isolation)
