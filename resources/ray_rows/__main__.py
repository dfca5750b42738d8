"""The Ray job: Ray Data hands the blocks of a folder to a pool of workers.

The Pipes session has the folder, the function to run and the GPUs of a worker as extras. Rows go by
files in the folder, not through Ray's object store.
"""

import importlib
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dagster_pipes import open_dagster_pipes

from methods.errors import UserError
from resources.ray_rows.folder import OnRows, RowFolder

REPORT_SECONDS = 5.0
RETRIES = 3
"""Retries of a block after its worker died, before the job fails."""


class BlockWorker:
    """The actor of a Ray worker: runs its setup once, then processes blocks one after the other.

    `make` names a function as `module:function`. It is called with `arguments` when the first block
    arrives, for example to load a model, and returns the function that processes the rows of a block.
    """

    def __init__(self, folder: str, make: str, arguments: Mapping[str, Any]):
        self._folder = RowFolder(Path(folder))
        self._make, self._arguments = make, arguments
        self._on_rows: OnRows | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Process the blocks that are named in the column `block`.

        Returns the number of rows, the worker, and the message of a UserError (or "") for each block.
        Any other error ends the job.
        """
        import ray

        worker = f"{ray.get_runtime_context().get_node_id()}/{os.getpid()}"
        done: dict[str, list[Any]] = {"rows": [], "worker": [], "error": []}
        for block in batch["block"]:
            n_rows, message = 0, ""
            try:
                if self._on_rows is None:
                    module, _, name = self._make.partition(":")
                    self._on_rows = getattr(importlib.import_module(module), name)(
                        **self._arguments
                    )
                n_rows = self._folder.run(str(block), self._on_rows)
            except UserError as error:
                message = str(error)
            for column, value in zip(done.values(), (n_rows, worker, message), strict=True):
                column.append(value)
        return done


def run_blocks(
    folder: RowFolder,
    make: str,
    arguments: Mapping[str, Any],
    gpus: float,
    report: Callable[[str], None],
) -> None:
    """Process all unfinished blocks. The message of a UserError is written to the folder."""
    import ray.data

    blocks = folder.todo()
    if not blocks:
        return
    data = ray.data.from_items(
        [{"block": name} for name in blocks], override_num_blocks=len(blocks)
    ).map_batches(
        BlockWorker,
        fn_constructor_args=[str(folder.path), make, dict(arguments)],
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=len(blocks)),
        max_task_retries=RETRIES,
        **({"num_gpus": gpus} if gpus else {"num_cpus": 1}),
    )
    n_done = n_rows = 0
    workers: set[str] = set()
    started = reported = time.monotonic()

    def report_progress() -> None:
        pace = n_rows / (time.monotonic() - started)
        report(
            f"{n_done}/{len(blocks)} blocks, {n_rows:,} rows, {pace:.1f}/s, {len(workers)} workers"
        )

    for done in data.iter_rows():
        if done["error"]:
            folder.write_error(done["error"])
            return
        n_done, n_rows = n_done + 1, n_rows + done["rows"]
        workers.add(done["worker"])
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            report_progress()
    report_progress()


def main() -> None:
    """Run the job that the Pipes session describes."""
    import ray.data

    with open_dagster_pipes() as pipes:
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        run_blocks(
            RowFolder(Path(pipes.get_extra("folder"))),
            pipes.get_extra("make"),
            pipes.get_extra("arguments"),
            pipes.get_extra("gpus"),
            pipes.log.info,
        )


if __name__ == "__main__":
    main()
