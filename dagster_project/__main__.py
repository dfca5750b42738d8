"""The program `vlm-loom`, which Ctrl-C ends without a traceback also while its modules are imported."""

import signal
import sys


def main() -> int:
    """Run the command line of the process; the exit code is that of `cli.main`."""
    # A shell lets its background jobs ignore SIGINT.
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not is_ignored:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dagster_project.cli import main

    if not is_ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(main())
