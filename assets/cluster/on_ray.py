"""The exact finder of a pass, on a Ray cluster through Dagster Pipes.

What belongs here: when a job is worth it, how it gets to the cluster, and what a run says when it does
not come back. What the job does is `resources/ray_clustering`.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from methods.clustering.communities import Community, threshold_communities
from methods.clustering.neighbours import ThresholdError, Vectors
from methods.clustering.placement import Finder
from resources.home import REPO_ROOT, home
from resources.ray_clustering.cluster import RayCluster
from resources.ray_clustering.work import Work, WorkInUse, work_of

if TYPE_CHECKING:
    from dagster_ray import PipesRayJobClient

VECTORS_WORTH_A_JOB = 200_000
"""Fewer are done here, on two cores, in the ten seconds that a job takes to begin."""
ROWS_A_TASK = 4096
"""One task is seconds of work among a million vectors, a minute or two among forty."""
REASON_CHARACTERS = 300
ENTRYPOINT = "python -m resources.ray_clustering"
ENVIRONMENT = {
    # What is said is to be heard while the job runs.
    "PYTHONUNBUFFERED": "1",
    # The screen was made for processors: a GPU may round otherwise.
    "CUDA_VISIBLE_DEVICES": "",
}


@contextmanager
def ray_finder(
    context: dg.AssetExecutionContext, cluster: RayCluster, tau: float, min_size: int = 2
) -> Iterator[Finder]:
    """A finder that gives what `threshold_communities` gives; large inputs become jobs on the cluster.

    What the jobs have done stays under `ray/` of the home folder until this block is left without an
    error; a run after an error goes on from there. Raises dg.Failure.
    """
    _require(cluster)
    with ExitStack() as works:

        def find(vectors: Vectors) -> list[Community]:
            if len(vectors) < VECTORS_WORTH_A_JOB:
                return threshold_communities(vectors, tau, min_size)
            try:
                work = works.enter_context(work_of(home() / "ray", vectors, tau, ROWS_A_TASK))
            except WorkInUse as error:
                raise dg.Failure(f"{error} Wait for it, then run this again.") from None
            if not work.is_finished(min_size):
                _run_job(context, cluster, work, min_size)
            return work.communities(min_size)

        yield find


def _require(cluster: RayCluster) -> None:
    """Raise dg.Failure unless the packages are there, and an address that jobs can be sent to."""
    try:
        import dagster_ray  # noqa: F401
    except ImportError:
        raise dg.Failure(
            'Clustering on Ray needs packages that are not there: run `pip install "vlm-loom[ray]"`, '
            "or set runner to local.",
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
    """A client for one job: its reader of messages can hear no second one."""
    import ray
    from dagster_ray import PipesRayJobClient

    # Else Ray tells on the console of every package it sends.
    for handler in ray.logger.handlers:
        handler.setLevel(logging.WARNING)
    return PipesRayJobClient(address=cluster.address)


def _run_job(
    context: dg.AssetExecutionContext, cluster: RayCluster, work: Work, min_size: int
) -> None:
    """Have a job finish the work. Raises dg.Failure, ThresholdError."""
    code = [str(REPO_ROOT / package) for package in ("methods", "resources")]
    try:
        _client(cluster).run(
            context=context,
            submit_job_params={
                "entrypoint": ENTRYPOINT,
                "runtime_env": {"py_modules": code, "env_vars": dict(ENVIRONMENT)},
            },
            extras={"folder": str(work.folder), "min_size": min_size},
        )
    # The client's own errors, and those of a connection.
    except (RuntimeError, OSError) as error:
        reason = str(error).strip().splitlines()[-1][:REASON_CHARACTERS]
        raise dg.Failure(
            f"The Ray job at {cluster.address} came to no end ({reason}): mend that, then run this "
            f"again; what is done stays in {work.folder}."
        ) from None
    refusal = work.refusal()
    if refusal:
        raise ThresholdError(refusal)
