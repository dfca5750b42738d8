"""Links in Dagster's UI to reports, releases and model calls, and links between pages of the site.

A link in the UI is a path below the UI's address, without a host, a port or a file path, so it still
works if the workspace was moved or the UI has another port. A link of the site is relative to the
folder of reports.
"""

from urllib.parse import quote, urlencode

PREFIX = "/loom"
CALLS = f"{PREFIX}/calls"
"""The page of model calls (`resources/calls_page`)."""


def address(path: str) -> str:
    """Make the link to a file of the workspace, given by its relative path."""
    return f"{PREFIX}/{quote(path)}"


def calls_of(stage: str) -> str:
    """Make the link to the model calls of a stage (the table of an asset)."""
    return f"{CALLS}?{urlencode({'stage': stage})}"


def items_page(release_id: str, **shown: str) -> str:
    """Return the address of a release's sample browser, relative to the folder of reports.

    Args:
        release_id: The release.
        **shown: What the page initially shows: an `item`, or the items that explain the difference
            between the models `a` and `b` by a `metric` and a `judge`.
    """
    fragment = urlencode(shown, quote_via=quote, safe="")
    return f"items/{quote(release_id)}.html{'#' if shown else ''}{fragment}"
