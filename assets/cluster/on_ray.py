"""The exact community detector on a Ray cluster, by Dagster Pipes.

What belongs here: when a job is submitted, how, and the errors of a job that fails. What the job does
is in `resources/ray_clustering`.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from methods.clustering.communities import Community, threshold_communities
from methods.clustering.neighbours import ThresholdError, Vectors
from methods.clustering.two_passes import CommunityDetector
from resources.home import REPO_ROOT, home
from resources.ray_clustering.cluster import RayCluster
from resources.ray_clustering.job_folder import JobFolder, JobFolderInUse, open_job_folder

if TYPE_CHECKING:
    from dagster_ray import PipesRayJobClient

MIN_VECTORS_FOR_JOB = 200_000
"""Fewer vectors are clustered in this process: on two cores that takes the ten seconds a job needs to
start."""
ROWS_PER_TASK = 4096
"""A task takes seconds for one million vectors, and a minute or two for forty million."""
REASON_CHARACTERS = 300
ENTRYPOINT = "python -m resources.ray_clustering"
ENVIRONMENT = {
    # So that the job's output arrives while it runs.
    "PYTHONUNBUFFERED": "1",
    # The pair filter was prepared for processors: a GPU may round differently.
    "CUDA_VISIBLE_DEVICES": "",
}


@contextmanager
def ray_detector(
    context: dg.AssetExecutionContext, cluster: RayCluster, tau: float, min_size: int = 2
) -> Iterator[CommunityDetector]:
    """A detector with the results of `threshold_communities` that submits large inputs as Ray jobs.

    Results of jobs stay in `ray/` under the home folder until the context is left without an error; a
    run after an error reuses them. Raises dg.Failure.
    """
    _require(cluster)
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


def _require(cluster: RayCluster) -> None:
    """Raise dg.Failure unless the packages are installed and the address can receive jobs."""
    try:
        import dagster_ray  # noqa: F401
    except ImportError:
        raise dg.Failure(
            "Clustering on Ray needs packages that are not installed: run "
            '`pip install "vlm-loom[ray]"`, or set runner to local.',
            allow_retries=False,
        ) from None
    if not (cluster.address or "").startswith(("http://", "https://")):
        given = (
            f"'{cluster.address}' is not" if cluster.address else "LOOM_RAY_ADDRESS is not set to"
        )
        raise dg.Failure(
            f"{given} the address of a Ray dashboard: set LOOM_RAY_ADDRESS to one such as "
            "http://127.0.0.1:8265, or set runner to local.",
            allow_retries=False,
        )


def _client(cluster: RayCluster) -> "PipesRayJobClient":
    """A client for one job: its message reader cannot be used for a second one."""
    import ray
    from dagster_ray import PipesRayJobClient

    # Otherwise Ray logs every package that it uploads.
    for handler in ray.logger.handlers:
        handler.setLevel(logging.WARNING)
    return PipesRayJobClient(address=cluster.address)


def _run_job(
    context: dg.AssetExecutionContext, cluster: RayCluster, folder: JobFolder, min_size: int
) -> None:
    """Submit the job of a folder and wait for it. Raises dg.Failure, ThresholdError."""
    code = [str(REPO_ROOT / package) for package in ("methods", "resources")]
    try:
        _client(cluster).run(
            context=context,
            submit_job_params={
                "entrypoint": ENTRYPOINT,
                "runtime_env": {"py_modules": code, "env_vars": dict(ENVIRONMENT)},
            },
            extras={"folder": str(folder.path), "min_size": min_size},
        )
    # The client's own errors, and connection errors.
    except (RuntimeError, OSError) as error:
        reason = str(error).strip().splitlines()[-1][:REASON_CHARACTERS]
        raise dg.Failure(
            f"The Ray job at {cluster.address} did not finish ({reason}): fix the cause, then run this "
            f"again; finished blocks are kept in {folder.path}.",
            allow_retries=isinstance(error, OSError),
        ) from None
    message = folder.take_error()
    if message:
        raise ThresholdError(message)
