"""MMDU before a model and before its judge."""

import json
from dataclasses import replace

from methods.evaluation.asking import (
    Answer,
    AnswerRequest,
    AskingLimits,
    ReferenceTurn,
    SkippedTurn,
    Transcript,
)
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import JudgeRequest, Judgment, JudgmentKey, replay
from methods.mmdu import Mmdu, read_judgment
from methods.mmdu.judging import DIMENSIONS, OVERALL
from methods.prompts.messages import Image, Message
from tests.methods.evaluation.driving import drive

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


def answered(*texts: str) -> Transcript:
    return Transcript(
        {("plain", turn): Answer("answered", text) for turn, text in enumerate(texts, start=1)}
    )


def asked_with(*texts: str | None, item: Item = ITEM) -> list:
    """What is yielded to a model that gives these answers; None is one that was cut off."""
    given = iter(texts)

    def answer(ask: AnswerRequest) -> Answer:
        text = next(given)
        return Answer("truncated") if text is None else Answer("answered", text)

    return drive(MMDU.ask(item, AskingLimits()), answer)


def judging_of(transcript: Transcript, item: Item = ITEM) -> list[JudgeRequest]:
    return list(next(MMDU.judge(item, transcript)))


def shown(messages) -> list[str]:
    """Each message as a text, its images in brackets."""
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
    assert first == ReferenceTurn("plain", 1, "A mill.")
    assert second.messages[1] == Message.from_text("assistant", "A mill.")
    # A turn without an answer ends the dialogue and the others are named.
    first, second, third = asked_with("x", None)
    assert isinstance(first, AnswerRequest) and isinstance(second, AnswerRequest)
    assert third == SkippedTurn("plain", 3, "Turn 2 has no answer.")


def test_a_given_turn_is_given_whatever_became_of_the_others_and_is_never_judged() -> None:
    item = with_turn(2, given="Both are red.")
    assert asked_with(None, item=item)[1:] == [
        ReferenceTurn("plain", 2, "Both are red."),
        SkippedTurn("plain", 3, "Turn 1 has no answer."),
    ]
    found = replay(MMDU.judge(item, Transcript({("plain", 1): Answer("truncated")})), {})
    assert {each.turn for each in found} == {1, 3}


def test_the_judge_sees_the_images_and_reads_the_dialogue_so_far_and_nothing_later():
    seen = [asked.images for asked in judging_of(answered("x", "y", "z"))]
    assert seen == [("sha-a",), ("sha-a", "sha-b", "sha-c"), ITEM.image_ids]
    # The judge reads the dialogue so far the reference and the answer and nothing later.
    asked = judging_of(answered("A mill.", "Both are tall.", "None."))[1]
    assert asked.place == JudgmentKey("plain", 2, "turn")
    assert asked.data == {
        "earlier": [{"question": "Image1: <image-1>. What is in <image-1>?", "answer": "A mill."}],
        "question": "Image2: <image-2>, Image3: <image-3>. Compare.",
        "reference": "Red.",
        "answer": "Both are tall.",
    }


def test_the_judge_reads_no_placeholder_of_an_image_whoever_wrote_it() -> None:
    said = answered("See <ImageHere>.", "See <ImageHere> and <ImageHere>.")
    data = judging_of(said, with_turn(2, references={"answer": "As <ImageHere>."}))[1].data
    assert "<ImageHere>" not in str(data)
    assert (data["reference"], data["answer"]) == ("As <image>.", "See <image> and <image>.")
    assert data["earlier"][0]["answer"] == "See <image>."


def test_a_turn_without_a_reference_is_not_judged_and_not_the_models_fault() -> None:
    item, transcript = with_turn(2, references={}), answered("x", "y", "z")
    assert [asked.place.turn for asked in judging_of(transcript, item)] == [1, 3]
    found = replay(MMDU.judge(item, transcript), {})
    of_turns = {observation.turn: observation.status for observation in found}
    assert of_turns == {1: "not_judged", 2: "no_reference", 3: "not_judged"}


def test_every_turn_is_observed_in_every_dimension() -> None:
    grades = Judgment(dict.fromkeys(DIMENSIONS, 7), 7, "Good.")
    transcript = Transcript(
        {("plain", 1): Answer("answered", "x"), ("plain", 2): Answer("truncated")}
    )
    found = replay(MMDU.judge(ITEM, transcript), {JudgmentKey("plain", 1, "turn"): grades})
    assert len(found) == 3 * len(DIMENSIONS)
    statuses = {(each.turn, each.status, each.value) for each in found}
    assert statuses == {(1, "judged", 7), (2, "truncated", None), (3, "not_asked", None)}


def test_a_judgment_has_all_dimensions_and_the_overall_score_sums_it_up() -> None:
    # Neither the best (9) nor the worst (2) nor the mean of the others: what the judge said.
    scores = {dimension: 5 for dimension in DIMENSIONS}
    scores |= {"Creativity": 9, "Richness": 2, OVERALL: 7}
    judgment = read_judgment("Sound.\n" + json.dumps(scores))
    assert judgment.scores == scores
    assert (judgment.score, judgment.explanation) == (7, "Sound.")
    assert set(judgment.scores) == set(MMDU.dimensions)


def test_the_overall_score_ranks_and_scores_are_shown_out_of_a_hundred() -> None:
    # A dimension's score is its mean over turns x 10 (MMDU, 2.3).
    first = MMDU.metrics[0]
    assert (first.name, first.aggregation) == (OVERALL, "micro")
    assert {(each.lowest, each.highest) for each in MMDU.metrics} == {(10, 100)}
    assert MMDU.dimensions[-1] == OVERALL
