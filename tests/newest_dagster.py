"""`python -m tests.newest_dagster`: which names that the project uses the newest Dagster does not have.

The project's version is pinned; this says what would break before it is raised.
"""

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from resources.files.home import REPO_ROOT

FOLDERS = ("assets", "dagster_project", "extras")
TRY = """
import dagster, sys
for line in sys.stdin:
    try:
        exec(line)
    except ImportError as error:
        print(line.strip(), "-", error)
"""


def imports() -> set[str]:
    """An import of each name of Dagster that the project imports, or reads as `dg.name`."""
    found = set()
    for path in [path for folder in FOLDERS for path in (REPO_ROOT / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("dagster."):
                found |= {f"from {node.module} import {each.name}" for each in node.names}
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dg":
                found.add(f"from dagster import {node.attr}")
    return found


def lacking(python: Path, lines: Iterable[str]) -> str:
    """Those of these imports that fail with a Python, each with its error, one a line."""
    run = [str(python), "-c", TRY]
    text = "\n".join(sorted(lines))
    return subprocess.run(run, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "dagster"], check=True)
        lacks = lacking(python, imports())
        version = subprocess.check_output([str(python), "-m", "dagster", "--version"], text=True)
    print(f"{version.strip()} lacks:\n{lacks}" if lacks else f"{version.strip()} lacks nothing.")
    sys.exit(bool(lacks))
