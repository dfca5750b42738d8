"""Sections of analyses in a report: languages, how letters were read, answers, items; by hand."""

import re
from collections import Counter
from typing import Any

import pytest

from methods.choice.letter_shares import LetterShares
from methods.choice.passes import PassCounts
from methods.evaluation.statistics.estimates import Estimate
from resources.reports.benchmark_report import render_report
from resources.reports.report_answers import lengths, letters, refusals
from resources.reports.report_items import item_section, items_dots
from resources.reports.report_readings import readings
from resources.reports.report_scores import judges_of
from tests.resources.reports.attribution_rows import convbench_data
from tests.resources.reports.report_rows import (
    HOSTILE,
    OVERALL,
    Page,
    Row,
    board,
    finding,
    lengths_row,
    metric,
    plain,
    rank,
    ranks,
    scores,
    section_of,
    tables_of,
    without_own_script,
)

# --- Languages -------------------------------------------------------------------------------------

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


def test_each_model_has_both_scores_and_the_difference_with_its_test(data, store):
    without = render_report({**data, "findings": {}}, store)
    compare_languages(data, gap("strong", 8.0, 0.003), gap("weak", -1.0, 0.7))
    html = render_report(data, store)
    text = section_of(html, "languages")
    assert "in English and in Chinese" in text and OTHER in text and "20 dialogues of both" in text
    assert "strong 78.0 70.0 +8.0 +5.0 to +12.0, C = 20 p = 0.003" in text
    assert "weak 78.0 70.0 −1.0 −4.0 to +3.0, C = 20 p = 0.70" in text
    better = 'class="n better"'
    assert html.count(better) == 1 + without.count(better)
    assert "Left out" not in text and "only indicative" not in text
    data["release"]["release_id"] = OTHER
    assert f'<a href="{THIS}.html">' in render_report(data, store), "the other page has it, too"


def test_what_was_left_out_is_counted_a_missing_model_has_its_reason_and_abilities_follow(
    data, store
):
    left_out = {"n_only_first": 2, "n_only_second": 1, "n_unlike": 3}
    reason = "It has no scores on mmdu-zh-0123456789."
    part = {"subset_label": "l2-category", "subset_value": "logic", "n": 1}
    logic = gap("strong", 10.0, None, **part, ci_low=None, ci_high=None, reason="One cluster.")
    strong, weak = gap("strong", 8.0, 0.06, n=4), gap("weak", None, None, n=0, reason=reason)
    compare_languages(
        data, strong, weak, [counted("n_pairs", **part), *logic], n_pairs=5, **left_out
    )
    text = section_of(render_report(data, store), "languages")
    assert "Left out: 2 that are only in English, 1 only in Chinese, 3 of one id" in text
    assert "With fewer than 10 dialogues intervals and p are only indicative." in text
    assert f"weak 0 of 5 have a value in both. {reason} – – ·" in text
    assert "English less Chinese, by l2-category" in text
    assert "logic 1 +10.0 no interval no test" in text


# --- How letters were read ---------------------------------------------------------------------------

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


@pytest.mark.parametrize("evaluated", [True, False])
def test_shares_effect_and_agreement_are_shown_where_there_are_letters(data, store, evaluated):
    data["findings"]["extraction_quality"] = []
    assert "How letters were read" not in render_report(data, store)
    # A release whose keys are held out has letters and no leaderboard.
    if not evaluated:
        data |= {"scores": [], "comparisons": [], "benchmark": None}
    data["findings"]["extraction_quality"] = [*readings_of(""), *readings_of("weak", 37.5)]
    html = render_report(data, store)
    assert ('id="leaderboard"' in html) == evaluated
    text, of = Page(html).text, ", C = 20"
    for cells in (
        f"All models 8 50.0 25.0–50.0{of} 25.0 12.5–25.0{of} 37.5",
        "12.5 no_letter 12.5",
        f"weak 8 75.0 37.5–75.0{of} 37.5 18.8–37.5{of} +37.5 +18.8 to +37.5{of} 62.5",
        f"62.5 31.2–62.5{of} −12.5",
        f"Rules and extractor all that both read 8 75.0 37.5–75.0{of} 0.60 0.30–0.60{of}",
        "No answer was read by both: score's reading and people.",
    ):
        # Whether a cell's lines are told apart by elements or blanks does not matter.
        assert "".join(cells.split()) in "".join(text.split()), cells


def test_another_extractor_stands_beside_the_one_that_is_asked():
    of_other = [
        read("score", "other-llm", 80.0, **ACCURACY),
        read("difference", "other-llm", 5.0, "strict", **ACCURACY),
        read("raw", "rule", 0.9, "other-llm"),
        read("cohen_kappa", "rule", 0.8, "other-llm"),
    ]
    findings = {"extraction_quality": [*readings_of(""), *of_other]}
    tables = tables_of(readings({"findings": findings}).blocks)
    by_extractor = tables["Extractors: Accuracy, micro, by extractor"]
    heads = [head.text for head in by_extractor.heads[1:]]
    assert heads == ["Extractor", "other-llm", "less the extractor"]
    assert [cell.text for cell in by_extractor.lines[0][1:]] == ["75.0", "80.0", "+5.0"]
    agreement = tables["Agreement of readers"].lines
    assert ["Rules and other-llm", "90.0"] in [[line[0].text, line[3].text] for line in agreement]


# --- Letters, lengths and refusals -------------------------------------------------------------------


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


def test_a_bar_is_as_high_as_its_share_of_the_highest_and_has_the_truth_across():
    found = tables_of(letters(choice(), ["strong", "weak"]).blocks)["Letters"]
    assert [head.text for head in found.heads[1:6]] == ["A", "B", "C", "Z", "none"]
    truth, strong, weak = found.lines
    assert [plain(line[0]) for line in (strong, weak)] == ["strong", "weak"]
    # The highest share of all is that of A, 3 of 4 answers of `weak`.
    places = [re.findall(r"(?:height|bottom):([0-9.]+)%", bar.text) for bar in weak[1:6]]
    assert [(plain(bar), bar.title) for bar in weak[1:6]] == [
        *(("75.0", "3 of 4"), ("0.0", "0 of 4"), ("0.0", "0 of 4")),
        *(("25.0", "1 of 4"), ("0.0", "0 of 4")),
    ]
    assert places == [["100.0", "33.3"], ["0.0", "66.7"], ["0.0", "33.3"], ["33.3"], ["0.0"]]
    assert [plain(bar) for bar in truth[1:6]] == ["25.0", "50.0", "25.0", "0.0", "0.0"]
    assert not any("bottom" in bar.text for bar in truth[1:6])
    assert (weak[-1].text, weak[-1].small) == ("0.667", ["0.250–1.000", "p = 0.020"])
    assert (weak[-1].kind, strong[-1].kind) == ("n worse", "n")


def test_the_page_has_letters_and_calls_saved_also_where_keys_are_held_out(data, store):
    data["choice"] = choice()
    html = render_report(data, store)
    rows = board(html, table="letters")
    assert rows[0] == ["right choices", "25.0", "50.0", "25.0", "0.0", "0.0", "4", ""]
    assert [row[0] for row in rows[1:]] == ["strong", "weak"]
    assert board(html, table="passes") == [
        ["strong", "12", "10", "0 0.0 %", "2"],
        ["weak", "12", "4", "8 66.7 %", "0"],
        ["all", "24", "14", "8 33.3 %", "2"],
    ]
    # There nobody is scored.
    shares = {"strong": LetterShares(Counter(A=4), 0, Estimate(None, None, None), None, None)}
    passes = {"strong": PassCounts(12, 12, 0, 0)}
    data["choice"] = choice(keys=Counter(), n_held_out=4, shares=shares, passes=passes)
    data.update(benchmark=None, scores=[], ranks=[], comparisons=[])
    html = render_report(data, store)
    words = Page(html).words
    assert "is held out from this home: there is nothing to compare with" in words
    assert "every pass is asked" in words and ">right choices<" not in html
    assert board(html, table="letters") == [["strong", "100.0", "0.0", "0.0", "0.0", "0.0", "4"]]
    assert "Distance" not in words


def test_references_stand_first_then_models_by_rank():
    rows = [lengths_row("", 25), lengths_row("new", 20, 0.8)]
    rows += [lengths_row("strong", 50, 2), lengths_row("weak", 10)]
    found = tables_of(lengths(rows, ["strong", "weak"]).blocks)["Lengths of answers"]
    assert [plain(line[0]) for line in found.lines] == ["References", "strong", "weak", "new"]
    assert found.marks == {0: "is-apart"}
    strong = found.lines[1]
    assert [cell.text for cell in strong[2:6]] == ["50", "48–52", "25–100", "× 2.00"]
    # The axis ends with the longest line.
    assert plain(found.heads[-1]) == "0100 words"
    places = re.findall(r"(?:left|width):([0-9.]+)%", strong[-1].text)
    assert places == ["25.0", "75.0", "48.0", "4.0", "50.0"]


def test_the_bound_stands_beside_both_forms_with_what_it_gains_if_there_are_scores(data, store):
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
    ranked = [*ranks("strong", 1), *ranks("weak", 2)]
    rank(data, [{**row, "metric": "Circular"} for row in ranked if row["metric"] == OVERALL])

    strong, weak = board(render_report(data, store), table="refusals")
    assert strong[:2] == ["strong", "0 0.0 % of 12 answers"]
    assert strong[2:] == ["78.0 74.0–82.0", "80.0 76.0–84.0", "78.0 74.0–82.0", "0.0"]
    assert weak[:2] == ["weak", "3 25.0 % of 12 answers"]
    assert weak[2:] == ["41.0 37.0–45.0", "50.0 46.0–54.0", "66.0 62.0–70.0", "+25.0"]

    for row in data["scores"]:
        row["value"] = row["ci_low"] = row["ci_high"] = None
    (judge,) = judges_of(data)
    unscored = tables_of(refusals(judge, judge.candidates))["Refusals"]
    assert {line[-1].text for line in unscored.lines} == {"–"}


# --- Items -------------------------------------------------------------------------------------------


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


def test_items_of_the_same_difficulty_and_discrimination_share_a_dot(store):
    wrong, both = items_dots(analysis()["statistics"])
    assert (wrong.share_right, wrong.discrimination, wrong.n_items) == (0.25, -1.0, 1)
    assert (both.share_right, both.discrimination, both.n_items) == (0.5, 0.5, 2)
    assert both.words == "2 of 50% right, discrimination 0.50: one, two"
    section = item_section(analysis(), store)
    assert section is not None
    assert f"<title>{both.words}</title>" in section["difficulty"]
    assert 'aria-label="Held-out tau by size' in section["subsets"]["figure"]


def test_the_page_says_what_was_found_escapes_it_and_has_reasons_for_what_there_is_not(data, store):
    html = render_report({**data, "item_analysis": analysis()}, store)
    assert "<script>" not in without_own_script(html) and "<b>red</b>" not in html
    words = Page(html).words
    for sentence in (
        "1 item of 4 flagged by 2 models; 1 undecided, with fewer than 2 known results.",
        "Every model has 1 item right",
        "1 of 2 right: m",
        "not queued",
        "image not stored",
        "1 of 4 items have no discrimination",
        "The ranking is kept by 2 chosen items, and by no random subset.",
    ):
        assert sentence in words
    why = "2 models are too few: it takes 4."
    subsets = [{**subset(4, 0, 0), "tau": None, "why": why}]
    given = analysis(subsets=subsets, statistics=[statistic("one", 0.0, None)], flagged=[])
    words = Page(render_report({**data, "item_analysis": given}, store)).words
    assert why in words and "None." in words


# --- Text from outside -------------------------------------------------------------------------------


def test_hostile_names_are_only_text_in_the_sections_of_analyses(data, store):
    made = convbench_data(data, {HOSTILE: (0.5, 0.5), "m": (1.0, 1.0)}, n=20)
    compare_languages(made, gap(HOSTILE, 8.0, 0.003))
    made["languages"][THIS] = HOSTILE
    made["findings"]["extraction_quality"] = [*readings_of(""), *readings_of(HOSTILE)]
    made["answer_lengths"] = [lengths_row("", 25), lengths_row(HOSTILE, 50, 2.0)]
    of_letters = choice()
    made["choice"] = of_letters | {
        name: {HOSTILE: of_letters[name]["weak"]} for name in ("shares", "passes")
    }
    made["item_analysis"] = analysis(flagged=[flagged(item_id=HOSTILE)])
    html = render_report(made, store)
    found = set(re.findall(r'id="([^"]+)"', html))
    assert {"attribution", "languages", "readings", "lengths", "letters", "items"} <= found
    Page(html).assert_hostile_is_text(21)
