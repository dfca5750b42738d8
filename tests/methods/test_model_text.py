"""The answer and the reasoning in a model's text: marks of many models, and answers about marks."""

from pathlib import Path

import pytest

from methods.json_text import from_json
from methods.model_text import ModelText, says_nothing, without_reasoning

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
    ("[unused16]Three masts.[unused17]Three boats.", "Three boats.", "Three masts."),
    (
        '<details type="reasoning" done="true" duration="3">\nThree masts.\n</details>\nThree boats.',
        "Three boats.",
        "Three masts.",
    ),
    ("I count one, so B.</think>The answer is B", "The answer is B", "I count one, so B."),
    ("Perhaps green.</THINK>A", "A", "Perhaps green."),
    ("<Thought>Hm.</thought> B", "B", "Hm."),
    ("[THINK]Hm. A.[/THINK]B", "B", "Hm. A."),
    ("<|channel>thought\nI count.<channel|>Three boats.", "Three boats.", "I count."),
    ("I count.<channel|>Three boats.", "Three boats.", "I count."),
    ("<|channel>thought\nI count", "", "I count"),
    ("<|channel>thought\n<channel|>Three boats.", "Three boats.", ""),
    ("<seed:think>I count.</seed:think>Three boats.", "Three boats.", "I count."),
    ("<|begin_of_box|>Three boats.<|end_of_box|>", "Three boats.", ""),
    ("<think>Hm</think>The answer is <|begin_of_box|>B<|end_of_box|>.", "The answer is B.", "Hm"),
    ("B<|im_end|>", "B", ""),
    ("B</s>", "B", ""),
    ("B<|eot_id|>", "B", ""),
    ("B<end_of_turn>\n", "B", ""),
    ("B<｜end▁of▁sentence｜>", "B", ""),
    ("<|im_start|>assistant\n<think>\nHm\n</think>\n\nB<|im_end|>", "B", "Hm"),
    ('<think type="deep" n=3>Hm</think>B', "B", "Hm"),
    ("<think>Hm, let me", "", "Hm, let me"),
    ("◁think▷Hm", "", "Hm"),
    ("<think>\n<think>\nHm</think>B", "B", "Hm"),
    (
        "<think>The user asks about <think> tags. Fine.</think>B",
        "B",
        "The user asks about <think> tags. Fine.",
    ),
    ("<think>I write </think> at the end.</think>B", "B", "I write </think> at the end."),
    ("<think>a</think>Well.<think>b</think>B", "Well.B", "a\nb"),
    ("<think>```py\nx\n</think>\nUse:\n```py\ny\n```", "Use:\n```py\ny\n```", "```py\nx"),
    ("<think>a</thinking>B", "B", "a"),
    ("so B.</think>Answer: B</think>", "Answer: B", "so B."),
    ("</think>B", "B", ""),
    ("so three </think> Three boats.", "Three boats.", "so three"),
    ("so three </think>\nThree boats.", "Three boats.", "so three"),
    ("so three. </think> three boats.", "three boats.", "so three."),
    ("so B.</think>", "", "so B."),
    ("Sure.\n<think>\nHm\n</think>\nB", "Sure.\n\nB", "Hm"),
    (
        "<|channel|>analysis<|message|>Hm A.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>B<|return|>",
        "B",
        "Hm A.",
    ),
    ("Hm A.<|end|><|start|>assistant<|channel|>final<|message|>B", "B", "Hm A."),
    ("analysisWe see A.assistantfinalB", "B", "We see A."),
    ("<think>So\n<answer>B</answer>", "B", "So"),
    ("<|START_THINKING|>Hm<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>", "B", "Hm"),
    (
        "<think>Tags?</think>The model writes <think> and then </think> around it.",
        "The model writes <think> and then </think> around it.",
        "Tags?",
    ),
    ("他在看船。所以是B。</think>答案是B", "答案是B", "他在看船。所以是B。"),
    ("<reasoning>Hm</reasoning>\nB", "B", "Hm"),
    ('so it is "B"</think>B', "B", 'so it is "B"'),
    ("<think>Hm. </think>**B**", "**B**", "Hm."),
    ("so B (cat)</think>B", "B", "so B (cat)"),
    ("<think>a</think>\n</think>B", "B", "a"),
    ("<think></think>B", "B", ""),
    ("<think>\n\n</think>\n\nB", "B", ""),
    ("<think/>B", "B", ""),
    ("<|im_start|>assistant\n<think />\n\nB<|im_end|>", "B", ""),
    ("<thought_process>Hm, A.</thought_process>B", "B", "Hm, A."),
    ("<rationale>\nHm, A.\n</rationale>\nB", "B", "Hm, A."),
    ("<reason>Hm, A.</reason><answer>B</answer>", "<answer>B</answer>", "Hm, A."),
    ("<cot>Hm, A.</cot>\nB", "B", "Hm, A."),
]
"""A text, its answer, its reasoning."""
ABOUT_MARKS = [
    "The model writes <think> and then </think> around it.",
    "Like so:\n```\nthought\n</think>\nanswer\n```\nand no other way.",
    "The tag <think> opens it.",
    "It is the tag <think>",
    "Use `</think>` to end it.",
    "The price is <s>10</s> 8.",
    "The price was <s>10</s>",
    "It wraps it in <think>...</think>.",
    "It ends a turn with <|im_end|>",
    "Tokens are `<|im_end|>`",
    "```html\n<s>x</s>\n```",
    "</think> is the closing tag.",
    "The sign says 'think'.",
    "Use <think>x</think> like so",
    "For example:\n<think>\nI count.\n</think>\nThree.",
    "Code:\n```\nB</s>",
    "`<think>a</think>` is it.",
    "The tags (<think> and </think>) matter.",
    "答案在标签 </think> 之后。",
    " B ",
    "The answer is [B].",
    "analysis of the picture: assistant finalists",
    "Add </think>, then go on.",
    "x < think > y",
    "Models such as R1 use <think> and\nthen close it.",
    "HTML: <details><summary>x</summary>y</details>",
    "<finish_reason>stop</finish_reason>",
    "The tag <think/> is empty.",
]


@pytest.mark.parametrize(("text", "answer", "reasoning"), SPLIT)
def test_a_text_is_split_at_the_marks_that_its_model_wrote(text, answer, reasoning):
    assert without_reasoning(text) == (answer, reasoning)
    assert without_reasoning(answer) == (answer, ""), "an answer has nothing more to take off"


@pytest.mark.parametrize("text", ABOUT_MARKS)
def test_an_answer_about_marks_stays_unchanged(text: str) -> None:
    assert without_reasoning(text) == (text, "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>Hm", True),
        ("so B.</think>\n<|im_end|>", True),
        ("<think>Hm</think>B", False),
        ("<think></think>", False),
        ("B", False),
        ("", False),
    ],
)
def test_a_text_that_is_cut_off_in_its_reasoning_has_no_answer(text: str, expected: bool) -> None:
    assert without_reasoning(text).reasoning_only is expected


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not here")
def test_real_replies_to_choices_have_no_reasoning() -> None:
    replies = from_json((SHARED / "real_replies/mc_replies.json").read_text())
    assert replies
    for row in replies:
        assert without_reasoning(row["reply"]) == (row["reply"], "")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not here")
def test_no_reasoning_of_the_sample_is_left_in_an_answer() -> None:
    cases = from_json((SHARED / "public_reports/07-reasoning-in-one-line/cases.json").read_text())
    said = {name: without_reasoning(case["say"]) for name, case in cases.items() if name != "judge"}
    assert {name: text.answer for name, text in said.items()} == dict.fromkeys(said, "Three boats.")
    assert [name for name, text in said.items() if "SECRET" not in text.reasoning] == ["glm"]


@pytest.mark.parametrize(
    "unit",
    [
        *("<think></think>", "</think> ", "<think>", "<|channel|>final<|a|>", "<|", "\u200b"),
        *("[/THINK]\n```", "</s> ", "<answer>", "`</think>", "<think "),
    ],
)
@pytest.mark.parametrize("begins", ["", "<think>"])
def test_the_longest_text_is_split_in_time_that_grows_with_its_length(unit, begins):
    # Were it to grow with its square, the test's own time would end it.
    text = begins + unit * 100_000
    split: ModelText = without_reasoning(text)
    assert len(split.answer) + len(split.reasoning) <= len(text)
    assert says_nothing(text) == (unit == "\u200b" and not begins)
