"""Training pairs: which score is learned, in what form, and what is left out."""

import json
from collections.abc import Sequence

import pytest

from extras.critic.methods.export import chat_lines
from extras.critic.methods.pairs import (
    CriticPair,
    HumanRating,
    ScoredAnswer,
    SkippedAnswer,
    median_score,
    names_pattern,
    pairs_of,
)
from methods.alignmmbench import Alignmmbench
from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judge_quality import AnswerKey
from methods.evaluation.judging import JudgeRequest
from methods.evaluation.rating import read_rating
from methods.mmdu import Mmdu, read_judgment
from methods.mmdu.judging import DIMENSIONS, OVERALL
from methods.prompts.messages import Message
from resources.settings.prompts import prompt

CONTESTANTS = ("offline-careful", "file:org/Some-VLM-7B", "a")


def given(score: float, reason: str = "It is right.", rater: str = "ann") -> HumanRating:
    return HumanRating(rater, "external", "file", {"Rating": score}, reason)


def scored(
    *people: HumanRating,
    item_id: str = "i",
    answer: str = "A cat.",
    question: str = "What is it?",
    reference: str | None = "A cat.",
) -> ScoredAnswer:
    turn = Turn(1, question, references={} if reference is None else {"answer": reference})
    item = Item(item_id, (turn,), labels={"task": "Recognition"})
    transcript = Transcript({("plain", 1): Answer("answered", answer)})
    return ScoredAnswer(AnswerKey("m", item_id, "plain", 1), item, transcript, people)


def render(request: JudgeRequest) -> Sequence[Message]:
    return prompt(request.prompt).render(structured=False, **request.data)


def made(*answers: ScoredAnswer) -> list[CriticPair | SkippedAnswer]:
    return list(pairs_of(Alignmmbench(), answers, render, CONTESTANTS))


def why(*answers: ScoredAnswer) -> list[str]:
    return [each.why if isinstance(each, SkippedAnswer) else "pair" for each in made(*answers)]


def test_a_pair_is_what_the_judge_is_sent_and_a_reply_that_it_may_give() -> None:
    (pair,) = made(scored(given(8, ' "Right", but short. ')))
    assert isinstance(pair, CriticPair)
    system, user = render(pair.request)
    assert pair.system == system.parts[0].text and pair.prompt == user.parts[0].text  # type: ignore[union-attr]
    assert pair.prompt.endswith("<answer>A cat.</answer>")
    assert json.loads(pair.reply) == {"Reason": '"Right", but short.', "Rating": 8}
    assert list(json.loads(pair.reply)) == ["Reason", "Rating"], "the reason is first"
    read = read_rating(pair.reply)
    assert (read.score, read.explanation) == (8, '"Right", but short.') and pair.score == 8


def test_a_chinese_question_has_the_chinese_prompt_and_is_written_as_it_is() -> None:
    (pair,) = made(scored(given(3, "答案不对。"), question="图中是什么动物？"))
    assert isinstance(pair, CriticPair)
    assert pair.request.prompt == "alignmmbench/judge_zh" and "答案不对。" in pair.reply


def test_the_middle_score_counts_with_the_reason_of_who_gave_it() -> None:
    people = [given(3, "a", "ann"), given(7, "b", "bob"), given(8, "c", "cho")]
    assert median_score(people, "Rating") == people[1]
    assert median_score(people[1:], "Rating") == people[1], "of two the lower one"
    two = [given(5, "", "ann"), given(5, "d", "dan"), given(5, "b", "bob")]
    assert median_score(two, "Rating") == two[2], "of those who said why, the first by name"
    assert median_score([given(7, " ", "bob"), given(8, "c", "cho")], "Rating") is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (scored(given(8, "")), "no_reason"),
        (scored(given(7.5)), "not_whole"),
        (scored(given(11)), "unreadable"),
        (scored(HumanRating("ann", "external", "file", {}, "why")), "lacks_a_dimension"),
        (scored(given(8), reference=None), "not_judged"),
        (scored(given(8), answer="I am Offline Careful."), "names_a_model"),
        (scored(given(8, "As good as some-vlm-7b.")), "names_a_model"),
        (scored(given(8, "a cat, as it says")), "pair"),
        (scored(given(8), question="Is offline-careful a cat?"), "pair"),
    ],
)
def test_what_makes_no_pair_is_left_out_for_one_reason(answer: ScoredAnswer, reason: str) -> None:
    assert why(answer) == [reason]


def test_the_same_prompt_is_learned_once() -> None:
    assert why(scored(given(8)), scored(given(2), item_id="j")) == ["pair", "same_prompt"]


def test_names_are_whole_words_in_any_spelling() -> None:
    pattern = names_pattern(["no-images:gpt-4o", "file:org/Qwen2-VL", "ab"])
    assert pattern is not None
    for text in ("GPT 4o said", "(gpt4o)", "by gpt_4O.", "Qwen2 VL", "是gpt-4o吗"):
        assert pattern.search(text), text
    for text in ("gpt-4o1", "megagpt-4o", "ab", "org", "Qwen2"):
        assert not pattern.search(text), text
    assert names_pattern(["a", "ab"]) is None


def test_a_judge_of_many_dimensions_needs_all_of_them() -> None:
    """MMDU's reply: the explanation and seven scores; people's overall score alone makes no pair."""
    answer = scored()
    whole = HumanRating(
        "ann", "internal", "q", dict.fromkeys(DIMENSIONS, 6.0) | {OVERALL: 7.0}, "Good."
    )
    half = HumanRating("bob", "internal", "q", {OVERALL: 7.0}, "Good.")

    def of(person: HumanRating) -> CriticPair | SkippedAnswer:
        one = ScoredAnswer(answer.key, answer.item, answer.transcript, [person])
        (found,) = pairs_of(Mmdu(), [one], render, CONTESTANTS)
        return found

    assert of(half) == SkippedAnswer(answer.key, "turn", "lacks_a_dimension")
    pair = of(whole)
    assert isinstance(pair, CriticPair) and pair.score == 7
    read = read_judgment(pair.reply)
    assert (
        read.scores == dict.fromkeys(DIMENSIONS, 6) | {OVERALL: 7} and read.explanation == "Good."
    )


def test_an_exported_pair_is_one_line_for_every_reader() -> None:
    pair = {"pair_id": "p", "system": None, "prompt": "Which\u2028one?", "reply": "This\x85one."}
    (line,) = chat_lines([pair]).splitlines()
    texts = [message["content"] for message in json.loads(line)["messages"]]
    assert texts == [pair["prompt"], pair["reply"]]
