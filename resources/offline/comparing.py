"""The task `compare`.

What belongs here: the verdict on two answers to one instruction, or on two conversations, as JSON.
Which is better says `better_answer.py`. No model is called.
"""

from __future__ import annotations

import json

from resources.offline.better_answer import better_answer
from resources.offline.chat_request import ChatRequest
from resources.offline.prompt_parsing import all_sections, labelled

_WINNERS = {"first": "A", "second": "B", "tie": "tie"}
_REASONS = {
    "A": "Assistant A says more that is right.",
    "B": "Assistant B says more that is right.",
    "tie": "Neither says more that is right.",
}
ALWAYS_A = "offline-always-a"


def compare(request: ChatRequest) -> str:
    """Return the reason and the winner; where the judge always says A, that."""
    message = request.last_user
    given = all_sections(message.text)
    texts = {tag: [text for of, text in given if of == tag] for tag, _ in given}
    better = better_answer(
        "\n".join(texts.get("instruction", [])),
        texts.get("answera", []),
        texts.get("answerb", []),
        right="\n".join(texts.get("caption") or texts.get("reference", [])),
        focus="\n".join(texts.get("focus", [])),
        pictures=labelled(message),
    )
    winner = "A" if request.model == ALWAYS_A else _WINNERS[better]
    return json.dumps({"reason": _REASONS[winner], "winner": winner})
