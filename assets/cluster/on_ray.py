"""The exact community detector on a Ray cluster.

What belongs here: when a job is submitted. What the job does is in `resources/ray_clustering`.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import dagster as dg

from assets.common.ray_jobs import require, run_job
from methods.clustering.communities import Community, threshold_communities
from methods.clustering.neighbours import ThresholdError, Vectors
from methods.clustering.two_passes import CommunityDetector
from resources.files.home import home
from resources.ray_clustering.cluster import RayCluster
from resources.ray_clustering.job_folder import JobFolder, JobFolderInUse, open_job_folder

MIN_VECTORS_FOR_JOB = 200_000
"""Fewer vectors are clustered in this process: on two cores that takes the ten seconds a job needs to
start."""
ROWS_PER_TASK = 4096
"""A task takes seconds for one million vectors, and a minute or two for forty million."""


@contextmanager
def ray_detector(
    context: dg.AssetExecutionContext, cluster: RayCluster, tau: float, min_size: int = 2
) -> Iterator[CommunityDetector]:
    """A detector with the results of `threshold_communities` that submits large inputs as Ray jobs.

    Results of jobs stay in `ray/` under the home folder until the context is left without an error; a
    run after an error reuses them. Raises dg.Failure.
    """
    require(cluster)
    with ExitStack() as folders:

        def detect(vectors: Vectors) -> list[Community]:
            if len(vectors) < MIN_VECTORS_FOR_JOB:
                return threshold_communities(vectors, tau, min_size)
            try:
                folder = folders.enter_context(
                    open_job_folder(home() / "ray", vectors, tau, ROWS_PER_TASK)
                )
            except JobFolderInUse as error:
                raise dg.Failure(
                    f"{error} Wait for it, then run this again.", allow_retries=True
                ) from None
            if not folder.has_communities(min_size):
                _run_job(context, cluster, folder, min_size)
            return folder.read_communities(min_size)

        yield detect


def _run_job(
    context: dg.AssetExecutionContext, cluster: RayCluster, folder: JobFolder, min_size: int
) -> None:
    """Submit the job of a folder and wait for it. Raises dg.Failure, ThresholdError."""
    run_job(
        context,
        cluster,
        "python -m resources.ray_clustering",
        # The pair filter was prepared for processors: a GPU may round differently.
        {"CUDA_VISIBLE_DEVICES": ""},
        {"folder": str(folder.path), "min_size": min_size},
        f"finished blocks are kept in {folder.path}",
    )
    message = folder.take_error()
    if message:
        raise ThresholdError(message)
