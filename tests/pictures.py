"""`make pictures`: every picture of docs/pictures again, from a fresh demo home, with Chromium."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from methods.review import QueueItem, queue_item
from resources.files.home import REPO_ROOT
from resources.reports.figures import printable
from resources.web.addresses import address
from tests.browser import FLAGS
from tests.e2e.running import PAGE_PATIENCE, Run, Ui, demo
from tests.e2e.running import serving as serving_ui
from tests.resources.review.review_queue import verdict
from tests.review.browser import open_item, press, sign_in
from tests.review.items_of_every_kind import samples
from tests.review.pages import Site, make_site
from tests.review.pages import serving as serving_review

FOLDER = REPO_ROOT / "docs" / "pictures"
THE_DAY = "tests/e2e/test_a_day.py"
UI_SIZE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 800, "height": 820}
KINDS = (
    *("three_turns", "multiple_choice", "rewrite", "reference", "translation", "category"),
    *("extraction", "score"),
)
LED = "default: {annotators: 2, expert: disagreement}\ngold: 0.05\n"
"""The rules of the review whose lead's page is taken."""
CHINESE = "中文"
SETTLED = 1500
"""Milliseconds until what a page draws after its text is drawn."""


def main() -> int:
    """Take all pictures; the exit code of the last step."""
    chromium = shutil.which("chromium")
    missing = {
        "a browser: install Debian's package chromium": chromium is not None,
        "a font with Chinese characters: install Debian's fonts-noto-cjk": printable(CHINESE)
        == CHINESE,
    }
    for what in (what for what, is_there in missing.items() if not is_there):
        print(f"Pictures need {what}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        made = demo(home)
        if made.returncode:
            print(made.stdout[-2000:] + made.stderr[-2000:], file=sys.stderr)
            return made.returncode
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        with serving_ui(home) as ui:
            of_the_ui(browser, ui)
            of_calls(browser, ui)
            of_the_site(browser, ui)
        with serving_review(_site(Run(home, made.stdout))) as site:
            items = site.store.items(("dialogue", "rewrite", "reference"))
            of_review(browser, site)
        with serving_review(make_site(Path(folder) / "lead", LED)) as site:
            of_the_lead(browser, site, items)
        browser.close()
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", THE_DAY],
        cwd=REPO_ROOT,
        env={**os.environ, "LOOM_PICTURES": str(FOLDER)},
    ).returncode


# --- The UI ------------------------------------------------------------------------------------------


def of_the_ui(browser: Browser, ui: Ui) -> None:
    """The graph, an asset with its columns, the runs of `vlm-loom demo`, a report."""
    with _page(browser, {"width": 2300, "height": 1000}) as page:
        page.goto(f"{ui.address}/asset-groups")
        expect(page.get_by_text("evaluate").first).to_be_visible(timeout=PAGE_PATIENCE)
        page.get_by_text("Hide navigation").click()
        page.keyboard.press("Alt+E")  # Every group open.
        expect(page.get_by_text("leaderboard").first).to_be_visible(timeout=PAGE_PATIENCE)
        # Loaded again, the graph fits the window, and its boxes get the states of the assets.
        page.reload()
        expect(page.get_by_text("leaderboard").first).to_be_visible(timeout=PAGE_PATIENCE)
        page.wait_for_timeout(4 * SETTLED)
        _take(
            page,
            "asset-graph",
            # Beside the list of groups, below the page's head.
            clip={"x": 380, "y": 110, "width": 1920, "height": 860},
            style="button, input, [role=slider], [class*=lider] { visibility: hidden !important; }",
        )
    with _page(browser, UI_SIZE) as page:
        page.goto(f"{ui.address}/assets/evaluate/leaderboard")
        expect(page.get_by_text("Model that is scored.").first).to_be_visible(timeout=PAGE_PATIENCE)
        _take(page, "asset-columns")
        page.goto(f"{ui.address}/runs")
        expect(page.get_by_text("Success").first).to_be_visible(timeout=PAGE_PATIENCE)
        _take(page, "runs")
    (report,) = ui.run.warehouse.read("evaluate/report_paths").to_pylist()
    with _page(browser, {"width": 1000, "height": 1520}) as page:
        page.goto(f"{ui.address}{address(report['path'])}")
        _take(page, "report")


def of_calls(browser: Browser, ui: Ui) -> None:
    """One model call: an answer of the last turns, which have several pictures and earlier messages."""
    with _page(browser, {"width": 1280, "height": 900}) as page:
        page.goto(f"{ui.address}/loom/calls?stage=evaluate.answers&model=offline-careful")
        page.locator("tbody a").first.click()
        expect(page.get_by_role("heading", name="Rows made of it")).to_be_visible()
        _take(page, "calls")


def of_the_site(browser: Browser, ui: Ui) -> None:
    """The sample browser: two models compared on the items of a benchmark."""
    (report,) = ui.run.warehouse.read("evaluate/report_paths").to_pylist()
    path = f"reports/items/{Path(report['path']).name}"
    with _page(browser, {"width": 1280, "height": 900}) as page:
        page.goto(f"{ui.address}{address(path)}#a=offline-careful&b=offline-careless")
        expect(page.locator("body[data-ready]")).to_be_visible()
        _take(page, "site")


# --- Review ------------------------------------------------------------------------------------------


def of_review(browser: Browser, site: Site) -> None:
    """An item of every kind, what an expert sees of an edit, the queue, a small window in Chinese."""
    items: dict[str, list[str]] = {}
    for item in site.store.items():
        items.setdefault(item["kind"], []).append(item["item_id"])
    # Whoever decides is given the next item, which is locked then: the last one is far away.
    edited, *_, other = sorted(items["dialogue"])
    anna = sign_in(browser, site, "anna")
    for kind in KINDS:
        open_item(anna, site, sorted(items[kind])[0])
        _take(anna, f"review-{kind.replace('_', '-')}")
    open_item(anna, site, edited)
    _take(anna, "review-dialogue")
    press(anna, "j", "j", "e")
    anna.keyboard.type(" Nothing else is to be seen.")
    press(anna, "Escape", "Control+Enter")
    anna.wait_for_url("**/items/*")

    eva = sign_in(browser, site, "eva")
    _take(eva, "review-queue")
    open_item(eva, site, edited)
    _take(eva, "review-expert")

    ben = sign_in(browser, site, "ben", "zh-CN")
    ben.set_viewport_size(NARROW)
    open_item(ben, site, other)
    _take(ben, "review-chinese-800")


def of_the_lead(browser: Browser, site: Site, items: list[QueueItem]) -> None:
    """The tour of who is new, and the lead's page after a week of two annotators and an expert."""
    site.store.update_queue(items)
    today = datetime.now(UTC)
    made = []
    for number, item in enumerate(items[: len(items) * 2 // 3]):
        day = today - timedelta(days=6 - number % 7, hours=number % 5)
        for name in ("anna", "ben"):
            rejects = name == "ben" and number % 6 == 0
            made.append(
                verdict(
                    {**item},
                    name,
                    "reject" if rejects else "accept",
                    seconds=40.0 + 7 * (number % 9),
                    decided_at=day.isoformat(timespec="seconds"),
                )
            )
            if rejects and number % 4 == 0:
                by_expert = {"round": 2, "reviewer": "eva", "verdict": "accept", "reason": None}
                made.append(replace(made[-1], **by_expert))
    site.store.append(made)
    site.store.make_gold(5, "ada")
    for name in ("anna", "ben"):
        site.store.assign(name, "annotator", "ada", kind="dialogue", share=0.5)
        site.store.lock_item(name, "annotator")
    ada = sign_in(browser, site, "ada")
    ada.goto(f"{site.address}/lead")
    _take(ada, "review-lead", full_page=True)
    site.accounts.add("zoe", "annotator")
    zoe = sign_in(browser, site, "zoe", tour=True)
    expect(zoe.locator("#tour")).to_be_visible()
    _take(zoe, "review-tour")


def _site(run: Run) -> Site:
    """The demo's queue, with samples of the kinds that its data lacks, and its people."""
    queues = [
        run.warehouse.read("review/queue"),
        *(run.warehouse.select(f"evaluate.{name}_queue") for name in ("score", "extraction")),
    ]
    queue = [queue_item(row) for each in queues for row in each.to_pylist()]
    shown = sorted({image_id for item in queue for image_id in item["image_ids"]})
    site = make_site(run.home)
    site.store.update_queue([*samples(shown, {item["kind"] for item in queue}), *queue])
    return site


# --- Pages -------------------------------------------------------------------------------------------


@contextmanager
def _page(browser: Browser, size: ViewportSize) -> Iterator[Page]:
    page = browser.new_page(viewport=size)
    yield page
    page.close()


def _take(page: Page, name: str, **how: Any) -> None:
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=FOLDER / f"{name}.png", **how)
    print(f"docs/pictures/{name}.png", flush=True)


if __name__ == "__main__":
    sys.exit(main())
