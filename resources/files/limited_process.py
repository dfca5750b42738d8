"""Run a function on untrusted bytes in a process of its own, with limits of time and memory.

Some parsers crash on damaged input, or take time and memory far out of proportion to its size. Here
this costs the input, and not the run.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable

MOST_SECONDS = 60
"""The processor time of a call."""
MOST_MEMORY = 2_000_000_000
"""The address space of a call in bytes."""
_CODE = """
import resource, sys
from importlib import import_module

module, name, seconds, memory = sys.argv[1:]
for limit, most in (("CPU", int(seconds)), ("AS", int(memory)), ("CORE", 0)):
    resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (most, most))
function = getattr(import_module(module), name)
sys.stdout.buffer.write(function(sys.stdin.buffer.read()))
"""


class LimitedProcessError(OSError):
    """The function crashed, failed or reached a limit; the message says which."""


def run_limited(
    function: Callable[[bytes], bytes],
    data: bytes,
    seconds: int = MOST_SECONDS,
    memory: int = MOST_MEMORY,
) -> bytes:
    """Call a function in a process of its own.

    Args:
        function: A function of a module. It gets and returns bytes.
        data: Its input.
        seconds: The most processor time.
        memory: The most address space in bytes.

    Raises:
        LimitedProcessError: The function ended without a result.
    """
    limits = (str(seconds), str(memory))
    ended = subprocess.run(
        [sys.executable, "-c", _CODE, function.__module__, function.__name__, *limits],
        input=data,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if ended.returncode < 0:
        name = signal.Signals(-ended.returncode).name
        raise LimitedProcessError(f"reading it took over {seconds} s or crashed ({name})")
    if ended.returncode:
        reason = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        raise LimitedProcessError(f"reading it failed ({reason or 'no memory'})")
    return ended.stdout
