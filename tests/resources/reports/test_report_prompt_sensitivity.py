"""The section on wordings: what a style costs, the least steady groups, and no section."""

from resources.reports.benchmark_report import render_report
from tests.resources.reports.report_rows import JUDGE, VERSION, Page, finding

BY = {"judge": JUDGE, "judge_version": VERSION}


def effect(model, style, difference, p_holm, **changed):
    of = {"subset_label": "style told by rule", "subset_value": style}
    ends = {"ci_low": difference - 1, "ci_high": difference + 1}
    return [
        finding(model, difference, **of, **ends, p_holm=p_holm, **{"n": 40, **changed}),
        finding(model, 90, "n_wordings", **of, n=90),
    ]


def wording(item, value, text, **changed):
    of = {**BY, "model": "weak", "group_id": "g", "mean": 50.0, "deviation": 20.0}
    calls = {"call_key": "c" * 20, "answer_call_key": "a" * 20}
    of |= {"item_id": item, "value": value, "text": text, "status": "judged", "styles": ["polite"]}
    return {**of, **calls, **changed}


def test_a_style_that_hurts_is_marked(data, store):
    data["findings"]["prompt_sensitivity"] = [
        *effect("strong", "polite", 0.5, 0.8),
        *effect("weak", "polite", -6.0, 0.001),
    ]
    unmarked = Page(render_report({**data, "findings": {}}, store))
    page = Page(render_report(data, store))
    assert page.classes().count("worse") == unmarked.classes().count("worse") + 1
    assert "−6.0−7.0 to −5.0, C = 20" in page.words and "told by rule" in page.words
    assert "No style has an effect" not in page.words


def test_the_worst_wording_stands_first_with_the_calls_of_its_row(data, store):
    data["findings"]["prompt_sensitivity"] = effect("weak", "polite", 0.0, 1.0)
    data["widest_groups"] = [
        wording("g-0", 70.0, "Say it."),
        wording("g-1", 30.0, "Please <b>say</b> it."),
        wording("g-2", None, "And this?", status="refused", answer_call_key=None),
    ]
    words = Page(render_report(data, store)).words
    assert words.index("And this?") < words.index("Please <b>say</b> it.") < words.index("Say it.")
    assert "−20.0" in words and "refused" in words and "a" * 12 in words
    assert "No style has an effect that counts." in words


def test_with_few_groups_it_says_that_figures_are_indicative_and_without_any_there_is_no_section(
    data, store
):
    assert "prompt-sensitivity" not in Page(render_report(data, store)).attributes("h2", "id")
    data["findings"]["prompt_sensitivity"] = effect("weak", "polite", -6.0, 0.5, n=4)
    assert "With fewer than 10 groups" in Page(render_report(data, store)).words
