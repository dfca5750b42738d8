"""The program `vlm-loom`: Ctrl-C while its modules are imported, and a terminal that is closed."""

import os
import pty
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
HUNG_UP = f"""
import os, signal, sys
from types import SimpleNamespace

terms = []

def work():
    signal.signal(signal.SIGTERM, lambda number, _frame: terms.append(number))
    sys.stdin.readline()
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGHUP)
    print("still here", flush=True)
    return len(terms)  # The exit status.

sys.modules["dagster_project.cli"] = SimpleNamespace(main=work)
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


def test_a_closed_terminal_is_one_sigterm_and_what_is_printed_then_is_no_error() -> None:
    ours, terminal = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-c", HUNG_UP],
        cwd=REPO_ROOT,
        stdin=subprocess.PIPE,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.close(ours)
    program.communicate(b"go on\n", timeout=300)
    assert program.returncode == 1


def test_below_nohup_the_program_goes_on_when_the_terminal_is_closed() -> None:
    done = run("nohup", sys.executable, "-c", HUNG_UP)
    assert (done.returncode, done.stdout) == (0, "still here\n")


def test_the_command_that_is_installed_is_this_program() -> None:
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"vlm-loom": f"{PROGRAM}:main"}
