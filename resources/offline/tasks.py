"""The table of tasks: which function answers a request.

A request for a construction or judging task names the task in `metadata` (`{"task": "judge"}`), where
no text of a prompt can reach. A request without a task is a question to an evaluated model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from resources.offline.agreement import compare, grade, rate
from resources.offline.candidates import candidate, extract
from resources.offline.careful_answers import write_answers
from resources.offline.chat_request import BadRequest, ChatRequest
from resources.offline.choice_questions import translate, write_distractors, write_item
from resources.offline.dialogue_texts import write_questions, write_rewrites, write_summary
from resources.offline.judge import judge
from resources.offline.open_questions import (
    write_caption,
    write_context,
    write_instruction,
    write_reference,
    write_seed,
    write_turns,
)
from resources.offline.pair_checks import answer_unseen, ground, mark, reread

_REPAIR = re.compile(r"Again: your last reply could not be used\b")
TASKS: dict[str, Callable[[ChatRequest], str]] = {
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

    A repair turn is answered as the request before it was. Raises BadRequest for an unknown task.
    """
    if request.task is None:
        return candidate(request)
    task = TASKS.get(request.task)
    if task is None:
        raise BadRequest(
            f"This offline server has no task '{request.task}': the front matter of a prompt names "
            f"one of {', '.join(TASKS)}.",
            param="metadata.task",
        )
    while _REPAIR.match(request.last_user.text) and len(request.messages) > 2:
        request = replace(request, messages=request.messages[:-2])
    return task(request)
