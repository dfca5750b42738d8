"""People in a browser: signing in, opening an item, pressing keys."""

import pytest
from playwright.sync_api import Browser, Page

from tests.review.pages import Site

WIDE = {"width": 1280, "height": 820}


def sign_in(
    browser: Browser,
    site: Site,
    name: str,
    locale: str = "en",
    *,
    tour: bool = False,
    **options: object,
) -> Page:
    """By link; whatever goes wrong in the page's scripts or against its policy fails the test."""
    page = browser.new_context(viewport=WIDE, locale=locale, **options).new_page()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: pytest.fail(f"{error}"))
    page.goto(site.link(name))
    page.locator("main button").press("Enter")
    page.wait_for_url(f"{site.address}/")
    if not tour:
        # Who has decided nothing yet is shown round.
        page.wait_for_function(
            "!document.querySelector('#tour[data-for]') || document.querySelector('#tour').open"
        )
        press(page, *(["Escape"] if page.locator("#tour").is_visible() else []))
    return page


def open_item(page: Page, site: Site, item_id: str) -> None:
    page.goto(f"{site.address}/items/{item_id}")
    page.wait_for_selector("html[data-ready]")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def overflow(page: Page) -> int:
    """Pixels that the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))
