"""An installation that is no checkout has every file of the project."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from resources.home import REPO_ROOT

BESIDE = ".data/data/lib/python3.11/site-packages/"
"""Where a wheel keeps what is installed beside the packages."""


@pytest.mark.slow
def test_a_wheel_has_every_file_that_runs(tmp_path: Path) -> None:
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPO_ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, tracked):
        # A build writes into its folder.
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (REPO_ROOT / name).exists():
            shutil.copy2(REPO_ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--wheel-dir", wheels, source], check=True)
    (wheel,) = wheels.glob("*.whl")
    within = {name.rpartition(BESIDE)[2] for name in zipfile.ZipFile(wheel).namelist()}
    tops = ("assets", "dagster_project", "extras", "methods", "resources", "review", "sql")
    run = {name for name in tracked if name.startswith(tuple(f"{top}/" for top in tops))}
    beside = {"models.yaml", "workspace.yaml", "docs/guides/dialogues/paper.yaml"}
    assert run | beside <= within
    assert not any(name.startswith("tests/") for name in within)
