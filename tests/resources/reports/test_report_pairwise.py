"""The section on comparisons of answers: ratings, win shares, what a judge prefers, what is lost."""

from typing import Any

from resources.reports.benchmark_report import render_report
from tests.resources.reports.report_rows import section_of

NAMED = {"judge": "judge <b>", "judge_version": "pairwise/compare@1 pairs@1"}
DESIGN = {**NAMED, "n_calls": 418, "n_calls_of_all": 1620, "n_rounds": 8, "why": "it is resolved"}


def rating(model: str, form: str, value: float, rank: int, **changed: Any) -> Any:
    return {
        **{**NAMED, "form": form, "model": model, "part": 0, "n": 20, "smoothed": False},
        **{"rating": value, "ci_low": value - 50, "ci_high": value + 60, "reason": None},
        **{"rank": rank, "rank_low": rank, "rank_high": 2, "win_share": 0.75, "tie_share": 0.1},
        **{"controlled_rating": value - 7, "controlled_ci_low": value - 70},
        **{"controlled_ci_high": value + 80, **changed},
    }


def bias(name: str, value: float | None, reason: str | None = None) -> Any:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    ends = {"value": value, "ci_low": low, "ci_high": high}
    return {**NAMED, "bias": name, **ends, "reason": reason}


def compared(**changed: Any) -> dict[str, Any]:
    return {
        "designs": [DESIGN],
        "ratings": [
            rating(model, form, value - (form == "judged"), rank)
            for form in ("judged", "floor")
            for model, value, rank in (("weak", 900.0, 2), ("strong", 1100.0, 1))
        ],
        "biases": [
            bias("bold", None, "No two differ."),
            bias("first_place", 0.62),
            bias("words", 0.3),
        ],
        "counts": [],
        "shares": [{**NAMED, "model": "strong", "opponent": "weak", "n": 20, "share": 0.8}],
        **changed,
    }


def test_ratings_stand_in_order_with_shares_of_wins_and_what_the_judge_prefers(data, store) -> None:
    data["pairwise"] = compared()
    html = render_report(data, store)
    text = section_of(html, "pairwise")
    assert "judge <b>" not in html
    assert "418 calls of the 1620" in text and "(26%)" in text and "in 8 rounds" in text
    assert "strong 1 (1 to 2) 1100 1050 to 1160 1099 1092 1029 to 1179 0.75 0.10 20" in text
    assert text.index("strong 1 (1 to 2)") < text.index("weak 2 900")
    assert "half a win" not in text and "Without a verdict" not in text and "Part" not in text
    assert "strong · 0.80 weak · ·" in text
    assert "the first place 0.62 0.52 to 0.72" in text
    assert "length in words 0.30 0.20 to 0.40" in text
    assert "bold passages – No two differ." in text


def test_what_was_lost_smoothed_or_not_connected_is_said(data, store) -> None:
    parts = [
        rating(model, form, 1000.0, 1, part=part, smoothed=True, rank_high=1)
        for form in ("judged", "floor")
        for part, model in enumerate(("strong", "weak"))
    ]
    lost = (("not_judged", 3), ("no_answer_a", 4), ("no_answer", 1))
    counts = [{**NAMED, "status": status, "n": n} for status, n in lost]
    data["pairwise"] = compared(ratings=parts, counts=counts)
    text = section_of(render_report(data, store), "pairwise")
    assert "Without a verdict, and no loss: 3." in text
    assert "no judge was asked: 5." in text
    assert "half a win was added" in text
    assert "No comparisons connect the 2 parts" in text
