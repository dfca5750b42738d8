"""Running commands as a user does, in front or in the background, and looking at what they wrote."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse

CLI = "dagster_project.cli"
"""The module of `vlm-loom`."""

SETTINGS = """\
cluster: {image_sets: {instruction_sets: 4}}
dialogue: {questions: {per_image: 1, per_set: 3}, instructions: {n_instructions: 3}}
rewrite: {seeds: {n_seeds: 2}}
choice: {items: {n_items: 6}, mmiu_items: {n_derived: 8, unanswerable_per_task: 1}}
evaluate:
  extraction_quality: {n_resamples: 100}
  judge_quality: {n_resamples: 100}
  smallest_subsets: {n_resamples: 20}
"""
"""Smaller than those of the sample corpus: every step has something to do."""


@dataclass
class Run:
    """One finished `vlm-loom demo`: where it wrote, what it printed."""

    home: Path
    output: str

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(self.home / "warehouse.duckdb")

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.home / "ledger.sqlite")


@contextmanager
def instance_of(home: Path) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance of a home, for definitions that are loaded meanwhile."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LOOM_WORKSPACE", str(home))
        # Its settings name their databases by it.
        monkeypatch.setenv("DAGSTER_HOME", str(home / "dagster"))
        with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
            yield instance


def environment(home: Path, **settings: str) -> dict[str, str]:
    """The environment of a command on `home`, without the caller's own settings."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LOOM_", "OPENAI_"))}
    return {**clean, "LOOM_WORKSPACE": str(home), "HF_HUB_OFFLINE": "1", **settings}


def demo(home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """`vlm-loom demo` on `home`."""
    return command(home, "demo", **settings)


def small_demo(home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The same on a new home with `SETTINGS`."""
    home.mkdir()
    (home / "settings.yaml").write_text(SETTINGS)
    return demo(home, **settings)


def command(home: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`vlm-loom` with these arguments on `home`."""
    return subprocess.run(
        [sys.executable, "-m", CLI, *arguments],
        cwd=REPO_ROOT,
        env=environment(home, **settings),
        capture_output=True,
        text=True,
        timeout=900,
    )


def leaderboards(printed: str) -> str:
    """Those that the main job printed."""
    return printed[printed.index("Leaderboard (") : printed.rindex("Done in ")]


# --- In the background ---------------------------------------------------------------------------

PATIENCE = 900.0
"""Seconds after which a test gives up waiting: what it waits for takes a fraction of that."""


@dataclass
class Started:
    """A command in the background; what it prints is in `log`."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(
        self, what: Callable[[], Any], seconds: float = PATIENCE, *, running: bool = True
    ) -> Any:
        """What `what` returns as soon as that is anything; the command must go on until then."""
        deadline = time.monotonic() + seconds
        while not (found := what()):
            assert not running or self.process.poll() is None, self.printed[-3000:]
            assert time.monotonic() < deadline, self.printed[-3000:]
            time.sleep(0.5)
        return found


@contextmanager
def started(
    name: str, home: Path, log: Path, root: Path = REPO_ROOT, **settings: str
) -> Iterator[Started]:
    """`vlm-loom` with one command, which is stopped at the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", CLI, name],
            cwd=root,
            env=environment(home, PYTHONPATH=str(root), **settings),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Started(process, log)
    finally:
        process.terminate()
        try:
            process.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def processes_of(home: Path) -> list[int]:
    """The processes that were started with this home, by their numbers."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        # It may end while it is looked at; the environment of one that has ended cannot be read.
        with suppress(OSError):
            if f"LOOM_WORKSPACE={home}\0".encode() in (each / "environ").read_bytes():
                found.append(int(each.name))
    return found
