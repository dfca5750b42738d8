"""The tasks `seed` and `context`: open questions about a picture, with references and histories.

What belongs here: questions of each kind, and answers made of facts measured in the pixels, in English
and Chinese. Captions and notes are never used. No model is called.
"""

from __future__ import annotations

import json

from resources.offline import vocabulary
from resources.offline.careful_answers import careful_answer
from resources.offline.chat_request import ChatRequest
from resources.offline.image_facts import Facts
from resources.offline.prompt_parsing import labelled, sections
from resources.offline.seeded_choice import SeededChoice
from resources.offline.stated_facts import true_values

_ENGLISH = {
    "Description": "Describe in detail what this picture shows.",
    "Recognition": "What is the main subject of this picture, and what does it look like?",
    "Counting": "How many separate things can be told apart in this picture?",
    "OCR": "Which words or letters can be read in this picture?",
    "Meme": "What could be amusing about this picture, and why?",
    "Knowledge": "What is generally known about the kind of thing in this picture?",
    "Reasoning": "What time of day may this be, judging by the light and the colours?",
    "Chart": "What structure does this picture show, and how are its parts arranged?",
    "Problem": "Which problem does this picture pose, and how is it solved?",
    "Comparison": "How does the main subject of this picture differ from its background?",
    "Writing": "Write a short advertisement that this picture inspires.",
}
_CHINESE = {
    "Description": "请详细描述这幅图。",
    "Recognition": "图中的主体是什么样的？",
    "Counting": "图中能分辨出多少个东西？",
    "OCR": "图中能读出哪些文字？",
    "Meme": "这幅图可能有什么好笑的地方？",
    "Knowledge": "关于图中的事物，一般人知道些什么？",
    "Reasoning": "从光线和颜色来看，这可能是什么时候？",
    "Chart": "这幅图展示了怎样的结构？",
    "Problem": "这幅图提出了什么问题，怎样解决？",
    "Comparison": "图中的主体与背景有什么不同？",
    "Writing": "请根据这幅图写一则简短的广告。",
}
_NAMES = {
    vocabulary.COLOUR: ("main colour", "主要颜色"),
    vocabulary.LIGHT: ("light", "光线"),
    vocabulary.SHAPE: ("outline of the main subject", "主体的轮廓"),
    vocabulary.ORIENTATION: ("format", "画幅"),
}
"""Kinds of fact that a history speaks of."""


def write_seed(request: ChatRequest) -> str:
    """Return a question of the kind that is asked for, and its reference."""
    kind, chinese, facts = _asked(request)
    question = (_CHINESE if chinese else _ENGLISH).get(kind, "")
    reference = _answer(question, facts, chinese)
    return _json({"question": question, "reference": reference})


def write_context(request: ChatRequest) -> str:
    """Return a dialogue of two earlier turns; in Incoherence the second answer is wrong."""
    kind, chinese, facts = _asked(request)
    planted = kind == "Incoherence"
    seeded = SeededChoice("context", kind, facts)
    first, second = seeded.order("kinds", list(_NAMES))[:2]
    history = [_turn(first, facts, chinese), _turn(second, facts, chinese)]
    error = ""
    if planted:
        wrong = [each for each in vocabulary.values(second) if each not in _true(facts, second)]
        value = seeded.choice("error", wrong)
        history[1] = _turn(second, facts, chinese, value)
        error = history[1]["assistant"]
    names = [_NAMES[each][chinese] for each in (first, second)]
    if chinese:
        last = (
            f"你对{names[1]}的回答不对，请再看一遍图。"
            if planted
            else f"结合刚才说的{names[0]}，画面给人什么感觉？"
        )
    elif planted:
        last = f"What you said about the {names[1]} is not right. Look again, please."
    else:
        last = f"Given the {names[0]} that you named first, what impression does the whole make?"
    question = _NAMES[second][0] if planted else "picture"
    reference = _answer(question, facts, chinese)
    if planted:
        admitted = "抱歉，我刚才说错了。" if chinese else "You are right, I was mistaken. "
        reference = f"{admitted}{_turn(second, facts, chinese)['assistant']} {reference}".strip()
    return _json({"history": history, "error": error, "question": last, "reference": reference})


def _asked(request: ChatRequest) -> tuple[str, bool, Facts | None]:
    """Return the kind of question, whether it is to be in Chinese, and the picture if there is one."""
    given = sections(request.last_user.text)
    facts = next(iter(labelled(request.last_user).values()), None)
    return given.get("kind", ""), "Chinese" in given.get("language", ""), facts


def _true(facts: Facts | None, kind: str) -> tuple[str, ...]:
    """Return what is right; without a picture, as in a dry run, the first value is."""
    return true_values(facts, kind) if facts else vocabulary.values(kind)[:1]


def _turn(kind: str, facts: Facts | None, chinese: bool, value: str = "") -> dict[str, str]:
    """Return a question about one kind of fact, and the answer: `value`, or what is right."""
    told = value or _true(facts, kind)[0]
    name = _NAMES[kind][chinese]
    if chinese:
        told = vocabulary.CHINESE[kind][told]
        return {"user": f"画面的{name}是什么样的？", "assistant": f"{name}是{told}。"}
    return {"user": f"What is the {name} like?", "assistant": f"The {name} is {told}."}


def _answer(question: str, facts: Facts | None, chinese: bool) -> str:
    if chinese:
        return "".join(_turn(kind, facts, chinese)["assistant"] for kind in _NAMES)
    told = careful_answer(question, {1: facts} if facts else {}, "reference")
    return told.replace("<image-1>", "the picture")


def _json(content: dict[str, object]) -> str:
    return json.dumps(content, ensure_ascii=False)
