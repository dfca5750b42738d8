"""The section of a report on how letters were read."""

from typing import Any

import pytest

from resources.reports.benchmark_report import render_report
from resources.reports.report_blocks import Table
from resources.reports.report_readings import readings
from tests.resources.reports.report_rows import Page, finding

Row = dict[str, Any]
HOSTILE = "<script>alert(1)</script>{{ 7*7 }}"


def row(measure: str, reader: str, value: float | None, other: str = "", **of: Any) -> Row:
    ends = {"ci_low": value and value / 2, "ci_high": value, "metric": "", "n": 8}
    return finding("", value, measure, **{"judge": reader, "other": other, **ends, **of})


def stands(words: str, page: Page) -> bool:
    """Whether cells with these words stand side by side."""
    return "".join(words.split()) in "".join(page.text.split())


def rows(model: str, gain: float = 25.0, **of: Any) -> list[Row]:
    accuracy = {"metric": "Accuracy", "aggregation": "micro"}
    made = [
        row("read", "rule", 0.5),
        row("read", "compat_rule", 0.25),
        row("read", "extractor", 0.375),
        row("none", "strict", 0.0),
        row("unread", "strict", 0.125),
        row("unread", "strict", 0.125, subset_label="reason", subset_value="no_letter"),
        row("raw", "rule", 0.75, "extractor"),
        row("cohen_kappa", "rule", 0.6, "extractor"),
        row("raw", "strict", None, "people", n=0, reason="No item was rated by two."),
        row("cohen_kappa", "strict", None, "people", n=0, reason="No item was rated by two."),
        row("score", "strict", 75.0, **accuracy),
        row("score", "rule", 75.0 - gain, **accuracy),
        row("score", "compat", 62.5, **accuracy),
        row("difference", "strict", gain, "rule", **accuracy),
        row("difference", "compat", -12.5, "strict", **accuracy),
    ]
    return [{**each, "subject": model, **of} for each in made]


def test_shares_effect_and_agreement_are_shown(data, store):
    data["findings"]["extraction_quality"] = [*rows(""), *rows("weak", 37.5)]
    page = Page(render_report(data, store))
    assert "How letters were read" in page.words and "#readings" in page.attributes("a", "href")
    assert stands("All models 8 50.0 25.0–50.0, C = 20 25.0 12.5–25.0, C = 20 37.5", page)
    assert stands("12.5 no_letter 12.5", page)
    of = ", C = 20"
    assert stands(
        f"weak 8 75.0 37.5–75.0{of} 37.5 18.8–37.5{of} +37.5 +18.8 to +37.5{of} 62.5", page
    )
    assert stands(f"62.5 31.2–62.5{of} −12.5", page)
    readers = "Rules and extractor all that both read 8"
    assert stands(f"{readers} 75.0 37.5–75.0{of} 0.60 0.30–0.60{of}", page)
    assert "No answer was read by both: score's reading and people." in page.words


def test_another_extractor_stands_beside_the_one_that_is_asked():
    accuracy = {"metric": "Accuracy", "aggregation": "micro"}
    of_other = [
        row("score", "other-llm", 80.0, **accuracy),
        row("difference", "other-llm", 5.0, "strict", **accuracy),
        row("raw", "rule", 0.9, "other-llm"),
        row("cohen_kappa", "rule", 0.8, "other-llm"),
    ]
    blocks = readings({"findings": {"extraction_quality": [*rows(""), *of_other]}}).blocks
    tables = {each.label: each for each in blocks if isinstance(each, Table)}
    by_extractor = tables["Extractors: Accuracy, micro, by extractor"]
    heads = [head.text for head in by_extractor.heads[1:]]
    assert heads == ["Extractor", "other-llm", "less the extractor"]
    assert [cell.text for cell in by_extractor.lines[0][1:]] == ["75.0", "80.0", "+5.0"]
    agreement = tables["Agreement of readers"].lines
    assert ["Rules and other-llm", "90.0"] in [[line[0].text, line[3].text] for line in agreement]


@pytest.mark.parametrize("evaluated", [True, False])
def test_a_release_without_letters_has_no_such_section(data, store, evaluated):
    data["findings"]["extraction_quality"] = []
    assert "How letters were read" not in render_report(data, store)
    # A release whose keys are held out has letters and no leaderboard.
    if not evaluated:
        data |= {"scores": [], "comparisons": [], "benchmark": None}
    data["findings"]["extraction_quality"] = rows("")
    html = render_report(data, store)
    assert "How letters were read" in html and ('id="leaderboard"' in html) == evaluated
