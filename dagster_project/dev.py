"""`dagster dev` with the project's webserver (`webserver.py`).

`dagster dev` starts webserver, daemon and code server. It has no setting for another webserver, its
services go on if it is killed, and it ends with exit code 0 if one of them is killed
(docs/decisions/0077).
"""

import ctypes
import logging
import signal
import sys
import warnings
from collections.abc import Sequence
from subprocess import Popen
from typing import Any

import click
import dagster as dg

from assets.common.dagster_internals import module_of_dagster_dev

_LIBC = ctypes.CDLL(None)
_SET_PARENT_DEATH_SIGNAL = 1
DAGSTERS, OURS = "dagster_webserver", "dagster_project.webserver"


class _EndOfService(logging.Filter):
    """Log filter that replaces the traceback that `dagster dev` logs if one of its services ends.

    Attributes:
        is_logged: Whether a service ended by itself.
    """

    is_logged = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record if it is such a traceback. All records are logged."""
        if record.exc_info and record.levelno == logging.ERROR:
            self.is_logged = True
            record.msg = (
                f"The UI ends ({record.exc_info[1]}): start vlm-loom ui again. The log above has the "
                "reason, unless the process was killed or the memory ran out."
            )
            record.args, record.exc_info = (), None
        return True


def main() -> int:
    """Run `dagster dev` until it is stopped.

    Returns:
        1 if a service ended by itself, 130 after a second Ctrl-C, else 0.
    """
    warnings.filterwarnings("ignore", category=dg.SupersessionWarning)
    end = _EndOfService()
    logging.getLogger("dagster").addFilter(end)
    services: list[Popen[bytes]] = []
    dev: Any = module_of_dagster_dev()
    start = dev.open_ipc_subprocess

    def start_ours(parts: Sequence[str], **options: Any) -> Any:
        ours = [OURS if part == DAGSTERS else part for part in parts]
        services.append(start(ours, preexec_fn=_end_with_parent, **options))
        return services[-1]

    dev.open_ipc_subprocess = start_ours
    try:
        dev.dev_command(standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return 130  # The user pressed Ctrl-C again.
    return int(end.is_logged or any((service.returncode or 0) > 0 for service in services))


def _end_with_parent() -> None:
    """Let the kernel send SIGTERM to this process when its parent ends, even if that is killed."""
    _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
