"""Refusals, lengths and letters of a report: bounds, boxes, bars and calls saved, worked by hand."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from methods.choice.letter_shares import LetterShares
from methods.choice.passes import PassCounts
from methods.evaluation.statistics.estimates import Estimate
from resources.reports.benchmark_report import render_report
from resources.reports.report_answers import lengths, letters, refusals
from resources.reports.report_blocks import Cell, FoldedBlocks, Table
from resources.reports.report_scores import judges_of
from tests.resources.reports.report_rows import (
    OVERALL,
    Page,
    lengths_row,
    metric,
    rank,
    ranks,
    scores,
)
from tests.resources.reports.test_report_leaderboard import board

UNKNOWN = Estimate(None, None, None)


def table(blocks: Iterable[Any], label: str) -> Table:
    """The table of this label."""
    given = list(blocks)
    for each in given:
        given += each.blocks if isinstance(each, FoldedBlocks) else []
    (found,) = (each for each in given if isinstance(each, Table) and each.label == label)
    return found


def plain(cell: Cell) -> str:
    """The text of a cell without its marks."""
    return Markup(cell.text).striptags()


def choice(**changed: Any) -> dict[str, Any]:
    """Four questions of three choices: `strong` named what is right but once, `weak` likes A."""
    far, near = Estimate(0.6667, 0.25, 1.0), Estimate(0.0, 0.0, 0.25)
    return {
        **{"letters": "ABC", "keys": Counter(A=1, B=2, C=1), "n_held_out": 0},
        "shares": {
            "weak": LetterShares(Counter(A=3, Z=1), 3, far, 0.01, 0.02),
            "strong": LetterShares(Counter(A=1, B=2, none=1), 3, near, 1.0, 1.0),
        },
        "circular_shares": {},
        "passes": {"weak": PassCounts(12, 4, 8, 0), "strong": PassCounts(12, 10, 0, 2)},
        **changed,
    }


def test_a_bar_is_as_high_as_its_share_of_the_highest_and_has_the_truth_across() -> None:
    found = table(letters(choice(), ["strong", "weak"]).blocks, "Letters")
    assert [head.text for head in found.heads[1:6]] == ["A", "B", "C", "Z", "none"]
    truth, strong, weak = found.lines
    assert [plain(line[0]) for line in (strong, weak)] == ["strong", "weak"]
    # The highest share of all is that of A, 3 of 4 answers of `weak`.
    places = [re.findall(r"(?:height|bottom):([0-9.]+)%", bar.text) for bar in weak[1:6]]
    assert [(plain(bar), bar.title) for bar in weak[1:6]] == [
        *(("75.0", "3 of 4"), ("0.0", "0 of 4"), ("0.0", "0 of 4")),
        *(("25.0", "1 of 4"), ("0.0", "0 of 4")),
    ]
    assert places == [["100.0", "33.3"], ["0.0", "66.7"], ["0.0", "33.3"], ["33.3"], ["0.0"]]
    assert [plain(bar) for bar in truth[1:6]] == ["25.0", "50.0", "25.0", "0.0", "0.0"]
    assert not any("bottom" in bar.text for bar in truth[1:6])
    assert (weak[-1].text, weak[-1].small) == ("0.667", ["0.250–1.000", "p = 0.020"])
    assert (weak[-1].kind, strong[-1].kind) == ("n worse", "n")


def test_the_page_has_a_line_a_model_below_that_of_the_truth_and_calls_saved(data, store) -> None:
    data["choice"] = choice()
    html = render_report(data, store)
    rows = board(html, table="letters")
    assert rows[0] == ["right choices", "25.0", "50.0", "25.0", "0.0", "0.0", "4", ""]
    assert [row[0] for row in rows[1:]] == ["strong", "weak"]
    assert board(html, table="passes") == [
        ["strong", "12", "10", "0 0.0 %", "2"],
        ["weak", "12", "4", "8 66.7 %", "0"],
        ["all", "24", "14", "8 33.3 %", "2"],
    ]
    page = Page(html)
    assert "#letters" in page.attributes("a", "href")
    assert "3 of 4" in page.attributes("td", "title")


def test_where_keys_are_held_out_the_truth_is_absent_and_that_is_said(data, store) -> None:
    shares = {"strong": LetterShares(Counter(A=4), 0, UNKNOWN, None, None)}
    passes = {"strong": PassCounts(12, 12, 0, 0)}
    data["choice"] = choice(keys=Counter(), n_held_out=4, shares=shares, passes=passes)
    # Nobody is scored there.
    data.update(benchmark=None, scores=[], ranks=[], comparisons=[])
    html = render_report(data, store)
    words = Page(html).words
    assert "is held out from this home: there is nothing to compare with" in words
    assert "every pass is asked" in words and ">right choices<" not in html
    assert board(html, table="letters") == [["strong", "100.0", "0.0", "0.0", "0.0", "0.0", "4"]]
    assert "Distance" not in words


def test_references_stand_first_then_models_by_rank(data) -> None:
    rows = [lengths_row("", 25), lengths_row("new", 20, 0.8)]
    rows += [lengths_row("strong", 50, 2), lengths_row("weak", 10)]
    found = table(lengths(rows, ["strong", "weak"]).blocks, "Lengths of answers")
    assert [plain(line[0]) for line in found.lines] == ["References", "strong", "weak", "new"]
    assert found.marks == {0: "is-apart"}
    strong = found.lines[1]
    assert [cell.text for cell in strong[2:6]] == ["50", "48–52", "25–100", "× 2.00"]
    # The axis ends with the longest line.
    assert plain(found.heads[-1]) == "0100 words"
    places = re.findall(r"(?:left|width):([0-9.]+)%", strong[-1].text)
    assert places == ["25.0", "75.0", "48.0", "4.0", "50.0"]


def refusing(data) -> None:
    """`weak` declined 3 of 12 answers: 41 at the floor, 50 judged, 66 at most."""
    names = ["Circular", "Upper bound"]
    data["benchmark"]["metrics"] = [
        metric(name, low=0.0, refusals_are_right=name == "Upper bound") for name in names
    ]
    values = {"weak": (41.0, 50.0, 66.0), "strong": (78.0, 80.0, 78.0)}
    values["baseline:reference"] = (100.0,) * 3
    rows = [
        row
        for model in values
        for row in scores(model, 0.0, names, n_refused=3 if model == "weak" else 0)
        if row["aggregation"] == "micro"
    ]
    for row in rows:
        floor, judged, bound = values[row["model"]]
        of_form = judged if row["form"] == "judged" else floor
        value = bound if row["metric"] == "Upper bound" else of_form
        row |= {"value": value, "ci_low": value - 4, "ci_high": value + 4}
    data |= {"scores": rows, "comparisons": []}
    ranked = [*ranks("strong", 1), *ranks("weak", 2)]
    rank(data, [{**row, "metric": "Circular"} for row in ranked if row["metric"] == OVERALL])


def test_the_bound_stands_beside_both_forms_with_what_it_gains(data, store) -> None:
    refusing(data)
    strong, weak = board(render_report(data, store), table="refusals")
    assert strong[:2] == ["strong", "0 0.0 % of 12 answers"]
    assert strong[2:] == ["78.0 74.0–82.0", "80.0 76.0–84.0", "78.0 74.0–82.0", "0.0"]
    assert weak[:2] == ["weak", "3 25.0 % of 12 answers"]
    assert weak[2:] == ["41.0 37.0–45.0", "50.0 46.0–54.0", "66.0 62.0–70.0", "+25.0"]


def test_a_model_that_has_no_score_gains_nothing(data) -> None:
    refusing(data)
    for row in data["scores"]:
        row["value"] = row["ci_low"] = row["ci_high"] = None
    (judged,) = judges_of(data)
    found = table(refusals(judged, judged.candidates), "Refusals")
    assert {line[-1].text for line in found.lines} == {"–"}
