"""The Dagster web UI, its daemon and the code location, started and stopped together.

What belongs here: starting them on the project's instance. `dagster dev` does the rest.
"""

import os
import signal
import sys

from dagster_project.instance import prepare_dagster_home
from methods.errors import UserError
from resources.home import REPO_ROOT
from resources.stores import bring_home_up_to_date, usable_home

HOST = "127.0.0.1"


def main() -> None:
    """Become `dagster dev` on loopback (port from `PORT`, 3000 by default)."""
    try:
        bring_home_up_to_date()
        with usable_home():
            prepare_dagster_home()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    os.chdir(REPO_ROOT)
    # `dagster dev` ends its children by SIGINT, which a background job of a shell would ignore.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    port = os.environ.get("PORT", "3000")
    print(f"Dagster UI on http://{HOST}:{port} (Ctrl-C stops it)", flush=True)
    os.execv(
        sys.executable,
        [
            sys.executable,
            "-m",
            "dagster",
            "dev",
            "--workspace",
            "workspace.yaml",
            "--host",
            HOST,
            "--port",
            port,
        ],
    )


if __name__ == "__main__":
    main()
