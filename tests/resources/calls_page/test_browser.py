"""Looking at model calls as people do it: the real page in a real browser, without a script."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from resources.images.store import ImageStore
from resources.web.addresses import CALLS, calls_of
from tests.doubles.one_colour import one_colour
from tests.resources.calls_page.ledgers import call, charge, keep, request_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow]

SIZES = tuple({"width": width, "height": 820} for width in (1280, 800, 390))
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><b>bold</b></style><style>*{display:none}"
    "\u202eback\x07 " + "W" * 10_000
)


@pytest.fixture
def site(port: int) -> str:
    return f"http://127.0.0.1:{port}"


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


def test_calls_are_filtered_opened_and_compared(home: Path, site: str, page: Page) -> None:
    keep(
        home,
        call(1, "A red ground.", stage="dialogue.summaries"),
        call(2, "A red tower."),
        call(3, "A blue tower.", request=request_of("What is it?")),
    )
    page.goto(site + calls_of("dialogue.answers"))
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_label("Text in request or reply").fill("blue")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_label("Stage")).to_have_value("dialogue.answers")
    page.get_by_role("link", name="2026-03-01 00:03:00").click()
    expect(page.get_by_role("heading", name="Reply")).to_be_visible()
    expect(page.locator(".reply")).to_have_text("A blue tower.")
    page.get_by_role("link", name="Compare with another").click()
    expect(page.get_by_role("status")).to_contain_text("Choose the call to compare with")
    page.get_by_role("row", name="A red tower.").get_by_role("link", name="with this").click()
    expect(page.get_by_role("heading", name="Two calls")).to_be_visible()
    expect(page.locator("del").first).to_have_text("blue")
    expect(page.locator("ins").first).to_have_text("red")


def test_a_picture_of_the_request_is_shown(home: Path, site: str, page: Page) -> None:
    image_id = ImageStore(home / "images").put(one_colour("red", (640, 400))).image_id
    one = call(1, request=request_of("Look:", {"image": image_id}))
    keep(home, one)
    page.goto(f"{site}{CALLS}/{one.key}")
    box = page.get_by_role("img", name=f"picture {image_id[:8]}").bounding_box()
    assert box is not None and (box["width"], box["height"]) == (160, 100)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size["width"])
def test_hostile_text_neither_runs_nor_bursts_the_page(
    home: Path, site: str, page: Page, size: dict[str, int]
) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.set_viewport_size(size)  # type: ignore[arg-type]
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
        page.goto(site + path)
        expect(page.locator("main")).to_contain_text("alert(1)")
        assert page.locator("main b, main script, main style, main img").count() == 0
        assert overflow(page) <= 0, path
    assert dialogs == []
