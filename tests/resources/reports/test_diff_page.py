"""The page of two releases side by side: what it shows, and that it loads nothing."""

import re

import pytest

from methods.evaluation.common_items import CommonScore
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.release_diff import difference
from methods.release_diff_text import RepeatedResults
from resources.reports.diff_page import diff_link, diff_pages, page_of, render_diff
from tests.resources.reports.diff_rows import GENERATED, contents, diff_page, on_common
from tests.resources.reports.report_rows import HOSTILE, Page

pytestmark = pytest.mark.usefixtures("loom_home")


def test_items_are_counted_and_listed_with_what_differs(store):
    html = diff_page(store)
    words = Page(html).words.replace(" changed", "changed")
    assert "Added1 Removed1 Changed6 The same1 Asked and judged alike2" in words
    for what in (
        *("removed1 turn", "added1 turn", "changedquestion of turn 1", "changedkey of turn 1"),
        *("changedchoices", "changedorder of choices", "changedimages", "changedlabels"),
    ):
        assert what in words, what
    assert "1 question and 1 referencechanged" in words
    # A changed text is marked word by word; lists and images stand side by side.
    assert "Which of them is <del>red</del><ins>blue</ins>?" in html
    assert "<del>A</del><ins>B</ins>" in html
    assert "<ol><li>A boat</li><li>A kite</li></ol>" in html
    assert "<ol><li>A kite</li><li>A boat</li></ol>" in html
    # Two pictures before, one after and one that is not stored.
    assert html.count('<img src="data:image/jpeg;base64,') == 3 and html.count("not stored") == 1


def test_scores_on_common_items_are_marked_where_the_interval_leaves_out_zero(store):
    html = diff_page(
        store,
        on_common("up", 5.0, RepeatedResults(2, 1, 1)),
        on_common("level", 0.5, RepeatedResults(2, 0, 0)),
        on_common("down", -5.0, RepeatedResults(2, 0, 0)),
    )
    page = Page(html)
    assert re.search(r'class="n better"><b>\+5\.0</b><small>\+4\.0 – \+6\.0</small>', html)
    assert re.search(r'class="n worse"><b>−5\.0</b>', html)
    assert re.search(r'class="n "><b>\+0\.5</b>', html)
    assert "1 of 2 answers the same" in page.words and "More metrics" in page.words
    assert "Overall, macro mean" in page.words
    still = Page(diff_page(store, on_common("still", 0.0, RepeatedResults(2, 2, 2))))
    assert "all the same calls" in still.words and "More metrics" not in still.words
    # A deviation that falls is better, as its inverse rises.
    spread = GroupSpread(name="Alignment", observation="score", lowest=4.5)
    steadier = CommonScore(spread, 1.0, 2.0, -0.5, -0.6, -0.4, 2, 2)
    of = on_common("steady", 0.0, RepeatedResults(2, 0, 0))._replace(scores=[steadier])
    assert re.search(r'class="n better"><b>−0\.5', diff_page(store, of))


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


def test_a_page_links_to_the_index_and_to_reports_that_there_are(store, loom_home):
    (loom_home / "reports" / "items").mkdir(parents=True)
    for name in ("toy-2.html", "items/toy-2.html"):
        (loom_home / "reports" / name).write_text("")
    links = Page(diff_page(store)).attributes("a", "href")
    assert links[0] == "../../index.html"
    assert {"../../toy-2.html", "../../items/toy-2.html"} <= set(links)
    assert any(link.startswith("../../items/toy-2.html#item=") for link in links)
    assert not any("toy-1" in link or "built-in" in link for link in links)


def test_the_index_finds_the_pages_that_there_are(loom_home):
    assert diff_pages() == []
    for ids in (("b", "c"), ("a", "c")):
        page_of(*ids).parent.mkdir(parents=True, exist_ok=True)
        page_of(*ids).write_text("")
    assert diff_pages() == [("a", "c"), ("b", "c")]
    assert (loom_home / "reports" / diff_link("a", "c")).is_file()
