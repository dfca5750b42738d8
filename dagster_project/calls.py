"""The page of model calls by itself, on loopback: `make calls`.

What belongs here: what is looked at before the server starts, and its end. The page is
`resources/calls_page`; the UI serves it, too (`webserver.py`).
"""

import sys

from dagster_project.ports import HOST, require_free, wanted_port
from methods.errors import UserError
from resources.home import home
from resources.reports.addresses import CALLS
from resources.stores import require_folder

PORT = 8095


def main() -> int:
    """Serve until Ctrl-C (port from `PORT`, 8095 by default). 2 for what is wrong before it starts."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from resources.calls_page.pages import routes_of

    try:
        require_folder()
        port = wanted_port(PORT)
        require_free(port)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    to_calls = Route("/", lambda _request: RedirectResponse(CALLS))
    app = Starlette(routes=[to_calls, *routes_of(home())])
    print(f"Model calls on http://{HOST}:{port}{CALLS} (Ctrl-C stops it)", flush=True)
    uvicorn.run(app, host=HOST, port=port, log_level="warning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
