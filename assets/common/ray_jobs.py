"""Ray jobs, submitted with Dagster Pipes, that process many rows on a Ray cluster."""

import logging
import math
import os
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

import dagster as dg
import pyarrow as pa
from filelock import FileLock, Timeout
from pydantic import Field

from assets.common.settings import AssetConfig
from methods.errors import UserError
from methods.ids import content_id
from resources.files.home import REPO_ROOT, home
from resources.files.waiting import TimedWait
from resources.ray_rows.cluster import RayCluster
from resources.ray_rows.folder import RowFolder, without

if TYPE_CHECKING:
    from dagster_ray import PipesRayJobClient

MIN_ROWS_FOR_JOB = 4_096
"""Fewer rows are processed without Ray: a job and its workers need half a minute to start."""
LOOK_SECONDS, SAID_AFTER = 1.0, 300.0
"""Seconds between two looks for finished blocks, and without one before a warning."""
REASON_CHARACTERS = 300
"""Longest quote of a Ray error in a message, in characters."""
PASSED_ON = ("LOOM_FILES", "AWS_ENDPOINT_URL", "AWS_REGION", "HF_HOME", "HF_HUB_OFFLINE")
"""Environment variables that are passed on to workers. No keys: Ray's dashboard shows their values."""


class RowWorkSettings(AssetConfig):
    """Where the rows of a step are processed. `runner` does not change the result: `ray` sends large
    numbers of rows to the Ray cluster at LOOM_RAY_ADDRESS.
    """

    runner: Literal["local", "ray"] = Field("local", description="Where many rows are worked on.")


class RowWorkError(UserError):
    """A worker cannot process its rows. The message is that of the worker's error."""


@dataclass(frozen=True)
class RowWork:
    """A function for rows, which are processed in blocks.

    `make` names a factory in `resources` as `module:function`. Each worker calls it once with
    `arguments` (JSON values); it returns the function that processes a block of `n_rows` rows. Finished
    rows of a run that stopped are reused by the next run with the same `make` and `arguments`.
    """

    make: str
    arguments: Mapping[str, Any]
    n_rows: int
    min_rows: int | None = None
    """Fewer rows are left to the caller, without a job; the default is MIN_ROWS_FOR_JOB."""


class RowsOnRay:
    """Processes rows on a Ray cluster, for one run of an asset.

    Args:
        context: The run.
        cluster: The cluster.
        gpus: GPUs of each worker.

    Raises:
        dg.Failure: The cluster cannot be used.
    """

    def __init__(self, context: dg.AssetExecutionContext, cluster: RayCluster, gpus: float = 0):
        _require(cluster)
        self._context, self._cluster, self._gpus = context, cluster, gpus

    def run(
        self,
        work: RowWork,
        rows: pa.Table,
        store: Callable[[pa.Table], None],
        root: Path | None = None,
    ) -> pa.Table:
        """Process rows in a Ray job.

        Args:
            work: The work.
            rows: The rows; the first column has their ids.
            store: Stores a finished block. It is called in a separate thread, also with blocks of an
                earlier run. If it raises, the job ends and the error is raised.
            root: The folder for the job's files, which all nodes can read; the default is `ray/` of
                the workspace.

        Returns:
            The rows that are not processed, because they are too few for a job.

        Raises:
            dg.Failure: The job did not finish.
            RowWorkError: A worker cannot process its rows.
        """
        context = self._context
        in_part = context.has_partition_key or context.has_partition_key_range
        shards = context.partition_keys if in_part else []
        name = content_id(work.make, dict(work.arguments), *shards)
        folder = RowFolder((root or home() / "ray") / f"rows-{name}")
        folder.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(f"{folder.path}.lock", timeout=0):
                return self._run(folder, work, rows, store)
        except Timeout:
            raise dg.Failure(
                f"Another run works on the same rows in {folder.path}. Wait for it, then run this "
                "again.",
                allow_retries=True,
            ) from None

    def _run(
        self, folder: RowFolder, work: RowWork, rows: pa.Table, store: Callable[[pa.Table], None]
    ) -> pa.Table:
        rest = rows
        for block in folder.take():
            store(block)
            rest = without(rest, block.column(0))
        if rest.num_rows >= (MIN_ROWS_FOR_JOB if work.min_rows is None else work.min_rows):
            n_blocks = folder.plan(rest, work.n_rows)
            self._context.log.info(f"{rest.num_rows:,} rows in {n_blocks} blocks")
            self._run_job(folder, work, store)
            rest = rest.slice(0, 0)
        shutil.rmtree(folder.path, ignore_errors=True)
        return rest

    def _run_job(self, folder: RowFolder, work: RowWork, store: Callable[[pa.Table], None]) -> None:
        finished = Event()

        def store_until_finished() -> None:
            is_last, waiting = False, self._waiting()
            while not is_last:
                is_last = finished.wait(LOOK_SECONDS)
                try:
                    for block in folder.take():
                        store(block)
                        waiting = self._waiting()
                    waiting.goes_on(
                        f"no block of rows has come from the Ray job at {self._cluster.address}; if "
                        "its dashboard shows no node that is alive, terminate this run"
                    )
                except BaseException:
                    folder.cancel()
                    raise

        environment = {name: os.environ[name] for name in PASSED_ON if os.environ.get(name)}
        if not self._gpus:
            # A GPU would round differently from the CPU that prepared the rows.
            environment["CUDA_VISIBLE_DEVICES"] = ""
        with ThreadPoolExecutor(1) as thread:
            storing = thread.submit(store_until_finished)
            try:
                _run_job(
                    self._context,
                    self._cluster,
                    {**environment, "LOOM_WORKSPACE": str(home())},
                    {
                        "folder": str(folder.path),
                        "make": work.make,
                        "arguments": dict(work.arguments),
                        "gpus": self._gpus,
                    },
                    f"finished blocks are kept in {folder.path}",
                )
            finally:
                finished.set()
        storing.result()
        if message := folder.take_error():
            raise RowWorkError(message)

    def _waiting(self) -> TimedWait:
        return TimedWait(math.inf, self._context.log.warning, SAID_AFTER, SAID_AFTER)


# --- The job -------------------------------------------------------------------------------------


def _require(cluster: RayCluster) -> None:
    """Raise dg.Failure unless the packages are installed and the address can receive jobs."""
    try:
        import dagster_ray  # noqa: F401 - only whether it is there
    except ImportError:
        raise dg.Failure(
            "Ray needs packages that are not installed: run "
            '`pip install "vlm-loom[ray]"`, or set runner to local.',
            allow_retries=False,
        ) from None
    if not (cluster.address or "").startswith(("http://", "https://")):
        problem = (
            f"'{cluster.address}' is not" if cluster.address else "LOOM_RAY_ADDRESS is not set to"
        )
        raise dg.Failure(
            f"{problem} the address of a Ray dashboard: set LOOM_RAY_ADDRESS to one such as "
            "http://127.0.0.1:8265, or set runner to local.",
            allow_retries=False,
        )


def _run_job(
    context: dg.AssetExecutionContext,
    cluster: RayCluster,
    environment: Mapping[str, str],
    extras: Mapping[str, Any],
    stored_work: str,
) -> None:
    """Submit the job of `resources.ray_rows` with the project's code and wait for it.

    `extras` are values of its Pipes session; `stored_work` is the part of an error message that says
    which results are kept. Raises dg.Failure if the job does not finish.
    """
    code = [str(REPO_ROOT / package) for package in ("methods", "resources")]
    try:
        _client(cluster).run(
            context=context,
            submit_job_params={
                "entrypoint": "python -m resources.ray_rows",
                # Unbuffered, so that the job's output arrives while it runs.
                "runtime_env": {
                    "py_modules": code,
                    "env_vars": {**environment, "PYTHONUNBUFFERED": "1"},
                },
            },
            extras=dict(extras),
        )
    # The client's own errors, and connection errors.
    except (RuntimeError, OSError) as error:
        lines = [line for line in str(error).splitlines() if any(map(str.isalnum, line))]
        reason = (lines or [type(error).__name__])[-1].strip()[:REASON_CHARACTERS]
        raise dg.Failure(
            f"The Ray job at {cluster.address} did not finish ({reason}): fix the cause, then run this "
            f"again; {stored_work}.",
            allow_retries=isinstance(error, OSError),
        ) from None


def _client(cluster: RayCluster) -> "PipesRayJobClient":
    """Create a client for one job: its message reader cannot be reused for a second job."""
    import ray
    from dagster_ray import PipesRayJobClient

    # Otherwise Ray logs every package that it uploads.
    for handler in ray.logger.handlers:
        handler.setLevel(logging.WARNING)
    return PipesRayJobClient(address=cluster.address)
