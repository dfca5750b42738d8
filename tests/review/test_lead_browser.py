"""A lead's page in a real browser, and the tour of who signs in for the first time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.review.browser import WIDE, overflow, press, sign_in
from tests.review.pages import Site, dialogue, make_site, serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.slow]

PHONE = {"width": 390, "height": 800}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    rules = "default: {annotators: 2, expert: disagreement}\n"
    with serving(make_site(tmp_path / "home", rules)) as served:
        served.store.update_queue([dialogue(served, f"number {n}") for n in range(6)])
        yield served


def test_a_lead_assigns_looks_and_releases(browser: Browser, site: Site) -> None:
    ada, anna, ben = (sign_in(browser, site, name) for name in ("ada", "anna", "ben"))
    ada.get_by_role("link", name="Lead").click()
    assignments = ada.locator("#assignments")
    assignments.get_by_label("Reviewer").select_option("anna")
    assignments.get_by_role("button", name="Assign").click()
    expect(assignments.get_by_role("row", name="anna")).to_contain_text("0 / 6")

    for page, keys in ((anna, ["a"]), (ben, ["r"])):
        press(page, "n")
        page.wait_for_selector("html[data-ready]")
        first = page.url
        press(page, *keys)
        if keys == ["r"]:
            page.get_by_role("combobox", name="Reason").select_option("incomplete")
        page.wait_for_timeout(1200)  # The form may be armed only a moment after it appears.
        press(page, "Control+Enter")
        page.wait_for_url(lambda url, first=first: url != first)

    ada.reload()
    people = ada.get_by_role("region", name="People")
    expect(people.get_by_role("rowheader")).to_have_text(["anna", "ben"])
    disputes = ada.get_by_role("region", name="In dispute")
    expect(disputes.get_by_role("row").nth(1)).to_contain_text("anna Accept")
    expect(disputes.get_by_role("row").nth(1)).to_contain_text("ben Reject")
    expect(assignments.get_by_role("row", name="anna")).to_contain_text("1 / 6")

    # Both were given their next item.
    ada.locator("#holds").get_by_role("button", name="Release: ben").click()
    expect(ada.get_by_role("status")).to_have_text("The item is free again.")
    assert [hold.annotator for hold in site.store.holds()] == ["anna"]

    for scheme in ("light", "dark"):
        ada.emulate_media(color_scheme=scheme)
        for size in (WIDE, PHONE):
            ada.set_viewport_size(size)
            assert overflow(ada) <= 0, (scheme, size)


def test_who_is_new_is_shown_round_once_by_keyboard(browser: Browser, site: Site) -> None:
    page = sign_in(browser, site, "anna", tour=True)
    tour = page.get_by_role("dialog", name="A tour of one minute")
    expect(tour).to_be_visible()
    headings = []
    for _ in range(4):
        headings.append(tour.get_by_role("heading", level=3).inner_text())
        press(page, "ArrowRight")
    assert headings == ["The queue", "An item", "The decision", "Everything by keyboard"]
    expect(tour).to_be_hidden()
    page.reload()
    expect(page.get_by_role("heading", name="Queue", exact=True)).to_be_visible()
    expect(tour).to_be_hidden()
    press(page, "?")
    page.get_by_role("button", name="A tour of one minute").click()
    expect(tour).to_be_visible()
    press(page, "ArrowRight", "ArrowLeft", "Escape")
    expect(tour).to_be_hidden()
    # The page's own keys work again.
    press(page, "n")
    page.wait_for_selector("html[data-ready]")
