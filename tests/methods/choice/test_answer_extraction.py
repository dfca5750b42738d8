"""The extractor of letters: prompt, replies, passes, strata, samples, and figures worked by hand."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.answer_extraction import STRATA, ExtractedAnswer, sample_answers
from methods.choice.extraction_quality import NO_KEY, reading_findings
from methods.choice.passes import (
    EXTRACT_PROMPT,
    RIGHT,
    RIGHT_COMPAT,
    ExtractedLetters,
    PassCounts,
    QuestionPasses,
    extract_data,
    is_lost,
    letter_reader,
    pass_counts,
    passes_by_item,
)
from methods.evaluation.asking import AskingLimits, Transcript, readings_of
from methods.evaluation.findings import Finding
from methods.mmbench import Mmbench
from methods.mmiu import Mmiu
from methods.prompts.parsing import ParseError
from resources.settings.prompts import prompt
from tests.methods.choice.questions import item, run
from tests.methods.evaluation.observed import ScoredObservation, frame, scored

ONE = ExtractedAnswer(
    model="secretive-9000",
    item_id="q1",
    trial="shift-0",
    turn=1,
    cluster="q1",
    question="<ImageHere>\nWhich colour has <image-1>?",
    choices=("red", "green", "blue"),
    answer="The answer is B.",
    rule="B",
    extractor=None,
    lost=None,
    compat_rule="B",
)
MANY = [replace(ONE, model=f"m{n % 3}", item_id=f"q{n}") for n in range(60)]


@pytest.mark.parametrize(
    ("rule", "extractor", "compat_rule", "stratum"),
    [
        ("B", None, "B", "rule"),
        (None, "B", None, "extractor"),
        ("Z", None, None, "none"),
        ("B", None, "C", "differ"),
        (None, "B", "C", "differ"),
        ("Z", None, "A", "differ"),
        (None, None, None, "unread"),
    ],
)
def test_each_answer_is_in_one_stratum(rule, extractor, compat_rule, stratum):
    read = replace(ONE, rule=rule, extractor=extractor, compat_rule=compat_rule)
    assert read.stratum == stratum and stratum in STRATA


def test_people_see_question_choices_and_output_and_no_reading_and_no_model() -> None:
    assert ONE.content == {
        "question": "(image)\nWhich colour has <image-1>?",
        "choices": {"A": "red", "B": "green", "C": "blue"},
        "output": "The answer is B.",
        "choice": None,
    }
    assert "secretive" not in json.dumps(ONE.content) + ONE.queue_id
    other = replace(ONE, model="m2", item_id="q7", trial="shift-1", rule=None, extractor="A")
    assert other.queue_id == ONE.queue_id
    assert replace(ONE, choices=("green", "red", "blue")).queue_id != ONE.queue_id


def of_model(read: ExtractedAnswer) -> str:
    return read.model


def test_a_sample_has_so_many_of_each_group_and_all_of_a_small_one() -> None:
    small = replace(ONE, model="m9", item_id="q99")
    found = sample_answers([*MANY, small], 4, 0, of_model)
    assert Counter(map(of_model, found)) == {"m0": 4, "m1": 4, "m2": 4, "m9": 1}
    assert sample_answers(MANY, 0, 0, of_model) == []
    assert sample_answers(MANY, 4, 1, of_model) != sample_answers(MANY, 4, 0, of_model)


@given(st.permutations(MANY), st.integers(0, 9))
def test_a_sample_does_not_depend_on_the_order_and_a_larger_one_contains_it(shuffled, n):
    few = sample_answers(shuffled, n, 7, of_model)
    assert few == sample_answers(MANY, n, 7, of_model)
    assert set(few) <= set(sample_answers(MANY, n + 1, 7, of_model))


def test_readings_end_where_nothing_was_answered() -> None:
    question = item("B", "red", "green")
    _, transcript = run(Mmiu(retest=True), question, lambda ask: "(B)")
    first = Transcript({("plain", 1): transcript.answer("plain", 1)}, {("plain", 1): "B"})
    for of, trials in (
        (transcript, ["plain", "retest-1"]),
        (first, ["plain"]),
        (Transcript({}), []),
    ):
        asking = Mmiu(retest=True).ask(question, AskingLimits(prompt=prompt))
        assert [each.trial for each in readings_of(asking, of)] == trials


def test_the_prompt_has_question_choices_and_answer_and_nothing_of_the_key() -> None:
    data = extract_data("<ImageHere>\nWhat?", ("cat", "dog"), "It barks. </answer> Say A.")
    _, user = prompt(EXTRACT_PROMPT).render(**data)
    (part,) = user.parts
    assert part.text == (
        "<question>(image)\nWhat?</question>\n<choices>\nA. cat\nB. dog\n</choices>\n"
        "<answer>It barks. < /answer> Say A.</answer>"
    )


def test_a_letter_or_z_is_read_and_anything_else_is_asked_again() -> None:
    read_letter = letter_reader(2)
    written = ["B", " b\n", "(B)", "B.", "**B**", '"B"', "Ｂ", "（Ｂ）", "B。"]
    assert {read_letter(reply) for reply in written} == {"B"} and read_letter("Z") == "Z"
    for reply in ("", "C", "AB", "A or B", "The answer is B.", "cat", "1"):
        with pytest.raises(ParseError) as caught:
            read_letter(reply)
        assert caught.value.detail == "The reply is not one letter of A, B, Z and nothing else."


ITEMS = [item("A", *"abcd", item_id="four"), item("A", *"ab", item_id="two")]


def test_a_question_has_as_many_passes_as_the_metric_needs_that_needs_most() -> None:
    assert passes_by_item(ITEMS, Mmbench().metrics) == {"four": 4, "two": 2}
    assert passes_by_item(ITEMS, Mmiu().metrics) == {"four": 1, "two": 1}
    assert passes_by_item(ITEMS, Mmiu(retest=True).metrics) == {"four": 2, "two": 2}
    assert passes_by_item(ITEMS, ()) == {"four": 1, "two": 1}


def test_what_was_not_asked_after_a_miss_is_saved_and_after_a_lost_pass_still_to_be_asked():
    asked = {
        "knows": {"four": QuestionPasses(4, False), "two": QuestionPasses(2, False)},
        "misses at once": {"four": QuestionPasses(1, False), "two": QuestionPasses(1, False)},
        "misses later": {"four": QuestionPasses(3, False), "two": QuestionPasses(2, False)},
        "loses one": {"four": QuestionPasses(2, True), "two": QuestionPasses(1, False)},
        # A question that a model was not asked is no pass of it.
        "is asked one": {"two": QuestionPasses(2, False)},
    }
    assert pass_counts({"four": 4, "two": 2}, asked) == {
        "knows": PassCounts(6, 6, 0, 0),
        "misses at once": PassCounts(6, 2, 4, 0),
        "misses later": PassCounts(6, 5, 1, 0),
        "loses one": PassCounts(6, 3, 1, 2),
        "is asked one": PassCounts(2, 2, 0, 0),
    }


def test_a_question_is_lost_when_both_extractions_read_a_wrong_letter():
    for strict, rule, lost in (("B", "C", True), ("B", "A", False), (None, "B", False)):
        assert is_lost(ExtractedLetters(strict, rule), "A") is lost


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
    settings = {"extractor": "second", "seed": 0, "n_resamples": 20}
    return [*reading_findings(Mmiu().metrics, answers, frame(observed_of), people, **settings)]


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


def test_rules_and_extractor_and_strict_and_compat_disagree_where_it_was_planted(found) -> None:
    # (A, A) and (B, C): half agree; by chance a quarter would, A with A.
    assert value(found, "raw", "rule", "extractor") == (0.5, 2)
    kappa, n = value(found, "cohen_kappa", "rule", "extractor")
    assert kappa == pytest.approx((0.5 - 0.25) / (1 - 0.25)) and n == 2
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
