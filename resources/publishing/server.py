"""Serve reports and releases of the workspace over HTTP, for reading in a browser.

`resources/web/page_guard.py` decides who is answered and what a page may do; the server is the UI's
(`dagster_project/webserver.py`).
"""

from functools import cache
from mimetypes import guess_type
from pathlib import Path
from posixpath import normpath

from anyio import to_thread
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from resources.files.object_storage import LISTING, SharedFiles, shared_files
from resources.reports.page import script_hash, site_script
from resources.web.addresses import PREFIX
from resources.web.page_guard import PageGuard, policy, policy_of_files

FOLDERS = ("reports", "releases")
"""The only folders of the workspace that are served."""
WITH_SCRIPTS = "reports/cluster/"
"""HTML pages with inline scripts. Each page has its own policy with the hashes of its scripts."""
OF_FILES = "reports/items/"
"""HTML pages with scripts in files: the sample browser (`resources/site`)."""
OF_SITE = "reports/"
"""Other HTML pages of the site, which share one script (`resources/reports/page.py`)."""
NO_SCRIPTS, OWN_SCRIPTS = policy(), policy(scripts="unsafe-inline")
FILES = policy_of_files()


def files_of(home: Path) -> Mount:
    """Create the route of a workspace's reports and releases, or of those in the shared bucket.

    The folder need not exist when the route is created.
    """
    shared = shared_files()
    routes = [
        Mount(f"/{name}", _Objects(shared, name) if shared else _Files(home / name))
        for name in FOLDERS
    ]
    return Mount(PREFIX, PageGuard(Starlette(routes=routes), _policy_of))


class _Files(StaticFiles):
    """Serves regular files of a folder. Paths that lead out of it, by `..` or a link, are not found."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, check_dir=False, html=True)
        self.config_checked = True


class _Objects:
    """Serves the current objects of a bucket under a name."""

    def __init__(self, shared: SharedFiles, name: str) -> None:
        self._shared, self._name = shared, name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with an object; an address that ends with a slash means the page index.html."""
        path = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        key = (
            f"{self._name}/{path}"
            if path and not path.endswith("/")
            else f"{self._name}/{path}index.html"
        )
        data = None
        if (
            scope["method"] in ("GET", "HEAD")
            and ".." not in key.split("/")
            and not key.endswith(LISTING)
        ):
            data = await to_thread.run_sync(self._shared.get, key)
        exists = data is not None
        kind = guess_type(key)[0] or "application/octet-stream"
        answer = Response(data, media_type=kind) if exists else PlainTextResponse("Not Found", 404)
        await answer(scope, receive, send)


def _policy_of(scope: Scope) -> str:
    path = normpath(scope["path"].removeprefix(scope.get("root_path", ""))).lstrip("/")
    if path.startswith(OF_FILES):
        return FILES
    if path.startswith(WITH_SCRIPTS):
        return OWN_SCRIPTS
    return _policy_of_site() if path.startswith(OF_SITE) else NO_SCRIPTS


@cache
def _policy_of_site() -> str:
    return policy(scripts=script_hash(site_script()))
