"""The index of reports: order, best models, and the links."""

import re
from typing import Any

from resources.reports.report_index import Line, line_of, render_index
from tests.resources.reports.report_rows import Page, ranks, scores

HOSTILE = "</code></title><script>alert(1)</script><a href='javascript:x'>"


def line(data: dict[str, Any], **release: Any) -> Line:
    of = data["release"] | release
    return line_of({**data, "release": of}, f"{of['release_id']}.html")


def test_the_best_model_is_the_first_by_rank_before_the_first_judge(data) -> None:
    found = line(data)
    assert [(entry.who.name, entry.ranks) for entry in found.best] == [("strong", "1–1")]
    assert (found.benchmark, found.n_models, found.judge) == ("mmdu", 2, "judge gpt-4o")
    assert found.metric == "Overall Score, micro mean"


def test_models_that_share_the_first_rank_are_all_named(data) -> None:
    data["ranks"] = [*ranks("strong", 1), *ranks("weak", 1)]
    assert [entry.who.name for entry in line(data).best] == ["strong", "weak"]


def test_a_baseline_is_never_the_best_model(data) -> None:
    data["scores"] += scores("baseline:reference", 95.0)
    data["ranks"] = [
        *ranks("baseline:reference", 1),
        *ranks("strong", 2),
        *ranks("weak", 3),
    ]
    found = line(data)
    assert [entry.who.name for entry in found.best] == ["strong"] and found.n_models == 2


def test_releases_in_force_stand_first_and_each_links_to_its_page(data) -> None:
    unscored = {**data, "benchmark": None, "scores": [], "ranks": [], "comparisons": []}
    lines = [
        line(data, release_id="mmdu-1", in_force=False, created_at="2026-01-01"),
        line(data, release_id="mmdu-2", in_force=False, created_at="2026-02-01"),
        line(unscored, release_id="set-1", name="set", kind="instruction"),
        line(data, release_id="mmdu-3"),
    ]
    page = Page(render_index(lines, "2026-03-03T10:02:11+00:00"))
    assert page.attributes("a", "href") == [
        "mmdu-3.html",
        "set-1.html",
        "mmdu-2.html",
        "mmdu-1.html",
    ]
    assert "instruction set" in page.text and "not evaluated" in page.text
    assert "strong 78.0rank 1 (1–1)" in page.words


def test_a_release_that_was_answered_and_cannot_be_scored_is_told_from_one_not_evaluated(data):
    unscored = {**data, "scores": [], "ranks": [], "comparisons": []}
    assert "not evaluated" in Page(render_index([line(unscored)], "2026-03-03")).text
    unscored["unjudgeable"] = ["a", "b", "no-images:a", "baseline:empty"]
    page = Page(render_index([line(unscored)], "2026-03-03")).words
    assert "answered, not scored2 models answered; the release has no references" in page
    assert "not evaluated" not in page
    # Its benchmark is known all the same.
    assert line(unscored).benchmark == "mmdu"


def test_without_ranks_and_without_releases_the_index_says_so(data) -> None:
    data["ranks"] = []
    assert "none has a rank" in Page(render_index([line(data)], "2026-03-03")).text
    assert "There is no report." in Page(render_index([], "2026-03-03")).text


def test_comparisons_of_releases_are_linked(data) -> None:
    assert "There is none yet." in Page(render_index([line(data)], "2026-03-03")).text
    page = Page(render_index([line(data)], "2026-03-03", [("mmdu-1", "mmdu-2")]))
    assert "mmdu-1 → mmdu-2" in page.text
    assert page.attributes("a", "href")[-1] == "diff/mmdu-1/mmdu-2.html"


def test_hostile_names_are_only_text_and_nothing_is_loaded(data) -> None:
    data["scores"] = scores(HOSTILE, 50.0)
    data["ranks"] = ranks(HOSTILE, 1)
    html = render_index([line(data, name=HOSTILE)], HOSTILE)
    page = Page(html)
    assert not {"script", "iframe", "img"} & {tag for tag, _ in page.elements}
    assert page.text.count("<script>alert(1)</script>") >= 2
    assert not re.search(r"url\(|@import", html)
