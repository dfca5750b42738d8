"""Looking at model calls as people do it: the real page in a real browser, without a script."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from resources.web.addresses import CALLS
from tests.resources.calls_page.ledgers import call, charge, keep, request_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow]

SIZES: tuple[ViewportSize, ...] = ({"width": 1280, "height": 820}, {"width": 390, "height": 820})
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><b>bold</b></style><style>*{display:none}"
    "\u202eback\x07 " + "W" * 10_000
)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport=SIZES[0])
    page.set_default_timeout(60_000)
    yield page
    page.close()


def overflow(page: Page) -> int:
    """Pixels that boxes and texts are wider than the window, asked without a script in the page."""
    devtools = page.context.new_cdp_session(page)
    shown = devtools.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})["documents"][0]
    devtools.detach()
    right = [left + width for left, _, width, _ in shown["layout"]["bounds"]]
    assert len(right) > 10 and page.viewport_size is not None
    return int(max(right) - page.viewport_size["width"])


def test_hostile_text_neither_runs_nor_bursts_the_page(home: Path, port: int, page: Page) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    fields = dict.fromkeys(("model", "endpoint", "run", "finish_reason"), HOSTILE)
    one = call(1, HOSTILE, request_of(HOSTILE, {"image": HOSTILE}), reasoning=HOSTILE, **fields)
    two = charge(2, HOSTILE, HOSTILE, request_of("two " + HOSTILE), stage=HOSTILE)
    keep(home, one, two)
    for path in (
        CALLS,
        f"{CALLS}/{one.key}",
        f"{CALLS}/{two.key}",
        f"{CALLS}?a={one.key}&b={two.key}",
    ):
        page.goto(f"http://127.0.0.1:{port}{path}")
        expect(page.locator("main")).to_contain_text("alert(1)")
        assert page.locator("main b, main script, main style, main img").count() == 0
        for size in SIZES:
            page.set_viewport_size(size)
            assert overflow(page) <= 0, path
    assert dialogs == []
