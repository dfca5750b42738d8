"""Entry point of `vlm-loom`. Ctrl-C ends it without a traceback, even while modules are imported."""

import signal
import sys


def main() -> int:
    """Run the command line of the process, and return the exit status of `cli.main`."""
    # Shells let background jobs ignore SIGINT, which stays so.
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not is_ignored:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dagster_project.cli import main

    if not is_ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(main())
