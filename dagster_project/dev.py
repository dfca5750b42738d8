"""What `dg dev` starts: webserver, daemon, code location; with our webserver (`webserver.py`).

What belongs here: the two differences from Dagster's own command: the webserver, and that nothing is
reported to Dagster's makers, which `dg` does unless a file of the user's says otherwise. Both commands
call the function that is called here.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from dagster._cli import dev
from dagster_shared.cli import WorkspaceOpts

DAGSTERS = "dagster_webserver"
OURS = "dagster_project.webserver"


def main() -> None:
    """Start webserver, daemon and code location as `dg dev` does."""
    parser = argparse.ArgumentParser()
    for name in ("--workspace", "--host", "--port"):
        parser.add_argument(name, required=True)
    given = parser.parse_args()
    start = dev.open_ipc_subprocess

    def start_ours(parts: Sequence[str], **options: Any) -> Any:
        return start([OURS if part == DAGSTERS else part for part in parts], **options)

    dev.open_ipc_subprocess = start_ours
    dev.dev_command_impl(
        code_server_log_level="warning",
        log_level="info",
        log_format="colored",
        port=given.port,
        host=given.host,
        use_legacy_code_server_behavior=False,
        shutdown_pipe=None,
        verbose=False,
        workspace_opts=WorkspaceOpts(workspace=[given.workspace]),
    )


if __name__ == "__main__":
    main()
