"""Files that a process holds while it works, and what it says of itself in them.

What belongs here: taking such a file, and asking whether one is held. The operating system lets go of
it when the process ends, however it ends: a file of a process that is gone is not held. Processes in
other containers, or of other machines on a shared disk, are seen as well as those of this one.
"""

import fcntl
from pathlib import Path
from typing import IO

from methods.errors import UserError


class AlreadyRunning(UserError):
    """Another process does what only one may do at a time; the message says which."""


def hold(path: Path, says: str, refusal: str) -> IO[str]:
    """Hold the file until what is returned is closed or the process ends; `says` is written into it.

    Raises AlreadyRunning with `refusal`, in which `{holder}` is what the other process says, when
    another holds it.
    """
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        # It has not written anything yet if it began a moment ago.
        holder = path.read_text() or "another process"
        raise AlreadyRunning(refusal.format(holder=holder)) from None
    file.truncate(0)
    file.write(says)
    file.flush()
    return file


def hold_new(path: Path) -> IO[str]:
    """Hold a file that is not there yet: nobody ever sees it without its being held."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}")
    file = hidden.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    hidden.rename(path)
    return file


def is_held(path: Path) -> bool | None:
    """Whether a process holds the file; None when there is no such file."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return True
    return False
