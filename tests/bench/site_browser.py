"""How soon the sample browser answers to a reader, in headless Chromium and from a plain file server.

What belongs here: what a reader does, and how long until the browser has drawn what follows; each thing
in a browser that has loaded nothing yet. Which site it is: `site.py`.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.measuring import Row
from tests.browser import FLAGS
from tests.resources.site.made_site import plain_server

N_TIMES = 5
"""Of each step, whose median is told: each time in a browser that has loaded nothing."""
N_READ = 40
"""Items that are read one after the other."""
_BEGUN = """
new MutationObserver((_, observer) => {
  if (!document.body || !('ready' in document.body.dataset)) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.begun = performance.now(); }));
}).observe(document, { attributes: true, subtree: true });
"""
"""Notes when the first view is drawn, in milliseconds after the page was asked for."""
_DONE = """
([target, name, value]) => new Promise((resolve) => {
  const from = performance.now();
  const element = document.getElementById(target);
  const texts = () => [...element.querySelectorAll('.excerpt')].map((each) => each.textContent);
  new MutationObserver((_, observer) => {
    if (texts().includes('…')) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)));
  }).observe(element, { childList: true, subtree: target === 'list' });
  if (name === null) {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: value, bubbles: true }));
    return;
  }
  const control = document.getElementsByName(name)[0];
  control.value = value;
  control.dispatchEvent(new Event(control.type === 'search' ? 'input' : 'change', { bubbles: true }));
})
"""
"""Milliseconds until all that follows from a control or a key is drawn; what is typed waits."""
FILTERS = {
    "a label": {"label.task": "task 3"},
    "a score": {"score.of": "model-1", "score.max": "4"},
    "the mean score": {"score.max": "4"},
    "an outcome of any model": {"outcome": "answered"},
    "judges who differ": {"judges.min": "6"},
    "a length": {"length.of": "answer:model-2", "length.min": "400"},
    "two models": {"a": "model-1", "b": "model-2"},
    "an order": {"sort": "spread"},
}


def browsed(folder: Path, page: str) -> Row:
    """Milliseconds of a reader's steps on the page of a release in a site's folder.

    Raises RuntimeError without Chromium.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        raise RuntimeError("There is no browser to measure: install Debian's package chromium.")
    with plain_server(folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        address = f"{server}/{page}"
        first = [_begun(browser, address) for _ in range(N_TIMES)]
        filters = {name: _chosen(browser, address, chosen) for name, chosen in FILTERS.items()}
        searches = {
            f"search: {what}": _chosen(browser, address, {"q": query})
            for what, query in _queries(browser, address).items()
        }
        with _opened(browser, address) as opened:
            items = [_step(opened, "item", None, "j") for _ in range(N_READ)]
        browser.close()
    steps = {**filters, **searches}
    return {
        "first_view_ms": round(median(first)),
        **{f"{name}_ms": round(took) for name, took in steps.items()},
        "slowest_filter_ms": round(max(filters.values())),
        "slowest_search_ms": round(max(searches.values())),
        "item_ms": round(median(items)),
        "slowest_item_ms": round(max(items)),
    }


@contextmanager
def _opened(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.add_init_script(_BEGUN)
    page.goto(address)
    page.wait_for_function("window.begun !== undefined")
    # Scores and excerpts of the first list.
    page.wait_for_load_state("networkidle")
    yield page
    context.close()


def _begun(browser: Browser, address: str) -> float:
    with _opened(browser, address) as page:
        return float(page.evaluate("window.begun"))


def _chosen(browser: Browser, address: str, chosen: dict[str, str]) -> float:
    """The last control's time in the median; those before it say what it is of."""
    took = []
    for _ in range(N_TIMES):
        with _opened(browser, address) as page:
            took.append([_step(page, "list", *each) for each in chosen.items()][-1])
    return median(took)


def _step(page: Page, target: str, name: str | None, value: str) -> float:
    return float(page.evaluate(_DONE, [target, name, value]))


def _queries(browser: Browser, address: str) -> dict[str, str]:
    """Words of the site: one of most items, one of few, both, and two letters that many begin with."""
    with _opened(browser, address) as page:
        found: Any = page.evaluate(
            """async () => {
              const words = [...(await loom.wordsOf(Math.floor(loom.release.words.length / 2)))];
              const letters = words.filter(([word]) => /^[a-z]{3,}$/.test(word));
              letters.sort(([, a], [, b]) => b.length - a.length);
              return [letters[0][0], letters.at(-1)[0]];
            }"""
        )
    common, rare = found
    return {
        "common": f"{common} ",
        "rare": f"{rare} ",
        "both": f"{common} {rare} ",
        "beginning": common[:2],
    }
