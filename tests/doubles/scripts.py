"""Processes that run a script of a test."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT


def start(script: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """A process that runs an indented script with these arguments, in the repository's folder."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, cwd=REPO_ROOT, text=True, **options)


def has_ended(pid: int) -> bool:
    """Also of a process whose parent has not looked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
