"""Dagster's webserver with a guard, and with the reports, releases and model calls of the workspace.

The guard refuses requests from other sites, as Dagster's own webserver executes their mutations. This
module is used like `python -m dagster_webserver`; `dev.py` starts it (docs/decisions/0077).
"""

import os
import sys
import threading
from typing import Any

import dagster as dg
from dagster_webserver import app, cli
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from dagster_project.reloading import reload_when_changed
from dagster_project.run_tags import LOCATION
from resources.calls_page.pages import routes_of
from resources.files.home import home
from resources.publishing.server import files_of
from resources.web.ports import UI_VARIABLE, PortError, require_free
from resources.web.request_guard import SAFE_METHODS, RequestGuard

_uvicorn_run = cli.uvicorn.run
_ONLY_POST = (
    "GET /graphql shows a page for queries in a browser. Send queries and mutations by POST, as JSON: "
    '{"query": "...", "variables": {}}.'
)


class Webserver(DagsterWebserver):
    """The UI, and below `/loom` the reports, releases and model calls of the workspace."""

    def build_middleware(self) -> list[Middleware]:
        """Put the guard before Dagster's middleware, for all routes and websockets."""
        return [Middleware(RequestGuard, variable=UI_VARIABLE), *super().build_middleware()]

    async def graphql_http_endpoint(self, request: Request) -> Response:
        """Answer GraphQL by POST only: a link or an image on any web page sends a GET, and a query can
        take hours. A browser that opens the address gets GraphiQL.
        """
        shows_page = "text/html" in request.headers.get("accept", "")
        if request.method in SAFE_METHODS and not shows_page:
            return PlainTextResponse(_ONLY_POST, 405, {"allow": "POST"})
        answer: Response = await super().graphql_http_endpoint(request)
        return answer

    async def download_notebook(self, request: Request) -> Response:
        """Answer 404: no asset is a notebook, and Dagster would run the scripts of any notebook below
        the working directory in the browser, with access to the UI.
        """
        return PlainTextResponse("This UI shows no notebooks.", 404)

    def build_routes(self) -> list[BaseRoute]:
        """The routes of the workspace, then those of the UI, whose last one takes every other path."""
        return [*routes_of(home()), files_of(home()), *super().build_routes()]


def _watching(process_context: Any, *options: Any) -> Webserver:
    """Build the webserver, and watch the code server and the files that definitions depend on in a
    thread.
    """

    def entry() -> Any:
        return process_context.create_request_context().get_location_entry(LOCATION)

    def answers() -> bool:
        origin: Any = getattr(entry(), "origin", None)
        if not hasattr(origin, "create_client"):
            return True  # This webserver has no separate code server, as `dagster dev` starts it.
        try:
            origin.create_client().ping("")
        except dg.DagsterError:
            return False
        return True

    def reload() -> str | None:
        process_context.reload_code_location(LOCATION)
        if entry().load_error:
            # Dagster starts a new process before it reports that it could not stop the killed one.
            process_context.refresh_code_location(LOCATION)
        error = entry().load_error
        return error.message if error else None

    threading.Thread(target=reload_when_changed, args=(reload, answers), daemon=True).start()
    return Webserver(process_context, *options)


def main() -> None:
    """Run as `python -m dagster_webserver` does, with this webserver."""
    # Dagster's command has no option for another webserver.
    app.DagsterWebserver = _watching  # type: ignore[misc,assignment]
    cli.uvicorn.run = _run_or_exit
    cli.main()


def _run_or_exit(*arguments: Any, **options: Any) -> None:
    """Run uvicorn, and end the process if it cannot listen on its port.

    Otherwise Dagster's command joins a thread that reads its shutdown pipe until `dagster dev` ends.
    """
    try:
        _uvicorn_run(*arguments, **options)
    except SystemExit as error:
        try:
            require_free(options["port"])
        except PortError as refused:
            print(refused, file=sys.stderr, flush=True)
        os._exit(int(error.code or 0))


if __name__ == "__main__":
    main()
