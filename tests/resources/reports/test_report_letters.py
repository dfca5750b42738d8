"""Letters and passes of a report: bars, shares and calls saved, worked by hand."""

from collections import Counter
from typing import Any

from methods.choice.letter_shares import LetterShares
from methods.choice.passes import PassCounts
from methods.evaluation.statistics.estimates import Estimate
from resources.reports.benchmark_report import render_report
from resources.reports.report_letters import letters_of
from tests.resources.reports.report_rows import Page
from tests.resources.reports.test_report_board import board

UNKNOWN = Estimate(None, None, None)


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
        "passes": {"weak": PassCounts(12, 4, 8, 0), "strong": PassCounts(12, 10, 0, 2)},
        **changed,
    }


def test_a_bar_is_as_high_as_its_share_of_the_highest_and_has_the_truth_across() -> None:
    found = letters_of(choice(), ["strong", "weak"])
    assert found is not None and found.truth is not None
    assert found.letters == ["A", "B", "C", "Z", "none"]
    assert [line.name for line in found.lines] == ["strong", "weak"]
    strong, weak = found.lines
    # The highest share of all is that of A, 3 of 4 answers of `weak`.
    assert [(bar.percent, bar.n, bar.height, bar.truth) for bar in weak.bars] == [
        ("75.0", 3, 100.0, 33.3),
        ("0.0", 0, 0.0, 66.7),
        ("0.0", 0, 0.0, 33.3),
        ("25.0", 1, 33.3, None),
        ("0.0", 0, 0.0, None),
    ]
    assert [bar.percent for bar in found.truth.bars] == ["25.0", "50.0", "25.0", "0.0", "0.0"]
    assert all(bar.truth is None for bar in found.truth.bars)
    assert (weak.distance, weak.interval, weak.p) == ("0.667", "0.250–1.000", "p = 0.020")
    assert (weak.is_uneven, strong.is_uneven) == (True, False)


def test_calls_saved_are_shown_by_model_and_in_all() -> None:
    found = letters_of(choice(), ["strong", "weak"])
    assert found is not None
    assert [(line.name, *line.counts, line.saved) for line in found.passes] == [
        ("strong", 12, 10, 0, 2, "0.0 %"),
        ("weak", 12, 4, 8, 0, "66.7 %"),
        ("all", 24, 14, 8, 2, "33.3 %"),
    ]


def test_the_page_has_a_line_a_model_below_that_of_the_truth(data, store) -> None:
    data["choice"] = choice()
    html = render_report(data, store)
    rows = board(html, table="letters")
    assert rows[0] == ["right choices", "25.0", "50.0", "25.0", "0.0", "0.0", "4", ""]
    assert rows[1][:2] == ["strong", "25.0"] and rows[1][-1] == "0.000 0.000–0.250 p = 1.00"
    assert rows[2] == [
        *("weak", "75.0", "0.0", "0.0", "25.0", "0.0", "4"),
        "0.667 0.250–1.000 p = 0.020",
    ]
    assert board(html, table="passes")[1:] == [
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
