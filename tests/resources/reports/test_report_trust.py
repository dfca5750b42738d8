"""The section on trust in judges: agreement by judge and part, bias tests in sentences, reasons."""

from methods.evaluation.judge_bias_tests import BIAS_FOUND, NONE, OPEN
from resources.reports.benchmark_report import render_report
from resources.reports.report_trust import trust
from tests.resources.reports.report_rows import JUDGE, VERSION, Page, finding, text_of

BY = {"judge": JUDGE, "judge_version": VERSION}


def figure(measure, value, low=None, high=None, **changed):
    of = {"other": "people", "unit": "answer", "n": 12, "ci_low": low, "ci_high": high}
    why = None if value is not None else "All scores are the same."
    return finding("", value, measure, **{**of, "reason": why, **changed})


def bias_test(name, shift, low=None, high=None, verdict=OPEN, **changed):
    n, n_clusters, reason = (0, 0, "No model of its family.") if shift is None else (10, 8, None)
    return {
        **{**BY, "bias_test": name, "n": n, "n_clusters": n_clusters, "n_lost": 0, "shift": shift},
        **{"ci_low": low, "ci_high": high, "p_holm": None if low is None else 0.0421},
        **{"least": 0.45, "power": 0.8, "detectable": 1.234, "verdict": verdict, "reason": reason},
        **changed,
    }


def test_agreement_with_people_stands_with_its_intervals_and_by_task_below(data, store):
    task = {"subset_label": "task", "subset_value": "OCR", "n": 4}
    data["findings"]["judge_quality"] = [
        figure("mae", 0.8, 0.5, 1.25),
        figure("kendall", None),
        figure("mae", 0.4, other="people, imported"),
        figure("mae", 1.5, **task),
    ]
    words = text_of(render_report(data, store))
    assert f"{JUDGE} people here answers 12 0.80 0.50 to 1.25 –" in words
    assert f"{JUDGE} people, imported answers 12 0.40" in words
    assert f"{JUDGE} and people here, by task" in words and "OCR 4 1.50" in words
    titles = Page(render_report(data, store)).attributes("td", "title")
    assert "All scores are the same." in titles
    assert "No person has scored" not in words


def test_verdicts_on_turns_are_compared_with_people(data, store):
    data["findings"]["judge_quality"] = [
        figure("raw", 0.75, 0.5, 0.9, metric="Perception"),
        figure("cohen_kappa", 0.5, 0.1, 0.8, metric="Perception"),
    ]
    words = text_of(render_report(data, store))
    assert f"{JUDGE} and people here, by what is compared" in words
    assert "Perception 12 0.75" in words


def test_without_people_the_page_says_how_they_score(data, store):
    data["findings"]["judge_quality"] = [figure("mae", 0.8, other="other-judge")]
    words = text_of(render_report(data, store))
    assert "No person has scored" in words and "vlm-loom result import-scores" in words
    assert f"{JUDGE} other-judge answers" in words


def test_each_bias_test_is_one_sentence_that_says_what_the_judge_does(data):
    data["judge_bias_tests"] = [
        bias_test("obedience", 6.21, 5.8, 6.6, BIAS_FOUND, p_holm=0.0001),
        bias_test("leniency", 0.04, -0.2, 0.2, NONE, n_lost=1),
        bias_test("self_preference", None),
        bias_test("length", 1.0, n_clusters=1),
        bias_test("obedience", 0.4, 0.1, 0.7, p_holm=0.09),
        bias_test("obedience", 0.4, -3.1, 3.7, detectable=None, n_clusters=None),
        bias_test("verdicts", -0.02, -0.05, 0.01, NONE, least=0.2),
    ]
    (*_, sentences) = trust(data).blocks
    assert sentences.lines == [
        f"{JUDGE} obeys instructions hidden in answers: +6.2 points [+5.8, +6.6], p < 0.001, on 10 "
        "answers of 8 items or groups.",
        f"{JUDGE} is about as strict with models of other families as other judges are: 0.0 points "
        "[−0.2, +0.2], within ±0.45, on 10 answers of 8 items or groups, 1 more were lost.",
        f"{JUDGE}, favour for its own family: not known. No model of its family.",
        f"{JUDGE}, neutral text after answers: +1.0 points, on 10 answers of 1 item or group. Not "
        "enough to say: all are of one item or group.",
        f"{JUDGE}, instructions hidden in answers: +0.4 points [+0.1, +0.7], p = 0.090, on 10 answers "
        "of 8 items or groups. Not enough to say: 1.23 points would be found in 80% of cases.",
        f"{JUDGE}, instructions hidden in answers: +0.4 points [−3.1, +3.7], p = 0.042, on 10 answers. "
        "Not enough to say: no shift would be found on so few.",
        f"{JUDGE} shows no preference for a place in the comparisons that its scores rest on: "
        "−0.02 wins [−0.05, +0.01], within ±0.20, on 10 comparisons of 8 items or groups.",
    ]
