"""The leaderboard of a report: order, ranks, forms, judges, comparisons and slices."""

import math
from typing import Any

import pytest

from resources.reports import report_blocks as block
from resources.reports.benchmark_report import render_report
from resources.reports.report_index import line_of, render_index
from resources.reports.report_leaderboard import panes_of, side_by_side
from tests.resources.page_outline import outline
from tests.resources.reports.report_rows import (
    JUDGE,
    OVERALL,
    VERSION,
    Page,
    answer,
    board,
    compared,
    failure,
    judgment,
    metric,
    missing,
    plain,
    rank,
    scores,
    tables_of,
    unrank,
)


def change(data: dict[str, Any], model: str, form: str, value: float, how: str = "micro") -> None:
    for row in data["scores"]:
        if (row["model"], row["form"], row["aggregation"]) == (model, form, how):
            row.update(value=value, ci_low=value - 4, ci_high=value + 3)


def below(data: dict[str, Any]) -> dict[str, block.Table]:
    """The tables below the first leaderboard."""
    return tables_of(panes_of(data)[0].views[0].below)


# --- Leaderboard -----------------------------------------------------------------------------------


def test_a_page_shows_its_card_ranks_ablations_pairs_examples_and_what_is_missing(
    data, store, golden
):
    change(data, "strong", "judged", 80.0)
    change(data, "strong", "common", 79.0)
    others = ("no-images:strong", "other-images:strong", "baseline:empty", "baseline:reference")
    for name, value in zip(others, (31.0, 35.0, 10.0, 95.0), strict=True):
        data["scores"] += scores(name, value)
    rank(data, others[0], None)
    rank(data, others[3], 1, 1, 1)
    for row in data["scores"]:
        row["label"] = f"{row['model']} (T=0)"
        row["mark"] = "2 of 12 items were asked." if row["model"] == "strong" else None
    data["comparisons"] += [
        compared("strong", others[0], 47.0, p_holm=0.0004),
        compared("strong", others[1], 4.0, p_holm=0.4),
    ]
    constant = {"n_answers": 40, "n_items": 20, "constant_score": 5.0, "constant_share": 1.0}
    judge = {"release_id": "r", "judge": JUDGE, "judge_version": VERSION}
    data["constant_judges"] = [judge | constant]
    data["missing"] = [missing("gone"), missing("weak")]
    data["unscored"] = ["gone", "new"]
    data["failures"] = [
        failure("weak", "answers", "timeout", 3),
        failure("a", "judgments", "no_dictionary", 4, asked="judge-2"),
        failure("b", "answers", "timeout", 9),
    ]
    other = judgment(judge="claude", score=4, explanation="It overlooks the mast.")
    data["examples"][0]["turns"][0]["answers"] += [
        answer("m", answer="See <ImageHere> <image-0> <image-99999999999999>."),
        answer("m", status="failed", reason="timeout", answer=None, judgments=[]),
        answer("n", status="refused", answer="I cannot.", judgments=[judgment(score=1), other]),
    ]
    html = render_report(data, store)
    golden("reports/page.txt", outline(html))
    links = Page(html).attributes("a", "href")
    items = "items/mmdu-0123456789.html#"
    assert {f"{items}outcome=lost&outcome.of=weak", f"{items}item=i1"} <= set(links)


@pytest.mark.parametrize(("coverage", "shown"), [(1.0, "100 %"), (0.9999, "99.9 %")])
def test_all_turns_are_judged_only_where_none_is_missing(data, store, coverage, shown):
    for row in data["scores"]:
        row["coverage"] = coverage
    # The share is of what the metric needs, which here is not that of the turns.
    assert board(render_report(data, store))[0][6] == f"11/12 {shown} of the units of the score"


def test_what_was_not_asked_for_want_of_a_picture_is_shown_as_lost_where_there_is_any(data, store):
    assert "Pictures lost" not in Page(render_report(data, store)).words
    lost = [{**row, "form": "all_items", "value": 37.5} for row in data["scores"]]
    data["scores"] += [row for row in lost if row["place"] < 2]
    data["n_without_picture"] = 1

    shown = Page(render_report(data, store)).words
    assert "Pictures lost" in shown and "37.5" in shown
    assert "In no score: 1 item, whose pictures the release does not have" in shown
    index = Page(render_index([line_of(data, "page.html")], data["generated"])).words
    assert "37.5 with lost pictures at the floor" in index


def test_a_model_without_a_rank_stands_after_those_with_one_and_says_why(data, store):
    data["scores"] += [*scores("half", 90.0), *scores("none", None, n_judged=0)]
    data["scores"] += scores("equal", 41.0)
    for name, place in (("half", None), ("none", None), ("equal", 2)):
        rank(data, name, place, 2)
    rows = board(render_report(data, store))
    assert [row[0] for row in rows] == ["1 1–1", "2 2–2", "2 2–2", "–", "–"]
    assert [row[1] for row in rows[1:3]] == ["equal", "weak"]
    assert rows[3][1] == "half No rank: Nothing was judged that this metric rests on."
    assert [row[2] for row in rows[3:]] == ["90.0 86.0–93.0", "– not scored"]


def test_each_way_of_averaging_has_its_own_order(data, store):
    change(data, "weak", "floor", 90.0, "macro")
    for row in data["scores"]:
        if row["aggregation"] == "macro":
            row |= {"rank": 1 if row["model"] == "weak" else 2, "rank_low": 1, "rank_high": 2}
    html = render_report(data, store)
    assert [row[1] for row in board(html)] == ["strong", "weak"]
    assert [row[1] for row in board(html, "Macro mean")] == ["weak", "strong"]
    assert board(html)[1][5] == "90.0", "the macro mean stands beside the micro mean"


def test_without_ranks_and_intervals_the_scores_give_the_order_and_that_is_said(data, store):
    unrank(data)
    data["scores"] += [*scores("aaa", None), *scores("zero", 0.0)]
    for row in data["scores"]:
        row |= {"ci_low": None, "ci_high": None}
    rows = board(render_report(data, store))
    assert [row[1] for row in rows] == ["strong", "weak", "zero", "aaa"]
    assert {row[0] for row in rows} == {"–"}
    assert rows[0][2] == "78.0 no interval"
    (chart, *_) = panes_of(data)[0].views[0].charts
    assert {(mark.left, mark.width) for mark in chart.marks} == {(None, None)}


def test_relatives_of_judge_and_writer_are_marked(data):
    tags = {
        "gpt-4o": ("is the judge",),
        "gpt-4o-mini": ("judge's family",),
        "claude-writer": ("is the writer",),
        "claude": ("writer's family",),
        "llava": (),
    }
    data["release"]["writers"] = ["claude-writer"]
    data["families"] = {name: name.partition("-")[0] for name in tags if name != "llava"}
    data["scores"] = [row for name in tags for row in scores(name, 50.0)]
    assert {who.name: who.tags for who in panes_of(data)[0].judged.candidates} == tags


# --- Metrics of any kind ---------------------------------------------------------------------------


def by_rule(data: dict[str, Any]) -> dict[str, Any]:
    """A benchmark by rule: one metric of 0 to 100, and one that may be infinite."""
    alignment = metric("alignment", low=2.0, high=None, inverse=True)
    metrics = {"overall": "accuracy", "metrics": [metric("accuracy", low=0.0), alignment]}
    data["benchmark"] |= {"name": "choices", "by_rule": True, "grades": (0, 1), **metrics}
    changed = {"judge": "rule", "judge_version": "choices@1"}
    data["scores"] = [
        row
        for model, value in (("good", 75.0), ("bad", 25.0))
        for row in scores(model, value, ["accuracy"], **changed)
        if row["aggregation"] == "micro"
    ]
    data["comparisons"] = []
    return data


def test_a_benchmark_by_rule_with_one_metric_has_no_switches(data, store):
    html = render_report(by_rule(data), store)
    page = Page(html)
    assert not page.attributes("input", "type")
    assert "Scored by rule, choices@1" in page.words
    assert "accuracy, micro mean, from 0 to 100, higher is better" in page.words
    assert 'class="metrics"' not in html and "Every two models compared" not in page.text
    assert [row[2] for row in board(html)] == ["75.0 71.0–78.0", "25.0 21.0–28.0"]


def test_an_infinite_score_is_shown_and_drawn_at_the_end(data, store):
    by_rule(data)
    for model, value in (("good", math.inf), ("bad", 4.0)):
        (row,) = (
            each
            for each in scores(model, 4.0, ["alignment"], judge="rule", judge_version="choices@1")
            if (each["aggregation"], each["form"]) == ("micro", "floor")
        )
        data["scores"].append({**row, "place": 1, "value": value, "ci_low": 3.0, "ci_high": value})
    html = render_report(data, store)
    assert [row[2] for row in board(html, table="metrics")] == ["∞ 3.00–∞", "4.00 3.00–4.00"]
    chart = panes_of(data)[0].views[0].charts[1]
    assert (chart.low, chart.high) == ("2.00", "4.00")
    assert [mark.dot for mark in chart.marks] == [100.0, 100.0]


# --- Judges ----------------------------------------------------------------------------------------


def test_judges_stand_side_by_side_the_profiles_first_one_in_front_the_panel_last(data, store):
    data["judges"] = ["second", JUDGE]
    for judge, value in (("panel", 60.0), ("aaa", 50.0), ("second", 70.0)):
        data["scores"] += scores("strong", value, judge=judge, judge_version="v1")
    panes = panes_of(data)
    assert [pane.title for pane in panes] == ["second", JUDGE, "aaa", "Panel"]
    _, note, sides = side_by_side(panes)
    assert isinstance(note, block.Note) and note.text.startswith(f"{OVERALL}, ")
    assert isinstance(sides, block.Table)
    line, other = sides.lines
    assert [plain(of[0]) for of in (line, other)] == ["strong", "weak"]
    assert [cell.text for cell in line[1:]] == ["70.0", "78.0", "50.0", "60.0"]
    assert [list(cell.small) for cell in line[1:]] == [[""], ["rank 1–1"], [""], [""]]
    page = Page(render_report(data, store))
    assert page.attributes("input", "name").count("judge") == 4
    # Of each judge the way of averaging, and below each way the form.
    checked = [attrs["name"] or "" for _, attrs in page.elements if "checked" in attrs]
    assert len(checked) == 13 and sum(not name.startswith("form") for name in checked) == 5


def test_two_versions_of_a_judges_prompt_are_two_judges(data):
    data["scores"] += scores("strong", 60.0, judge_version="mmdu/judge@00000000", n_judged=3)
    # The version that has judged most first, as the panel takes it.
    titles = [pane.title for pane in panes_of(data)]
    assert titles == ["gpt-4o · mmdu/judge@4bf65a46", "gpt-4o · mmdu/judge@00000000"]


# --- Comparisons -----------------------------------------------------------------------------------


def pairs_of(data: dict[str, Any]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The cells of the matrix that are not blank: difference, interval, p and verdict."""
    table = below(data)["Comparisons, Micro mean"]
    names = [head.title for head in table.heads[1:]]
    return {
        (first, second): (plain(cell), *cell.small, cell.kind.removeprefix("n").strip())
        for first, line in zip(names, table.lines, strict=True)
        for second, cell in zip(names, line[1:], strict=True)
        if cell.text != "·"
    }


def test_a_difference_is_not_marked_where_p_after_holm_is_005_or_there_is_no_test(data):
    for p_holm, p in ((0.05, "p = 0.010; Holm: 0.050"), (None, "no test")):
        data["comparisons"] = [compared("strong", "weak", 37.0, p_holm=p_holm)]
        assert pairs_of(data)["strong", "weak"][-2:] == (p, "")


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"higher_is_better": False}, "worse"),
        ({"inverse": True}, "worse"),
        ({"higher_is_better": False, "inverse": True}, "better"),
    ],
)
def test_better_is_what_the_metric_says(data, changed, verdict):
    data["benchmark"]["metrics"][0] |= changed
    assert pairs_of(data)["strong", "weak"][-1] == verdict
    unrank(data)
    names = [entry.who.name for entry in panes_of(data)[0].views[0].models]
    assert names[0] == ("strong" if changed.get("higher_is_better", True) else "weak")


def test_what_cannot_be_compared_is_left_blank(data, store):
    data["comparisons"] = [compared("strong", "weak", None, p_holm=None, detectable=None)]
    assert pairs_of(data) == {}
    assert "cannot be worked out" in Page(render_report(data, store)).text
    data["comparisons"] = []
    assert "Comparisons, Micro mean" not in below(data)


@pytest.mark.parametrize(
    ("effects", "n_clusters", "says"),
    [
        ([2.0, 3.0, 7.0], 40, "is 3.0 (2.0 to 7.0, by pair) points"),
        # (3 / 4)^10 = 0.056, (10 / 11)^30 = 0.057, (19 / 20)^60 = 0.046.
        ([6.5], 10, "one in 4 dialogues is missed by so few in about 5 of 100 cases"),
        ([6.5], 30, "one in 11 dialogues is missed"),
        ([6.5], 60, "on 60 independent dialogues"),
        # (9 / 20)^5 is not below 0.05, (11 / 20)^5 is.
        ([6.5], 5, "one in 2 dialogues is missed"),
    ],
)
def test_the_detectable_difference_is_one_sentence(data, store, effects, n_clusters, says):
    data["comparisons"] = [
        compared("strong", f"m{n}", 1.0, detectable=effect, n_clusters=n_clusters)
        for n, effect in enumerate(effects)
    ]
    words = Page(render_report(data, store)).words
    assert says in words and (n_clusters < 60 or "is missed" not in words)
