"""Clusters of a task map with their distances and scores (MMIU, Table 9 and Figure 4 b)."""

import dagster as dg

from assets.common.isolation import Isolation
from assets.evaluate.findings import AnalysisResult, Row, analysis, rows_of
from assets.evaluate.observed import ScoringSettings, slices
from extras.task_map.assets.task_map import task_map
from extras.task_map.methods.cluster_scores import cluster_findings
from methods.benchmarks import Benchmarks
from methods.evaluation.metrics import BY_LABEL
from resources.warehouse import Warehouse


@analysis(
    "task_clusters",
    {
        "cluster_distance": "mean distance of every two tasks of the cluster",
        "cluster_mean": "mean over the tasks of the cluster, of a model or of all models",
    },
    deps=[task_map],
    # It has the columns and the SQL of evaluate/model_groups, but other rows.
    version="1 of task clusters",
)
def task_clusters(
    config: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> AnalysisResult:
    """The similarity of tasks within each cluster of a task map, and the models' scores by cluster.

    Scores are of the map's metric, with failures as the lowest value; tasks have equal weights if the
    benchmark has such a mean.
    """
    isolation = Isolation("evaluate.task_clusters")
    rows: list[Row] = []
    for slice_ in slices(warehouse, benchmarks, config.panel, isolation):
        tasks, distances = (
            warehouse.select(
                table,
                release_id=slice_.release_id,
                judge=slice_.judge,
                judge_version=slice_.version,
            ).to_pylist()
            for table in ("evaluate.task_map", "evaluate.task_distances")
        )
        clustered = [row for row in tasks if row["cluster"] is not None]
        if not clustered:
            continue
        with isolation.release(slice_.release_id):
            label, name = clustered[0]["label"], clustered[0]["metric"]
            named = [metric for metric in slice_.benchmark.metrics if metric.name == name]
            by_task = [metric for metric in named if metric.aggregation == f"{BY_LABEL}{label}"]
            findings = cluster_findings(
                (by_task or named)[0],
                slice_.observed,
                label,
                {row["task"]: row["cluster"] for row in clustered},
                {(row["first"], row["second"]): row["distance"] for row in distances},
            )
            rows += rows_of(findings, slice_.columns)
    return AnalysisResult(rows, {}, isolation)
