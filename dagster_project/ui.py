"""The Dagster web UI, its daemon and the code location together; or the page of model calls by itself.

What belongs here: what is looked at and done before they start, and the start. `dev.py` does the
rest, as a child process (`supervisor.py`); next to it, changed files are watched (`reloading.py`). The
page of calls is `resources/calls_page`; the UI serves it, too (`webserver.py`).
"""

import os
import sys
import threading

from assets.common.partitions import wit_shards
from dagster_project.dead_runs import end_dead_runs
from dagster_project.held_file import hold
from dagster_project.instance import open_instance, prepare_dagster_home
from dagster_project.reloading import files_state, reload_when_changed
from dagster_project.resources import corpus_folder
from dagster_project.supervisor import supervise
from methods.errors import UserError
from resources.files.home import REPO_ROOT, home
from resources.stores_of_home import bring_home_up_to_date, require_folder, usable_home
from resources.web.addresses import CALLS
from resources.web.ports import HOST, require_free, reserve_for_ui


def serve(port: int) -> int:
    """Run the UI on loopback until it is stopped; the exit code of `dev.py`.

    Raises UserError for what is wrong before it starts.
    """
    address = f"http://{HOST}:{port}"
    bring_home_up_to_date()
    with usable_home():
        held = hold(
            prepare_dagster_home() / "ui.lock",
            f"{address} (process {os.getpid()})",
            f"The UI of {home()} runs already on {{holder}}: open it there, or stop it first.",
        )
        reserved = reserve_for_ui(port)
        loaded = files_state()
        prepare_instance()
    print(f"Dagster UI on {address} (Ctrl-C stops it)", flush=True)
    stop = threading.Event()
    reloader = threading.Thread(target=reload_when_changed, args=(address, loaded, stop))
    reloader.daemon = True
    reloader.start()
    command = [sys.executable, "-m", "dagster_project.dev", "--workspace", "workspace.yaml"]
    with held, reserved:
        code = supervise([*command, "--host", HOST, "--port", str(port)], REPO_ROOT, held)
        stop.set()
    return code


def prepare_instance() -> None:
    """End runs whose process is gone, and add the corpus's shards as partitions."""
    with open_instance() as instance:
        ended = end_dead_runs(instance)
        if ended:
            print(f"Ended, as their processes are gone: {', '.join(ended)}.", flush=True)
        try:
            instance.add_dynamic_partitions(str(wit_shards.name), corpus_folder().shards())
        except UserError as error:
            # What was built can be looked at without the corpus.
            print(error, file=sys.stderr, flush=True)


def serve_calls(port: int) -> int:
    """Serve until Ctrl-C. Raises UserError for what is wrong before it starts."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from resources.calls_page.pages import routes_of

    require_folder()
    require_free(port)
    to_calls = Route("/", lambda _request: RedirectResponse(CALLS))
    app = Starlette(routes=[to_calls, *routes_of(home())])
    print(f"Model calls on http://{HOST}:{port}{CALLS} (Ctrl-C stops it)", flush=True)
    uvicorn.run(app, host=HOST, port=port, log_level="warning")
    return 0
