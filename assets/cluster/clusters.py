"""Clustering of embeddings: `cluster.clusters`, `cluster.communities` and `cluster.changes`.

The prior clustering is extended, or everything is reclustered. The algorithms are in
`methods/clustering/`; the search for pairs on a Ray cluster is `resources/ray_rows/neighbour_pairs.py`.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from assets.cluster.embeddings import embeddings
from assets.cluster.prior_state import PriorState, read_prior_state
from assets.cluster.table_rows import changes_table, clusters_table, communities_table
from assets.common.previews import preview
from assets.common.progress import StepProgress
from assets.common.ray_jobs import RowsOnRay, RowWork
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset
from methods.clustering.approximate import approximate_neighbours
from methods.clustering.communities import (
    Community,
    communities_from_graph,
    density_communities,
    threshold_communities,
)
from methods.clustering.incremental import Communities, extend, recluster
from methods.clustering.neighbours import Vectors, merge
from methods.clustering.two_passes import ASSIGNED, CommunityDetector, Detectors, Membership
from resources.embedding.embedder import Embedder
from resources.files.home import home
from resources.ray_rows.cluster import RayCluster
from resources.ray_rows.neighbour_pairs import FIND_ON_WORKER, PairFolderInUse, open_pair_folder
from resources.warehouse import TableWrite, Warehouse

MIN_VECTORS_FOR_JOB = 200_000
"""Fewer vectors are clustered in this process. On two cores that takes at most about ten seconds, the
time that a Ray job needs to start.
"""
ROWS_PER_BLOCK = 4096
"""Vectors that a Ray worker compares with all others at once. A block takes seconds for one million
vectors, and a minute or two for forty million.
"""


@contextmanager
def ray_detector(
    context: dg.AssetExecutionContext, cluster: RayCluster, tau: float, min_size: int = 2
) -> Iterator[CommunityDetector]:
    """Yield a detector like `threshold_communities` that searches large inputs on Ray.

    The pairs that it finds stay in `ray/` of the workspace until the context exits without an error, so
    the run after an error reuses them. Raises dg.Failure, ThresholdError.
    """
    on_ray = RowsOnRay(context, cluster)
    with ExitStack() as folders:

        def detect(vectors: Vectors) -> list[Community]:
            if len(vectors) < MIN_VECTORS_FOR_JOB:
                return threshold_communities(vectors, tau, min_size)
            try:
                folder = folders.enter_context(
                    open_pair_folder(home() / "ray", vectors, tau, ROWS_PER_BLOCK)
                )
            except PairFolderInUse as error:
                raise dg.Failure(
                    f"{error} Wait for it, then run this again.", allow_retries=True
                ) from None
            search = RowWork(FIND_ON_WORKER, {"folder": str(folder.path)}, n_rows=1, min_rows=1)
            on_ray.run(search, folder.unfinished_blocks(), folder.store, folder.path)
            return communities_from_graph(merge(folder.prepared, folder.pairs()), min_size)

        yield detect


SHOWN_OF_EACH = 5
"""Number of the largest groups, and of the largest clusters, in the run's metadata."""
APPROXIMATE_FROM = 20_000
"""Fewer vectors are searched exactly, which is faster than dividing them into cells."""


class ClusterSettings(AssetConfig):
    """How entries are clustered. MMDU's threshold is a cosine of 0.75 for groups and clusters (3.1).

    `density` is HDBSCAN inside each group. By default the prior clustering is extended: entries stay in
    their communities. `recluster` clusters all entries again; so does a change of tau, size, method or
    model. `runner` does not change the result: `ray` sends large inputs to the cluster at
    LOOM_RAY_ADDRESS.
    """

    RUN_ONLY: ClassVar = frozenset({"recluster"})

    tau: float = Field(0.75, ge=-1, le=1, description="Lowest cosine to a centre, -1 to 1.")
    min_size: int = Field(2, ge=2, description="Fewest entries of a group or a cluster.")
    group_method: Literal["threshold", "approximate"] = Field(
        "threshold", description="How entries are grouped by category."
    )
    cluster_method: Literal["threshold", "approximate", "density"] = Field(
        "threshold", description="How the entries of a group are clustered by caption."
    )
    recluster: bool = Field(False, description="Cluster all entries again in this run.")
    runner: Literal["local", "ray"] = Field("local", description="Where large inputs are searched.")
    max_unclustered_share: float = Field(
        0.8, ge=0, le=1, description="Share of entries in no cluster above which a check warns."
    )
    max_group_share: float = Field(
        0.5, ge=0, le=1, description="Share of entries in one group above which a check warns."
    )

    def of_communities(self) -> dict[str, Any]:
        """Return the settings stored with communities; a change of one reclusters all entries."""
        return self.model_dump(include={"tau", "min_size", "group_method", "cluster_method"})


@table_asset(
    "cluster.clusters",
    side_tables=["cluster.communities", "cluster.changes"],
    deps=[embeddings],
)
def clusters(
    context: dg.AssetExecutionContext,
    config: ClusterSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
    ray: dg.ResourceParam[RayCluster],
) -> dg.MaterializeResult:
    """Groups by category within a language, then clusters by caption in each group; one row per entry.

    Entries in a language that the embedding model does not read (`cluster.languages`) are in no
    cluster. New entries join existing groups and clusters or form new ones; existing members and ids
    stay.
    """
    model = {"model": embedder.name}
    stored = {**model, **config.of_communities()}
    state = read_prior_state(warehouse, embedder.name)
    reason = "requested" if config.recluster else _recluster_reason(stored, state)
    mode = f"reclustered: {reason}" if reason else "extended"
    context.log.info(f"clusters: {mode}")
    cluster = recluster if reason else extend
    # The tables are written inside, because leaving the context deletes the results of Ray jobs.
    with _detectors(context, config, ray) as detectors:
        clustering = cluster(state.entries, state.clustering, detectors, config.tau)
        run_id = context.run.run_id
        table = clusters_table(state, clustering)
        communities = communities_table(state, clustering, run_id, stored)
        changes = changes_table(state, clustering, run_id, datetime.now(UTC).replace(tzinfo=None))
        warehouse.replace_all(
            [
                TableWrite("cluster.clusters", table, {}),
                TableWrite("cluster.communities", communities, {}),
                TableWrite("cluster.changes", changes, {"run_id": run_id}),
            ]
        )
    details: dict[str, Any] = {}
    if unread := warehouse.read("cluster/unreadable_languages", model).to_pylist():
        details["warning"] = _unread_languages(embedder.name, unread)
        context.log.warning(details["warning"])
    details |= {
        **stored,
        "mode": mode,
        **_counts("group", state.clustering.group, clustering.groups, changes),
        **_counts("cluster", state.clustering.cluster, clustering.clusters, changes),
        "largest": dg.MetadataValue.md(
            preview(
                warehouse.read("cluster/largest_communities", {"n_each": SHOWN_OF_EACH}),
                n_rows=2 * SHOWN_OF_EACH,
            )
        ),
    }
    return report(table.drop_columns(["category_text_id", "caption_text_id"]), details)


def _unread_languages(model: str, languages: list[dict[str, Any]]) -> str:
    """Return a warning with the languages that the model does not read, and what to do."""
    counts = ", ".join(f"{row['language']} ({row['n']:,})" for row in languages)
    return (
        f"{sum(row['n'] for row in languages):,} entries are in no cluster, because {model} does not "
        f"read their languages: {counts}. cluster.languages has the measurements. To use these "
        "entries, set LOOM_EMBEDDER to a multilingual sentence-transformers model, for example "
        "paraphrase-multilingual-MiniLM-L12-v2."
    )


def _recluster_reason(settings: dict[str, Any], state: PriorState) -> str | None:
    """Return the reason why the prior clustering cannot be extended; None if it can."""
    if not state.communities.num_rows:
        return "no prior communities"
    for name, wanted in settings.items():
        prior = state.communities[name].unique().to_pylist()
        if prior != [wanted]:
            return f"{name} was {prior[0]} and is {wanted}"
    if state.communities["language"].null_count:
        return "groups were found without regard to language"
    if state.communities["category"].null_count or state.communities["caption"].null_count:
        return "vectors of centres are missing"
    return None


@contextmanager
def _detectors(
    context: dg.AssetExecutionContext, settings: ClusterSettings, ray: RayCluster
) -> Iterator[Detectors]:
    """Yield the community detectors of both passes: groups by category, clusters by caption."""
    progress = StepProgress(context, "blocks")

    def exact(vectors: Vectors) -> list[Community]:
        return threshold_communities(vectors, settings.tau, settings.min_size, progress.update)

    def approximate(vectors: Vectors) -> list[Community]:
        if len(vectors) < APPROXIMATE_FROM:
            return exact(vectors)
        neighbours, recall = approximate_neighbours(
            vectors, settings.tau, on_progress=progress.update
        )
        context.log.info(
            f"clusters: recall {recall.share:.2%} on {recall.n_sampled:,} sampled entries, "
            f"{recall.n_probes} of {recall.n_cells} cells probed"
        )
        return communities_from_graph(neighbours, settings.min_size)

    def by_density(vectors: Vectors) -> list[Community]:
        return density_communities(vectors, settings.min_size)

    on_ray = ray_detector(context, ray, settings.tau, settings.min_size)
    with on_ray if settings.runner == "ray" else nullcontext(exact) as by_threshold:
        detectors: dict[str, CommunityDetector] = {
            "threshold": by_threshold,
            "approximate": approximate,
            "density": by_density,
        }
        yield Detectors(detectors[settings.group_method], detectors[settings.cluster_method])


def _counts(kind: str, prior: Membership, new: Communities, changes: pa.Table) -> dict[str, int]:
    """Count communities, entries in none, entries that this run assigned, and changes by kind."""
    in_none = new.membership.community < 0
    joined = (new.membership.how == ASSIGNED) & (prior.community < 0)
    of_kind = changes.filter(pc.equal(changes["kind"], kind))
    counted = pc.value_counts(of_kind["change"]).to_pylist()
    return {
        f"{kind}s": len(new.ids),
        f"entries in no {kind}": int(in_none.sum()),
        f"entries assigned to a {kind}": int(joined.sum()),
        **{f"{kind}s {change['values']}": change["counts"] for change in counted},
    }
