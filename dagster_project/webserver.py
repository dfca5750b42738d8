"""Dagster's webserver with the home's reports, releases and model calls beside the UI.

What belongs here: the additional routes. Dagster's own command starts the server; `dev.py` starts this
module in its place.
"""

from dagster_webserver import app, cli
from dagster_webserver.webserver import DagsterWebserver
from starlette.routing import BaseRoute

from resources.calls_page.pages import routes_of
from resources.home import home
from resources.reports.server import files_of


class Webserver(DagsterWebserver):
    """The UI, and below `/loom` what the home has for reading."""

    def build_routes(self) -> list[BaseRoute]:
        """The UI's routes; its last one takes every path that no other did."""
        return [*routes_of(home()), files_of(home()), *super().build_routes()]


def main() -> None:
    """What `python -m dagster_webserver` does, with this webserver."""
    app.DagsterWebserver = Webserver  # type: ignore[misc]
    cli.main()


if __name__ == "__main__":
    main()
