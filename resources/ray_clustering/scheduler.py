"""Schedules the blocks of a job folder on the workers of a Ray cluster.

What belongs here: which block is submitted when, and the progress messages. Ray retries a block if its
worker dies.
"""

import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from methods.clustering.neighbours import require_pair_limit
from resources.ray_clustering.job_folder import Block, JobFolder

REPORT_SECONDS = 5.0
TASKS_PER_CORE = 2
"""Blocks submitted at once: a worker need not wait for the next, and Ray's queue stays short."""
RETRIES = 3
"""How often a block is retried after its worker died, before the job fails."""


@cache
def _job_folder(path: str) -> JobFolder:
    """The job folder at `path`; each worker process opens its files once."""
    return JobFolder(Path(path))


def run_block(path: str, block: Block) -> tuple[int, str]:
    """The Ray task: the number of pairs of a block, and the id of the process that found them."""
    import ray

    n_pairs = _job_folder(path).run_block(block)
    return n_pairs, f"{ray.get_runtime_context().get_node_id()}/{os.getpid()}"


def run_blocks(folder: JobFolder, report: Callable[[str], None]) -> None:
    """Run every unfinished block; reports progress every few seconds and at the end.

    Raises ThresholdError as soon as there are too many pairs.
    """
    import ray

    task = ray.remote(max_retries=RETRIES)(run_block)
    earlier = {block: folder.n_pairs(block) for block in folder.blocks}
    todo = [block for block, n_found in earlier.items() if n_found is None]
    n_pairs = sum(n_found for n_found in earlier.values() if n_found is not None)
    n_done = n_earlier = len(earlier) - len(todo)
    workers: set[str] = set()
    running: list[ray.ObjectRef] = []

    def report_progress() -> None:
        kept = f" ({n_earlier} of them by an earlier job)" if n_earlier else ""
        report(f"{n_done}/{len(earlier)} blocks{kept}, {n_pairs:,} pairs, {len(workers)} workers")

    reported = time.monotonic()
    while todo or running:
        # Read each time, because a cluster may grow.
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        while todo and len(running) < TASKS_PER_CORE * cores:
            running.append(task.remote(str(folder.path), todo.pop(0)))
        ready, running = ray.wait(running, timeout=REPORT_SECONDS)
        for n_found, worker in ray.get(ready):
            n_done, n_pairs = n_done + 1, n_pairs + n_found
            workers.add(worker)
        require_pair_limit(n_pairs, folder.prepared.tau)
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            report_progress()
    report_progress()
