"""A command as a child of this process, which ends with it and leaves nothing behind.

What belongs here: signals, and the processes below the child. Linux only: the kernel tells the child
that its parent has ended, and gives this process the orphans of its descendants.
"""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO

PATIENCE = 30.0
"""Seconds that what the child leaves behind has to end by itself, runs at work among it."""
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def supervise(command: Sequence[str], folder: Path, held: IO[str] | None = None) -> int:
    """Run `command` in `folder` until it ends; its exit code, 128 + the number of what killed it.

    A signal to stop is handed on as SIGINT, a second one kills. If this process is killed, the child is
    told to stop. The child has `held` open, too, so that the file is held for as long as it runs. A
    child that ends with 0 and was not told to is a failure: 1. Call it in the main thread.
    """
    child: subprocess.Popen[bytes] | None = None
    told: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        told.append(number)
        if child is not None:
            child.send_signal(signal.SIGINT if len(told) == 1 else signal.SIGKILL)

    _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = {number: signal.signal(number, stop) for number in STOPPING}
    try:
        # Of a session of its own: Ctrl-C in a terminal reaches this process, which hands it on once.
        child = subprocess.Popen(
            command,
            cwd=folder,
            start_new_session=True,
            pass_fds=[held.fileno()] if held else [],
            preexec_fn=_end_with(os.getpid()),
        )
        if told:
            child.send_signal(signal.SIGINT)
        code = child.wait()
        _end_descendants()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _LIBC.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    if code < 0:
        return 128 - code
    return code if told else code or 1


def _end_with(parent: int):  # type: ignore[no-untyped-def]
    """What a child does before it begins its program: it is sent SIGTERM when `parent` ends."""

    def prepare() -> None:
        _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def _end_descendants() -> None:
    """End every process below this one: by SIGTERM, and by SIGKILL what takes too long."""
    deadline = time.monotonic() + PATIENCE
    told: set[int] = set()
    while left := descendants(os.getpid()):
        late = time.monotonic() > deadline
        for process in left if late else left - told:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL if late else signal.SIGTERM)
        told |= left
        time.sleep(0.05)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def descendants(process: int) -> set[int]:
    """The living processes below this one."""
    processes: set[int] = set()
    # A process or a thread may end while it is looked at.
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                for child in map(int, (task / "children").read_text().split()):
                    processes |= {child, *descendants(child)}
    return processes
