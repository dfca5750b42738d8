"""Tables of results: what is bold, how intervals and ranks stand, and texts that are code in LaTeX."""

import math
import re
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from methods.results.analysis_tables import analyses
from methods.results.latex_and_markdown import NAMES, latex, latex_text, markdown
from methods.results.results_table import FLOOR, JudgeResults, by_judge, label_order
from methods.results.table_cells import ResultTable
from methods.results.tables import best_alone, tables

HOSTILE = "a_b & 50% #1 {x} \\input{y} $z$ ~ ^ | * `c` [d] <e>\nnew"

RESULT = {
    **{"benchmark": "mmdu", "release_id": "mmdu-1", "judge": "judge", "judge_version": "p@1"},
    **{"metric": "Overall Score", "aggregation": "micro", "place": 0, "form": FLOOR},
    **{"subset_label": "", "subset_value": ""},
}


def interval(value: float | None, reach: float) -> dict[str, float | None]:
    ends = {"ci_low": -reach, "ci_high": reach}
    return {end: None if value is None else value + n for end, n in ends.items()}


def model(name: str, value: float | None, rank: int | None, judge: str = "judge") -> dict[str, Any]:
    return {
        **{**RESULT, "judge": judge, "model": name, "label": name, "value": value},
        **interval(value, 2),
        **{"rank": rank, "rank_low": rank, "rank_high": rank and rank + 1},
        **{"judged_only": value and value + 0.5, "coverage": 1.0, "why": None, "mark": None},
        **{"n_items": 4, "n_turns": 20, "n_judged": 19, "n_failed": 7, "n_refused": 2},
        **{"n_truncated": 1, "n_reasoning_only": 5, "n_empty": 3, "n_clusters": 4},
    }


def pair(first: str, second: str, difference: float | None, p: float | None) -> dict[str, Any]:
    return {
        **{**RESULT, "first": first, "second": second, "difference": difference},
        **{**interval(difference, 2), "p": p, "p_holm": p and 2 * p, "n_clusters": 3},
    }


def slice_(name: str, label: str, value: str, score: float | None) -> dict[str, Any]:
    return {
        **{**RESULT, "subset_label": label, "subset_value": value, "model": name, "label": name},
        **{"value": score, **interval(score, 1), "n_clusters": 12},
    }


def best(name: str, value: str, score: float) -> dict[str, Any]:
    return finding("best", "", name, value, score)


def finding(measure: str, subject: str, other: str, value: str, score: float) -> dict[str, Any]:
    return {
        **{**RESULT, "measure": measure, "subject": subject, "other": other},
        **{"subset_label": "ability" if value else "", "subset_value": value, "value": score},
        **{**interval(score, 3), "n_clusters": 20, "n": 40},
        "p_holm": 0.01 if measure == "difference" else None,
    }


def trained(before: str, after: str, difference: float) -> dict[str, Any]:
    return {
        **{**RESULT, "before": before, "after": after, "trained_on": "mmdu-45k"},
        **{"value_before": 60.04, "value_after": 80.0, "difference": difference},
        **{**interval(difference, 5), "p": 0.001, "p_holm": 0.0021},
        **{"n_units": 20, "n_clusters": 12, "method": "paired t, CR2"},
    }


def shown(table: ResultTable) -> list[list[str | float | None]]:
    return [[cell.text or cell.number for cell in row] for row in table.rows]


def results(models, pairs=(), others=()) -> JudgeResults:
    """The results of one judge; `others` are scores of subsets and by other metrics."""
    return JudgeResults(judge="judge", version="p@1", scores=[*models, *others], differences=pairs)


def named(name: str, of: JudgeResults) -> ResultTable:
    return next(table for table in tables(of) if table.name == name)


BOARD = results(
    [model("good", 80.0, 1), model("fair", 60.04, 2), model("none", None, None)],
    [
        *(pair("good", "fair", 19.96, 0.01), pair("good", "none", None, None)),
        {**pair("good", "fair", 5.0, 0.9), "metric": "Richness"},
    ],
    [
        *(slice_("good", "turn", str(turn), 80.0 + turn) for turn in (1, 10, 9)),
        {**slice_("good", "turn", "1", 90.0), "form": "judged"},
        {**model("good", 90.0, 1), "form": "judged"},
    ],
)


def test_a_leaderboard_has_intervals_ranks_and_counts() -> None:
    board, *_ = tables(BOARD)
    good, fair, none = shown(board)
    assert good == ["1", "1–2", "good", 80.0, "~[78.0, 82.0]", "4", 80.5, "19", "2", "9", "7"]
    assert fair[3] == 60.04 and none[:4] == ["–", None, "none", None]
    assert board.caption.startswith(
        "Overall Score (micro) on mmdu-1 by judge (p@1): 4 items, 20 turns. Intervals are of 95 %, "
        "over up to 4 clusters; ~ marks"
    )
    table = named("scores", BOARD)
    assert table.heads == ("Rank", "Model", "Score", "Interval", "C")
    assert shown(table)[0] == ["1", "good", 80.0, "~[78.0, 82.0]", "4"]
    assert r"\begin{table}" in latex(table)
    # Every two models stand with interval and p.
    (row,) = shown(named("pair-differences", BOARD))
    assert row == ["good", "fair", 19.96, "~[18.0, 22.0]", "0.010", "0.020", "3"]


EVEN = pair("fair", "none", 1.0, 0.9)


def test_the_best_is_bold_where_it_differs_from_every_other_one() -> None:
    assert best_alone(BOARD) is None, "against none nothing is known"
    known = replace(BOARD, differences=BOARD.differences[:1])
    assert best_alone(known) == "good"
    assert best_alone(replace(known, differences=[*known.differences, EVEN])) == "good"
    assert best_alone(replace(known, differences=[pair("fair", "good", -1, 0.03)])) is None
    assert [row[3].bold for row in next(tables(known)).rows] == [True, False, False]


def test_infinite_scores_and_ratings_with_two_decimals_and_texts_stand_in_latex():
    infinite = {**model("steady", math.inf, 1), "ci_low": None}
    text = latex(named("scores", results([infinite, model("fair", 60.0, 2)])))
    assert r"{$\infty$}" in text and "table-format=2.1" in text
    assert r"{$\infty$}" in latex(named("scores", results([infinite])))
    # Ratings have two decimals.
    (of_judge,) = by_judge([model("good", 6.512, 1)], decimals={"Overall Score": 2})
    scores = named("scores", of_judge)
    assert "| 1 | good | 6.51 |" in markdown(scores) and "~[4.51, 8.51]" in markdown(scores)
    assert "S[table-format=1.2," in latex(scores)
    # A text in latex.
    for text, written in (
        ("[a]", "{[}a]"),
        ("1–2", "1--2"),
        ("a\n b", "a b"),
        ("a\x1b]0;b\x07\x9bc\x00\td", "a]0;bc d"),
    ):
        assert latex_text(text) == written


def test_values_of_a_slice_stand_in_the_order_of_their_numbers() -> None:
    *_, sliced = tables(BOARD)
    assert sliced.heads == ("turn", "C", "good", "Interval")
    wanted = [["1", "12", 81.0], ["9", "12", 89.0], ["10", "12", 90.0]]
    assert [row[:3] for row in shown(sliced)] == wanted
    assert sliced.rows[0][3].text == "[80.0, 82.0]"


@pytest.mark.parametrize(
    "ordered",
    [
        ["2", "9", "10"],
        ["2", "3-5", "over 5"],
        ["easy", "medium", "hard"],
        ["Low", "Moderate", "HIGH", "very_high"],
        ["3", "easy", "hard", "chart", "map 2", "map 10"],
    ],
)
def test_values_of_a_label_stand_by_their_meaning(ordered: list[str]) -> None:
    assert sorted(reversed(ordered), key=label_order) == ordered
    digits = ["9", "1" * 5_000, f"a{'2' * 5_000}"]
    assert sorted(reversed(digits), key=label_order) == digits


def test_models_stand_against_every_metric_with_what_is_known_of_them() -> None:
    richness = {**model("good", 70.0, 1), "metric": "Richness", "place": 1, "access": "open"}
    good = {**model("good", 80.0, 1), "access": "open", "parameters": 7.0}
    board = results([good, model("fair", 60.0, 2)], others=[richness])
    by_metric = named("metrics-1", board)
    assert by_metric.heads == ("Model", "Overall", "R", "Access", "Params (B)")
    assert shown(by_metric) == [["good", 80.0, 70.0, "open", "7"], ["fair", 60.0, None, None, None]]
    assert "R: Richness. Every metric (micro) on mmdu-1" in by_metric.caption
    assert "Intervals" not in by_metric.caption
    table = named("metric-intervals-1", board)
    assert table.heads == ("Metric", "C", "good", "Interval", "fair", "Interval")
    assert shown(table) == [
        ["Overall Score", "4", 80.0, "~[78.0, 82.0]", 60.0, "~[58.0, 62.0]"],
        ["Richness", "4", 70.0, "~[68.0, 72.0]", None, None],
    ]
    assert "Every metric (micro) on mmdu-1" in table.caption


def test_groups_stand_against_each_other_and_the_hardest_ability_comes_first() -> None:
    groups = [
        finding("mean", "access: open", "", "seeing", 40.0),
        finding("mean", "access: proprietary", "", "seeing", 65.0),
        finding("difference", "access: open", "access: proprietary", "seeing", -25.0),
        {**finding("mean", "access: open", "", "reasoning", 30.0), "n_clusters": 12},
        finding("mean", "size: small", "", "seeing", 1.0),
        finding("best", "access: open", "good", "seeing", 2.0),
        best("good", "seeing", 80.0),
        best("fair", "seeing", 80.0),
        best("fair", "reasoning", 55.0),
    ]
    of_groups, _, hardest = analyses(replace(BOARD, groups=groups))
    assert of_groups.heads == (
        *("ability", "open", "Interval", "proprietary", "Interval"),
        *("open less proprietary", "Interval", "C"),
    )
    assert shown(of_groups)[0] == ["reasoning", 30.0, "[27.0, 33.0]", *[None] * 4, "12"]
    _, row = of_groups.rows
    numbers = [(cell.number, cell.bold) for cell in row if cell.number]
    assert numbers == [(40.0, False), (65.0, False), (-25.0, True)]
    # Models with equal best scores are all named.
    assert shown(hardest) == [
        ["reasoning", "fair", 55.0, "[52.0, 58.0]", "20"],
        ["seeing", "good, fair", 80.0, "[77.0, 83.0]", "20"],
    ]


def test_the_caption_of_groups_names_their_members() -> None:
    scores = [{**row, "access": "open"} for row in BOARD.models]
    # No group has a mean by ability.
    groups = [finding("mean", "access: open", "", "", 40.0), best("good", "seeing", 80.0)]
    table, _hardest = analyses(replace(BOARD, scores=scores, groups=groups))
    assert "by access: open: good, fair, none." in table.caption


def test_best_models_and_trained_models_have_their_labels() -> None:
    labelled = replace(
        BOARD,
        scores=[{**row, "label": f"{row['model']} (T=0)"} for row in BOARD.models],
        groups=[best("good", "seeing", 80.0)],
        training=[trained("fair", "good", 19.96)],
    )
    hardest, training = analyses(labelled)
    assert hardest.rows[0][1].text == "good (T=0)"
    assert [named(name, labelled).rows[0][1].text for name in ("scores", "pair-differences")] == [
        *("good (T=0)", "fair (T=0)")
    ]
    assert "fair (T=0) before and good (T=0) after training on mmdu-45k" in training.caption
    (row,) = shown(training)
    assert row[:4] == ["Overall Score (micro)", 60.04, 80.0, 19.96]
    assert row[4:] == ["[15.0, 25.0]", "0.001", "0.002", "12"]


def test_clusters_of_tasks_have_their_distance_and_scores() -> None:
    value = "1: GAR, VO"
    distance = {**finding("cluster_distance", "", "", value, 0.25), "n_clusters": None}
    means = [finding("cluster_mean", *of) for of in (("", "", value, 60), ("good", "", value, 70))]
    (table,) = analyses(replace(BOARD, groups=[distance, *means]))
    assert table.heads == ("Tasks", "Distance", "All models", "Interval", "good", "Interval", "C")
    assert shown(table) == [[value, "0.250", 60, "[57.0, 63.0]", 70, "[67.0, 73.0]", "20"]]


def test_a_label_can_have_a_metric_of_its_own() -> None:
    of_creation = {**slice_("good", "creation", "poem", 30.0), "metric": "S3", "place": 4}
    both = [slice_("good", "creation", "poem", 50.0), of_creation, slice_("good", "turn", "1", 5.0)]
    split = replace(BOARD, scores=[*BOARD.models, *both], label_metrics={"creation": "S3"})
    found = [(row["metric"], row["value"]) for row in split.slices]
    assert found == [("S3", 30.0), ("Overall Score", 5.0)]


def test_each_judge_has_a_board() -> None:
    rows = [model("a", 1.0, 1), model("a", 2.0, 1, judge="other"), model("b", 3.0, 1)]
    rows.append({**model("b", 4.0, 1), "judge_version": "p@2"})
    boards = [[row["model"] for row in board.models] for board in by_judge(rows)]
    assert boards == [["a", "b"], ["a"], ["b"]]
    names = ["leaderboard-2", "scores-2", "pairs-2", "pair-differences-2", "slices-2-1"]
    assert [table.name for table in tables(BOARD, 2)] == names
    one = tables(results([model("a", 1.0, 1)]))
    assert [table.name for table in one] == ["leaderboard", "scores"]


def test_latex_has_columns_by_decimal_points_and_bold_numbers() -> None:
    known = replace(BOARD, differences=BOARD.differences[:1])
    board, matrix = named("leaderboard", known), named("pairs", known)
    text = latex(board)
    for line in (
        r"Rank & Ranks & Model & {Score} & Interval & Clusters & {Judged only} & Judged & Refused \\",
        r"1 & 1--2 & \textbf{good} & \bfseries 80.0 & \textasciitilde{}{[}78.0, 82.0] & 4 & 80.5 "
        r"& 19 & 2 \\",
        r"-- &  & none & {} &  & 4 & {} & 19 & 2 \\",
        r"Model & No answer & Failed \\",
    ):
        assert line in text.splitlines()
    assert "S[table-format=2.1, detect-weight, mode=text]" in text
    assert r"& {--} & \bfseries 20.0 \\" in latex(matrix)
    assert "table-format=-2.1" in latex(matrix)


def test_a_label_has_the_release_and_zero_has_no_sign() -> None:
    rows = [model("a", 99.96, 1), model("b", -0.04, 2)]
    board, _, matrix, _ = tables(results(rows, [pair("a", "b", 0.04, 0.5)]), 2)
    assert r"\label{tab:mmdu-1-leaderboard-2}" in latex(board)
    assert r"\label{tab:mmdu-1-pairs-2}" in latex(matrix)
    assert "-0.0" not in latex(matrix) + markdown(matrix) + latex(board) + markdown(board)
    # 99.96 is shown as 100.0.
    assert "table-format=3.1" in latex(board) and "table-format=1.1" in latex(matrix)


def test_a_score_of_a_part_has_a_rank_and_a_mark_that_is_explained() -> None:
    mark = "20 of 100 items were asked."
    part = replace(BOARD, scores=[{**BOARD.scores[0], "mark": mark}, *BOARD.scores[1:]])
    for board in list(tables(part))[:2]:
        assert [row[0].text for row in board.rows] == ["1*", "2", "–"], board.name
        assert board.caption.endswith(f" *: good: {mark}")


class Written(NamedTuple):
    environment: str
    columns: list[str]
    rows: list[list[str]]


def written(of: ResultTable) -> list[Written]:
    found = []
    text = latex(of)
    for environment, table in re.findall(r"\\begin\{(table\*?)\}(.*?)\\end\{\1\}", text, re.DOTALL):
        plain = re.sub(r"\\[^a-zA-Z]|\{\[\}|\$(-|\\infty)\$", "", table)
        while plain != (plain := re.sub(r"\{[^{}]*\}", "", plain)):
            pass
        assert not set("{}%#$^~") & set(plain), "a brace is not closed, or a text is code"
        tabular = re.search(r"\\begin\{tabular\}\{(.*)\}\n(.*)\\end\{tabular\}", table, re.DOTALL)
        assert tabular is not None
        columns = re.sub(r"@\{\}|>\{[^}]*\}|\[[^]]*\]|(?<=p)\{[^}]*\}", "", tabular[1])
        lines = [line for line in tabular[2].splitlines() if not line.endswith("rule")]
        assert all(line.endswith(r" \\") and not line.startswith("[") for line in lines)
        rows = [re.split(r"(?<!\\)\s?&\s?", line.removesuffix(r" \\")) for line in lines]
        found.append(Written(environment, list(columns), rows))
    return found


def check(of: ResultTable) -> None:
    parts = written(of)
    for part in parts:
        assert {len(row) for row in part.rows} == {len(part.columns)}
        assert len(part.rows) == len(of.rows) + 1
    # The names of the rows are in each table.
    assert sum(len(part.columns) - 1 for part in parts) + 1 == len(of.heads)


MODELS = [f"Qwen2.5-VL-{size}B-Instruct-AWQ" for size in (3, 7, 32, 72)]
ABILITIES = [f"physical_relation_reasoning_{number}" for number in range(20)]


def sliced_by(values: list[str]) -> ResultTable:
    slices = [slice_(name, "category", value, 100.0) for name in MODELS for value in values]
    return named("slices-1", results([model(name, 100.0, 1) for name in MODELS], others=slices))


def test_the_shorter_list_stands_across_a_table_of_slices() -> None:
    many, few = sliced_by(ABILITIES), sliced_by(ABILITIES[:2])
    assert many.heads[:4] == ("category", "C", MODELS[0], "Interval") and len(many.rows) == 20
    assert few.heads[:2] == ("Model", "physical relation reasoning 0") and len(few.rows) == 4


def test_a_table_that_fits_the_page_only_stands_across_both_columns() -> None:
    names = ("Creativity", "Richness", "Visual Perception", "Logical Coherence", "Answer Accuracy")
    scores = [
        {**model(name, 50.0, 1), "metric": metric, "place": place}
        for place, metric in enumerate(("Overall Score", *names))
        for name in MODELS
    ]
    by_metric = named("metrics-1", results(scores[:4], others=scores[4:]))
    assert by_metric.heads == ("Model", "Overall", "C", "R", "VP", "LC", "AA")
    assert "VP: Visual Perception" in by_metric.caption
    (table,) = written(by_metric)
    assert table.environment == "table*"


def test_words_that_fit_a_line_are_not_broken() -> None:
    fits = "independent mmbench-dev-a6ee3d481c internationalisation"
    broken = r"physical\_\allowbreak{}relation\_\allowbreak{}reasoning\_\allowbreak{}0"
    assert latex_text(fits, room=NAMES) == fits
    assert latex_text("physical_relation_reasoning_0", room=NAMES) == broken


def hostile_board(name: str) -> JudgeResults:
    models: list[dict[str, Any]] = [model(name, 50.0, 1), model("other", None, None)]
    return results(models, [pair(name, "other", 10.0, 0.01)], [slice_(name, name, name, 1.0)])


BOARDS = [BOARD, hostile_board(HOSTILE)]


@pytest.mark.parametrize("board", BOARDS)
def test_tables_are_read_as_they_are_meant_and_a_name_stands_in_one_cell(board) -> None:
    for table in tables(board):
        check(table)
        lines = [line for line in markdown(table).splitlines() if line.startswith("|")]
        cells = {len(re.split(r"(?<!\\)\|", line)) for line in lines}
        assert cells == {len(table.heads) + 2}
    table, *_ = tables(hostile_board("a & b \\\\ {c}"))
    name = written(table)[0].rows[1][2]
    assert name == r"\textbf{a \& b \textbackslash{}\textbackslash{} \{c\}}"
