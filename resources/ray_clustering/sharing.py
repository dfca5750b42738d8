"""The blocks of a work, shared among the workers of a Ray cluster.

What belongs here: which block is asked for when, and what is said meanwhile. Ray retries a block when
the worker under it dies.
"""

import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from methods.clustering.neighbours import require_few
from resources.ray_clustering.work import Block, Work

SAY_SECONDS = 5.0
TASKS_A_CORE = 2
"""Blocks asked for at once: the next is there when one is done, and Ray holds no list of thousands."""
RETRIES = 3
"""Workers may die under a block so often before the job fails."""


@cache
def _work(folder: str) -> Work:
    """The work of a folder; a worker opens its files once."""
    return Work(Path(folder))


def do_block(folder: str, block: Block) -> tuple[int, str]:
    """What a worker does: the number of pairs, and which process found them."""
    import ray

    return _work(folder).do(block), f"{ray.get_runtime_context().get_node_id()}/{os.getpid()}"


def do_all(work: Work, say: Callable[[str], None]) -> None:
    """Have every block done that is not; says every few seconds, and at the end, how far it is.

    Raises ThresholdError as soon as there are too many pairs.
    """
    import ray

    task = ray.remote(max_retries=RETRIES)(do_block)
    earlier = {block: work.n_found(block) for block in work.blocks}
    todo = [block for block, n_found in earlier.items() if n_found is None]
    n_pairs = sum(n_found for n_found in earlier.values() if n_found is not None)
    n_done = n_earlier = len(earlier) - len(todo)
    workers: set[str] = set()
    running: list[ray.ObjectRef] = []

    def tell() -> None:
        kept = f" ({n_earlier} of them by an earlier job)" if n_earlier else ""
        say(f"{n_done}/{len(earlier)} blocks{kept}, {n_pairs:,} pairs, {len(workers)} workers")

    said = time.monotonic()
    while todo or running:
        # Asked each time: a cluster may grow.
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        while todo and len(running) < TASKS_A_CORE * cores:
            running.append(task.remote(str(work.folder), todo.pop(0)))
        ready, running = ray.wait(running, timeout=SAY_SECONDS)
        for n_found, worker in ray.get(ready):
            n_done, n_pairs = n_done + 1, n_pairs + n_found
            workers.add(worker)
        require_few(n_pairs, work.prepared.tau)
        if time.monotonic() - said >= SAY_SECONDS:
            said = time.monotonic()
            tell()
    tell()
