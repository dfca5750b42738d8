"""Writing a chat completion.

What belongs here: the JSON of a completion, for live calls and batches alike, the estimate of its
token usage, and the list of the models served. Part of the offline stand-in: rules made the text; no
model is called.
"""

from __future__ import annotations

import math

from resources.offline import fault_injection
from resources.offline.chat_request import ChatRequest, Picture, read_chat
from resources.offline.chinese import untranslated
from resources.offline.reply_form import (
    CONTEXT_TOKENS,
    cut_off,
    in_schema,
    require_room,
    text_tokens,
)
from resources.offline.tasks import answer
from resources.offline.writing_faults import CUT_OFF, WRITING_FAULTS

MODELS = (
    "offline-writer",
    "offline-judge",
    "offline-obedient",
    "offline-careful",
    "offline-careless",
    "offline-always-a",
    "offline-refuser",
    "offline-rambler",
    "offline-poor-perception",
    "offline-poor-reasoning",
)
_TILE = 512


def chat_body(
    payload: dict[str, object], fault: str | None, context: int = CONTEXT_TOKENS
) -> dict[str, object]:
    """Read a chat request, and return the completion that answers it, or fails by the fault.

    Prompt and reply have `context` tokens together. A fault of a text is put around it as it is sent.
    """
    request = read_chat(payload)
    require_room(payload, _prompt_tokens(request), context)
    if fault == fault_injection.CONTENT_FILTER:
        return completion(request, None, "content_filter")
    wrong = fault == fault_injection.UNTRANSLATED and request.task == "translate"
    text = in_schema(payload, untranslated(request) if wrong else answer(request))
    if fault is not None and fault in WRITING_FAULTS:
        text = WRITING_FAULTS[fault](text)
    text, finish = cut_off(payload, text)
    body = completion(request, text, "length" if fault == CUT_OFF else finish)
    if fault == fault_injection.EMPTY_CHOICES:
        body["choices"] = []
    return body


def completion(request: ChatRequest, content: str | None, finish: str) -> dict[str, object]:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": content, "refusal": None}
    prompt, answer = _prompt_tokens(request), text_tokens(content or "")
    return {
        "id": f"chatcmpl-offline-{request.digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "system_fingerprint": "offline",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
        },
    }


def model_list() -> dict[str, object]:
    """Return the body of the list of models."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "offline"} for name in MODELS]
    return {"object": "list", "data": data}


def _picture_tokens(picture: Picture) -> int:
    if picture.detail == "low":
        return 85
    across = math.ceil(picture.facts.width / _TILE)
    down = math.ceil(picture.facts.height / _TILE)
    return 85 + 170 * across * down


def _prompt_tokens(request: ChatRequest) -> int:
    return sum(
        text_tokens(part) if isinstance(part, str) else _picture_tokens(part)
        for message in request.messages
        for part in message.parts
    )
