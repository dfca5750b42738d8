"""The section on two languages: differences, their tests, and what was left out."""

from typing import Any

from resources.reports.benchmark_report import render_report
from tests.resources.reports.report_rows import finding, section_of

THIS, OTHER = "mmdu-0123456789", "mmdu-zh-0123456789"


def gap(
    model: str, difference: float | None, p: float | None, **changed: Any
) -> list[dict[str, Any]]:
    """The findings of a model by the metric that ranks."""
    of = {"other": OTHER, "aggregation": "micro", **changed}
    ends = (None, None) if difference is None else (difference - 3, difference + 4)
    tested = {"ci_low": ends[0], "ci_high": ends[1], "p": p, "p_holm": p}
    scores = (78.0, 70.0) if difference is not None else (None, None)
    return [
        finding(model, scores[0], "first_score", **of),
        finding(model, scores[1], "second_score", **of),
        finding(model, difference, **{**tested, **of}),
    ]


def counted(measure: str, n: int, **changed: Any) -> dict[str, Any]:
    """How many items there are of what the measure names."""
    return finding("", n, measure, **{"other": OTHER, "metric": "", "n": n, **changed})


def compared(
    data: dict[str, Any], *gaps: list[dict[str, Any]], n_pairs: int = 20, **left_out: int
) -> None:
    """Puts the findings on two languages into the data: the items and these models."""
    counts = {"n_only_first": 0, "n_only_second": 0, "n_unlike": 0, **left_out}
    rows = [counted(name, n) for name, n in counts.items()]
    rows += [counted("n_pairs", n_pairs), *(row for gap in gaps for row in gap)]
    data["findings"] = {"language_gaps": rows}
    data["languages"] = {THIS: "en", OTHER: "zh"}


def test_each_model_has_both_scores_and_the_difference_with_its_test(data, store) -> None:
    without = render_report({**data, "findings": {}}, store)
    compared(data, gap("strong", 8.0, 0.003), gap("weak", -1.0, 0.7))
    text = section_of(render_report(data, store), "languages")
    assert "in English and in Chinese" in text and OTHER in text and "20 dialogues of both" in text
    assert "strong 78.0 70.0 +8.0 +5.0 to +12.0, C = 20 p = 0.003" in text
    assert "weak 78.0 70.0 −1.0 −4.0 to +3.0, C = 20 p = 0.70" in text
    better = 'class="n better"'
    assert render_report(data, store).count(better) == 1 + without.count(better)
    assert "Left out" not in text and "only indicative" not in text
    data["release"]["release_id"] = OTHER
    assert f'<a href="{THIS}.html">' in render_report(data, store), "the other page has it, too"


def test_what_was_left_out_is_counted_and_a_missing_model_has_its_reason(data, store) -> None:
    left_out = {"n_only_first": 2, "n_only_second": 1, "n_unlike": 3}
    reason = "It has no scores on mmdu-zh-0123456789."
    strong, weak = gap("strong", 8.0, 0.06, n=4), gap("weak", None, None, n=0, reason=reason)
    compared(data, strong, weak, n_pairs=5, **left_out)
    text = section_of(render_report(data, store), "languages")
    assert "Left out: 2 that are only in English, 1 only in Chinese, 3 of one id" in text
    assert "With fewer than 10 dialogues intervals and p are only indicative." in text
    assert f"weak 0 of 5 have a value in both. {reason} – – ·" in text


def test_differences_stand_by_ability(data, store) -> None:
    part = {"subset_label": "l2-category", "subset_value": "logic", "n": 1}
    one = gap("strong", 10.0, None, **part, ci_low=None, ci_high=None, reason="One cluster.")
    compared(data, gap("strong", 8.0, 0.003), [counted("n_pairs", **part), *one])
    text = section_of(render_report(data, store), "languages")
    assert "English less Chinese, by l2-category" in text
    assert "logic 1 +10.0 no interval no test" in text
