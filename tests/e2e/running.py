"""Running the main job as a user does, and looking at what it wrote."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
