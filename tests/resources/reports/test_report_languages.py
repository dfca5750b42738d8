"""The section on two languages: differences, their tests, and what was left out."""

import re
from collections.abc import Mapping
from typing import Any

from resources.reports.benchmark_report import render_report
from tests.resources.reports.report_rows import JUDGE, OVERALL

THIS, OTHER = "mmdu-0123456789", "mmdu-zh-0123456789"


def gap(model: str, difference: float | None, p: float | None, **changed: Any) -> dict[str, Any]:
    """A row of `evaluate.language_gaps` by the metric that ranks."""
    return {
        "first_release": THIS,
        "second_release": OTHER,
        "first_language": "en",
        "second_language": "zh",
        "judge": JUDGE,
        "judge_version": "v",
        "model": model,
        "metric": OVERALL,
        "aggregation": "micro",
        "place": 0,
        "subset_label": "",
        "subset_value": "",
        "n_pairs": 20,
        "n_only_first": 0,
        "n_only_second": 0,
        "n_unlike": 0,
        "n_units": 20,
        "n_clusters": 20,
        "first_value": 78.0,
        "second_value": 70.0,
        "difference": difference,
        "ci_low": None if difference is None else difference - 3,
        "ci_high": None if difference is None else difference + 4,
        "p": p,
        "p_holm": p,
        "reason": None,
        **changed,
    }


def section(data: Mapping[str, Any], store: Any) -> str:
    html = render_report(data, store)
    assert 'href="#languages"' in html
    page = html[html.index('<h2 id="languages"') :]
    return " ".join(re.sub("<[^>]+>", " ", page[: page.index("</section>")]).split())


def test_without_another_language_there_is_no_section(data, store) -> None:
    assert "languages" not in render_report(data, store)


def test_each_model_has_both_scores_and_the_difference_with_its_test(data, store) -> None:
    data["language_gaps"] = [gap("strong", 8.0, 0.003), gap("weak", -1.0, 0.7)]
    text = section(data, store)
    assert "in English and in Chinese" in text and OTHER in text and "20 dialogues of both" in text
    assert "strong 78.0 70.0 +8.0 +5.0 to +12.0 p = 0.003" in text
    assert "weak 78.0 70.0 −1.0 −4.0 to +3.0 p = 0.70" in text
    html = render_report(data, store)
    assert html.count('class="n better"') == 1 + _of_others(data, store, "better")
    assert "Left out" not in text and "With so few" not in text


def _of_others(data: dict[str, Any], store: Any, verdict: str) -> int:
    """Marked cells of the page's other sections."""
    without = render_report({**data, "language_gaps": []}, store)
    return without.count(f'class="n {verdict}"')


def test_the_page_of_the_other_release_has_it_too(data, store) -> None:
    data["language_gaps"] = [gap("strong", 8.0, 0.003)]
    data["release"]["release_id"] = OTHER
    html = render_report(data, store)
    assert f'<a href="{THIS}.html">' in html


def test_what_was_left_out_is_counted_and_a_missing_model_has_its_reason(data, store) -> None:
    left_out = {"n_only_first": 2, "n_only_second": 1, "n_unlike": 3}
    reason = "It has no scores on mmdu-zh-0123456789."
    none = {"first_value": None, "second_value": None, "n_units": 0, "reason": reason}
    few = {"n_pairs": 5, "n_units": 4}
    data["language_gaps"] = [
        gap("strong", 8.0, 0.06, **left_out, **few),
        gap("weak", None, None, **left_out, **{**few, **none}),
    ]
    text = section(data, store)
    assert "Left out: 2 that are only in English, 1 only in Chinese, 3 of one id" in text
    assert "With so few dialogues no difference can come below p = 0.05" in text
    assert f"weak 0 of 5 have a value in both. {reason} – – ·" in text


def test_differences_stand_by_ability(data, store) -> None:
    part = {"subset_label": "l2-category", "subset_value": "logic", "n_pairs": 1, "n_units": 1}
    data["language_gaps"] = [
        gap("strong", 8.0, 0.003),
        gap("strong", 10.0, None, **part, reason="One cluster."),
    ]
    data["language_gaps"][1] |= {"ci_low": None, "ci_high": None}
    text = section(data, store)
    assert "English less Chinese, by l2-category" in text
    assert "logic 1 +10.0 no interval no test" in text


def test_hostile_names_are_only_text(data, store) -> None:
    data["language_gaps"] = [
        gap("<script>alert(1)</script>", 8.0, 0.003, first_language="<b>", judge="<i>x</i>")
    ]
    html = render_report(data, store)
    assert "<script>" not in html and "<i>x</i>" not in html
