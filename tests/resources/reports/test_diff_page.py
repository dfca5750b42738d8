"""The page of two releases side by side: what it shows, and that it loads nothing."""

import re

import pytest

from methods.evaluation.common_items import CommonScore
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.release_diff import difference
from methods.release_diff_text import RepeatedResults
from resources.reports.diff_page import diff_link, diff_pages, page_of, render_diff
from tests.resources.page_outline import outline
from tests.resources.reports.diff_rows import GENERATED, contents, diff_page, on_common
from tests.resources.reports.report_rows import HOSTILE, Page

pytestmark = pytest.mark.usefixtures("loom_home")


def test_changes_of_items_and_scores_on_common_items_are_shown_and_marked(store, golden):
    html = diff_page(
        store,
        on_common("up", 5.0, RepeatedResults(2, 1, 1)),
        on_common("level", 0.5, RepeatedResults(2, 0, 0)),
        on_common("down", -5.0, RepeatedResults(2, 0, 0)),
    )
    # Ids of images are hashes of what Pillow writes.
    golden("reports/diff.txt", re.sub(r"\b[0-9a-f]{12}\b", "ID", outline(html)))
    # A changed text is marked word by word; two pictures before, one after, one that is not stored.
    assert "Which of them is <del>red</del><ins>blue</ins>?" in html
    assert "<del>A</del><ins>B</ins>" in html
    assert html.count('<img src="data:image/jpeg;base64,') == 3 and html.count("not stored") == 1
    still = Page(diff_page(store, on_common("still", 0.0, RepeatedResults(2, 2, 2))))
    assert "all the same calls" in still.words and "More metrics" not in still.words
    # A deviation that falls is better, as its inverse rises.
    spread = GroupSpread(name="Alignment", observation="score", lowest=4.5)
    steadier = CommonScore(spread, 1.0, 2.0, -0.5, -0.6, -0.4, 2, 2)
    of = on_common("steady", 0.0, RepeatedResults(2, 0, 0))._replace(scores=[steadier])
    assert re.search(r'class="n better"><b>−0\.5', diff_page(store, of))
    # A model may lack the leading metric of the others.
    both = diff_page(store, on_common("full", 0.5, RepeatedResults(2, 0, 0)), of)
    assert re.search(r'>steady</span></th>(<td class="n">–</td>){3}<td', both)


def test_without_scores_the_page_says_what_to_do(store):
    assert "also_on" in Page(diff_page(store)).text
    other = contents("toy-2", {"other": {}}, store)
    same = contents("toy-1", {"same": {}}, store)
    said = Page(render_diff(same, other, difference(same, other), [], store, GENERATED)).text
    assert "No item is the same in both" in said


def test_many_items_are_cut_and_long_texts_too(store):
    first = contents("toy-1", {}, store)
    second = contents("toy-2", {f"i{n}": {} for n in range(60)}, store)
    page = Page(render_diff(first, second, difference(first, second), [], store, GENERATED))
    assert "10 more items are not shown." in page.words
    long = contents("toy-2", {"i": {"question": "why " * 9000}}, store)
    short = contents("toy-1", {"i": {}}, store)
    assert len(render_diff(short, long, difference(short, long), [], store, GENERATED)) < 40_000


def test_hostile_texts_are_only_text_and_nothing_is_loaded(store):
    first = contents("toy-1", {"i": {}}, store)
    said = {"question": HOSTILE, "choices": [HOSTILE], "labels": {HOSTILE: HOSTILE}}
    second = contents("toy-2", {"i": said, HOSTILE: {}}, store, name=HOSTILE)
    common = [on_common(HOSTILE, 1.0, RepeatedResults(2, 0, 0))]
    html = render_diff(first, second, difference(first, second), common, store, GENERATED)
    Page(html).assert_hostile_is_text(4)
    assert not re.search(r"url\(|@import", html)


def test_a_page_links_to_the_index_and_to_reports_that_there_are_and_the_index_to_it(
    store, loom_home
):
    (loom_home / "reports" / "items").mkdir(parents=True)
    for name in ("toy-2.html", "items/toy-2.html"):
        (loom_home / "reports" / name).write_text("")
    links = Page(diff_page(store)).attributes("a", "href")
    assert links[0] == "../../index.html"
    assert {"../../toy-2.html", "../../items/toy-2.html"} <= set(links)
    assert any(link.startswith("../../items/toy-2.html#item=") for link in links)
    assert not any("toy-1" in link or "built-in" in link for link in links)
    # The index finds the pages that there are.
    assert diff_pages() == []
    for ids in (("b", "c"), ("a", "c")):
        page_of(*ids).parent.mkdir(parents=True, exist_ok=True)
        page_of(*ids).write_text("")
    assert diff_pages() == [("a", "c"), ("b", "c")]
    assert (loom_home / "reports" / diff_link("a", "c")).is_file()
