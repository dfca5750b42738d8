"""Entry point of `vlm-loom`. Ctrl-C ends it without a traceback, even while modules are imported.

A closed terminal ends it as SIGTERM does, which stores the replies of models that are under way.
"""

import io
import os
import signal
import stat
import sys
from types import FrameType


def main() -> int:
    """Run the command line of the process, and return the exit status of `cli.main`."""
    _escape_unencodable_text()
    # Shells let background jobs ignore SIGINT, which stays so.
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not is_ignored:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # `nohup` ignores SIGHUP, which stays so.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _end_without_terminal)
    from dagster_project.cli import main

    if not is_ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


def _escape_unencodable_text() -> None:
    """Print characters that standard output cannot encode as standard error does, such as `\\u2026`.

    The same holds in processes that this one starts or becomes, such as the UI and its runs.
    """
    errors = "backslashreplace"
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    os.environ["PYTHONIOENCODING"] = f"{encoding}:{errors}"
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=errors)


def _end_without_terminal(_number: int, _frame: FrameType | None) -> None:
    """Handle SIGHUP as SIGTERM. What is printed from then on is only kept by files."""
    # The shell and the kernel both send SIGHUP, and a second SIGTERM would not wait for replies.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (sys.__stdout__, sys.__stderr__):
        if output is not None and not stat.S_ISREG(os.fstat(output.fileno()).st_mode):
            # Printing on a closed terminal, or to a `tee` that ended with it, is an error.
            os.dup2(nowhere, output.fileno())
    signal.raise_signal(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
