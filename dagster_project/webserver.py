"""Dagster's webserver with a guard, and with the reports, releases and model calls of the home.

The guard refuses requests of other sites, whose mutations Dagster's own webserver executes. This module
is used like `python -m dagster_webserver`; `dev.py` starts it (docs/decisions/0077).
"""

import os
import sys
import threading
from typing import Any

from dagster_webserver import app, cli
from dagster_webserver.webserver import DagsterWebserver
from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
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
    "GET /graphql answers queries only. Send mutations by POST, as JSON: "
    '{"query": "...", "variables": {}}.'
)


class Webserver(DagsterWebserver):
    """The UI, and below `/loom` what the home has for reading."""

    def build_middleware(self) -> list[Middleware]:
        """Dagster's middleware behind the guard, for all routes and websockets."""
        return [Middleware(RequestGuard, variable=UI_VARIABLE), *super().build_middleware()]

    async def graphql_http_endpoint(self, request: Request) -> Response:
        """Answer GraphQL; by GET, which a link or an image on any page sends, queries only."""
        if request.method in SAFE_METHODS and not _asks_only(request):
            return PlainTextResponse(_ONLY_POST, 405, {"allow": "POST"})
        answer: Response = await super().graphql_http_endpoint(request)
        return answer

    def build_routes(self) -> list[BaseRoute]:
        """The UI's routes; its last one takes every path that no other did."""
        return [*routes_of(home()), files_of(home()), *super().build_routes()]


def _asks_only(request: Request) -> bool:
    """Whether each document of the address can be read and has queries only."""
    try:
        documents = [parse(text) for text in request.query_params.getlist("query")]
    except (GraphQLError, RecursionError):
        # Too deep for this stack is not too deep for the one on which Dagster reads it.
        return False
    return all(
        part.operation == OperationType.QUERY
        for document in documents
        for part in document.definitions
        if isinstance(part, OperationDefinitionNode)
    )


def _watching(process_context: Any, *options: Any) -> Webserver:
    """The webserver, next to which the files that definitions depend on are watched."""

    def reload() -> str | None:
        process_context.reload_code_location(LOCATION)
        context = process_context.create_request_context()
        error = context.get_location_entry(LOCATION).load_error
        return error.message if error else None

    threading.Thread(target=reload_when_changed, args=(reload,), daemon=True).start()
    return Webserver(process_context, *options)


def main() -> None:
    """Run as `python -m dagster_webserver` does, with this webserver."""
    # Dagster's command takes no other webserver.
    app.DagsterWebserver = _watching  # type: ignore[misc,assignment]
    cli.uvicorn.run = _run_or_exit
    cli.main()


def _run_or_exit(*arguments: Any, **options: Any) -> None:
    """Run uvicorn, and end the process where it cannot listen on its port.

    Dagster's command would join a thread that reads its shutdown pipe until `dagster dev` ends.
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
