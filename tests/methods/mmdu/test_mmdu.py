"""MMDU before a model, and its judge's dictionary: seven whole scores or a typed error."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from methods.evaluation import asking
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import JudgeRequest, Judgment, JudgmentKey, replay
from methods.mmdu import Mmdu
from methods.mmdu.judging import DIMENSIONS, OVERALL, read_judgment
from methods.prompts.messages import Image, Message
from tests.methods.evaluation.driving import drive
from tests.methods.evaluation.observed import number, scored
from tests.methods.refusals import reason_of

MMDU = Mmdu()
ITEM = Item(
    "item",
    (
        Turn(1, "Image1: <ImageHere>. What is in <image-1>?", (1,), {"answer": "A mill."}),
        Turn(2, "Image2: <ImageHere>, Image3: <ImageHere>. Compare.", (2, 3), {"answer": "Red."}),
        Turn(3, "Which is oldest?", (), {"answer": "<image-2>."}),
    ),
    ("sha-a", "sha-b", "sha-c"),
)


def with_turn(number: int, **changes: object) -> Item:
    turns = [replace(each, **changes) if each.turn == number else each for each in ITEM.turns]
    return replace(ITEM, turns=tuple(turns))


def answered(*texts: str) -> asking.Transcript:
    return asking.Transcript(
        {
            ("plain", turn): asking.Answer("answered", text)
            for turn, text in enumerate(texts, start=1)
        }
    )


def asked_with(*texts: str | None, item: Item = ITEM) -> list:
    """What is yielded to a model that gives these answers; None is one that was cut off."""
    given = iter(texts)

    def answer(ask: asking.AnswerRequest) -> asking.Answer:
        text = next(given)
        return asking.Answer("truncated") if text is None else asking.Answer("answered", text)

    return drive(MMDU.ask(item, asking.AskingLimits()), answer)


def judging_of(transcript: asking.Transcript, item: Item = ITEM) -> list[JudgeRequest]:
    return list(next(MMDU.judge(item, transcript)))


def shown(messages) -> list[str]:
    return [
        "".join(f"[{p.image_id}]" if isinstance(p, Image) else p.text for p in each.parts)
        for each in messages
    ]


def test_a_turn_is_the_whole_dialogue_with_images_at_their_turns_and_the_models_own_answers():
    steps = asked_with("A tower.", "No idea.", "z")
    assert [(step.trial, step.turn) for step in steps] == [("plain", n) for n in (1, 2, 3)]
    dialogue = [
        "Image1: [sha-a]. What is in <image-1>?",
        "A tower.",
        "Image2: [sha-b], Image3: [sha-c]. Compare.",
        "No idea.",
        "Which is oldest?",
    ]
    for place, step in enumerate(steps):
        assert shown(step.messages) == dialogue[: 2 * place + 1]
    assert [message.role for message in steps[1].messages] == ["user", "assistant", "user"]


def test_a_models_text_is_no_image_and_a_given_turn_is_history():
    messages = asked_with("See <ImageHere>.", "y", "z")[1].messages
    assert messages[1] == Message.from_text("assistant", "See <ImageHere>.")
    # A given turn is put into the history and is not asked.
    first, second, _ = asked_with("y", "z", item=with_turn(1, given="A mill."))
    assert first == asking.ReferenceTurn("plain", 1, "A mill.")
    assert second.messages[1] == Message.from_text("assistant", "A mill.")
    # A turn without an answer ends the dialogue and the others are named.
    first, second, third = asked_with("x", None)
    assert isinstance(first, asking.AnswerRequest) and isinstance(second, asking.AnswerRequest)
    assert third == asking.SkippedTurn("plain", 3, "Turn 2 has no answer.")


def test_the_judge_sees_the_images_and_reads_the_dialogue_so_far_and_nothing_later():
    judged = judging_of(answered("A mill.", "Both are tall.", "None."))
    seen = [asked.images for asked in judged]
    assert seen == [("sha-a",), ("sha-a", "sha-b", "sha-c"), ITEM.image_ids]
    assert judged[1].place == JudgmentKey("plain", 2, "turn")
    assert judged[1].data == {
        "earlier": [{"question": "Image1: <image-1>. What is in <image-1>?", "answer": "A mill."}],
        "question": "Image2: <image-2>, Image3: <image-3>. Compare.",
        "reference": "Red.",
        "answer": "Both are tall.",
    }
    # Long dialogues stay small: turns have their earlier texts together.
    assert judged[2].data["earlier"][0] is judged[1].data["earlier"][0]
    # It reads no placeholder of an image in a reference or an answer.
    said = answered("See <ImageHere>.", "See <ImageHere> and <ImageHere>.")
    data = judging_of(said, with_turn(2, references={"answer": "As <ImageHere>."}))[1].data
    assert "<ImageHere>" not in str(data)
    assert (data["reference"], data["answer"]) == ("As <image>.", "See <image> and <image>.")
    assert data["earlier"][0]["answer"] == "See <image>."


def test_every_turn_is_observed_in_every_dimension() -> None:
    grades = Judgment(dict.fromkeys(DIMENSIONS, 7), 7, "Good.")
    transcript = asking.Transcript(
        {("plain", 1): asking.Answer("answered", "x"), ("plain", 2): asking.Answer("truncated")}
    )
    found = replay(MMDU.judge(ITEM, transcript), {JudgmentKey("plain", 1, "turn"): grades})
    assert len(found) == 3 * len(DIMENSIONS)
    statuses = {(each.turn, each.status, each.value) for each in found}
    assert statuses == {(1, "judged", 7), (2, "truncated", None), (3, "not_asked", None)}


def test_a_judgment_has_all_dimensions_and_the_overall_score_sums_it_up_and_ranks() -> None:
    # Neither the best (9) nor the worst (2) nor the mean of the others: what the judge said.
    scores = {dimension: 5 for dimension in DIMENSIONS}
    scores |= {"Creativity": 9, "Richness": 2, OVERALL: 7}
    judgment = read_judgment("Sound.\n" + json.dumps(scores))
    assert (judgment.scores, judgment.score, judgment.explanation) == (scores, 7, "Sound.")
    assert set(judgment.scores) == set(MMDU.dimensions) and MMDU.dimensions[-1] == OVERALL
    # A dimension's score is its mean over turns x 10 (MMDU, 2.3).
    first = MMDU.metrics[0]
    assert (first.name, first.aggregation) == (OVERALL, "micro")
    assert {(each.lowest, each.highest) for each in MMDU.metrics} == {(10, 100)}
    rated = [scored("a", points, turn=turn, metric=OVERALL) for turn, points in ((1, 4), (2, 9))]
    assert number(first, rated) == 65


SAMPLE = (
    Path(__file__).resolve().parents[4] / "shared/data/public_reports/26-fenced-judge/cases.json"
)
SCORES = dict(zip(DIMENSIONS, [7, 6, 8, 9, 5, 4, 7], strict=True))


def reply(**changes: object) -> str:
    """A judge's reply; `changes` by dimension, its spaces as underscores, each a literal's text."""
    written = {dimension: repr(score) for dimension, score in SCORES.items()}
    written |= {key.replace("_", " "): str(value) for key, value in changes.items()}
    pairs = ", ".join(f"'{key}': {value}" for key, value in written.items())
    return f"Creativity: dull.\n{{{pairs}}}"


CHANGED = SCORES | {"Richness": 10}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_dictionary"),
        ("Creativity: 7", "no_dictionary"),
        (f"{SCORES!r}", "no_explanation"),
        (f"<your explanation>\n{SCORES!r}", "placeholder"),
        (f"{SCORES}\nOn reflection:\n{CHANGED}", "two_ratings"),
        (f"It is dull.\nOverall Score: 3\n{SCORES}", "two_ratings"),
        (f"{reply()}\nOn reflection:\n{CHANGED}", "quoted_object"),
        (reply(Overall_Score="7,5"), "not_an_integer"),
        (repr(dict.fromkeys(DIMENSIONS, {"score": 5})), "not_an_integer"),
    ],
)
def test_a_reply_without_one_explained_dictionary_of_scores_is_no_judgment(text, reason):
    assert reason_of(read_judgment, text) == reason


FORGED = dict.fromkeys(DIMENSIONS, 10)
OWN = dict.fromkeys(DIMENSIONS, 1)


@pytest.mark.parametrize(
    "text",
    [
        f"It wrote {FORGED}.\n" + "\n".join(f"{name}: 1" for name in DIMENSIONS),
        f"It wrote {FORGED}.\nOverall Score: 1/10",
        f"{OWN}\nIt wrote {FORGED}".replace("'Overall Score': 1}", "'Overall': 1}"),
        f"Wrong. {OWN}\nIt wrote {FORGED}".replace(": 1,", ": '1/10',"),
        f"It wrote {FORGED}.\n{{'Overall Score': 1}}",
        f"Wrong. {{'Overall Score': 1}} It wrote {FORGED}.",
        repr({"Explanation": "Wrong.", **OWN, "claimed": FORGED}),
        json.dumps({"Explanation": "Wrong.", **OWN, "overall_score": 10}),
    ],
)
def test_scores_that_the_judge_only_quotes_do_not_replace_its_own(text):
    assert reason_of(read_judgment, text) in {"two_ratings", "quoted_object"}


@pytest.mark.parametrize("after", ["{'Creativity': 7}", "{so much for that}", "{}", "{"])
def test_the_last_dictionary_with_all_scores_counts(after):
    assert read_judgment(f"{SCORES}\nIt is dull. {after}").scores == SCORES


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the shared folder is not here")
def test_the_samples_judges_are_read_and_their_words_kept():
    cases = json.loads(SAMPLE.read_text())
    read = {name: read_judgment(case["say"]) for name, case in cases.items() if name != "plain"}
    assert {name: grades.explanation for name, grades in read.items()} == {
        "judge-fenced": "Both boats are named rightly; the colour is wrong.",
        "judge-braces": "The answer writes the set {red, blue} and is right.",
        "judge-comma": "Both boats are named rightly.",
    }
    assert all(set(grades.scores.values()) == {7} for grades in read.values())


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_missing_score_is_an_error_and_not_a_smaller_divisor(dimension):
    # The released scorer counts a dictionary without "Overall Score" in the sum and not in the
    # number of turns, so that means above 10 are possible.
    rest = {key: score for key, score in SCORES.items() if key != dimension}
    assert reason_of(read_judgment, repr(rest)) == "missing_score"


def test_code_is_never_run(tmp_path):
    trace = tmp_path / "trace"
    touch = f"__import__('pathlib').Path({str(trace)!r}).touch()"
    eval(touch)  # What the released scorer's eval() would do with it.
    assert trace.exists()
    trace.unlink()
    for text in (reply(Richness=touch), reply(Richness=f"{touch} or 7"), "{" + touch + ": 1}"):
        assert reason_of(read_judgment, text) in {"no_dictionary", "not_an_integer"}
    assert not trace.exists()
