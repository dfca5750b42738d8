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
    Page,
    lengths_row,
    metric,
    rank,
    ranks,
    scores,
    without_own_script,
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


# --- Letters ---------------------------------------------------------------------------------------


def choice(**changed: Any) -> dict[str, Any]:
    """Four questions of three choices: `strong` named what is right but once, `weak` likes A."""
    return {
        "letters": "ABC",
        "keys": Counter(A=1, B=2, C=1),
        "n_held_out": 0,
        "shares": {
            "weak": LetterShares(
                Counter({"A": 3, "Z": 1}), 3, Estimate(0.6667, 0.25, 1.0), 0.01, 0.02
            ),
            "strong": LetterShares(
                Counter({"A": 1, "B": 2, "none": 1}), 3, Estimate(0.0, 0.0, 0.25), 1.0, 1.0
            ),
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


def test_calls_saved_are_shown_by_model_and_in_all() -> None:
    found = table(letters(choice(), ["strong", "weak"]).blocks, "Calls saved")
    shown = [[plain(cell) for cell in line] for line in found.lines]
    assert [(*line, *cells[3].small) for line, cells in zip(shown, found.lines, strict=True)] == [
        ("strong", "12", "10", "0", "2", "0.0 %"),
        ("weak", "12", "4", "8", "0", "66.7 %"),
        ("all", "24", "14", "8", "2", "33.3 %"),
    ]


def test_the_page_has_a_line_a_model_below_that_of_the_truth(data, store) -> None:
    data["choice"] = choice()
    html = render_report(data, store)
    rows = board(html, table="letters")
    assert rows[0] == ["right choices", "25.0", "50.0", "25.0", "0.0", "0.0", "4", ""]
    assert [row[0] for row in rows[1:]] == ["strong", "weak"]
    assert board(html, table="passes")[2] == ["all", "24", "14", "8 33.3 %", "2"]
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


def test_where_some_keys_are_held_out_their_number_is_said(data, store) -> None:
    data["choice"] = choice(n_held_out=2)
    words = Page(render_report(data, store)).words
    assert "held out of 2 of 6 questions" in words and "every pass is asked" not in words


def test_without_choices_and_with_one_pass_there_is_nothing_of_it(data, store) -> None:
    assert "Letters" not in Page(render_report(data, store)).text
    data["choice"] = choice(passes={})
    words = Page(render_report(data, store)).words
    assert "Distance" in words and "Calls saved" not in words


def test_a_models_hostile_name_is_only_text(data, store) -> None:
    name = "<script>alert(1)</script>"
    shares = {name: LetterShares(Counter(A=4), 4, Estimate(0.5, None, None), None, None)}
    data["choice"] = choice(shares=shares, passes={name: PassCounts(4, 4, 0, 0)})
    page = Page(render_report(data, store))
    assert page.text.count(name) == 2 and "script" not in {tag for tag, _ in page.elements}


# --- Lengths ---------------------------------------------------------------------------------------


def test_references_stand_first_then_models_by_rank(data) -> None:
    data["answer_lengths"] = [
        lengths_row("", 25),
        lengths_row("new", 20, 0.8),
        lengths_row("strong", 50, 2),
        lengths_row("weak", 10),
    ]
    section = lengths(data["answer_lengths"], ["strong", "weak"])
    found = table(section.blocks, "Lengths of answers")
    assert [plain(line[0]) for line in found.lines] == ["References", "strong", "weak", "new"]
    assert found.marks == {0: "is-apart"}
    strong = found.lines[1]
    assert [cell.text for cell in strong[2:6]] == ["50", "48–52", "25–100", "× 2.00"]
    # The axis ends with the longest line.
    assert plain(found.heads[-1]) == "0100 words"
    assert re.findall(r"(?:left|width):([0-9.]+)%", strong[-1].text) == [
        *("25.0", "75.0"),
        *("48.0", "4.0"),
        "50.0",
    ]


def test_lengths_have_a_line_a_model_and_names_are_only_text(data, store) -> None:
    data["answer_lengths"] = [
        lengths_row("", 25),
        lengths_row("<script>alert(1)</script>", 50, 2.0),
    ]
    html = render_report(data, store)
    assert 'href="#lengths"' in html and "<script>" not in without_own_script(html)
    assert "References 12 25 23–27 12–50 –" in " ".join(re.sub("<[^>]+>", " ", html).split())


# --- Refusals --------------------------------------------------------------------------------------


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
    rank(
        data,
        [
            {**row, "metric": "Circular"}
            for row in [*ranks("strong", 1), *ranks("weak", 2)]
            if (row["metric"], row["aggregation"]) == ("Overall Score", "micro")
        ],
    )
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
    found = table(refusals(judged, judged.candidates), "Refusals")
    assert {line[-1].text for line in found.lines} == {"–"}
