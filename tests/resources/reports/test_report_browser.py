"""Reports in a real browser: as wide as the screen, and their switches."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from methods.release_diff_text import RepeatedResults
from resources.images.store import ImageStore
from resources.reports.benchmark_report import render_report, write_report
from resources.reports.report_corpus import CorpusPageInput, render_corpus
from resources.reports.report_index import line_of, render_index
from tests.resources.reports.attribution_rows import convbench_data
from tests.resources.reports.diff_rows import diff_page, on_common
from tests.resources.reports.report_rows import (
    compared,
    lengths_row,
    part,
    rank,
    report_data,
    scores,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120), pytest.mark.slow]
LONG = "an-organization/" + "A" * 60 + "-7b-instruct"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ImageStore:
    return ImageStore(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def folder(store: ImageStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with all of its sections and long names, its index, and two releases compared."""
    folder, data = tmp_path_factory.mktemp("reports"), report_data(store)
    data["scores"] += [
        *scores(LONG, 50.0),
        *scores("baseline:empty", 10.0),
        *scores("strong", 70.0, judge="panel", judge_version=f"mean of gpt-4o {LONG}"),
        *(part("strong", 70.0, "turn", str(turn)) for turn in range(1, 5)),
    ]
    rank(data, LONG, None)
    data["comparisons"] += [compared("strong", LONG, 28.0), compared(LONG, "weak", 9.0)]
    data["examples"][0]["turns"][0]["answers"][0]["answer"] = f"See https://{LONG * 3}."
    data["answer_lengths"] = [lengths_row("", 25), lengths_row(LONG, 50, 2.0)]
    write_report(folder / "r.html", render_report(data, store))
    convbench = convbench_data(data, {LONG: (0.5, 0.5), "m": (1.0, 1.0)}, n=20)
    write_report(folder / "convbench.html", render_report(convbench, store))
    ids = ("a-release-" + "1" * 50, "a-release-" + "2" * 50)
    index = render_index([line_of(data, "r.html")], "2026-03-03T10:02:11+00:00", [ids])
    same, other = (on_common(name, 5.0, RepeatedResults(2, 1, 0)) for name in ("weak", LONG))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", str(folder / "home"))
        write_report(folder / "diff.html", diff_page(store, same, other))
    write_report(folder / "index.html", index)
    corpus = render_corpus(corpus_of(LONG, data["examples"][0]["images"]), store, "2026-03-03")
    write_report(folder / "corpus.html", corpus)
    return folder


def corpus_of(name: str, pictures: Sequence[Mapping[str, Any]]) -> CorpusPageInput:
    """A corpus whose every name is this long, with these pictures."""
    numbers = ("n_shards", "n_rows", "n_pages", "n_entries", "n_images", "n_bytes", "n_clusters")
    more = ("n_clustered", "n_sets", "n_dialogues", "n_imported")
    shard = {"n_rows": 1, "n_entries": 1, "n_rejected": 1, "n_left_out": 1}
    example = {"reference": f"https://{name * 3}", "detail": name}
    left_out = {"step": "ingest.wit_rows", "reason": name, "noun": "row", "n": 10**9}
    calls = {"n_answered": 10**9, "n_lost": 1, "prompt_tokens": 10**9, "completion_tokens": 1}
    cost = {"stage": name, **calls, "cost_usd": 1e6, "seconds": 1e9}
    of_set = {"set_id": name, "kind": "benchmark"}
    size = {"kind": "benchmark", "wanted": 9, "made": 8}
    return {
        "counts": {**dict.fromkeys((*numbers, *more), 10**9), "has_map": True},
        "languages": [{"language": name, "n_pages": 10**9, "n_entries": 1}],
        "licences": [{"licence": name, "n_images": 10**9}],
        "shards": [{"wit_shard": name, **shard}],
        "clusters": [{**picture, "title": name, "size": 7} for picture in pictures],
        "sets": [{**each, **of_set, "position": n} for n, each in enumerate(pictures, start=1)],
        "set_sizes": [{"n_images": n, **size} for n in range(2, 21)],
        "left_out": [{**left_out, "examples": [example]}],
        "checks": [{"kind": "benchmark", "outcome": "drop", "reason": name, "n": 1}],
        **{"review": [], "agreement": [], "effort": []},
        "costs": [{**cost, "last_day": date(2026, 3, day)} for day in range(1, 8)],
    }


def opened(browser: Browser, path: Path, width: int, fragment: str = "") -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{path.as_uri()}#{fragment}" if fragment else path.as_uri())
    return page


def test_models_are_sorted_by_a_column_and_filtered_by_text(browser, folder):
    page = opened(browser, folder / "index.html", 1280)
    table = page.get_by_role("region", name="Models by benchmarks")
    names = table.locator("tbody tr:visible th")
    expect(names).to_have_text(["strong", "weak", LONG])
    by_score = table.get_by_role("button", name="Sort by mmdu")
    by_score.click()
    expect(names).to_have_text(["strong", LONG, "weak"])
    by_score.press("Enter")
    expect(names).to_have_text(["weak", LONG, "strong"])
    expect(table.locator("th[aria-sort=ascending]")).to_have_count(1)
    page.get_by_label("Models with").fill("STRUCT an-org")
    expect(names).to_have_text([LONG])
    expect(page.get_by_role("status")).to_have_text("1 of 3")
    # A link has the words.
    other = opened(browser, folder / "index.html", 1280, urlsplit(page.url).fragment)
    expect(other.get_by_role("status")).to_have_text("1 of 3")
    other.close()
    page.get_by_label("Models with").fill("of nobody")
    expect(page.get_by_role("status")).to_have_text("none of 3")
    page.get_by_label("Models with").fill("")
    expect(names).to_have_count(3)
    page.close()


def test_two_or_three_models_are_chosen_for_a_comparison(browser, folder):
    page = opened(browser, folder / "r.html", 1280)
    matrix = page.get_by_role("region", name="Comparisons, Micro mean").first
    cells = matrix.locator("tbody td:visible")
    expect(cells).to_have_count(9)
    choice = page.get_by_role("group", name="Choose two or three models").first
    links = page.locator(".chosen:visible")
    choice.get_by_label("weak").check()
    expect(cells).to_have_count(9)
    choice.get_by_label("strong").check()
    expect(cells).to_have_count(4)
    expect(links).to_have_text("Items that made the difference: strong and weak")
    address = links.get_by_role("link").get_attribute("href")
    assert address == (
        "items/mmdu-0123456789.html#a=strong&b=weak&metric=Overall%20Score&judge=gpt-4o"
    )
    choice.get_by_label(LONG).check()
    expect(cells).to_have_count(9)
    last = links.get_by_role("link", name="all three")
    fields = parse_qs(urlsplit(last.get_attribute("href") or "").fragment)
    assert [fields[name] for name in "abc"] == [["strong"], ["weak"], [LONG]]
    choice.get_by_label(LONG).uncheck()
    # A link shows the same two.
    shared = urlsplit(page.url).fragment
    other = opened(browser, folder / "r.html", 1280, f"{shared}&model=gone")
    expect(other.locator(".chosen:visible").first).to_contain_text("Not among these models: gone.")
    matrix = other.get_by_role("region", name="Comparisons, Micro mean").first
    expect(matrix.locator("tbody td:visible")).to_have_count(4)
    other.close()
    page.close()


def test_a_link_opens_the_section_that_it_names(browser, folder):
    page = opened(browser, folder / "r.html", 1280)
    words = page.get_by_text("95 % interval", exact=True)
    expect(words).not_to_be_visible()
    page.get_by_role("link", name="How to read this").click()
    expect(words).to_be_visible()
    expect(page.get_by_role("heading", name="How to read this")).to_be_in_viewport()
    page.goto((folder / "r.html").as_uri() + "#card")
    expect(page.get_by_role("heading", name="Card")).to_be_in_viewport()
    page.close()


def test_pages_are_complete_without_their_script(browser, folder):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.get_by_role("region", name="Models by benchmarks")).to_contain_text("78.0")
    expect(page.locator("input[type=search], .sort")).to_have_count(0)
    page.goto((folder / "r.html").as_uri())
    page.locator("summary", has_text="How to read this").click()
    expect(page.get_by_text("95 % interval", exact=True)).to_be_visible()
    context.close()


@pytest.mark.parametrize(
    "name", ["r.html", "convbench.html", "index.html", "diff.html", "corpus.html"]
)
def test_a_page_is_as_wide_as_a_phone_and_its_policy_refuses_other_scripts_alone(
    browser, folder, name
):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((folder / name).as_uri())
    assert said == []
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'document.title = 1'}))"
    )
    assert page.title() != "1" and "Content Security Policy" in said[0]
    page.close()


def test_a_judge_and_a_way_of_averaging_are_chosen_with_mouse_and_keyboard(browser, folder):
    page = opened(browser, folder / "r.html", 1280)
    board = page.locator(".board:visible")
    expect(board).to_have_count(1)
    expect(board).to_contain_text("weak")
    page.locator("label", has_text="Panel").click()
    expect(board).to_have_count(1)
    expect(board).not_to_contain_text("weak")
    expect(page.locator(".pane:visible > .note", has_text="micro mean").first).to_be_visible()
    page.locator("label:visible", has_text="Macro mean").click()
    expect(page.locator(".pane:visible > .note", has_text="macro mean").first).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pane:visible > .note", has_text="micro mean").first).to_be_visible()
    page.close()
