"""`python -m tests.mutants BASE TESTS`: do tests notice faults on the lines that differ from a commit?

cosmic-ray changes one operator, number or decorator at a time on lines of the product that are new
since BASE. Each change is put to TESTS, files or folders; what they let pass is printed. It works on
a clone of what is committed.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from resources.files.home import REPO_ROOT

PRODUCT = ("methods", "resources", "assets", "dagster_project", "review", "extras")
SECONDS = 180
"""How long the tests of one change may take; a change may make a test wait for ever."""
CONFIG = """\
[cosmic-ray]
module-path = {modules}
timeout = {seconds}.0
excluded-modules = []
test-command = {tests}
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.git-filter]
branch = "{base}"
"""


def changed(base: str) -> list[str]:
    """Modules of the product that differ from a commit."""
    names = subprocess.run(
        ["git", "diff", "--name-only", "--diff-filter=AM", base, "HEAD", "--", *PRODUCT],
        cwd=REPO_ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return [name for name in names if name.endswith(".py")]


def run(checkout: Path, base: str, modules: list[str], tests: list[str]) -> Counter[str]:
    """Try every change of some modules; how many were killed, survived or could not be run."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    config, session = checkout.parent / "mutants.toml", checkout.parent / "mutants.sqlite"
    config.write_text(
        CONFIG.format(
            modules=json.dumps(modules),
            seconds=SECONDS,
            tests=json.dumps(shlex.join(command)),
            base=base,
        )
    )
    tools = Path(sys.executable).parent
    for step in (
        ["cosmic-ray", "init", config, session],
        ["cr-filter-git", "--config", config, session],
        ["cosmic-ray", "exec", config, session],
        ["cr-report", "--surviving-only", "--show-diff", "--no-show-output", session],
    ):
        subprocess.run([tools / step[0], *step[1:]], cwd=checkout, check=True)
    dump = subprocess.run(
        [tools / "cosmic-ray", "dump", session], check=True, capture_output=True, text=True
    ).stdout
    results = [json.loads(line)[1] for line in dump.splitlines()]
    return Counter(
        result["test_outcome"] or result["worker_outcome"]
        for result in results
        if result and result["worker_outcome"] != "skipped"
    )


def main() -> int:
    """Print what survived and the counts; 1 if a change survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="the commit to compare with, such as main")
    parser.add_argument("tests", nargs="+", help="files or folders of tests")
    arguments = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", arguments.base],
        cwd=REPO_ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    modules = changed(commit)
    if not modules:
        raise SystemExit(
            f"No module of the product differs from {arguments.base}: commit it first."
        )
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "clone", "--quiet", REPO_ROOT, checkout], check=True)
        counts = run(checkout, commit, modules, arguments.tests)
    print(json.dumps({"name": "mutants", **counts}))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
