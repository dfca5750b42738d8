"""Vectors to groups and clusters: `cluster.clusters`, `cluster.communities` and `cluster.changes`.

What belongs here: whether what is there is extended or all is clustered anew, by which finders, and
what the run says of it. The algorithms are `methods/clustering/`.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any, Literal

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from assets.cluster.embeddings import embeddings
from assets.cluster.on_ray import ray_finder
from assets.cluster.prior_state import Found, read_before
from assets.cluster.table_rows import changes_table, clusters_table, communities_table
from assets.common.progress import Steps
from assets.common.tables import WHEN_READY, preview, report, table_asset
from methods.clustering.approximate import approximate_neighbours
from methods.clustering.communities import Community, communities_of, threshold_communities
from methods.clustering.density import density_communities
from methods.clustering.extension import Communities, extend, recluster
from methods.clustering.neighbours import Vectors
from methods.clustering.placement import ASSIGNED, Finder, Finders, Level
from resources.embedder import Embedder
from resources.ray_clustering.cluster import RayCluster
from resources.warehouse import Warehouse, Write

SHOWN_OF_EACH = 5
"""Largest groups and clusters that a run shows."""
APPROXIMATE_FROM = 20_000
"""Fewer vectors are compared with each other in less time than it takes to cut them into cells."""


class ClusterConfig(dg.Config):
    """MMDU joins entries at a cosine of at least 0.75 (3.1), groups and clusters alike.

    `density` is HDBSCAN inside each group. By default what is there is extended: who has a place keeps
    it. `recluster` places all anew; so does a change of tau, size or method, or of the model. Where it
    runs changes nothing: `ray` sends what is large to the cluster at LOOM_RAY_ADDRESS.
    """

    tau: float = Field(0.75, ge=-1, le=1)
    min_size: int = Field(2, ge=2)
    group_method: Literal["threshold", "approximate"] = "threshold"
    cluster_method: Literal["threshold", "approximate", "density"] = "threshold"
    recluster: bool = False
    runner: Literal["local", "ray"] = "local"


@table_asset(
    "cluster.clusters",
    side_tables=["cluster.communities", "cluster.changes"],
    deps=[embeddings],
    automation_condition=WHEN_READY,
)
def clusters(
    context: dg.AssetExecutionContext,
    config: ClusterConfig,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
    ray: dg.ResourceParam[RayCluster],
) -> dg.MaterializeResult:
    """Groups by category, then clusters by caption inside each; every entry has its row, and why.

    New entries join the groups and clusters there are or found new ones; nobody moves, no name changes.
    """
    settings = {"model": embedder.name, **config.model_dump(exclude={"recluster", "runner"})}
    found = read_before(warehouse, embedder.name)
    reason = "asked for" if config.recluster else _why_anew(settings, found)
    mode = f"all anew: {reason}" if reason else "extended"
    context.log.info(f"clusters: {mode}")
    place = recluster if reason else extend
    # Within, so that what a job on Ray found is there until it is written.
    with _finders(context, config, ray) as finders:
        made = place(found.entries, found.before, finders, config.tau)
        run_id = context.run.run_id
        table = clusters_table(found, made)
        changes = changes_table(found, made, run_id, datetime.now(UTC).replace(tzinfo=None))
        warehouse.replace_all(
            [
                Write("cluster.clusters", table, {}),
                Write("cluster.communities", communities_table(found, made, run_id, settings), {}),
                Write("cluster.changes", changes, {"run_id": run_id}),
            ]
        )
    details = {
        **settings,
        "mode": mode,
        **_figures("group", found.before.group, made.groups, changes),
        **_figures("cluster", found.before.cluster, made.clusters, changes),
        "largest": dg.MetadataValue.md(
            preview(
                warehouse.read("cluster/largest_communities", {"n_each": SHOWN_OF_EACH}),
                n_rows=2 * SHOWN_OF_EACH,
            )
        ),
    }
    return report(table.drop_columns(["category_text_id", "caption_text_id"]), details)


def _why_anew(settings: dict[str, Any], found: Found) -> str | None:
    """Why what is there cannot be extended, if so."""
    if not found.communities.num_rows:
        return "nothing was there"
    for name, wanted in settings.items():
        was = found.communities[name].unique().to_pylist()
        if was != [wanted]:
            return f"{name} was {was[0]} and is {wanted}"
    if found.communities["category"].null_count or found.communities["caption"].null_count:
        return "centres have lost their vectors"
    return None


@contextmanager
def _finders(
    context: dg.AssetExecutionContext, config: ClusterConfig, ray: RayCluster
) -> Iterator[Finders]:
    """How each pass finds its communities."""
    progress = Steps(context, "blocks")

    def here(vectors: Vectors) -> list[Community]:
        return threshold_communities(vectors, config.tau, config.min_size, progress.reach)

    def approximately(vectors: Vectors) -> list[Community]:
        if len(vectors) < APPROXIMATE_FROM:
            return here(vectors)
        neighbours, recall = approximate_neighbours(vectors, config.tau, say=progress.reach)
        context.log.info(
            f"clusters: {recall.share:.2%} of the neighbours of {recall.n_sampled:,} entries were "
            f"found, {recall.n_probes} of {recall.n_cells} cells looked into"
        )
        return communities_of(neighbours, config.min_size)

    def by_density(vectors: Vectors) -> list[Community]:
        return density_communities(vectors, config.min_size)

    on_ray = ray_finder(context, ray, config.tau, config.min_size)
    with on_ray if config.runner == "ray" else nullcontext(here) as by_threshold:
        finders: dict[str, Finder] = {
            "threshold": by_threshold,
            "approximate": approximately,
            "density": by_density,
        }
        yield Finders(finders[config.group_method], finders[config.cluster_method])


def _figures(kind: str, was: Level, now: Communities, changes: pa.Table) -> dict[str, int]:
    """How many there are, whom they leave out, who joined later, what became of those before."""
    in_none = now.level.community < 0
    joined = (now.level.how == ASSIGNED) & (was.community < 0)
    of_kind = changes.filter(pc.equal(changes["kind"], kind))
    counted = pc.value_counts(of_kind["change"]).to_pylist()
    return {
        f"{kind}s": len(now.ids),
        f"entries in no {kind}": int(in_none.sum()),
        f"entries assigned to a {kind}": int(joined.sum()),
        **{f"{kind}s {change['values']}": change["counts"] for change in counted},
    }
