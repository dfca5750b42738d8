"""The parts of a shared installation, each a process of its own: webserver, daemon, code location.

What belongs here: what is looked at and done before each starts, and its command. `vlm-loom ui` is the
three together, on loopback (`ui.py`).
"""

import os
import sys
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import yaml

from dagster_project.held_file import hold
from dagster_project.instance import is_shared, open_instance, prepare_dagster_home
from dagster_project.reloading import files_state, reload_when_changed
from dagster_project.run_tags import LOCATION
from dagster_project.supervisor import supervise
from dagster_project.ui import prepare_instance
from methods.errors import UserError
from resources.files.atomic import write_atomically
from resources.files.home import REPO_ROOT, home
from resources.stores_of_home import bring_home_up_to_date, usable_home
from resources.web.ports import HOST, require_free

CODE = "LOOM_CODE"
"""The variable with host and port of the code location, where it is a process of its own."""
MODULE = "dagster_project.definitions"


def serve_webserver(listen: str, port: int) -> int:
    """Run the UI until it is stopped; its exit code. Raises UserError."""
    require_free(port)
    _ready()
    loaded, stop = files_state(), threading.Event()
    address = f"http://{HOST if listen == '0.0.0.0' else listen}:{port}"
    watch = threading.Thread(target=reload_when_changed, args=(address, loaded, stop), daemon=True)
    watch.start()
    try:
        return _run(
            "dagster_project.webserver", *_at(listen, port), "--workspace", str(workspace())
        )
    finally:
        stop.set()


def serve_daemon() -> int:
    """Run schedules, sensors and the queue of runs until it is stopped. Raises UserError."""
    folder = _ready()
    with ExitStack() as stack:
        with usable_home():
            refusal = f"The daemon of {home()} runs already ({{holder}}): stop it first."
            stack.enter_context(hold(folder / "daemon.lock", f"process {os.getpid()}", refusal))
            if is_shared():
                from dagster_project.shared_marks import DAEMON, Mark

                stack.enter_context(closing(Mark(DAEMON)))
            prepare_instance()
        return _run("dagster._daemon", "run", "--workspace", str(workspace()))


def serve_code(listen: str, port: int) -> int:
    """Run the code location, which executes the runs, until it is stopped. Raises UserError."""
    # Servers of gRPC share a port without a word.
    require_free(port)
    _ready()
    where = ("--module-name", MODULE, "--location-name", LOCATION, *_at(listen, port))
    return _run("dagster", "code-server", "start", *where)


def workspace() -> Path:
    """The file that says where the code location is: started with the server, or at LOOM_CODE."""
    address = os.environ.get(CODE)
    if not address:
        return REPO_ROOT / "workspace.yaml"
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise UserError(f"{CODE} is host and port of the code location, such as code:4000.")
    server = {"host": host, "port": int(port), "location_name": LOCATION}
    path = home() / "dagster" / "workspace.yaml"
    content = yaml.safe_dump({"load_from": [{"grpc_server": server}]}).encode()
    if not path.exists() or path.read_bytes() != content:
        write_atomically(path, content)
    return path


def _ready() -> Path:
    """Bring the home and the instance to this version: the instance's folder."""
    bring_home_up_to_date()
    with usable_home():
        folder = prepare_dagster_home()
        open_instance().dispose()
    return folder


def _at(listen: str, port: int) -> tuple[str, ...]:
    return "--host", listen, "--port", str(port)


def _run(module: str, *arguments: str) -> int:
    return supervise([sys.executable, "-m", module, *arguments], REPO_ROOT)
