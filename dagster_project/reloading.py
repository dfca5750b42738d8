"""The code location of a running UI is loaded again when a file that definitions depend on changes.

What belongs here: which files those are beside the code, and the request to the webserver. Definitions
have versions of code and settings (`code_versions.py`): loaded again, they mark what is out of date.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2

from dagster_project.run_tags import LOCATION
from methods.json_text import from_json
from resources.files.home import settings_path
from resources.llm.registry import registry_path
from resources.settings.extras import folders
from resources.settings.prompts import PROMPTS_ROOT
from resources.warehouse import SQL_ROOT
from resources.web.ports import HOST

INTERVAL = 2.0
"""Seconds between two looks at the files."""
RELOAD = """
mutation ($location: String!) {
  reloadRepositoryLocation(repositoryLocationName: $location) {
    __typename
    ... on WorkspaceLocationEntry {
      locationOrLoadError { __typename ... on PythonError { message } }
    }
    ... on ReloadNotSupported { message }
    ... on RepositoryLocationNotFound { message }
    ... on PythonError { message }
  }
}
"""

State = dict[Path, tuple[int, int]]
"""Each file's time of last change in nanoseconds, and its size in bytes."""


def files_state() -> State:
    """The files that definitions depend on as they are now; those that are not there are left out."""
    state: State = {}
    for path in _files():
        try:
            stat = path.stat()
        except OSError:
            continue
        state[path] = (stat.st_mtime_ns, stat.st_size)
    return state


def _files() -> Iterator[Path]:
    yield settings_path()
    yield registry_path()
    yield from PROMPTS_ROOT.glob("*/prompts/*.md")
    if os.environ.get("LOOM_PROMPTS"):
        yield from Path(os.environ["LOOM_PROMPTS"]).glob("*/*.md")
    for folder in (SQL_ROOT, *folders("sql")):
        yield from folder.rglob("*.sql")


def reload_when_changed(address: str, loaded: State, stop: threading.Event) -> None:
    """Load the code location of the webserver at `address` again after each change, until `stop`.

    `loaded`: the files as they were before the webserver was started. While the webserver does not
    answer, a change waits. Definitions that do not load are the UI's to show; they are loaded again
    after the next change.
    """
    while not stop.wait(INTERVAL):
        now = files_state()
        changed = sorted(
            path for path in now.keys() | loaded.keys() if now.get(path) != loaded.get(path)
        )
        if not changed:
            continue
        try:
            problem = _reload(address)
        except httpx2.HTTPError:
            continue
        loaded = now
        names = ", ".join(map(str, changed))
        outcome = "Definitions are loaded again"
        if problem:
            outcome = f"Definitions do not load, as the UI shows ({problem})"
        print(f"{outcome}: {names} changed.", flush=True)


def _reload(address: str) -> str | None:
    """Ask the webserver to load the code location again; the first line of what went wrong, or None."""
    # A proxy of the environment is not for loopback.
    answer = httpx2.post(
        f"{address}/graphql",
        json={"query": RELOAD, "variables": {"location": LOCATION}},
        # The address may have a name on which the server listens but which its users do not know.
        headers={"host": HOST},
        timeout=300,
        trust_env=False,
    )
    answer.raise_for_status()
    result = from_json(answer.content)["data"]["reloadRepositoryLocation"]
    loaded = result.get("locationOrLoadError") or result
    message: str | None = loaded.get("message")
    return message.strip().splitlines()[0] if message else None
