"""From a request to its answer.

Belongs here: the choice of the role that a request asks for, by the `Role:` line that starts its
system message. The roles are rules that stand in for a model; no model is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from resources.offline.answers import answer_expert
from resources.offline.candidates import candidate
from resources.offline.conversation import ChatRequest
from resources.offline.errors import BadRequest
from resources.offline.judge import judge
from resources.offline.questions import question_designer
from resources.offline.rewrites import prompt_rewriter
from resources.offline.summaries import summary_writer

_ROLE_LINE = re.compile(r"\s*Role:\s*([A-Za-z ]+?)\s*\.?\s*(?:\n|$)", re.IGNORECASE)
_AGAIN = re.compile(r"Again: your last reply could not be used\b")
_ROLES: dict[str, Callable[[ChatRequest], str]] = {
    "summary writer": summary_writer,
    "question designer": question_designer,
    "answer expert": answer_expert,
    "prompt rewriter": prompt_rewriter,
    "judge": judge,
}


def answer(request: ChatRequest) -> str:
    """Answer a request in the role it asks for, or as a candidate in a chat.

    Asked to send its reply again, a role answers as it did at first.
    """
    while _AGAIN.match(request.last_user.text) and len(request.messages) > 2:
        request = replace(request, messages=request.messages[:-2])
    line = _ROLE_LINE.match(request.system)
    if line is None:
        return candidate(request)
    role = _ROLES.get(line.group(1).lower())
    if role is None:
        raise BadRequest(f"This offline server knows no role '{line.group(1)}'.")
    return role(request)
