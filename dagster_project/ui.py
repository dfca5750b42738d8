"""Starts the Dagster web UI with its daemon and the code location, or only the page of model calls.

`serve` prepares the workspace and replaces its process by `dagster dev` (`dev.py`). The page of calls
is `resources/calls_page`; the UI serves it, too (`webserver.py`).
"""

import fcntl
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from assets.common.partitions import wit_shards
from dagster_project.instance import open_instance, prepare_dagster_home
from dagster_project.resources import corpus_folder, ingested_shards, require_same_corpus
from dagster_project.run_processes import end_dead_runs
from methods.errors import UserError
from resources.files.home import REPO_ROOT, home
from resources.stores_of_home import bring_home_up_to_date, require_folder, usable_home
from resources.warehouse.configured import warehouse_of_home
from resources.web import alerts
from resources.web.addresses import CALLS
from resources.web.ports import HOST, PORT_VARIABLE, require_free


def serve(port: int) -> int:
    """Replace this process by `dagster dev` on the loopback address.

    Raises:
        UserError: The port is taken, the UI of this workspace runs already, LOOM_ALERT_EMAIL is not
            valid, or the workspace cannot be used.
    """
    address = f"http://{HOST}:{port}"
    alerts.require_valid()
    bring_home_up_to_date()
    with usable_home():
        lock = _hold_ui(address)
        require_free(port)
        _prepare_instance()
    print(f"Dagster UI on {address} (Ctrl-C stops it)", flush=True)
    os.chdir(REPO_ROOT)
    os.set_inheritable(lock.fileno(), True)
    os.environ[PORT_VARIABLE] = str(port)
    command = ["-m", "dagster_project.dev", "--workspace", "workspace.yaml"]
    return replace_process([sys.executable, *command, "--host", HOST, "--port", str(port)])


def execute(command: Sequence[str]) -> int:
    """Replace this process by a command of Dagster, such as `dagster-daemon run`, on the workspace.

    Raises:
        UserError: There is no such command, LOOM_ALERT_EMAIL is not valid, or the workspace cannot be
            used.
    """
    alerts.require_valid()
    bring_home_up_to_date()
    with usable_home():
        _prepare_instance()
    # The commands of this environment take precedence.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return replace_process(command)


def replace_process(command: Sequence[str]) -> int:
    """Replace this process by a command. Raises UserError if it cannot be run."""
    sys.stdout.flush()
    # A shell script ignores SIGINT for processes after "&", and Dagster handles SIGTERM as SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except FileNotFoundError:
        raise UserError(f"There is no command {command[0]}: check its name.") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{command[0]!r} cannot be run ({why}): check its name.") from None


def _hold_ui(address: str) -> IO[str]:
    """Lock the file that shows that the UI of this workspace runs, until the process ends."""
    file = (prepare_dagster_home() / "ui.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read() or "another address"
        raise UserError(
            f"The UI of {home()} runs already on {holder}: open it there, or stop it first."
        ) from None
    file.truncate(0)
    file.write(f"{address} (process {os.getpid()})")
    file.flush()
    return file


def _prepare_instance() -> None:
    """End runs whose process is gone, and add the corpus's shards as partitions."""
    with open_instance() as instance:
        # Dagster launches a dead run of a shared installation again, once, if its code server answers
        # then: the sensor `dead_runs` ends it later.
        ended = [] if instance.run_retries_enabled else end_dead_runs(instance)
        if ended:
            print(f"Ended, as their processes are gone: {', '.join(ended)}.", flush=True)
        try:
            corpus = corpus_folder()
            require_same_corpus(corpus, ingested_shards(warehouse_of_home()))
            instance.add_dynamic_partitions(str(wit_shards.name), corpus.shards())
        except UserError as error:
            # Existing results can be viewed without the corpus.
            print(error, file=sys.stderr, flush=True)


def serve_calls(port: int) -> int:
    """Serve the HTML page of model calls until Ctrl-C. Raises UserError if the server cannot start."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from resources.calls_page.pages import routes_of
    from review.server import PromptRequests

    require_folder()
    require_free(port)
    to_calls = Route("/", lambda _request: RedirectResponse(CALLS))
    app = Starlette(routes=[to_calls, *routes_of(home())])
    print(f"Model calls on http://{HOST}:{port}{CALLS} (Ctrl-C stops it)", flush=True)
    uvicorn.run(app, host=HOST, port=port, log_level="warning", http=PromptRequests)
    return 0
