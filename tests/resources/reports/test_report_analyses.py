"""Sections of analyses in a report: languages, how letters were read, answers, items; by hand."""

from collections import Counter
from typing import Any

from methods.choice.letter_shares import LetterShares
from methods.choice.passes import PassCounts
from methods.evaluation.statistics.estimates import Estimate
from resources.reports.benchmark_report import render_report
from resources.reports.report_items import item_section
from tests.resources.page_outline import outline
from tests.resources.reports.report_rows import (
    HOSTILE,
    Page,
    Row,
    answer,
    finding,
    judgment,
    lengths_row,
    metric,
    rank,
    scores,
)

THIS, OTHER = "mmdu-0123456789", "mmdu-zh-0123456789"


def gap(model: str, difference: float | None, p: float | None, **changed: Any) -> list[Row]:
    """The findings of a model by the metric that ranks."""
    of = {"other": OTHER, "aggregation": "micro", **changed}
    ends = (None, None) if difference is None else (difference - 3, difference + 4)
    tested = {"ci_low": ends[0], "ci_high": ends[1], "p": p, "p_holm": p}
    first, second = (78.0, 70.0) if difference is not None else (None, None)
    return [
        finding(model, first, "first_score", **of),
        finding(model, second, "second_score", **of),
        finding(model, difference, **{**tested, **of}),
    ]


def counted(measure: str, n: int, **changed: Any) -> Row:
    """How many items there are of what the measure names."""
    return finding("", n, measure, **{"other": OTHER, "metric": "", "n": n, **changed})


def compare_languages(data: Row, *gaps: list[Row], n_pairs: int = 20, **left_out: int) -> None:
    """Put the findings on two languages into the data: the items and these models."""
    counts = {"n_only_first": 0, "n_only_second": 0, "n_unlike": 0, **left_out}
    rows = [counted(name, n) for name, n in counts.items()]
    rows += [counted("n_pairs", n_pairs), *(row for gap in gaps for row in gap)]
    data["findings"] = {"language_gaps": rows}
    data["languages"] = {THIS: "en", OTHER: "zh"}


ACCURACY = {"metric": "Accuracy", "aggregation": "micro"}


def read(measure: str, reader: str, value: float | None, other: str = "", **of: Any) -> Row:
    ends = {"ci_low": value and value / 2, "ci_high": value, "metric": "", "n": 8}
    return finding("", value, measure, **{"judge": reader, "other": other, **ends, **of})


def readings_of(model: str, gain: float = 25.0) -> list[Row]:
    unrated = {"n": 0, "reason": "No item was rated by two."}
    made = [
        read("read", "rule", 0.5),
        read("read", "compat_rule", 0.25),
        read("read", "extractor", 0.375),
        read("none", "strict", 0.0),
        read("unread", "strict", 0.125),
        read("unread", "strict", 0.125, subset_label="reason", subset_value="no_letter"),
        read("raw", "rule", 0.75, "extractor"),
        read("cohen_kappa", "rule", 0.6, "extractor"),
        read("raw", "strict", None, "people", **unrated),
        read("cohen_kappa", "strict", None, "people", **unrated),
        read("score", "strict", 75.0, **ACCURACY),
        read("score", "rule", 75.0 - gain, **ACCURACY),
        read("score", "compat", 62.5, **ACCURACY),
        read("difference", "strict", gain, "rule", **ACCURACY),
        read("difference", "compat", -12.5, "strict", **ACCURACY),
    ]
    return [{**each, "subject": model} for each in made]


def choice(**changed: Any) -> Row:
    """Four questions of three choices: `strong` named what is right but once, `weak` likes A."""
    far, near = Estimate(0.6667, 0.25, 1.0), Estimate(0.0, 0.0, 0.25)
    return {
        **{"letters": "ABC", "keys": Counter(A=1, B=2, C=1), "n_held_out": 0},
        "shares": {
            "weak": LetterShares(Counter(A=3, Z=1), 3, far, 0.01, 0.02),
            "strong": LetterShares(Counter(A=1, B=2, none=1), 3, near, 1.0, 1.0),
        },
        "circular_shares": {},
        "passes": {"weak": PassCounts(12, 4, 8, 0), "strong": PassCounts(12, 10, 0, 2)},
        **changed,
    }


def statistic(item_id: str, share: float, discrimination: float | None, *flags: str) -> Row:
    of = {"item_id": item_id, "n_models": 4, "share_right": share, "flags": list(flags)}
    return {**of, "discrimination": discrimination}


def subset(size: int, held_out: float, random: float, smallest: bool = False) -> Row:
    ends = {"held_out_low": -0.3, "held_out_high": 1.0, "random_low": 0.0, "random_high": 1.0}
    found = {"held_out": held_out, "random": random, "is_smallest": smallest, "why": None}
    return {"size": size, "n_items": 4, "tau": 1.0, "is_smallest_random": False, **found, **ends}


def flagged(**given: Any) -> Row:
    choices = {"A": "<b>red</b>", "B": "blue"}
    content = {"question": "<script>alert(1)</script>", "hint": None, "answer": "B"}
    votes = {"right_models": ["m"], "wrong_models": ["n"], "unknown_models": []}
    flag = {"flag": "text_only", "n_models": None, "discrimination": None, **votes}
    of = {"item_id": "one", "image_ids": ["0" * 64], "text": "", "decision": None, "flags": [flag]}
    return {**of, "content": {**content, "choices": choices}, **given}


def analysis(**given: Any) -> Row:
    filters = {"models": ["m", "n"], "min_models": 2, "n_items": 4, "n_flagged": 1, "why": None}
    return {
        "filters": [{"filter": "text_only", **filters, "n_undecided": 1}],
        "statistics": [
            statistic("one", 0.5, 0.5),
            statistic("two", 0.5, 0.5),
            statistic("three", 0.25, -1.0, "negative_discrimination"),
            statistic("four", 1.0, None, "everyone_right"),
        ],
        "flagged": [flagged()],
        "subsets": [subset(1, 0.5, 0.4), subset(2, 0.9, 0.7, True), subset(4, 1.0, 1.0)],
        **given,
    }


def decline(data: Row) -> None:
    """`weak` declined 3 of 12 answers: 41 at the floor, 50 judged, 66 at most."""
    names = ["Circular", "Upper bound"]
    data["benchmark"]["metrics"] = [
        metric(name, low=0.0, refusals_are_right=name == "Upper bound") for name in names
    ]
    values = {"weak": (41.0, 50.0, 66.0), "strong": (78.0, 80.0, 78.0)}
    values["baseline:reference"] = (100.0,) * 3
    rows = [
        row
        for model in values
        for row in scores(model, 0.0, names, n_refused=3 if model == "weak" else 0)
        if row["aggregation"] == "micro"
    ]
    for row in rows:
        floor, judged, bound = values[row["model"]]
        of_form = judged if row["form"] == "judged" else floor
        value = bound if row["metric"] == "Upper bound" else of_form
        row |= {"value": value, "ci_low": value - 4, "ci_high": value + 4}
    data |= {"scores": rows, "comparisons": []}
    rank(data, "strong", 1)
    rank(data, "weak", 2)


SECTIONS = ("leaderboard", "languages", "readings", "letters", "lengths", "items", "examples")


def test_sections_of_analyses_show_each_number_with_its_test_and_its_count(data, store, golden):
    decline(data)
    compare_languages(data, gap("strong", 8.0, 0.003), gap(HOSTILE, -1.0, 0.7))
    data["languages"][THIS] = HOSTILE
    data["findings"]["extraction_quality"] = [
        *(*readings_of(""), *readings_of(HOSTILE, 37.5)),
        read("score", "other-llm", 80.0, **ACCURACY),
        read("difference", "other-llm", 5.0, "strict", **ACCURACY),
        read("raw", "rule", 0.9, "other-llm"),
        read("cohen_kappa", "rule", 0.8, "other-llm"),
    ]
    data["choice"] = choice()
    for name in ("shares", "passes"):
        data["choice"][name][HOSTILE] = data["choice"][name]["weak"]
    data["answer_lengths"] = [lengths_row("", 25), lengths_row(HOSTILE, 20, 0.8)]
    data["answer_lengths"] += [lengths_row("strong", 50, 2), lengths_row("weak", 10)]
    data["item_analysis"] = analysis(flagged=[flagged(item_id=HOSTILE)])
    data["benchmark"] |= {"by_rule": True, "grades": (0, 1)}
    by_rule = judgment(
        judge="rule", part="", score=None, scores={"accuracy": 1.0}, explanation="", call_key=None
    )
    example = data["examples"][0]
    example["choices"] = ["a cat", "a dog in <image-1>"]
    turn = example["turns"][0]
    turn["references"] = [{"kind": "key", "reference": "B", "call_key": None}]
    turn["answers"] = [answer("m", trial="shift-2", reading="B", judgments=[by_rule])]
    # A hostile text that was no text would be missing there.
    html = render_report(data, store)
    golden("reports/analyses.txt", outline(html, *SECTIONS))
    Page(html).assert_hostile_is_text(10)
    data["release"]["release_id"] = OTHER
    assert f'<a href="{THIS}.html">' in render_report(data, store), "the other page has it, too"


def test_what_was_left_out_or_is_missing_has_its_reason_also_where_nobody_is_scored(
    data, store, golden
):
    left_out = {"n_only_first": 2, "n_only_second": 1, "n_unlike": 3}
    reason = "It has no scores on mmdu-zh-0123456789."
    part = {"subset_label": "l2-category", "subset_value": "logic", "n": 1}
    logic = gap("strong", 10.0, None, **part, ci_low=None, ci_high=None, reason="One cluster.")
    # A difference that is sure for one value of a label does not count for the whole.
    part_of_one = {**part, "subset_value": "nature", "n": 4}
    nature = gap("strong", 12.0, 0.01, **part_of_one)
    counts = [counted("n_pairs", **of) for of in (part, part_of_one)]
    strong, weak = gap("strong", 8.0, 0.06, n=4), gap("weak", None, None, n=0, reason=reason)
    compare_languages(data, strong, weak, [*counts, *logic, *nature], n_pairs=5, **left_out)
    data["findings"]["extraction_quality"] = readings_of("")
    shares = {"strong": LetterShares(Counter(A=4), 0, Estimate(None, None, None), None, None)}
    passes = {"strong": PassCounts(12, 12, 0, 0)}
    data["choice"] = choice(keys=Counter(), n_held_out=4, shares=shares, passes=passes)
    subsets = [{**subset(4, 0, 0), "tau": None, "why": "2 models are too few: it takes 4."}]
    statistics = [statistic("one", 0.0, None)]
    data["item_analysis"] = analysis(subsets=subsets, statistics=statistics, flagged=[])
    sections = ("readings", "letters", "items")
    shown = outline(render_report(data, store), "languages")
    data |= {"benchmark": None, "scores": [], "comparisons": []}
    shown += outline(render_report(data, store), *sections)
    golden("reports/analyses_without_scores.txt", shown)


def test_items_of_the_same_difficulty_and_discrimination_share_a_dot(store):
    section = item_section(analysis(), store)
    assert section is not None
    words = "2 of 50% right, discrimination 0.50: one, two"
    assert f"<title>{words}</title>" in section["difficulty"]
    assert 'aria-label="Held-out tau by size' in section["subsets"]["figure"]
