"""Reloads the code location of a running UI when a file that definitions depend on changes, or when the
code server does not answer.

Dagster only loads definitions when somebody presses Reload. Definitions contain versions of settings,
prompts and SQL (`code_versions.py`), so reloading marks outdated assets. Reloading also starts the
process with the definitions again, which the kernel kills first if memory runs out.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from resources.files.home import settings_path
from resources.llm.registry import registry_path
from resources.settings.extras import folders
from resources.settings.prompts import PROMPTS_ROOT
from resources.warehouse import SQL_ROOT

INTERVAL = 2.0
"""Seconds between two looks at the files and at the code server."""
RETRY_SECONDS = 30.0
"""Seconds after a reload in which the code server is not looked at: a process that gets no memory would
otherwise be started without pause."""
NO_ANSWER = "the code server did not answer, as if its process was killed"

State = dict[Path, tuple[int, int]]
"""Each file's time of last change in nanoseconds, and its size in bytes."""


def files_state() -> State:
    """Return the current state of the files that definitions depend on; missing files are left out."""
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


def reload_when_changed(reload: Callable[[], str | None], answers: Callable[[], bool]) -> None:
    """Call `reload` after each change of the files and when the code server does not answer, in an
    endless loop.

    Args:
        reload: Loads the code location, and returns the error message if that fails, else None. After
            an error, the next change triggers a reload as usual.
        answers: Whether the code server answers. If it does not, reloading is repeated until it does.
    """
    loaded, not_before = files_state(), 0.0
    while True:
        time.sleep(INTERVAL)
        current_state = files_state()
        changed = sorted(
            path
            for path in current_state.keys() | loaded.keys()
            if current_state.get(path) != loaded.get(path)
        )
        if not changed and (time.monotonic() < not_before or answers()):
            continue
        loaded, problem = current_state, reload()
        not_before = time.monotonic() + RETRY_SECONDS
        outcome = "Definitions are loaded again"
        if problem:
            outcome = (
                f"Definitions do not load, as the UI shows ({problem.strip().splitlines()[0]})"
            )
        reason = f"{', '.join(map(str, changed))} changed" if changed else NO_ANSWER
        print(f"{outcome}: {reason}.", flush=True)
