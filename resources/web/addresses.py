"""Links to reports, releases and model calls, as the UI shows them, and from page to page of the site.

A link of the UI is a path below the UI's own address, without a host, a port or a path of a disk, so it
goes on working when the home has moved or the UI is on another port. A link of the site is relative to
the folder of reports.
"""

from urllib.parse import quote, urlencode

PREFIX = "/loom"
CALLS = f"{PREFIX}/calls"
"""The page of model calls (`resources/calls_page`)."""


def address(path: str) -> str:
    """The link to the file at `path`, relative to the home."""
    return f"{PREFIX}/{quote(path)}"


def calls_of(stage: str) -> str:
    """The link to the model calls of a stage, an asset's table."""
    return f"{CALLS}?{urlencode({'stage': stage})}"


def items_page(release_id: str, **shown: str) -> str:
    """Return the address of a release's sample browser, relative to the folder of reports.

    Args:
        release_id: The release.
        **shown: What the page opens with: an `item`, or the items that explain the difference of the
            models `a` and `b` by a `metric` and a `judge`.

    Returns:
        The address.
    """
    fragment = urlencode(shown, quote_via=quote, safe="")
    return f"items/{quote(release_id)}.html{'#' if shown else ''}{fragment}"
