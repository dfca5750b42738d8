"""Task map from scores: which tasks the same models do well on, and how hard each is."""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.scores import scores
from extras.task_map.methods import clustering
from extras.task_map.methods.clustering import LINKAGE, TaskMap
from extras.task_map.methods.profiles import TaskProfiles, correlation_distances, profiles
from extras.task_map.methods.ranking import task_ranking
from methods.evaluation.candidates import is_model
from methods.markdown import code, table
from resources.warehouse import Warehouse

Row = dict[str, Any]
OF_MAP = ("benchmark", "release_id", "judge", "judge_version", "metric")


class TaskMapSettings(AssetConfig):
    """The label that defines tasks, and the clustering."""

    label: str = Field("task", min_length=1, description="Label whose values are the tasks.")
    n_clusters: int | None = Field(
        None, ge=1, description="Number of clusters; by silhouette if not given."
    )
    seed: int = Field(0, ge=0, description="Seed of the picture.")


@table_asset(
    "evaluate.task_map",
    kinds={"scikitlearn"},
    side_tables=["evaluate.task_distances"],
    deps=[scores],
)
def task_map(
    config: TaskMapSettings, warehouse: dg.ResourceParam[Warehouse]
) -> dg.MaterializeResult:
    """A map of tasks by similarity to models: clusters, positions and mean scores.

    Two tasks are near if the same models score well on both (1 - correlation of the models' scores). A
    release without the label has no rows; with fewer than three models or tasks it has no map, and the
    rows say why.
    """
    isolation = Isolation("evaluate.task_map")
    scored = [
        row
        for row in warehouse.read("evaluate/task_scores", {"label": config.label}).to_pylist()
        if is_model(row["model"])
    ]
    rows: list[Row] = []
    distances: list[Row] = []
    lines = []
    for key, group in groupby(scored, key=lambda row: tuple(row[name] for name in OF_MAP)):
        of_map = dict(zip(OF_MAP, key, strict=True))
        of_group = list(group)
        with isolation.release(of_map["release_id"]):
            task_profiles = profiles(_by_task(of_group))
            computed_map = None if task_profiles.why_no_map else _map(task_profiles, config)
            rows += _rows({**of_map, "label": config.label}, of_group, task_profiles, computed_map)
            distances += _distances(of_map, computed_map) if computed_map else ()
            lines.append(_line(of_map, task_profiles, computed_map))
    made_rows = write_rows(
        warehouse, {"evaluate.task_map": rows, "evaluate.task_distances": distances}
    )
    heads = ("release", "judge", "tasks", "models", "clusters", "left out")
    note = f"No release that was scored has the label {config.label!r} with several values."
    shown = dg.MetadataValue.md("\n".join(table(heads, lines))) if lines else note
    return isolation.finish(warehouse, report(made_rows, {"maps": shown}))


def _map(profiles: TaskProfiles, settings: TaskMapSettings) -> TaskMap:
    distances = correlation_distances(profiles)
    return clustering.task_map(
        profiles.tasks, distances, n_clusters=settings.n_clusters, seed=settings.seed
    )


def _by_task(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    by_task: dict[str, dict[str, float]] = {}
    for row in rows:
        by_task.setdefault(row["task"], {})[row["model"]] = row["value"]
    return by_task


def _rows(
    of_map: Row, scored: Sequence[Row], profiles: TaskProfiles, task_map: TaskMap | None
) -> Iterator[Row]:
    positions = (
        {}
        if task_map is None
        else dict(zip(task_map.tasks, range(len(task_map.tasks)), strict=True))
    )
    for ranked in task_ranking(_by_task(scored), profiles.models):
        place = positions.get(ranked.task)
        row = {
            **of_map,
            **ranked._asdict(),
            "n_units": max(row["n_units"] for row in scored if row["task"] == ranked.task),
            "linkage": LINKAGE,
        }
        if task_map is None or place is None:
            yield {**row, "reason": profiles.other_tasks.get(ranked.task) or profiles.why_no_map}
        else:
            x, y = task_map.places[place]
            yield {**row, "cluster": task_map.clusters[place], "x": float(x), "y": float(y)}


def _distances(of_map: Row, task_map: TaskMap) -> Iterator[Row]:
    for first, second in combinations(range(len(task_map.tasks)), 2):
        yield {
            **of_map,
            "first": task_map.tasks[first],
            "second": task_map.tasks[second],
            "distance": float(task_map.distances[first, second]),
        }


def _line(of_map: Row, profiles: TaskProfiles, task_map: TaskMap | None) -> list[str]:
    """The row of one map in the table of the UI."""
    left_out = {**profiles.other_tasks, **profiles.other_models}
    return [
        code(of_map["release_id"]),
        code(of_map["judge"]),
        str(len(profiles.tasks) + len(profiles.other_tasks)),
        str(len(profiles.models)),
        str(max(task_map.clusters)) if task_map else f"no map: {profiles.why_no_map}",
        " ".join(f"{code(name)}: {why}" for name, why in left_out.items()) or "none",
    ]
