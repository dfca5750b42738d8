"""Lakes for tests: DuckDB with its extensions in a folder of their own, and new lakes on a Postgres.

DuckLake is there for an earlier DuckDB than the one that all other tests run on. So tests on a lake run
in a process of their own, whose path begins with that folder, and which knows a server by `SERVER`.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from filelock import FileLock

from resources.home import REPO_ROOT
from resources.lake import Lake
from resources.lake_file import REQUIREMENTS, LakeAddress
from tests.doubles.servers import PostgresServer

SERVER = "LOOM_TESTS_LAKE"
"""Names the address of a Postgres to tests that are to run on lakes."""
PACKAGES = REPO_ROOT / ".venv-lake"


def packages() -> Path:
    """The folder with what `requirements-lake.txt` names, made where it is missing or an earlier one.

    Where it cannot be had, the test is skipped, or fails where it is required.
    """
    wanted = (REPO_ROOT / REQUIREMENTS).read_text()
    made = PACKAGES / ".made-of"
    with FileLock(f"{PACKAGES}.lock"):
        if not made.exists() or made.read_text() != wanted:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
            done = subprocess.run(
                [*pip, "--target", PACKAGES, "-r", REPO_ROOT / REQUIREMENTS],
                capture_output=True,
                text=True,
            )
            if done.returncode:
                message = f"no DuckLake: {REQUIREMENTS} cannot be installed ({done.stderr[-300:]})"
                if os.environ.get("LOOM_REQUIRE_LAKE"):
                    pytest.fail(message)
                pytest.skip(message)
            made.write_text(wanted)
    return PACKAGES


def environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of a process whose DuckDB has DuckLake."""
    path = os.pathsep.join(filter(None, [str(packages()), variables.get("PYTHONPATH")]))
    return {**variables, "PYTHONPATH": path}


def on_lakes() -> bool:
    """Whether this process runs tests of warehouses on lakes."""
    return SERVER in os.environ


def new_address(folder: Path) -> LakeAddress:
    """The address of a lake that is not there yet, with its files in `folder`."""
    return LakeAddress(PostgresServer(os.environ[SERVER]).database(), f"{folder}/lake/")


def new_lake(folder: Path) -> Lake:
    """A lake that is made when it is first used."""
    lake = Lake(new_address(folder))
    # Tests look for a file there.
    lake.path = folder / lake.path.name
    return lake
