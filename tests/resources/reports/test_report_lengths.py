"""The section on lengths of answers: who stands where, and where boxes are."""

import re

from resources.reports.benchmark_report import render_report
from resources.reports.report_board import panes_of
from resources.reports.report_lengths import lengths_of
from tests.resources.reports.report_rows import lengths_row


def test_references_stand_first_then_models_by_rank(data) -> None:
    data["answer_lengths"] = [
        lengths_row("", 25),
        lengths_row("new", 20, 0.8),
        lengths_row("strong", 50, 2),
        lengths_row("weak", 10),
    ]
    found = lengths_of(data, panes_of(data))
    assert found is not None
    assert [line.name for line in found.lines] == ["", "strong", "weak", "new"]
    assert [line.is_reference for line in found.lines] == [True, False, False, False]
    strong = found.lines[1]
    assert (strong.median, strong.quartiles, strong.range, strong.ratio) == (
        *("50", "48–52", "25–100", "× 2.00"),
    )
    # The axis ends with the longest line.
    assert (found.longest, strong.low, strong.median_at, strong.high) == ("100", 25, 50, 100)


def test_without_answers_or_references_there_is_no_section(data, store) -> None:
    assert lengths_of(data, []) is None
    data["answer_lengths"] = [lengths_row("", 25)]
    assert 'id="lengths"' not in render_report(data, store)


def test_the_page_has_a_line_a_model_and_names_are_only_text(data, store) -> None:
    data["answer_lengths"] = [
        lengths_row("", 25),
        lengths_row("<script>alert(1)</script>", 50, 2.0),
    ]
    html = render_report(data, store)
    assert 'href="#lengths"' in html and "<script>" not in html
    page = html[html.index('<h2 id="lengths"') :]
    text = " ".join(re.sub("<[^>]+>", " ", page[: page.index("</section>")]).split())
    assert "References 12 25 23–27 12–50 –" in text
    assert "50 48–52 25–100 × 2.00" in text
