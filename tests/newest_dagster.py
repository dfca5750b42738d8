"""`python -m tests.newest_dagster`: tests of the definitions with the newest Dagster that is allowed.

`pyproject.toml` allows a range of versions, and the lock has one of them. The newest one is installed
into a folder that is thrown away, and imported before the packages of this environment.
"""

import os
import subprocess
import sys
import tempfile
import tomllib

from packaging.requirements import Requirement

from resources.files.home import REPO_ROOT

TESTS = ("tests/contracts", "tests/assets/common", "tests/dagster_project")
OF_THE_LOCK = "tests/contracts/test_dependencies.py"


def requirements() -> list[str]:
    """The packages of Dagster that the project depends on, with the versions that it allows."""
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text())["project"]
    return [
        line for line in project["dependencies"] if Requirement(line).name.startswith("dagster")
    ]


def main() -> int:
    """Run the tests; their exit code."""
    with tempfile.TemporaryDirectory() as folder:
        # They come before those of this environment.
        before = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{REPO_ROOT}"}
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", folder, *requirements()], check=True)
        subprocess.run([sys.executable, "-m", "dagster", "--version"], env=before, check=True)
        tests = [*TESTS, "--deselect", OF_THE_LOCK, *sys.argv[1:]]
        command = [sys.executable, "-m", "pytest", "--quiet", *tests]
        return subprocess.run(command, cwd=REPO_ROOT, env=before).returncode


if __name__ == "__main__":
    sys.exit(main())
