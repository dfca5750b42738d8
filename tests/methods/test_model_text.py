"""The answer and the reasoning in a model's text, and replies that repeat one thing."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from methods import model_text
from methods.choice.strict import read_letter
from methods.evaluation.english_refusals import is_refusal
from methods.evaluation.rating import read_rating
from methods.json_text import from_json
from methods.mmdu.reading import read_answer, without_additions
from methods.model_text import ModelText, says_nothing, without_reasoning
from methods.prompts.parsing import ParseError
from methods.prompts.reply_objects import objects_in
from methods.quality.leftovers import leftover_in
from methods.quality.multilingual_refusals import refusal_in
from methods.quality.personal_data import personal_data_in
from methods.quality.truncation import truncation_in

SHARED = Path(__file__).resolve().parents[3] / "shared/data"
SPLIT = [
    (
        "<SUMMARY>I count.</SUMMARY>\n<CAPTION>Boats.</CAPTION>\n<REASONING>Three.</REASONING>\n"
        "<CONCLUSION>Three boats.</CONCLUSION>",
        "Three boats.",
        "<SUMMARY>I count.</SUMMARY>\n<CAPTION>Boats.</CAPTION>\n<REASONING>Three.</REASONING>",
    ),
    (
        "Here is my thought process:\nThree masts.\n\nHere is my response:\nThree boats.",
        "Three boats.",
        "Three masts.",
    ),
    (
        '<details type="reasoning" done="true" duration="3">\nThree masts.\n</details>\nThree boats.',
        "Three boats.",
        "Three masts.",
    ),
    ("I count one, so B.</think>The answer is B", "The answer is B", "I count one, so B."),
    ("[THINK]Hm. A.[/THINK]B", "B", "Hm. A."),
    ("<|channel>thought\nI count.<channel|>Three boats.", "Three boats.", "I count."),
    ("<|channel>thought\nI count", "", "I count"),
    ("<seed:think>I count.</seed:think>Three boats.", "Three boats.", "I count."),
    ("<think>Hm</think>The answer is <|begin_of_box|>B<|end_of_box|>.", "The answer is B.", "Hm"),
    ("B<|im_end|>", "B", ""),
    ("B<｜end▁of▁sentence｜>", "B", ""),
    ("<|im_start|>assistant\n<think>\nHm\n</think>\n\nB<|im_end|>", "B", "Hm"),
    ('<think type="deep" n=3>Hm</think>B', "B", "Hm"),
    ("<think>Hm, let me", "", "Hm, let me"),
    ("◁think▷Hm", "", "Hm"),
    (
        "<think>The user asks about <think> tags. Fine.</think>B",
        "B",
        "The user asks about <think> tags. Fine.",
    ),
    ("<think>a</think>Well.<think>b</think>B", "Well.B", "a\nb"),
    ("<think>```py\nx\n</think>\nUse:\n```py\ny\n```", "Use:\n```py\ny\n```", "```py\nx"),
    ("so B.</think>", "", "so B."),
    ("Sure.\n<think>\nHm\n</think>\nB", "Sure.\n\nB", "Hm"),
    (
        "<|channel|>analysis<|message|>Hm A.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>B<|return|>",
        "B",
        "Hm A.",
    ),
    ("analysisWe see A.assistantfinalB", "B", "We see A."),
    ("<think>So\n<answer>B</answer>", "B", "So"),
    ("<|START_THINKING|>Hm<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>", "B", "Hm"),
    (
        "<think>Tags?</think>The model writes <think> and then </think> around it.",
        "The model writes <think> and then </think> around it.",
        "Tags?",
    ),
    ("<think>a</think>\n</think>B", "B", "a"),
    ("<think/>B", "B", ""),
    ("<thought_process>Hm, A.</thought_process>B", "B", "Hm, A."),
    ("<reasoning>Hm</reasoning>\nB", "B", "Hm"),
    ("<reason>Hm, A.</reason><answer>B</answer>", "<answer>B</answer>", "Hm, A."),
    ("[unused16]Three masts.[unused17]Three boats.", "Three boats.", "Three masts."),
]
"""A text, its answer, its reasoning."""
ABOUT_MARKS = [
    "The model writes <think> and then </think> around it.",
    "Like so:\n```\nthought\n</think>\nanswer\n```\nand no other way.",
    "It is the tag <think>",
    "Use `</think>` to end it.",
    "It ends a turn with <|im_end|>",
    "```html\n<s>x</s>\n```",
    "</think> is the closing tag.",
    "For example:\n<think>\nI count.\n</think>\nThree.",
    "答案在标签 </think> 之后。",
    " B ",
    "analysis of the picture: assistant finalists",
    "Add </think>, then go on.",
    "HTML: <details><summary>x</summary>y</details>",
    "<finish_reason>stop</finish_reason>",
]


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"), [*SPLIT, *((text, text, "") for text in ABOUT_MARKS)]
)
def test_a_text_is_split_at_the_marks_that_its_model_wrote(text, answer, reasoning):
    assert without_reasoning(text) == (answer, reasoning)
    assert without_reasoning(answer) == (answer, ""), "an answer has nothing more to take off"


def test_a_text_that_is_cut_off_in_its_reasoning_has_no_answer() -> None:
    for text in ("<think>Hm", "so B.</think>\n<|im_end|>"):
        assert without_reasoning(text).reasoning_only
    for text in ("<think>Hm</think>B", "B", ""):
        assert not without_reasoning(text).reasoning_only


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not here")
def test_no_reasoning_of_the_samples_is_left_in_an_answer() -> None:
    replies = from_json((SHARED / "real_replies/mc_replies.json").read_text())
    assert replies
    for row in replies:
        assert without_reasoning(row["reply"]) == (row["reply"], "")
    cases = from_json((SHARED / "public_reports/07-reasoning-in-one-line/cases.json").read_text())
    said = {name: without_reasoning(case["say"]) for name, case in cases.items() if name != "judge"}
    assert {name: text.answer for name, text in said.items()} == dict.fromkeys(said, "Three boats.")
    assert [name for name, text in said.items() if "SECRET" not in text.reasoning] == ["glm"]


@pytest.mark.parametrize(
    "unit",
    [
        *("<think></think>", "</think> ", "<think>", "<|channel|>final<|a|>", "\u200b"),
        *("[/THINK]\n```", "<answer>", "`</think>"),
    ],
)
@pytest.mark.parametrize("begins", ["", "<think>"])
def test_the_longest_text_is_split_in_time_that_grows_with_its_length(unit, begins):
    # Were it to grow with its square, the test's own time would end it.
    text = begins + unit * 100_000
    split: ModelText = without_reasoning(text)
    assert len(split.answer) + len(split.reasoning) <= len(text)
    assert says_nothing(text) == (unit == "\u200b" and not begins)


def test_the_text_between_closing_marks_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def check(text: str) -> bool:
        texts.append(text)
        return says_nothing(text)

    monkeypatch.setattr(model_text, "says_nothing", check)
    text = "B" + "</think>" + ("          " + "</think>") * 100

    assert without_reasoning(text) == ("", "B")
    assert len("".join(texts)) <= len(text)


READERS: dict[str, Callable[[str], object]] = {
    "letter": lambda text: read_letter(text, ["dog", "cat"]),
    "reasoning": without_reasoning,
    "label and offers": without_additions,
    "answer": lambda text: read_answer(text, 1, 1),
    "JSON objects": lambda text: objects_in(text, ("score",)),
    "rating": read_rating,
    "truncation": truncation_in,
    "left-over": leftover_in,
    "personal data": personal_data_in,
    "refusal of a request": is_refusal,
    "refusal in any language": refusal_in,
}
REPEATED = [
    *"\n \t.…,-_*#|`$([{<“0",
    *("a", "A ", "A, ", "1. ", "> ", "```\n", "选", "答案", "Question", "Answer:", '{"a":'),
    *("</", "<think>", "</think>", "<answer>", "</answer>", "<|channel|>", "<SUMMARY>"),
    *("</REASONING>", "not ", "because ", "the answer is ", "I think ", "let me know "),
    *(r"\boxed{", r"\text{", "answer is ", "I would say ", "如果", "\n---"),
]
BEFORE = [
    *("", "The answer is ", "Question", "选", "<SUMMARY></REASONING><CONCLUSION>", "Chapter one "),
    *("as an ai", '{"Rating"'),
]
N_CHARACTERS = 3_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize("reader", READERS)
def test_it_is_read_at_once(reader: str) -> None:
    for before in BEFORE:
        for repeated in REPEATED:
            with suppress(ParseError):
                READERS[reader](before + repeated * (N_CHARACTERS // len(repeated)) + " 5 and?")


def test_blanks_that_are_repeated_change_no_letter_and_no_rating() -> None:
    assert read_letter("The answer is" + "\n" * 5_000 + "B.", ["dog", "cat"]).letter == "B"
    assert read_letter("选择" + " " * 5_000 + "A", ["dog", "cat"]).letter == "A"
    for mark in (" ", "\n", '"', "“", "_", "*", "`", "``` "):
        judgment = read_rating(f"Reason: good {mark * (5_000 // len(mark))}\nRating: 8")
        assert (judgment.score, judgment.explanation) == (8, "good")
