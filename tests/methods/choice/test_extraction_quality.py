"""Figures of how letters were read, worked by hand."""

from dataclasses import replace
from typing import Any

import pytest

from methods.choice.answer_extraction import ExtractedAnswer
from methods.choice.extraction_quality import NO_KEY, reading_findings
from methods.choice.passes import RIGHT, RIGHT_COMPAT
from methods.evaluation.findings import Finding
from methods.mmiu import Mmiu
from tests.methods.evaluation.metrics.numbers import scored
from tests.methods.evaluation.observed import ScoredObservation, frame

KEYS = {"1": "A", "2": "C", "3": "A", "4": "A", "5": "A", "6": "A"}


def read(item_id: str, answer: str, **of: str | None) -> ExtractedAnswer:
    given = {"rule": None, "extractor": None, "lost": None, "compat_rule": None}
    by_model = {name: of.pop(name) for name in ("second", "other") if name in of}
    return ExtractedAnswer(
        "m", item_id, "plain", 1, item_id, "?", ("red", "green", "blue", "black"), answer,
        **{**given, **of}, by_model=by_model, right=KEYS[item_id],
    )  # fmt: skip


ANSWERS = [
    read("1", "A", rule="A", compat_rule="A", second="A"),
    # VLMEvalKit's rules and the extractor read another letter than the rules.
    read("2", "B, no: C", rule="B", compat_rule="C", second="C"),
    read("3", "The red one.", extractor="A"),
    read("4", "Hm.", lost="no_letter"),
]
PASSES = (("1", "B"), ("2", "Z"))
"""Letters of a second pass."""
PEOPLE = {ANSWERS[0].queue_id: "A", ANSWERS[1].queue_id: "B", ANSWERS[2].queue_id: "D"}


def observed(answers: list[ExtractedAnswer]) -> list[ScoredObservation]:
    return [
        scored(
            each.item_id, None if letter is None else float(letter == KEYS[each.item_id]),
            trial=each.trial, metric=metric, task="one",
            status="not_judged" if letter is None else "judged",
        )
        for each in answers
        for metric, letter in ((RIGHT, each.letter), (RIGHT_COMPAT, each.compat))
    ]  # fmt: skip


def findings(answers: list[ExtractedAnswer], observed_of: Any, people: Any) -> list[Finding]:
    settings = {"extractor": "second", "seed": 0, "n_resamples": 50}
    return [
        *reading_findings(Mmiu().metrics, answers, frame(observed_of), people, **settings),
    ]


def figures(answers, model="m", people=PEOPLE) -> dict[Any, Finding]:
    of_models: dict[str, list[ExtractedAnswer]] = {}
    for each in answers:
        of_models.setdefault(each.model, []).append(each)
    rows = findings(answers, {name: observed(of) for name, of in of_models.items()}, people)
    return {
        (row.measure, row.judge, row.other, row.subset_value, row.aggregation): row
        for row in rows
        if row.subject == model
    }


@pytest.fixture(scope="module")
def found() -> dict[Any, Finding]:
    return figures(ANSWERS)


def value(found: dict[Any, Finding], *key: str) -> tuple[float | None, int]:
    row = found[(*key, *[""] * (5 - len(key)))]
    return row.value, row.n


def test_who_read_which_share(found: dict[Any, Finding]) -> None:
    assert value(found, "read", "rule") == (0.5, 4)
    assert value(found, "read", "compat_rule") == (0.5, 4)
    assert value(found, "read", "extractor") == (0.25, 4)
    assert value(found, "unread", "strict") == (0.25, 4)
    assert value(found, "unread", "strict", "", "no_letter") == (0.25, 4)
    assert value(found, "none", "strict") == (0.0, 4)


def test_another_extractor_has_scores_and_agreement_of_its_own() -> None:
    answers = [
        read("1", "A", rule="A", second="A", other="B"),
        read("2", "Hm: C.", extractor="B", other="C"),
        read("3", "The red one.", extractor="A", other="A"),
        read("4", "Hm.", lost="no_letter", other="A"),
    ]
    found = figures(answers, people={})
    assert value(found, "raw", "rule", "other") == (0.0, 1)
    assert value(found, "raw", "extractor", "other") == (0.5, 2)
    key = ("micro",)
    # The extractor is right on 1 and 3 of the three answers that it reads; the other one on all four.
    assert found["score", "other", "", "", *key].value == 100
    assert found["score", "strict", "", "", *key].value == pytest.approx(200 / 3)
    less = found["difference", "other", "strict", "", *key]
    assert (less.value, less.n) == (pytest.approx(100 / 3), 3)


def test_rules_and_extractor_disagree_where_it_was_planted(found: dict[Any, Finding]) -> None:
    # (A, A) and (B, C): half agree; by chance a quarter would, A with A.
    assert value(found, "raw", "rule", "extractor") == (0.5, 2)
    kappa, n = value(found, "cohen_kappa", "rule", "extractor")
    assert kappa == pytest.approx((0.5 - 0.25) / (1 - 0.25)) and n == 2


def test_strict_and_compat(found: dict[Any, Finding]) -> None:
    # (A, A), (B, C), (A, A); by chance (2/3)^2.
    assert value(found, "raw", "strict", "compat") == (pytest.approx(2 / 3), 3)
    kappa, _ = value(found, "cohen_kappa", "strict", "compat")
    assert kappa == pytest.approx((6 / 9 - 4 / 9) / (1 - 4 / 9))
    row = found["raw", "strict", "compat", "", ""]
    assert row.ci_low <= row.value <= row.ci_high


def test_people_side_with_the_rules_and_against_the_extractor(found: dict[Any, Finding]) -> None:
    assert value(found, "raw", "rule", "people") == (1.0, 2)
    assert value(found, "raw", "extractor", "people") == (0.0, 1)
    assert value(found, "raw", "strict", "people") == (pytest.approx(2 / 3), 3)
    assert value(found, "raw", "compat", "people") == (pytest.approx(1 / 3), 3)
    # By stratum: who is right where the two readings differ.
    assert value(found, "raw", "strict", "people", "differ") == (1.0, 1)
    assert value(found, "raw", "compat", "people", "differ") == (0.0, 1)
    assert value(found, "raw", "extractor", "people", "extractor") == (0.0, 1)
    assert ("raw", "rule", "people", "extractor", "") not in found


def test_the_extractor_gains_what_it_reads_rightly(found: dict[Any, Finding]) -> None:
    def points(*key: str) -> float:
        row = found[(*key, *[""] * (4 - len(key)), "micro")]
        assert row.n == 3
        return row.value

    # Of the three questions with a reading the scores have 1 and 3, the rules alone 1, compat all.
    assert points("score", "strict") == pytest.approx(200 / 3)
    assert points("score", "rule") == pytest.approx(100 / 3)
    assert points("score", "compat") == pytest.approx(100)
    assert points("difference", "strict", "rule") == pytest.approx(100 / 3)
    assert points("difference", "compat", "strict") == pytest.approx(100 / 3)
    row = found["difference", "strict", "rule", "", "macro by task"]
    assert row.value == pytest.approx(100 / 3) and row.ci_low <= row.value


def test_all_models_are_taken_together_and_baselines_are_no_models() -> None:
    other = [replace(each, model="n") for each in ANSWERS[:1]]
    baseline = [replace(each, model="baseline:reference") for each in ANSWERS[3:]]
    found = figures([*ANSWERS, *other, *baseline], model="")
    assert value(found, "read", "rule") == (3 / 5, 5)
    assert value(found, "unread", "strict") == (1 / 5, 5)
    # 100, 0, 100 of one and 100 of the other.
    assert value(found, "score", "strict", "", "", "micro") == (75, 4)
    assert figures([*ANSWERS, *baseline], "baseline:reference")["read", "rule", "", "", ""].n == 1


def test_answers_that_have_no_key_or_no_people_have_a_reason_and_no_value() -> None:
    rows = findings(ANSWERS, {}, {})
    scores = [row for row in rows if row.metric and row.subject == "m"]
    assert len(scores) == 2 * 5 and {row.reason for row in scores} == {NO_KEY}
    assert {(row.n, row.value) for row in scores} == {(0, None)}
    assert all((row.value is None) == (row.reason is not None) for row in rows)
    row = figures(ANSWERS, people={})["raw", "strict", "people", "", ""]
    assert (row.n, row.value, row.reason) == (0, None, "No item was rated by two.")
    assert figures([]) == {}


def test_the_letters_of_each_pass_are_shares_of_its_answers() -> None:
    """MMBench, Figure 4, for every pass: 2 of 4 first answers name A, 1 of 2 second ones B."""
    second = [replace(read(key, "B", rule=letter), trial="shift-1") for key, letter in PASSES]
    named = {
        (row.unit, row.subset_value): (row.n, row.value)
        for row in findings([*ANSWERS, *second], {"m": observed(ANSWERS)}, {})
        if row.measure == "named" and row.subject == "m"
    }
    assert named == {
        ("plain", "A"): (4, 0.5),
        ("plain", "B"): (4, 0.25),
        ("shift-1", "B"): (2, 0.5),
        ("shift-1", "Z"): (2, 0.5),
    }
