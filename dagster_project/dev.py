"""`dagster dev` with this project's webserver (`webserver.py`).

What belongs here: the one difference from Dagster's own command. Its arguments are the same.
"""

from collections.abc import Sequence
from typing import Any

from dagster._cli import dev

DAGSTERS = "dagster_webserver"
OURS = "dagster_project.webserver"


def main() -> None:
    """Start webserver, daemon and code location as `dagster dev` does."""
    start = dev.open_ipc_subprocess

    def start_ours(parts: Sequence[str], **options: Any) -> Any:
        return start([OURS if part == DAGSTERS else part for part in parts], **options)

    dev.open_ipc_subprocess = start_ours
    dev.dev_command()


if __name__ == "__main__":
    main()
