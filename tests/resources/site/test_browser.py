"""The sample browser in a real browser: what is found, what is shown of an item, links, keys, notes."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from methods.evaluation.statistics.bootstrap import ClusterTotals
from methods.evaluation.statistics.intervals import difference_bounds
from tests.doubles.serving import serving_folder
from tests.resources.site.made_site import HAN, KEY, RELEASE, Visit, make_site, score

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.slow]
"""To open the site takes two seconds of CPU time: tests that use `page` share one."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    make_site(home)
    return home


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with serving_folder(home / "reports") as server:
        yield f"{server}/items/{RELEASE}.html"


@pytest.fixture(scope="module")
def shared_visit(browser: Browser, address: str) -> Iterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    visit.close()


@pytest.fixture
def page(shared_visit: Visit) -> Page:
    """The page that these tests share, with nothing chosen."""
    page = shared_visit.page
    page.keyboard.press("Escape")
    page.goto(f"{shared_visit.address}#nothing=chosen")
    shows(page, "60 items")
    return page


@pytest.fixture
def visit(page: Page, shared_visit: Visit) -> Visit:
    """The same, to open further pages."""
    return shared_visit


def follow(page: Page, part: str) -> None:
    """Follow a link that has `part` behind the '#'."""
    page.goto(f"{page.url.partition('#')[0]}#{part}")


def shows(page: Page, count: str) -> None:
    expect(page.locator("#count")).to_have_text(count)


def numbers(page: Page) -> list[int]:
    """Numbers of the items of the list's page, as people count them."""
    return [int(text) for text in page.locator("#list .number").all_text_contents()]


def heading(page: Page) -> str:
    return page.locator("#item-title").inner_text()


def search(page: Page, text: str) -> None:
    page.get_by_role("searchbox").fill(text)


def test_the_first_view_has_the_list_and_the_first_item(page):
    shows(page, "60 items")
    assert numbers(page) == list(range(1, 51))
    assert heading(page) == "Item 1"
    expect(page.locator("#list [aria-current] .number")).to_have_text("1")
    # The mean of the models' scores by the first judge, without the baseline: (90 + 90 + 20) / 3.
    expect(page.locator("#list .mean").first).to_contain_text("66.7")
    page.get_by_role("button", name="Next page").click()
    expect(page.locator("#list .number").first).to_have_text("51")
    assert numbers(page) == list(range(51, 61))


# --- Filters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({"category": "map"}, [n for n in range(60) if n % 3 == 1]),
        ({"language": "(none)"}, []),
        ({"outcome": "failed"}, [3]),
        ({"outcome": "refused", "outcome.of": "weak"}, [4]),
        ({"outcome": "lost", "outcome.of": "(every)"}, []),
        ({"a": "weak", "outcome": "lost", "outcome.of": "(every)"}, [3]),
        (
            {"outcome": "answered", "outcome.of": "(every)"},
            [n for n in range(60) if n not in (3, 4)],
        ),
        ({"outcome": "refused", "outcome.of": "(no)"}, [n for n in range(60) if n != 4]),
        ({"score.of": "(highest)", "score.max": "80"}, [n for n in range(60) if n % 2]),
        (
            {"a": "weak", "b": "strong", "score.of": "(lowest)", "score.min": "61"},
            [*range(0, 60, 10)],
        ),
        ({"score.of": "weak", "score.min": "0"}, [n for n in range(60) if n != 3]),
        ({"a": "strong", "b": "weak", "diff.side": "b"}, [n for n in range(5, 60, 2)]),
        ({"judges.of": "strong", "judges.min": "40"}, [n for n in range(60) if n % 2]),
        ({"length.of": "turns", "length.min": "2"}, [1, 3]),
        ({"length.of": "answer:weak", "length.min": "1000"}, [7]),
    ],
    ids=str,
)
def test_a_filter_finds_what_it_says(page, chosen, found):
    for name, value in chosen.items():
        name = f"label.{name}" if name in ("category", "language") else name
        control = page.locator(f'[name="{name}"]')
        if control.evaluate("each => each.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)
    if chosen.get("diff.side"):
        # 1, where weak is better by 20 as well, is found first: order is by number among equals.
        found = [1, *found]
    shows(page, "60 items" if len(found) == 60 else f"{len(found)} of 60 items")
    # Where two are compared, the largest difference comes first.
    assert len(found) > 50 or sorted(numbers(page)) == sorted(n + 1 for n in found)
    page.get_by_role("button", name="Clear filters").click()
    shows(page, "60 items")


def test_what_is_on_is_seen_and_taken_away_one_by_one(page):
    page.get_by_label("category").select_option("map")
    search(page, "apple")
    shows(page, "19 of 60 items")
    page.get_by_role("button", name="Remove filter: search apple").click()
    shows(page, "20 of 60 items")
    expect(page.get_by_role("searchbox")).to_have_value("")
    page.get_by_role("button", name="Remove filter: category: map").click()
    shows(page, "60 items")
    search(page, "nothing like it")
    shows(page, "0 of 60 items")
    expect(page.get_by_text("No item is as the search and the filters say.")).to_be_visible()
    search(page, "?!")
    shows(page, "60 items")


def test_beside_each_outcome_stands_how_many_items_it_finds(page):
    outcomes = page.get_by_label("Outcome", exact=True).locator("option")
    rest = ["given by the benchmark (0)", "refused (1)", "cut off by the token limit (0)"]
    rest += ["reasoning only (0)", "empty (0)", "failed (1)", "not asked (1)"]
    expect(outcomes).to_have_text(["any", "no answer (refusals aside) (1)", "answered (60)", *rest])
    model = page.locator('[name="outcome.of"]')
    model.select_option(label="every model")
    expect(outcomes.nth(2)).to_have_text("answered (58)")
    # The other filters count, and the outcome that is chosen does not.
    page.get_by_label("category").select_option("chart")
    expect(outcomes.nth(2)).to_have_text("answered (19)")
    page.get_by_label("Outcome", exact=True).select_option("answered")
    shows(page, "19 of 60 items")
    page.get_by_label("Model A").select_option("strong")
    expect(outcomes.nth(2)).to_have_text("answered (20)")
    expect(model.locator("option:checked")).to_have_text("each of A")
    expect(page.locator("#chips")).to_contain_text("each of A: answered")


def test_an_order_puts_items_without_a_value_last(page):
    page.get_by_label("Order").select_option("high:weak")
    expect(page.locator("#list .number").nth(1)).to_have_text("11")
    assert numbers(page)[:7] == [1, 11, 21, 31, 41, 51, 2]
    page.get_by_role("button", name="Last page").click()
    expect(page.locator("#list .number").last).to_have_text("4")
    page.get_by_label("Order").select_option("low:weak")
    expect(page.locator("#list .number").first).to_have_text("2")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("apple12", [12]),
        ("appl", [n for n in range(60) if n not in (5, 7, 8)]),
        ("APPLE1", [1, *range(10, 20)]),
        ("reason10 map", [10]),
        ("苹果", [5]),
        ("果红", [5]),
        ("התפוח", [8]),
        ("ﬁ", []),
        ("W" * 60, [7]),
        ("?!", list(range(60))),
    ],
)
def test_a_search_finds_items_with_all_words_the_last_as_a_beginning(page, query, found):
    search(page, query)
    shows(page, "60 items" if len(found) == 60 else f"{len(found)} of 60 items")
    assert numbers(page) == [n + 1 for n in found][:50]


# --- Comparison --------------------------------------------------------------------------------------


def test_two_models_are_compared_on_the_items_that_are_found(page):
    page.get_by_label("Model A").select_option("strong")
    page.get_by_label("Model B").select_option("weak")
    compared = page.get_by_role("region", name="Comparison")
    # Even: 24 by 30, and 6 equal; odd: 29 by -20, and item 4 without a score of weak. Item 2 has two
    # turns, each of which counts: (24 * 30 - 30 * 20) / 60.
    expect(compared).to_contain_text("Mean difference +2 (")
    expect(compared).to_contain_text("over 60 turns")
    expect(compared).to_contain_text("1 item without both scores left out")
    expect(compared.get_by_role("button")).to_have_text(
        ["A better 24", "equal 6", "B better 29", "End the comparison"]
    )
    # The largest difference first: 30 at the third item of the release, which is even.
    assert numbers(page)[:3] == [3, 5, 7]
    expect(page.locator("#list .difference").first).to_have_text("+30")
    compared.get_by_role("button", name="B better").click()
    shows(page, "29 of 60 items")
    expect(page.locator("#list .difference").first).to_have_text("−20")
    # The counts stay those of all that the other filters find.
    page.get_by_label("category").select_option("chart")
    expect(compared.get_by_role("button")).to_have_text(
        ["A better 8", "equal 2", "B better 9", "End the comparison"]
    )
    shows(page, "9 of 60 items")
    compared.get_by_role("button", name="End the comparison").click()
    shows(page, "20 of 60 items")
    expect(compared).to_be_hidden()
    expect(page.locator("#chips").get_by_role("button")).to_have_count(1)


def test_a_difference_has_its_sign_and_the_interval_of_the_items_that_are_found(page):
    # Of maps 1, 4, 7, ...: strong less weak is 30 for even ones but 0 for multiples of 10, else -20.
    numbers_found = range(1, 60, 3)
    differences = np.array([0 if n % 10 == 0 else -20 if n % 2 else 30 for n in numbers_found])
    weights = np.array([2 if n == 1 else 1 for n in numbers_found])
    totals = ClusterTotals(np.array([differences * weights]), np.array([weights]).astype(float))
    (bounds,) = difference_bounds(totals, np.array([100.0]), 0.95)
    mean = np.average(differences, weights=weights)
    follow(page, "a=strong&b=weak&label.category=map")
    low, high = (f"{end:+.1f}".replace("-", "−") for end in bounds)
    expect(page.get_by_role("region", name="Comparison")).to_contain_text(
        f"Mean difference {round(mean, 1):+g} (95 % interval {low} to {high}, 20 independent groups) "
        "over 21 turns"
    )
    # Where less is better, who has less is better.
    follow(page, "a=strong&b=weak&metric=Errors&judge=judge-1")
    compared = page.get_by_role("region", name="Comparison")
    expect(compared).to_contain_text("Mean difference +3 (")
    expect(compared).to_contain_text("over 60 items")
    expect(compared.get_by_role("button").first).to_have_text("A better 60")
    expect(page.locator("#list .difference").first).to_have_text("+3")


def test_three_models_make_three_pairs(page):
    for side, name in (("A", "strong"), ("B", "weak"), ("C", "baseline:empty")):
        page.get_by_label(f"Model {side}").select_option(name)
    pairs = page.get_by_role("region", name="Comparison").locator(".pair")
    expect(pairs).to_have_count(3)
    expect(pairs.nth(1)).to_contain_text("Mean difference +54.")
    expect(page.locator(".answers.is-3 > *")).to_have_count(3)
    # The items of another pair: it becomes the first.
    pairs.nth(2).get_by_role("button", name="better 59").click()
    shows(page, "59 of 60 items")
    expect(page.get_by_label("Model A")).to_have_value("weak")
    expect(page.get_by_label("Model C")).to_have_value("strong")


# --- One item ----------------------------------------------------------------------------------------


def test_an_item_has_all_that_is_known_of_it(page):
    page.locator("#list a").nth(1).click()
    item = page.locator("#item")
    expect(item).to_contain_text("Item 2")
    for text in (
        *("apple1 like?", "It is round1.", "Since it grew so.", "fruit1", "Apple 1", "CC BY 4.0"),
        *("anna, then no person (policy “none”)", "category: map", "revision 1", "A. Painter"),
    ):
        expect(item).to_contain_text(text)
    item.locator("summary", has_text="2 judgments").first.click()
    judged = item.locator(".judged").first
    expect(judged).to_contain_text(f"Judge judge-1 {score(1, 0)} turn")
    expect(judged).to_contain_text("Because of reason1.")
    expect(judged.locator("dl")).to_contain_text("Accuracy7")
    # Calls are named; they are links only beside the page of calls.
    assert item.locator(f'[title="{KEY}"]').count() > 3
    assert item.locator('a[href*="calls"]').count() == 0
    given = "Answer that the benchmark gives"
    expect(page.get_by_text(given)).to_have_count(1)
    follow(page, "item=item-03")
    expect(page.get_by_role("heading", name="Turn 2")).to_be_visible()
    expect(page.get_by_text(given)).to_have_count(0)


def test_a_request_is_shown_as_it_was_sent_with_its_tokens_and_seconds(page):
    answer = page.locator(".answer").first
    expect(answer).to_contain_text("1,200 + 34 tokens, 2.5 s")
    answer.get_by_role("button", name="request as sent").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text('params{"temperature":0.7}')
    expect(dialog.locator(".message")).to_have_text(
        ["systemAnswer briefly. ", "user<ImageHere> What is apple0 like? ▣ 1 "]
    )


def test_an_answer_is_searched_for_in_answers_alone(page):
    page.get_by_label("In", exact=True).select_option("answers")
    search(page, "fruit12")
    shows(page, "1 of 60 items")
    expect(page.locator("#chips")).to_contain_text("search in answers fruit12")
    search(page, "reason12")
    shows(page, "0 of 60 items")
    page.get_by_label("In", exact=True).select_option("")
    shows(page, "1 of 60 items")


def test_images_on_which_all_models_fail_come_first_and_lead_to_their_items(page):
    follow(page, "a=strong&b=weak")
    page.get_by_label("List", exact=True).select_option("images")
    expect(page.locator("#list")).to_be_hidden()
    images = page.locator("#by-image button")
    expect(images).to_have_count(20)
    # Of items with an odd number strong has 40 and weak 60, of the others strong has 90.
    expect(images.first).to_contain_text("3 items")
    expect(images.first).to_contain_text("strong 40")
    expect(images.first).to_contain_text("weak (T=0.7) 60")
    titles = page.locator("#by-image .excerpt").all_text_contents()
    assert {int(title.split()[1]) % 2 for title in titles[:10]} == {1}
    images.filter(has=page.get_by_text("Apple 3", exact=True)).click()
    shows(page, "3 of 60 items")
    assert sorted(numbers(page)) == [4, 24, 44]
    page.get_by_role("button", name="Remove filter: image").click()
    shows(page, "60 items")


def test_a_picture_opens_at_full_size_and_a_missing_one_says_so(page):
    page.get_by_role("button", name="Image 1: Apple 0").click()
    picture = page.get_by_role("dialog").get_by_role("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("each => each.naturalWidth") == 320
    expect(page.get_by_role("dialog")).to_contain_text("by A. Painter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    for place in (2, 6):
        page.locator("#list a").nth(place).click()
        missing = page.get_by_role("img", name=f"Image 1: Apple {place}, which is missing")
        expect(missing).to_be_visible()
        missing.click()
        expect(page.get_by_role("dialog")).to_contain_text(
            "is not stored" if place == 2 else "is missing"
        )
        page.keyboard.press("Escape")


# --- Links -------------------------------------------------------------------------------------------


def test_a_link_opens_the_same_item_filter_and_models(visit):
    page = visit.page
    page.get_by_label("Model A").select_option("strong")
    page.get_by_label("Model B").select_option("weak")
    page.get_by_label("category").select_option("chart")
    search(page, "apple ")
    search(page, "says fruit")
    page.get_by_label("Shown").select_option(label="Overall · judge-2")
    expect(page.locator("#comparison")).to_contain_text("Overall · judge-2")
    shows(page, "20 of 60 items")
    page.locator("#list a").nth(3).click()
    # By the second judge all differ by as much, and stand as in the release.
    expect(page.locator("#item-title")).to_have_text("Item 10")
    shown, listed, title = page.url, numbers(page), heading(page)
    other = visit.open(shown.partition("#")[2])
    assert (numbers(other), heading(other)) == (listed, title)
    shows(other, "20 of 60 items")
    expect(other.get_by_label("Model B")).to_have_value("weak")
    expect(other.get_by_role("searchbox")).to_have_value("says fruit")
    expect(other.get_by_label("category")).to_have_value("chart")
    expect(other.locator("#comparison")).to_contain_text("Overall · judge-2")
    page.locator("#list a").nth(4).click()
    expect(page.locator("#item-title")).to_have_text("Item 13")
    page.go_back()
    expect(page.locator("#item-title")).to_have_text("Item 10")


def test_a_link_from_a_report_names_a_metric_and_a_judge(page):
    for part, shown in (
        ("metric=Overall&judge=judge-2", "Overall · judge-2"),
        ("metric=Errors&judge=nobody", "Errors · judge-1"),
        ("metric=nothing&judge=nobody", "Overall · judge-1"),
    ):
        follow(page, part)
        expect(page.get_by_label("Shown").locator("option:checked")).to_have_text(shown)
    # A link to what there is not says so.
    follow(page, "item=nobody&a=nobody&label.category=nobody&sort=nobody&x=y&metric=no")
    expect(page.locator("#item")).to_contain_text("This release has no item nobody.")
    shows(page, "0 of 60 items")


# --- Keys --------------------------------------------------------------------------------------------


def test_items_are_read_by_keyboard(browser, address):
    visit = Visit(browser, address)
    page = visit.page
    for key, title in (("j", 2), ("ArrowRight", 3), ("k", 2), ("ArrowLeft", 1), ("k", 1)):
        page.keyboard.press(key)
        expect(page.locator("#item-title")).to_have_text(f"Item {title}")
    expect(page.locator("#item-title")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("jk?")
    assert heading(page) == "Item 1"
    shows(page, "0 of 60 items")
    page.get_by_role("searchbox").fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next item of those found")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("j")
    expect(page.locator("#said")).to_have_text("Item 2")
    visit.close()


# --- Notes and copies --------------------------------------------------------------------------------


def test_notes_are_kept_in_the_browser_and_exported(browser, address):
    visit = Visit(browser, address)
    page = visit.page
    page.keyboard.press("n")
    page.keyboard.type("A wrong\nreference: 错了 <b>")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page = visit.open("item=item-00")
    expect(page.get_by_label("My note")).to_have_value("A wrong\nreference: 错了 <b>")
    page.get_by_label("Only with a note of mine").check()
    shows(page, "1 of 60 items")
    page.get_by_role("button", name="My notes (1)").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    (line,) = saved.value.path().read_text().splitlines()
    note = json.loads(line)
    assert note.pop("changed").startswith("20")
    assert note == {
        **{"release_id": RELEASE, "item_id": "item-00", "number": 1},
        "note": "A wrong\nreference: 错了 <b>",
    }
    assert saved.value.suggested_filename == f"notes-{RELEASE}.jsonl"
    page.keyboard.press("Escape")
    page.get_by_label("My note").fill("")
    expect(page.get_by_role("button", name="My notes", exact=True)).to_be_visible()
    visit.close()


def test_an_item_is_copied_as_json(browser, address):
    visit = Visit(browser, address, permissions=["clipboard-read", "clipboard-write"])
    page = visit.page
    page.locator("#list a").nth(5).click()
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.locator("#said")).to_have_text("Item as JSON copied.")
    item = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert (item["release_id"], item["id"], item["number"]) == (RELEASE, "item-05", 6)
    assert HAN in item["turns"][0]["question"]
    assert item["answers"][0]["model"] == "strong" and item["answers"][0]["status"] == "answered"
    assert item["answers"][0]["judgments"][1]["judge"] == "judge-2"
    page.keyboard.press("l")
    expect(page.locator("#said")).to_have_text("Link copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    visit.close()
