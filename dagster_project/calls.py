"""The page of model calls by itself, on loopback.

What belongs here: what is looked at before the server starts, and its end. The page is
`resources/calls_page`; the UI serves it, too (`webserver.py`).
"""

from resources.home import home
from resources.ports import HOST, require_free
from resources.reports.addresses import CALLS
from resources.stores_of_home import require_folder


def serve(port: int) -> int:
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
