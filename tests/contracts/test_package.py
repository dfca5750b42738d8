"""An installation that is no checkout has every file of the project."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest

from resources.files.home import REPO_ROOT

BESIDE = ".data/data/lib/python3.11/site-packages/"
"""Where a wheel keeps what is installed beside the packages."""
LAKE_EXTENSIONS = ("ducklake", "httpfs", "postgres-scanner")


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
    beside = {"models.yaml", "workspace.yaml"}
    assert run | beside <= within
    assert not any(name.startswith("tests/") for name in within)


def test_one_duckdb_is_named_everywhere_and_installed() -> None:
    """An extension is loaded by the DuckDB of its own version alone, and that one reads every file."""
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text())["project"]
    named = {
        line
        for lines in (
            project["dependencies"],
            (REPO_ROOT / "requirements.lock").read_text().split(),
        )
        for line in lines
        if line.startswith("duckdb")
    }
    packages = ("duckdb", *(f"duckdb-extension-{name}" for name in LAKE_EXTENSIONS))
    assert named == {f"{package}=={duckdb.__version__}" for package in packages}
    assert {version(package) for package in packages} == {duckdb.__version__}
    assert "duckdb" not in (REPO_ROOT / "deploy" / "Dockerfile").read_text().lower().replace(
        "warehouse.duckdb", ""
    )
