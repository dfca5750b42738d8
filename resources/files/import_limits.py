"""Limits of memory and processor time for the import of a file.

A file of kilobytes may say little more than that one text is repeated a million times. A limit for
each way to do this would never be complete, so an import as a whole has limits, which grow with what is
read. They hold on Linux, where the system tells what a process uses.
"""

import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from methods.errors import UserError
from resources.files.system_errors import is_out_of_memory

MEMORY, MEMORY_OF_BYTE = 4_000_000_000, 20
"""Bytes of memory that an import may take, and those that it may take more for a byte of the file."""
SECONDS, SECONDS_OF_BYTE = 240.0, 2e-5
"""Seconds of processor time that an import may take, and those more for each byte that was read."""
_EVERY = 10.0
"""Seconds of processor time after which it is looked at again."""
_PROCESS = Path("/proc/self")


class ImportLimitError(UserError):
    """An import took more memory or processor time than its file explains."""


class _TooLongError(BaseException):
    """Ends an import as Ctrl-C does: code that leaves out a faulty record does not catch it."""


@contextmanager
def import_limits(file: Path) -> Iterator[None]:
    """Limit the memory and processor time of this process while it imports a file.

    Args:
        file: The file, or a folder.

    Raises:
        ImportLimitError: The import took more; it was ended.
    """
    n_bytes = _n_bytes(file)
    memory = int(MEMORY + MEMORY_OF_BYTE * n_bytes)
    try:
        with _limited_memory(memory), _limited_time():
            yield
    except _TooLongError:
        took = "processor time"
    except BaseException as error:
        if not is_out_of_memory(error):
            raise
        took = f"memory (over {memory / 1e9:.1f} GB)"
    else:
        return
    raise ImportLimitError(
        f"The import of {file} was ended: it takes far more {took} than its {n_bytes:,} bytes explain. "
        "The file may be damaged or made to do this, such as by a text that is repeated very often: "
        "look into it, or split it into several files."
    ) from None


def _n_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


@contextmanager
def _limited_memory(n_bytes: int) -> Iterator[None]:
    """Let the process take at most `n_bytes` more memory than it has."""
    if not (_PROCESS / "statm").exists():
        yield
        return
    has = int((_PROCESS / "statm").read_text().split()[5]) * resource.getpagesize()
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    others = [limit for limit in (before, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([has + n_bytes, *others]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


@contextmanager
def _limited_time() -> Iterator[None]:
    """Raise _TooLongError when the process has taken too much processor time.

    Only the main thread of a process can be interrupted; elsewhere there is no limit.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not (in_main_thread and (_PROCESS / "io").exists()):
        yield
        return
    seconds, n_read = _seconds(), _n_read()

    def look(_signal: int, _frame: FrameType | None) -> None:
        allowed = SECONDS + SECONDS_OF_BYTE * (_n_read() - n_read)
        if _seconds() - seconds > allowed:
            # Once only: what the import still puts in order is not interrupted as well.
            signal.setitimer(signal.ITIMER_PROF, 0)
            raise _TooLongError

    before = signal.signal(signal.SIGPROF, look)
    # Libraries that do not expect a signal must not see interrupted system calls.
    signal.siginterrupt(signal.SIGPROF, False)
    signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _seconds() -> float:
    return sum(os.times()[:2])


def _n_read() -> int:
    """Return the number of bytes that the process has read from files."""
    (line,) = (_PROCESS / "io").read_text().splitlines()[:1]
    return int(line.removeprefix("rchar:"))
