"""`python -m tests.newest_dagster`: tests of the definitions with the newest Dagster that is allowed.

`pyproject.toml` allows a range of versions, and the lock has one of them. The newest one is installed
into an environment of its own, which has all other packages of this environment.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

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


def environment(folder: Path) -> Path:
    """An environment with the newest versions of these packages; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    scheme = {"base": str(folder), "platbase": str(folder)}
    here = Path(sysconfig.get_path("purelib", vars=scheme))
    # The environment's own packages come first.
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (here / "others.pth").write_text("\n".join([str(REPO_ROOT), *others]))
    pip = [
        str(python),
        "-m",
        "pip",
        "install",
        "--upgrade",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, *requirements()], check=True)
    return python


def main() -> int:
    """Run the tests; their exit code."""
    with tempfile.TemporaryDirectory() as folder:
        python = environment(Path(folder))
        subprocess.run([python, "-m", "dagster", "--version"], check=True)
        tests = [*TESTS, "--deselect", OF_THE_LOCK, *sys.argv[1:]]
        of_folder = {**os.environ, "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            [python, "-m", "pytest", "--quiet", *tests], cwd=REPO_ROOT, env=of_folder
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
