"""The Ray job: Ray Data hands the blocks of a folder to a pool of workers.

What belongs here: the driver, and its side of Dagster Pipes. Folder, work and GPUs of a worker are
extras of the Pipes session. Rows go by the folder, not through Ray's object store.
"""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dagster_pipes import open_dagster_pipes

from resources.ray_rows.folder import RowFolder
from resources.ray_rows.worker import BlockWorker

REPORT_SECONDS = 5.0
RETRIES = 3
"""How often a block is done again after its worker died, before the job fails."""


def run_blocks(
    folder: RowFolder,
    make: str,
    arguments: Mapping[str, Any],
    gpus: float,
    report: Callable[[str], None],
) -> None:
    """Do every block that is not done; the sentence of a UserError is written to the folder."""
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
