"""Refusals of a report, with the upper bound of the scores."""

from resources.reports.benchmark_report import render_report
from resources.reports.report_refusals import refusals_of
from resources.reports.report_scores import judges_of
from tests.resources.reports.report_rows import Page, metric, ranks, scores
from tests.resources.reports.test_report_board import board


def refusing(data) -> None:
    """`weak` declined 3 of 12 answers: 41 at the floor, 50 judged, 66 at most."""
    data["benchmark"]["metrics"] = [
        metric("Circular", low=0.0),
        metric("Upper bound", low=0.0, refusals_are_right=True),
    ]
    data["scores"] = [
        {**row, "value": value, "ci_low": value - 4, "ci_high": value + 4}
        for model, n_refused, floor, judged, bound in (
            ("weak", 3, 41.0, 50.0, 66.0),
            ("strong", 0, 78.0, 80.0, 78.0),
            ("baseline:reference", 0, 100.0, 100.0, 100.0),
        )
        for row in scores(model, floor, ["Circular", "Upper bound"], n_refused=n_refused)
        for value in [
            bound
            if row["metric"] == "Upper bound"
            else judged
            if row["form"] == "judged"
            else floor
        ]
        if row["aggregation"] == "micro"
    ]
    data["ranks"] = [
        {**row, "metric": "Circular"}
        for row in [*ranks("strong", 1), *ranks("weak", 2)]
        if (row["metric"], row["aggregation"]) == ("Overall Score", "micro")
    ]
    data["comparisons"] = []


def test_the_bound_stands_beside_both_forms_with_what_it_gains(data, store) -> None:
    refusing(data)
    rows = board(render_report(data, store), table="refusals")
    assert rows == [
        [
            *("strong", "0 0.0 % of 12 answers", "78.0 74.0–82.0", "80.0 76.0–84.0"),
            *("78.0 74.0–82.0", "0.0"),
        ],
        [
            *("weak", "3 25.0 % of 12 answers", "41.0 37.0–45.0", "50.0 46.0–54.0"),
            *("66.0 62.0–70.0", "+25.0"),
        ],
    ]


def test_a_model_that_has_no_score_gains_nothing(data) -> None:
    refusing(data)
    for row in data["scores"]:
        row["value"] = row["ci_low"] = row["ci_high"] = None
    (judged,) = judges_of(data)
    found = refusals_of(judged, judged.contestants)
    assert found is not None and {line.gain for line in found.lines} == {"–"}


def test_a_benchmark_without_an_upper_bound_has_no_such_table(data, store) -> None:
    assert "Refusals" not in Page(render_report(data, store)).text
