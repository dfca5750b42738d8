"""The tasks `instruction`, `turns`, `caption` and `reference`: conversations of three turns.

What belongs here: instructions that a picture may raise, the turns of each, and answers made of facts
measured in the pixels. Captions and notes are never used. No model is called.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from resources.offline.careful_answers import careful_answer
from resources.offline.chat_request import ChatRequest
from resources.offline.prompt_parsing import labelled, sections
from resources.offline.seeded_choice import SeededChoice


@dataclass(frozen=True)
class _Turn:
    question: str
    names: tuple[str, ...]
    """The task in several forms of words, as writers have them."""


@dataclass(frozen=True)
class _Plan:
    """An instruction, its turns, and the points that a good creation meets."""

    instruction: str
    turns: tuple[_Turn, _Turn, _Turn]
    focus: tuple[str, ...]


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
        (
            _COLOURS,
            _Turn(
                "What mood do they give it, and why do people feel that way about them?",
                ("Mood Reasoning", "Reasoning About Mood"),
            ),
            _Turn(
                "Write a short poem in that mood in which those colours come up.",
                ("Poem Writing", "Writing a Poem"),
            ),
        ),
        ("It names the main colour that was seen.", "It keeps to the mood that was found."),
    ),
    _Plan(
        "Make a poster for an exhibition out of this picture.",
        (
            _PLACING,
            _Turn(
                "Why may it have been placed there, and where does that lead the eye?",
                ("Composition Reasoning", "Reasoning About Composition"),
            ),
            _Turn(
                "Draft an exhibition poster that makes use of this effect: say what goes where.",
                ("Poster Design", "Designing a Poster"),
            ),
        ),
        ("It says where the main subject stands.", "It uses the effect that was explained."),
    ),
    _Plan(
        "Tell children a story that begins with this picture.",
        (
            _OVERVIEW,
            _Turn(
                "What may have happened just before, judging by that?",
                ("Event Reasoning", "Reasoning About Events"),
            ),
            _Turn(
                "Tell children a short story that begins with it and ends in what you described.",
                ("Story Writing", "Writing a Story"),
            ),
        ),
        (
            "It ends in what was described.",
            "It begins with what was concluded.",
            "Children understand it.",
        ),
    ),
    _Plan(
        "Propose how a room should be furnished around this picture.",
        (
            _COLOURS,
            _Turn(
                "Which kind of room do they suit, and which other tones go with them?",
                ("Style Reasoning", "Reasoning About Style"),
            ),
            _Turn(
                "Propose how to furnish such a room around the picture.",
                ("Interior Design Proposal", "Proposing an Interior Design"),
            ),
        ),
        ("Its tones go with those that were seen.", "It is for the kind of room that was named."),
    ),
    _Plan(
        "Advise a photographer on how to take a better picture of this.",
        (
            _PLACING,
            _Turn(
                "What does this do well, and what weakens it as a photograph?",
                ("Composition Reasoning", "Composition Analysis"),
            ),
            _Turn(
                "Advise a photographer step by step on how to take a better one of it.",
                ("Photography Advice", "Giving Advice on Photography"),
            ),
        ),
        ("It keeps what was found good.", "It gives steps in their order."),
    ),
)
_OF_INSTRUCTION = {plan.instruction: plan for plan in _PLANS}
_ITEM_OF_LIST = re.compile(r"^\s*(?:\d+\.|-)\s+(.+)$", re.MULTILINE)
_CREATED = "Here it is, with every point kept in mind."


def write_instruction(request: ChatRequest) -> str:
    """Return an instruction that any picture may raise."""
    plan = _seeded("instruction", request).choice("plan", _PLANS)
    return json.dumps({"instruction": plan.instruction})


def write_turns(request: ChatRequest) -> str:
    """Return the instruction's three turns, their tasks named in one of several ways."""
    seeded = _seeded("turns", request)
    asked = sections(request.last_user.text).get("instruction", "")
    plan = _OF_INSTRUCTION.get(asked) or seeded.choice("plan", _PLANS)
    turns = {
        name: {"question": turn.question, "task": seeded.choice(name, turn.names)}
        for name, turn in zip(("perception", "reasoning", "creation"), plan.turns, strict=True)
    }
    return json.dumps({**turns, "focus": list(plan.focus)})


def write_caption(request: ChatRequest) -> str:
    """Return a description with every fact that the questions may need."""
    asked = sections(request.last_user.text).get("questions", "")
    return _told(request, " ".join(_ITEM_OF_LIST.findall(asked)))


def write_reference(request: ChatRequest) -> str:
    """Return the answer to the last question; of a creation, with a sentence on its points."""
    given = sections(request.last_user.text)
    answer = _told(request, given.get("last", ""))
    return f"{answer} {_CREATED}" if "focus" in given else answer


def _told(request: ChatRequest, question: str) -> str:
    told = careful_answer(question, labelled(request.last_user), "reference")
    return told.replace("<image-1>", "the picture")


def _seeded(task: str, request: ChatRequest) -> SeededChoice:
    return SeededChoice(task, sorted(labelled(request.last_user).items()))
