"""The program `vlm-loom`: Ctrl-C while its modules are imported."""

import signal
import subprocess
import sys
import tomllib

from resources.files.home import REPO_ROOT

PROGRAM = "dagster_project.__main__"
INTERRUPTED_IMPORT = f"""
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "methods.review":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from {PROGRAM} import main
sys.exit(main())
"""


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*command], cwd=REPO_ROOT, capture_output=True, text=True, timeout=300)


def test_ctrl_c_while_modules_are_imported_ends_the_program_without_a_word() -> None:
    done = run(sys.executable, "-c", INTERRUPTED_IMPORT)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_background_job_of_a_shell_goes_on_ignoring_ctrl_c() -> None:
    ignoring = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    asking = "sys.argv[1:] = ['--help']"
    done = run(sys.executable, "-c", f"{ignoring}; {asking}{INTERRUPTED_IMPORT}")
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def test_the_command_that_is_installed_is_this_program() -> None:
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"vlm-loom": f"{PROGRAM}:main"}
