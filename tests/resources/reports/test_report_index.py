"""The index of reports: order, best models and links."""

import re
from typing import Any

from resources.reports import report_blocks as block
from resources.reports.report_index import ReleaseLine, line_of, matrix, render_index
from tests.resources.page_outline import outline
from tests.resources.reports.report_rows import HOSTILE, Page, plain, rank, scores, unrank


def line(data: dict[str, Any], **release: Any) -> ReleaseLine:
    of = data["release"] | release
    return line_of({**data, "release": of}, f"{of['release_id']}.html")


def test_the_best_models_are_the_first_by_rank_before_the_first_judge(data) -> None:
    found = line(data)
    assert [(entry.who.name, entry.ranks) for entry in found.best] == [("strong", "1–1")]
    assert (found.benchmark, found.n_models, found.judge) == ("mmdu", 2, "judge gpt-4o")
    assert found.metric == "Overall Score, micro mean"
    # A baseline is never the best.
    data["scores"] += scores("baseline:reference", 95.0)
    for name, place in (("baseline:reference", 1), ("strong", 2), ("weak", 2)):
        rank(data, name, place)
    found = line(data)
    assert [entry.who.name for entry in found.best] == ["strong", "weak"] and found.n_models == 2


def test_the_index_has_models_by_benchmarks_releases_and_comparisons(data, golden) -> None:
    for row in data["scores"]:
        row |= {"label": f"{row['model']} (T=0)", "n_clusters": 20}
        row |= {"mark": "2 of 3 items were asked." if row["model"] == "strong" else None}
    other = {**data, "scores": scores("strong", 30.0), "comparisons": []}
    rank(other, "strong", 1)
    unscored = {**data, "benchmark": None, "scores": [], "comparisons": []}
    answered = {**data, "scores": [], "comparisons": []}
    answered["unjudgeable"] = ["a", "b", "no-images:a", "baseline:empty"]
    lines = [
        line(data, release_id="mmdu-1", is_current=False, created_at="2026-01-01"),
        line(data, release_id="mmdu-2", is_current=False, created_at="2026-02-01"),
        line(unscored, release_id="set-1", name="set", kind="instruction"),
        line(answered, release_id="open-1", name="open"),
        line(data, release_id="mmdu-3"),
        line(other, release_id="mmiu-1", name="mmiu"),
    ]
    html = render_index(lines, "2026-03-03T10:02:11+00:00", [("mmdu-1", "mmdu-2")])
    golden("reports/index.txt", outline(html))
    links = Page(html).attributes("a", "href")
    names = ("mmdu-3", "mmiu-1", "open-1", "set-1", "mmdu-2", "mmdu-1")
    own = [link for link in links if link.removeprefix("items/").removesuffix(".html") in names]
    assert own[-12:] == [page for name in names for page in (f"{name}.html", f"items/{name}.html")]
    assert "diff/mmdu-1/mmdu-2.html" in links
    # The benchmark of a release without scores is known all the same.
    assert line(answered).benchmark == "mmdu"
    without = render_index([line(data)], "2026-03-03")
    assert "There is none yet." in Page(without).text


def test_without_ranks_and_without_releases_the_index_says_so(data) -> None:
    unrank(data)
    assert "none has a rank" in Page(render_index([line(data)], "2026-03-03")).text
    assert "There is no report." in Page(render_index([], "2026-03-03")).text


def cells(lines: list[ReleaseLine]) -> dict[str, list[block.Cell]]:
    """The lines of the matrix by model."""
    table = matrix(lines)
    assert isinstance(table, block.Table)
    return {plain(line[0]): list(line[1:]) for line in table.lines}


def test_the_matrix_has_releases_in_force_and_models_by_their_mean_rank(data):
    data["scores"] += [*scores("baseline:empty", 99.0), *scores("new", 90.0)]
    found = cells([line(data)])
    # Without a rank a model is last, and baselines are no models.
    assert list(found) == ["strong", "weak", "new"]
    assert found["new"][0].small[-1] == "no rank"
    assert matrix([line(data, is_current=False)]) is None
    assert 'id="models"' not in render_index([line(data, is_current=False)], "2026-03-03")


def test_hostile_names_are_only_text_and_nothing_is_loaded(data) -> None:
    data["scores"] = scores(HOSTILE, 50.0)
    rank(data, HOSTILE, 1)
    html = render_index([line(data, name=HOSTILE)], HOSTILE)
    Page(html).assert_hostile_is_text(2)
    assert not re.search(r"url\(|@import", html)
