"""Sections on judges: trust in them, comparisons of answers, wordings, errors' origins, extras."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from methods.convbench.attribution import TOO_FEW
from methods.evaluation.judge_bias_tests import BIAS_FOUND, NONE, OPEN
from resources.reports import benchmark_report
from resources.reports.benchmark_report import render_report
from resources.reports.report_extras import ExtraSection
from tests.resources.page_outline import outline
from tests.resources.reports.attribution_rows import FAULTS, convbench_data
from tests.resources.reports.report_rows import (
    HOSTILE,
    JUDGE,
    VERSION,
    Row,
    finding,
    section_of,
    text_of,
)

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


def test_without_people_the_page_says_how_they_score(data, store):
    data["findings"]["judge_quality"] = [figure("mae", 0.8, other="other-judge")]
    words = text_of(render_report(data, store))
    assert "No person has scored" in words and "vlm-loom result import-scores" in words
    assert f"{JUDGE} other-judge answers" in words


NAMED = {"judge": "judge <b>", "judge_version": "pairwise/compare@1 pairs@1"}
DESIGN = {**NAMED, "n_calls": 418, "n_calls_of_all": 1620, "n_rounds": 8, "why": "it is resolved"}


def rating(model: str, form: str, value: float, rank: int, **changed: Any) -> Row:
    return {
        **{**NAMED, "form": form, "model": model, "part": 0, "n": 20, "smoothed": False},
        **{"rating": value, "ci_low": value - 50, "ci_high": value + 60, "reason": None},
        **{"rank": rank, "rank_low": rank, "rank_high": 2, "win_share": 0.75, "tie_share": 0.1},
        **{"controlled_rating": value - 7, "controlled_ci_low": value - 70},
        **{"controlled_ci_high": value + 80, **changed},
    }


def bias(name: str, value: float | None, reason: str | None = None) -> Row:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return {**NAMED, "bias": name, "value": value, "ci_low": low, "ci_high": high, "reason": reason}


def pairwise(ratings: list[Row], counts: Mapping[str, int] | None = None) -> dict[str, list[Row]]:
    return {
        "designs": [DESIGN],
        "ratings": ratings,
        "biases": [
            bias("bold", None, "No two differ."),
            bias("first_place", 0.62),
            bias("words", 0.3),
        ],
        "counts": [{**NAMED, "status": status, "n": n} for status, n in (counts or {}).items()],
        "shares": [{**NAMED, "model": "strong", "opponent": "weak", "n": 20, "share": 0.8}],
    }


def test_what_was_lost_smoothed_or_not_connected_is_said(data, store):
    parts = [
        rating(model, form, 1000.0, 1, part=part, smoothed=True, rank_high=1)
        for form in ("judged", "floor")
        for part, model in enumerate(("strong", "weak"))
    ]
    data["pairwise"] = pairwise(parts, {"not_judged": 3, "no_answer_a": 4, "no_answer": 1})
    text = section_of(render_report(data, store), "pairwise")
    assert "Without a verdict, and no loss: 3." in text
    assert "no judge was asked: 5." in text
    assert "half a win was added" in text
    assert "No comparisons connect the 2 parts" in text


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


def test_trust_in_judges_comparisons_and_wordings_are_shown_with_their_tests(data, store, golden):
    task = {"subset_label": "task", "subset_value": "OCR", "n": 4}
    data["findings"]["judge_quality"] = [
        figure("mae", 0.8, 0.5, 1.25),
        figure("kendall", None),
        figure("mae", 0.4, other="people, imported"),
        figure("mae", 1.5, **task),
        figure("raw", 0.75, 0.5, 0.9, metric="Perception"),
        figure("cohen_kappa", 0.5, 0.1, 0.8, metric="Perception"),
    ]
    data["judge_bias_tests"] = [
        bias_test("obedience", 6.21, 5.8, 6.6, BIAS_FOUND, p_holm=0.0001),
        bias_test("leniency", 0.04, -0.2, 0.2, NONE, n_lost=1),
        bias_test("self_preference", None),
        bias_test("length", 1.0, n_clusters=1),
        bias_test("obedience", 0.4, 0.1, 0.7, p_holm=0.09),
        bias_test("obedience", 0.4, -3.1, 3.7, detectable=None, n_clusters=None),
        bias_test("verdicts", -0.02, -0.05, 0.01, NONE, least=0.2),
    ]
    data["pairwise"] = pairwise(
        [
            rating(model, form, value - (form == "judged"), place)
            for form in ("judged", "floor")
            for model, value, place in (("weak", 900.0, 2), ("strong", 1100.0, 1))
        ]
    )
    data["findings"]["prompt_sensitivity"] = [
        *effect("strong", "polite", 0.5, 0.8),
        *effect("weak", "polite", -6.0, 0.001),
    ]
    data["widest_groups"] = [
        wording("g-0", 70.0, "Say it."),
        wording("g-1", 30.0, "Please <b>say</b> it."),
        wording("g-2", None, "And this?", status="refused", answer_call_key=None),
    ]
    html = render_report(data, store)
    golden("reports/judges.txt", outline(html, "trust", "pairwise", "prompt-sensitivity"))
    data["findings"]["prompt_sensitivity"] = effect("weak", "polite", 0.0, 1.0, n=4)
    words = section_of(render_report(data, store), "prompt-sensitivity")
    assert "No style has an effect that counts." in words and "With fewer than 10 groups" in words


def test_planted_faults_are_named_and_marked_with_their_tests_and_tasks_in_order(
    data, store, golden
):
    made = convbench_data(data, {**FAULTS, HOSTILE: (1.0, 1.0)})
    for row in made["error_attribution"]:
        # What makes it worse is no cause.
        row |= {"verdict": "loss"} if row["model"] == HOSTILE else {}
    tested, few, unjudged, *_ = (
        each
        for each in made["error_attribution"]
        if each["model"] == "blind" and not each["subset_label"]
    )
    tested |= {"n_errors": 31, "n_gone": 18, "n_right": 40, "n_lost": 2, "difference": 16.0}
    tested |= {"ci_low": 8.0, "ci_high": 24.0, "p": 0.0005, "p_holm": 0.001, "n_clusters": 71}
    tested |= {"n_left_out": 3, "left_out": [("not_judged", 2), ("absent", 1)]}
    few |= {"p": None, "p_holm": None, "reason": TOO_FEW}
    unjudged |= {"difference": None, "reason": "No item was judged in both."}
    golden("reports/attribution.txt", outline(render_report(made, store), "attribution"))


def test_a_section_stands_between_the_core_s_with_what_its_steps_lost(data, store, monkeypatch):
    def made(of: Any, panes: Any) -> Markup:
        return Markup("<p>{} toys, {} judges</p>").format(of["of_extras"]["toys"], len(panes))

    toys = ExtraSection("toys", "Toys", ("toys",), ("toys",), made, lambda of: "Two toys")
    monkeypatch.setattr(benchmark_report, "extra_sections", lambda: [toys])
    lost = [{"step": "evaluate.toys", "release_id": "r", "reason": "The box is shut."}]
    html = render_report({**data, "of_extras": {"toys": "<b>"}, "not_made": lost}, store)

    assert '<h2>Toys</h2><span class="finding">Two toys</span>' in html
    assert 'href="#toys"' in html and "&lt;b&gt; toys, 1 judges" in html
    places = [html.index(each) for each in ('id="leaderboard"', "The box is shut.", 'id="toys"')]
    assert places == sorted(places)
