"""The sample browser's looks: hostile text, from a folder and from servers, widths, contrast, paper."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.resources.calls_page.ledgers import serving
from tests.resources.site.made_site import HOSTILE, KEY, RELEASE, Visit, make_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.slow]

PAGE = f"reports/items/{RELEASE}.html"
PAIR = "a=strong&b=weak"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    make_site(home)
    return home


@pytest.fixture
def visit(browser: Browser, home: Path) -> Iterator[Visit]:
    """A page that is opened from its folder."""
    visit = Visit(browser, (home / PAGE).as_uri())
    yield visit
    visit.close()


def test_it_works_from_a_folder(visit):
    page = visit.page
    page.get_by_role("searchbox").fill("apple12")
    expect(page.locator("#count")).to_have_text("1 of 60 items")
    expect(page.locator("#list img")).to_have_js_property("naturalWidth", 320)
    page.get_by_label("My note").fill("seen")
    again = visit.open("item=item-12")
    expect(again.get_by_label("My note")).to_have_value("seen")


def test_beside_the_page_of_calls_a_key_leads_to_its_call(browser, home):
    with serving(home) as port:
        address = f"http://127.0.0.1:{port}/loom/{PAGE}"
        visit = Visit(browser, address)
        links = visit.page.locator("#item").locator(f'a[href="/loom/calls/{KEY}"]')
        assert links.count() > 3
        visit.page.get_by_label("My note").fill("kept here, too")
        expect(visit.open().get_by_label("My note")).to_have_value("kept here, too")
        visit.close()


def test_a_script_among_its_files_does_not_reach_the_ui_through_pages_or_workers(browser, home):
    items = home / "reports" / "items"
    (items / "evil.js").write_text(
        "document.onclick = () => { opened = open('/runs'); };"
        "worker = () => navigator.serviceWorker.register('evil.js').catch(error => error.name);"
    )
    (items / "evil.html").write_text("<p>Click</p><script src='evil.js'></script>")
    with serving(home) as port:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/loom/reports/items/evil.html")
        assert page.evaluate("worker()") == "SecurityError"
        page.click("p")
        page.wait_for_timeout(2_000)
        assert page.evaluate("opened.closed"), "for the page that opened it"
        page.context.close()


def test_hostile_text_is_text_and_the_page_is_as_wide_as_a_phone(visit):
    pairs = (f"item=item-07&{PAIR}", f"item=item-08&{PAIR}&c=baseline:empty")
    for part in pairs:
        page = visit.open(part)
        page.set_viewport_size({"width": 390, "height": 800})
        page.keyboard.press("o")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, part
    page = visit.open("item=item-07")
    item = page.locator("#item")
    expect(item.locator(".question")).to_contain_text(HOSTILE)
    expect(item.locator(".by-model h4")).to_have_text(
        ["strong settings", "weak (T=0.7) settings", HOSTILE, "baseline:empty"]
    )
    # Each of its tags would be an element; an address that is a script leads nowhere.
    assert item.locator("script, style, img[src=x], a[href^=javascript]").count() == 0
    expect(item.locator(".strip bdi").first).to_have_text(HOSTILE)
    # What turns the direction of writing round ends with its text: a score behind it stays 20.
    value = item.locator(".model-score", has_text=HOSTILE).locator(".value")
    expect(value).to_have_text(" 20")
    assert value.locator("xpath=preceding-sibling::bdi").inner_text() == HOSTILE
    page = visit.open("item=item-03")
    page.keyboard.press("o")
    expect(page.locator("#item").locator(".lost")).to_have_text(f"weak: timeout. {HOSTILE}")


def test_the_policy_of_the_page_lets_nothing_in(visit):
    refused = visit.page.evaluate(
        """async () => {
          const refused = [];
          const refuse = (event) => refused.push(event.effectiveDirective);
          addEventListener('securitypolicyviolation', refuse);
          const script = document.createElement('script');
          script.textContent = 'window.hit = 1';
          const image = new Image();
          const settled = new Promise((resolve) => { image.onerror = resolve; });
          image.src = 'https://example.org/x.png';
          document.body.append(script, image);
          document.body.setAttribute('onclick', 'window.hit = 2');
          await settled;
          document.body.click();
          // The browser reports a violation after the click has returned.
          for (let tries = 0; refused.length < 3 && tries < 250; tries++) {
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
          return [...refused, window.hit ?? null];
        }"""
    )
    assert sorted(refused[:-1]) == ["img-src", "script-src-attr", "script-src-elem"]
    assert refused[-1] is None
    visit.asked.clear()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), pytest.param("dark", 390, marks=pytest.mark.nightly)]
)
def test_axe_finds_nothing(browser, home, scheme, width):
    size = {"width": width, "height": 800}
    visit = Visit(browser, (home / PAGE).as_uri(), color_scheme=scheme, viewport=size)
    for part, key in (
        ("", ""),
        (f"q=apple&label.category=map&outcome=answered&{PAIR}&c=baseline:empty", ""),
        (f"item=item-03&{PAIR}", "o"),
        ("item=item-05", "?"),
    ):
        page = visit.open(part)
        if key:
            page.keyboard.press(key)
        found = Axe().run(page).response["violations"]
        assert found == [], (part, [(each["id"], each["nodes"][:2]) for each in found])
        page.close()
    visit.close()
