"""The items of a report: dots of the plot, what is cut, what came from outside."""

from typing import Any

from resources.images.store import ImageStore
from resources.reports.benchmark_report import render_report
from resources.reports.report_items import item_section, items_dots
from tests.resources.reports.report_rows import (
    Page,
    without_own_script,
)

Row = dict[str, Any]


def statistic(item_id: str, share: float, discrimination: float | None, *flags: str) -> Row:
    of = {"item_id": item_id, "n_models": 4, "share_right": share, "flags": list(flags)}
    return {**of, "discrimination": discrimination}


def subset(size: int, held_out: float, random: float, smallest: bool = False) -> Row:
    ends = {"held_out_low": -0.3, "held_out_high": 1.0, "random_low": 0.0, "random_high": 1.0}
    found = {"held_out": held_out, "random": random, "is_smallest": smallest, "why": None}
    return {"size": size, "n_items": 4, "tau": 1.0, "is_smallest_random": False, **found, **ends}


def flagged(**given: Any) -> Row:
    choices = {"A": "<b>red</b>", "B": "blue"}
    content = {"question": "<script>alert(1)</script>", "hint": None, "answer": "B"}
    votes = {"right_models": ["m"], "wrong_models": ["n"], "unknown_models": []}
    flag = {"flag": "text_only", "n_models": None, "discrimination": None, **votes}
    of = {"item_id": "one", "image_ids": ["0" * 64], "text": "", "decision": None, "flags": [flag]}
    return {**of, "content": {**content, "choices": choices}, **given}


def analysis(**given: Any) -> Row:
    filters = {"models": ["m", "n"], "min_models": 2, "n_items": 4, "n_flagged": 1, "why": None}
    return {
        "filters": [{"filter": "text_only", **filters, "n_undecided": 1}],
        "statistics": [
            statistic("one", 0.5, 0.5),
            statistic("two", 0.5, 0.5),
            statistic("three", 0.25, -1.0, "negative_discrimination"),
            statistic("four", 1.0, None, "everyone_right"),
        ],
        "flagged": [flagged()],
        "subsets": [subset(1, 0.5, 0.4), subset(2, 0.9, 0.7, True), subset(4, 1.0, 1.0)],
        **given,
    }


def test_items_of_the_same_difficulty_and_discrimination_share_a_dot(store: ImageStore) -> None:
    wrong, both = items_dots(analysis()["statistics"])
    assert (wrong.share_right, wrong.discrimination, wrong.n_items) == (0.25, -1.0, 1)
    assert (both.share_right, both.discrimination, both.n_items) == (0.5, 0.5, 2)
    assert both.words == "2 of 50% right, discrimination 0.50: one, two"
    section = item_section(analysis(), store)
    assert section is not None
    assert f"<title>{both.words}</title>" in section["difficulty"]
    assert 'aria-label="Held-out tau by size' in section["subsets"]["figure"]


def test_the_page_says_what_was_found_and_escapes_it(data: Row, store: ImageStore) -> None:
    html = render_report({**data, "item_analysis": analysis()}, store)
    assert "<script>" not in without_own_script(html) and "<b>red</b>" not in html
    words = Page(html).words
    for said in (
        "1 item of 4 flagged by 2 models; 1 undecided, with fewer than 2 known results.",
        "Every model has 1 item right",
        "1 of 2 right: m",
        "not queued",
        "image not stored",
        "1 of 4 items have no discrimination",
        "The ranking is kept by 2 chosen items, and by no random subset.",
    ):
        assert said in words


def test_a_reason_stands_in_the_place_of_what_there_is_not(data: Row, store: ImageStore) -> None:
    why = "2 models are too few: it takes 4."
    given = analysis(
        subsets=[{**subset(4, 0, 0), "tau": None, "why": why}],
        statistics=[statistic("one", 0.0, None)],
        flagged=[],
    )
    words = Page(render_report({**data, "item_analysis": given}, store)).words
    assert why in words and "None." in words
