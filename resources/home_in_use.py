"""Which processes work on a home.

What belongs here: finding them, so that nobody takes their files away. Elsewhere than on
Linux none is found.
"""

import os
import textwrap
from contextlib import suppress
from pathlib import Path

from methods.errors import UserError


class HomeInUse(UserError):
    """Processes have files of the home open; the message names one to stop."""


def require_unused(folder: Path) -> None:
    """Raises HomeInUse if another process has a file of the home open."""
    users = _processes(folder.resolve())
    if users:
        more = f" and {len(users) - 1} more" if users[1:] else ""
        raise HomeInUse(
            f"{folder} is in use. Stop what runs on it (process {users[0]}: "
            f"{_command(users[0])}{more})."
        )


def _processes(folder: Path) -> list[int]:
    """Processes with open files under the folder, this one not; other users' are seen by root only."""
    everyone = sorted(int(each.name) for each in Path("/proc").glob("[0-9]*"))
    return [each for each in everyone if each != os.getpid() and _has_open(each, folder)]


def _has_open(process: int, folder: Path) -> bool:
    # It may end, or close a file, while it is looked at.
    with suppress(OSError):
        for each in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                if each.readlink().is_relative_to(folder):
                    return True
    return False


def _command(process: int) -> str:
    try:
        program, *arguments = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except (OSError, UnicodeDecodeError):
        return "unknown"
    text = " ".join([Path(program).name, *arguments])
    return textwrap.shorten(text, 80, placeholder=" ...")
