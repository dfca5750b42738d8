"""What takes long to make is made once in a run of the tests, by the worker that first needs it."""

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

PROCESSES = multiprocessing.get_context("forkserver")
"""Begins processes in hundredths of a second: their server has imported what takes long. They have the
environment of the run, not that of a test (`processes_of_the_run`)."""
PROCESSES.set_forkserver_preload(
    [
        *("duckdb", "pyarrow.parquet", "pytest", "resources.upkeep.restore"),
        *("resources.upkeep.backup", "resources.llm.gateway", "openai.resources.chat.completions"),
    ]
)


def once_for_all_workers(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """The folder that `make` has filled, in this process or another; to be read only.

    Other workers wait until it is whole. Where making it fails, the next worker tries again.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # Each worker's own folder is in that of the run.
    shared = base / "shared"
    shared.mkdir(exist_ok=True)
    with FileLock(shared / f"{name}.lock"):
        done = shared / f"{name}.done"
        if not done.exists():
            folder = shared / f"{name}-{os.getpid()}"
            folder.mkdir()
            make(folder)
            done.write_text(str(folder))
    return Path(done.read_text())
