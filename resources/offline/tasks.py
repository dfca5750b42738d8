"""The choice of the function that answers a chat request.

A request for a construction or judging task names the task in `metadata` (`{"task": "judge"}`), where
no text of a prompt can reach. A request without a task is a question to an evaluated model. What
belongs here: the list of tasks and the choice. Each task has a module of its own. These rules stand in
for a model; no model is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from resources.offline.candidates import candidate
from resources.offline.careful_answers import write_answers
from resources.offline.chat_request import ChatRequest
from resources.offline.chinese import translate
from resources.offline.comparing import compare
from resources.offline.conversations import (
    write_caption,
    write_instruction,
    write_reference,
    write_turns,
)
from resources.offline.distractors import write_distractors
from resources.offline.errors import BadRequest
from resources.offline.extraction import extract
from resources.offline.items import write_item
from resources.offline.judge import judge
from resources.offline.pair_checks import answer_unseen, ground, mark, reread
from resources.offline.questions import write_questions
from resources.offline.rating import grade, rate
from resources.offline.rewrites import write_rewrites
from resources.offline.seeds import write_context, write_seed
from resources.offline.summaries import write_summary

_REPAIR = re.compile(r"Again: your last reply could not be used\b")
_TASKS: dict[str, Callable[[ChatRequest], str]] = {
    "answers": write_answers,
    "caption": write_caption,
    "compare": compare,
    "context": write_context,
    "distractors": write_distractors,
    "extract": extract,
    "grade": grade,
    "ground": ground,
    "instruction": write_instruction,
    "item": write_item,
    "judge": judge,
    "marks": mark,
    "questions": write_questions,
    "rate": rate,
    "reference": write_reference,
    "reread": reread,
    "rewrite": write_rewrites,
    "seed": write_seed,
    "summary": write_summary,
    "translate": translate,
    "turns": write_turns,
    "unseen": answer_unseen,
}


def answer(request: ChatRequest) -> str:
    """Answer a request by the task it names, or as an evaluated model where it names none.

    A repair turn is answered as the request before it was.
    """
    if request.task is None:
        return candidate(request)
    task = _TASKS.get(request.task)
    if task is None:
        raise BadRequest(
            f"This offline server has no task '{request.task}': the front matter of a prompt names "
            f"one of {', '.join(_TASKS)}.",
            param="metadata.task",
        )
    while _REPAIR.match(request.last_user.text) and len(request.messages) > 2:
        request = replace(request, messages=request.messages[:-2])
    return task(request)
