"""The tasks `seed`, `context`, `instruction`, `turns`, `caption` and `reference` of the mock server:
questions and dialogues on an image, and answers made of facts in its pixels.
"""

import json
import re
from typing import NamedTuple

from resources.mock_server import vocabulary
from resources.mock_server.careful_answers import careful_answer
from resources.mock_server.chat_request import ReceivedRequest
from resources.mock_server.image_facts import Facts
from resources.mock_server.seeded_choice import SeededChoice
from resources.mock_server.vocabulary import true_values


class _Turn(NamedTuple):
    question: str
    names: tuple[str, ...]
    """Several wordings of the task's name, as different writer models would use."""


class _Plan(NamedTuple):
    """An instruction, its three turns, and the criteria for a good creation (`focus`)."""

    instruction: str
    perception: _Turn
    reasoning: _Turn
    creation: _Turn
    focus: tuple[str, ...]


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
_KINDS_TOLD = {
    vocabulary.COLOUR: ("main colour", "主要颜色"),
    vocabulary.LIGHT: ("light", "光线"),
    vocabulary.SHAPE: ("outline of the main subject", "主体的轮廓"),
    vocabulary.ORIENTATION: ("format", "画幅"),
}
"""The kinds of fact in the earlier turns of a dialogue, with their English and Chinese names."""
_COLOURS = _Turn(
    "Which colours does this picture have, and how bright is it as a whole?",
    ("Colour Description", "Describing Colours", "colour description"),
)
_PLACING = _Turn(
    "What outline does the main subject of this picture have, and where in the frame does it stand?",
    ("Position Description", "Describing Positions"),
)
_OVERVIEW = _Turn(
    "What can be seen in this picture, from the background to the main subject?",
    ("Scene Description", "Describing the Scene"),
)
_PLANS = (
    _Plan(
        "Write a short poem that fits the mood of this picture.",
        _COLOURS,
        _Turn("What mood do they give it, and why do people feel that way about them?",
              ("Mood Reasoning", "Reasoning About Mood")),
        _Turn("Write a short poem in that mood in which those colours come up.",
              ("Poem Writing", "Writing a Poem")),
        ("It names the main colour that was seen.", "It keeps to the mood that was found."),
    ),
    _Plan(
        "Make a poster for an exhibition out of this picture.",
        _PLACING,
        _Turn("Why may it have been placed there, and where does that lead the eye?",
              ("Composition Reasoning", "Reasoning About Composition")),
        _Turn("Draft an exhibition poster that makes use of this effect: say what goes where.",
              ("Poster Design", "Designing a Poster")),
        ("It says where the main subject stands.", "It uses the effect that was explained."),
    ),
    _Plan(
        "Tell children a story that begins with this picture.",
        _OVERVIEW,
        _Turn("What may have happened just before, judging by that?",
              ("Event Reasoning", "Reasoning About Events")),
        _Turn("Tell children a short story that begins with it and ends in what you described.",
              ("Story Writing", "Writing a Story")),
        ("It ends in what was described.", "It begins with what was concluded.",
         "Children understand it."),
    ),
    _Plan(
        "Propose how a room should be furnished around this picture.",
        _COLOURS,
        _Turn("Which kind of room do they suit, and which other tones go with them?",
              ("Style Reasoning", "Reasoning About Style")),
        _Turn("Propose how to furnish such a room around the picture.",
              ("Interior Design Proposal", "Proposing an Interior Design")),
        ("Its tones go with those that were seen.", "It is for the kind of room that was named."),
    ),
    _Plan(
        "Advise a photographer on how to take a better picture of this.",
        _PLACING,
        _Turn("What does this do well, and what weakens it as a photograph?",
              ("Composition Reasoning", "Composition Analysis")),
        _Turn("Advise a photographer step by step on how to take a better one of it.",
              ("Photography Advice", "Giving Advice on Photography")),
        ("It keeps what was found good.", "It gives steps in their order."),
    ),
)  # fmt: skip
_OF_INSTRUCTION = {plan.instruction: plan for plan in _PLANS}
_ITEM_OF_LIST = re.compile(r"^\s*(?:\d+\.|-)\s+(.+)$", re.MULTILINE)
_CREATED = "Here it is, with every point kept in mind."


def write_seed(request: ReceivedRequest) -> str:
    """Return a question of the requested kind, and its reference answer."""
    kind, chinese, facts = _question_kind(request)
    question = (_CHINESE if chinese else _ENGLISH).get(kind, "")
    reference = _answer(question, facts, chinese)
    return json.dumps({"question": question, "reference": reference}, ensure_ascii=False)


def write_context(request: ReceivedRequest) -> str:
    """Return two earlier turns and a last question; for `Incoherence` the second answer is wrong."""
    kind, chinese, facts = _question_kind(request)
    planted = kind == "Incoherence"
    seeded = SeededChoice("context", kind, facts)
    first, second = seeded.order("kinds", list(_KINDS_TOLD))[:2]
    history = [_turn(first, facts, chinese), _turn(second, facts, chinese)]
    error = ""
    if planted:
        wrong = [other for other in vocabulary.values(second) if other not in _true(facts, second)]
        value = seeded.choice("error", wrong)
        history[1] = _turn(second, facts, chinese, value)
        error = history[1]["assistant"]
    names = [_KINDS_TOLD[kind][chinese] for kind in (first, second)]
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
    question = _KINDS_TOLD[second][0] if planted else "picture"
    reference = _answer(question, facts, chinese)
    if planted:
        admitted = "抱歉，我刚才说错了。" if chinese else "You are right, I was mistaken. "
        reference = f"{admitted}{_turn(second, facts, chinese)['assistant']} {reference}".strip()
    draft = {"history": history, "error": error, "question": last, "reference": reference}
    return json.dumps(draft, ensure_ascii=False)


def _question_kind(request: ReceivedRequest) -> tuple[str, bool, Facts | None]:
    """Return the kind of question, whether it must be in Chinese, and the facts of the image."""
    facts = next(iter(request.labelled.values()), None)
    return request.section("kind"), "Chinese" in request.section("language"), facts


def _true(facts: Facts | None, kind: str) -> tuple[str, ...]:
    """Return the right values of a kind; without an image (dry run) the first possible value."""
    return true_values(facts, kind) if facts else vocabulary.values(kind)[:1]


def _turn(kind: str, facts: Facts | None, chinese: bool, value: str = "") -> dict[str, str]:
    """Return a question about one kind of fact, answered by `value` or by the right value."""
    answer = value or _true(facts, kind)[0]
    name = _KINDS_TOLD[kind][chinese]
    if chinese:
        answer = vocabulary.CHINESE[kind][answer]
        return {"user": f"画面的{name}是什么样的？", "assistant": f"{name}是{answer}。"}
    return {"user": f"What is the {name} like?", "assistant": f"The {name} is {answer}."}


def _answer(question: str, facts: Facts | None, chinese: bool) -> str:
    if chinese:
        return "".join(_turn(kind, facts, chinese)["assistant"] for kind in _KINDS_TOLD)
    return _answer_text(question, {1: facts} if facts else {})


def write_instruction(request: ReceivedRequest) -> str:
    """Return an instruction that fits any image."""
    plan = _seeded("instruction", request).choice("plan", _PLANS)
    return json.dumps({"instruction": plan.instruction})


def write_turns(request: ReceivedRequest) -> str:
    """Return the three turns of an instruction, each with one of its task names."""
    seeded = _seeded("turns", request)
    plan = _OF_INSTRUCTION.get(request.section("instruction")) or seeded.choice("plan", _PLANS)
    named = {"perception": plan.perception, "reasoning": plan.reasoning, "creation": plan.creation}
    turns = {
        name: {"question": turn.question, "task": seeded.choice(name, turn.names)}
        for name, turn in named.items()
    }
    return json.dumps({**turns, "focus": list(plan.focus)})


def write_caption(request: ReceivedRequest) -> str:
    """Return a description with every fact that the questions may need."""
    questions = _ITEM_OF_LIST.findall(request.section("questions"))
    return _answer_text(" ".join(questions), request.labelled)


def write_reference(request: ReceivedRequest) -> str:
    """Return the answer to the last question; for a creation, with a sentence about its criteria."""
    answer = _answer_text(request.section("last"), request.labelled)
    return f"{answer} {_CREATED}" if request.every("focus") else answer


def _answer_text(question: str, pictures: dict[int, Facts]) -> str:
    answer = careful_answer(question, pictures, "reference")
    return answer.replace("<image-1>", "the picture")


def _seeded(task: str, request: ReceivedRequest) -> SeededChoice:
    return SeededChoice(task, sorted(request.labelled.items()))
