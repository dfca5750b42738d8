"""Concurrency pools: limits on concurrent steps that use models, the network or much memory."""

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg

POOLS = {"llm": "models", "image_fetcher": "fetching", "embedder": "memory"}
"""Resource of a step -> the pool that limits the number of concurrent steps with this resource."""
WAIT_SECONDS = 1.0
"""Seconds between two attempts to claim a slot of a full pool."""


def pools_of(function: Callable[..., Any], named: str | None = None) -> list[str]:
    """Find the Dagster pools of an asset's function.

    Args:
        function: The function, whose resources may have pools.
        named: A further pool, which comes first.

    Returns:
        The names of the pools, without repetitions.
    """
    uses = inspect.signature(function).parameters
    pools = [named, *(pool for resource, pool in POOLS.items() if resource in uses)]
    return list(dict.fromkeys(pool for pool in pools if pool))


@contextmanager
def slots(context: dg.AssetExecutionContext, pools: Sequence[str]) -> Iterator[None]:
    """Hold a slot of each pool inside the block; wait for slots of full pools.

    Dagster supports one pool for each step, and claims its slot before the step starts. `pools` are the
    step's other pools. All steps claim slots in the order of `POOLS`, so there is no deadlock.

    Args:
        context: The step's context.
        pools: Names of pools. A pool without a limit never makes a step wait.
    """
    storage = context.instance.event_log_storage
    run_id, step = context.run.run_id, context.op_execution_context.op_def.name
    if not pools or not storage.supports_global_concurrency_limits:
        yield
        return
    try:
        for pool in pools:
            _claim(context, pool, step)
        yield
    finally:
        storage.free_concurrency_slot_for_step(run_id, step)


def _claim(context: dg.AssetExecutionContext, pool: str, step: str) -> None:
    """Wait for a slot of the pool."""
    storage = context.instance.event_log_storage
    is_waiting = False
    while _is_limited(context.instance, pool):
        if storage.claim_concurrency_slot(pool, context.run.run_id, step).is_claimed:
            return
        if not is_waiting:
            context.log.info(f"Waits for a slot of the pool {pool}.")
            is_waiting = True
        time.sleep(WAIT_SECONDS)


def _is_limited(instance: dg.DagsterInstance, pool: str) -> bool:
    """Tell whether the pool has a limit. A pool without one gets the default limit, if there is any."""
    storage = instance.event_log_storage
    if any(limit.name == pool for limit in storage.get_pool_limits()):
        return True
    if instance.global_op_concurrency_default_limit is None:
        return False
    return storage.initialize_concurrency_limit_to_default(pool)
