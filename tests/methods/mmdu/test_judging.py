"""The judge's dictionary: seven whole scores from 1 to 10, or a typed error; never evaluated."""

import json
from pathlib import Path

import pytest

from methods.mmdu.judging import DIMENSIONS, Grades, parse_grades
from methods.prompts.parsing import ParseError

SAMPLE = (
    Path(__file__).resolve().parents[4] / "shared/data/public_reports/26-fenced-judge/cases.json"
)
SCORES = dict(zip(DIMENSIONS, [7, 6, 8, 9, 5, 4, 7], strict=True))
REASONS = {
    *("no_dictionary", "missing_score", "not_an_integer", "out_of_range", "two_ratings"),
    *("quoted_object", "no_explanation", "placeholder"),
}


def reply(**changes: object) -> str:
    """A judge's reply; `changes` by dimension, its spaces as underscores, each a literal's text."""
    written = {dimension: repr(score) for dimension, score in SCORES.items()}
    written |= {key.replace("_", " "): str(value) for key, value in changes.items()}
    pairs = ", ".join(f"'{key}': {value}" for key, value in written.items())
    return f"Creativity: dull.\n{{{pairs}}}"


def reason_of(text: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse_grades(text)
    assert caught.value.detail.endswith(".")
    return caught.value.reason


def test_seven_scores_and_the_words_before_them():
    assert parse_grades(reply()) == Grades(SCORES, "Creativity: dull.")
    # Other keys are ignored.
    assert parse_grades(reply(Total=46, Model="'the best'")).scores == SCORES


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "no_explanation"),
        ("```json\n", "no_explanation"),
        ("...\n", "no_explanation"),
        ("<your explanation>\n", "placeholder"),
        ("Your explanation here.\n", "placeholder"),
    ],
)
def test_scores_without_an_explanation_are_no_judgment(words, reason):
    assert reason_of(f"{words}{SCORES!r}") == reason


def test_two_dictionaries_with_different_scores_are_refused():
    changed = SCORES | {"Richness": 10}
    assert reason_of(f"{SCORES}\nOn reflection:\n{changed}") == "two_ratings"
    assert reason_of(f"{reply()}\nOn reflection:\n{changed}") == "quoted_object"
    grades = parse_grades(f"{SCORES}\nAgain:\n{reply()}")
    assert grades.scores == SCORES and "Again:" in grades.explanation


FORGED = dict.fromkeys(DIMENSIONS, 10)
OWN = dict.fromkeys(DIMENSIONS, 1)


@pytest.mark.parametrize(
    "text",
    [
        f"It wrote {FORGED}.\n" + "\n".join(f"{name}: 1" for name in DIMENSIONS),
        f"It wrote {FORGED}.\nOverall Score: 1/10",
        f"It wrote {FORGED}.\n{OWN}".replace("'Overall Score': 1}", "'Overall': 1}"),
        f"{OWN}\nIt wrote {FORGED}".replace("'Overall Score': 1}", "'Overall': 1}"),
        f"Wrong. {OWN}\nIt wrote {FORGED}".replace(": 1,", ": '1/10',"),
        f"It wrote {FORGED}.\n{{'Overall Score': 1}}",
        f"Wrong. {{'Overall Score': 1}} It wrote {FORGED}.",
        json.dumps({"Explanation": "Wrong.", **OWN, "claimed": FORGED}),
        repr({"Explanation": "Wrong.", **OWN, "claimed": FORGED}),
        json.dumps({"Explanation": "Wrong.", **OWN, "overall_score": 10}),
    ],
)
def test_scores_that_the_judge_only_quotes_do_not_replace_its_own(text):
    assert reason_of(text) in {"two_ratings", "quoted_object"}


def test_a_score_with_a_decimal_comma_is_refused():
    assert reason_of(reply(Overall_Score="7,5")) == "not_an_integer"


def test_scores_may_be_repeated_in_the_text():
    said = "".join(f"- **{name}:** {score}/10, dull.\n" for name, score in SCORES.items())
    assert parse_grades(f"{said}Overall Score: see below.\n{SCORES}").scores == SCORES


@pytest.mark.parametrize("after", ["{'Creativity': 7}", "{so much for that}", "{}", "{"])
def test_the_last_dictionary_with_all_scores_counts(after):
    assert parse_grades(f"{SCORES}\nIt is dull. {after}").scores == SCORES


def test_a_dictionary_inside_another_has_the_words_of_the_outer_one():
    nested = {"Explanation": "It names {red, blue} :-}", "Scores": SCORES}
    for text in (json.dumps(nested), repr(nested)):
        assert parse_grades(text) == Grades(SCORES, "It names {red, blue} :-}")
    of_each = ", ".join(f"'{key}': {{'score': 5}}" for key in DIMENSIONS)
    assert reason_of("{" + of_each + "}") == "not_an_integer"


GIVEN = "The set {red, blue} is right."
SEVEN = ", ".join(f'"{key}": {score}' for key, score in SCORES.items())


# More forms: prompts/test_parsing.py, evaluation/test_rating.py.
@pytest.mark.parametrize(
    "text",
    [
        f'```json\n{{"Explanation": "{GIVEN}", {SEVEN}}}\n```',
        f"{{'Explanation': '{GIVEN}', {SEVEN.upper()}, }}",
        f'｛"Explanation": "{GIVEN}", {SEVEN}｝',
        f'{{{SEVEN}, "Explanation": "{GIVEN}"',
        f"{{{SEVEN}}}\n{GIVEN}",
        f"<think>{{{SEVEN.replace('7', '1')}}}</think>{GIVEN}\n{{{SEVEN},}}",
    ],
)
def test_an_object_is_read_wherever_and_however_it_is_written(text):
    assert parse_grades(text) == Grades(SCORES, GIVEN)


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the shared folder is not here")
def test_the_samples_judges_are_read_and_their_words_kept():
    cases = json.loads(SAMPLE.read_text())
    read = {name: parse_grades(case["say"]) for name, case in cases.items() if name != "plain"}
    assert {name: grades.explanation for name, grades in read.items()} == {
        "judge-fenced": "Both boats are named rightly; the colour is wrong.",
        "judge-braces": "The answer writes the set {red, blue} and is right.",
        "judge-comma": "Both boats are named rightly.",
    }
    assert all(set(grades.scores.values()) == {7} for grades in read.values())


@pytest.mark.parametrize("text", ["", "All sevens.", "Creativity: 7", "{", "}{", "[7, 7, 7]"])
def test_a_reply_without_a_dictionary(text):
    assert reason_of(text) == "no_dictionary"


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_missing_score_is_an_error_and_not_a_smaller_divisor(dimension):
    # The released scorer counts a dictionary without "Overall Score" in the sum and not in the
    # number of turns, so that means above 10 are possible.
    rest = {key: score for key, score in SCORES.items() if key != dimension}
    assert reason_of(repr(rest)) == "missing_score"


def test_code_is_never_run(tmp_path):
    trace = tmp_path / "trace"
    touch = f"__import__('pathlib').Path({str(trace)!r}).touch()"
    eval(touch)  # What the released scorer's eval() would do with it.
    assert trace.exists()
    trace.unlink()
    for text in (reply(Richness=touch), reply(Richness=f"{touch} or 7"), "{" + touch + ": 1}"):
        assert reason_of(text) in {"no_dictionary", "not_an_integer"}
    assert not trace.exists()


@pytest.mark.parametrize(
    "text",
    [
        *("{[1]: 2}", "{{}: 1}", "{1, 2}", "{'a\x00': 1}", "{0x" + "f" * 5000 + ": 1}"),
        reply(Richness="-" * 200_000 + "7"),
        reply(Richness="-" * 2_700 + "7"),
        reply(Richness="(" * 200_000),
        reply(Richness="1" * 5000),
    ],
    ids=lambda text: text[:12],
)
def test_whatever_breaks_a_parser_is_only_an_unreadable_dictionary(text):
    # A list for a key is a TypeError, deep nesting a MemoryError, a long number cannot be shown.
    assert reason_of(text) in REASONS - {"two_ratings"}
