"""`dagster dev` with the project's webserver (`webserver.py`).

`dagster dev` starts webserver, daemon and code server. It has no setting for another webserver, and its
services go on if it is killed (docs/decisions/0077).
"""

import ctypes
import signal
import sys
import warnings
from collections.abc import Sequence
from subprocess import Popen
from typing import Any

import dagster as dg

from assets.common.dagster_internals import module_of_dagster_dev

_LIBC = ctypes.CDLL(None)
_SET_PARENT_DEATH_SIGNAL = 1
DAGSTERS, OURS = "dagster_webserver", "dagster_project.webserver"


def main() -> int:
    """Run `dagster dev` until it is stopped; 1 if one of its services ended with an error."""
    warnings.filterwarnings("ignore", category=dg.SupersessionWarning)
    services: list[Popen[bytes]] = []
    dev: Any = module_of_dagster_dev()
    start = dev.open_ipc_subprocess

    def start_ours(parts: Sequence[str], **options: Any) -> Any:
        ours = [OURS if part == DAGSTERS else part for part in parts]
        services.append(start(ours, preexec_fn=_end_with_parent, **options))
        return services[-1]

    dev.open_ipc_subprocess = start_ours
    dev.dev_command(standalone_mode=False)
    return int(any((service.returncode or 0) > 0 for service in services))


def _end_with_parent() -> None:
    """Have the kernel send SIGTERM to this process when its parent ends, however it ends."""
    _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
