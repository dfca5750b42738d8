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
from resources.offline.tasks import answer

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


def chat_body(payload: dict[str, object], fault: str | None) -> dict[str, object]:
    """Read a chat request, and return the completion that answers it, or fails by the fault."""
    request = read_chat(payload)
    if fault == fault_injection.CONTENT_FILTER:
        return completion(request, None, "content_filter")
    wrong = fault == fault_injection.UNTRANSLATED and request.task == "translate"
    body = completion(request, untranslated(request) if wrong else answer(request), "stop")
    if fault == fault_injection.EMPTY_CHOICES:
        body["choices"] = []
    return body


def completion(request: ChatRequest, content: str | None, finish: str) -> dict[str, object]:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": content, "refusal": None}
    prompt, answer = _prompt_tokens(request), _text_tokens(content or "")
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


def _text_tokens(text: str) -> int:
    return math.ceil(len(text) / 4)


def _picture_tokens(picture: Picture) -> int:
    if picture.detail == "low":
        return 85
    across = math.ceil(picture.facts.width / _TILE)
    down = math.ceil(picture.facts.height / _TILE)
    return 85 + 170 * across * down


def _prompt_tokens(request: ChatRequest) -> int:
    return sum(
        _text_tokens(part) if isinstance(part, str) else _picture_tokens(part)
        for message in request.messages
        for part in message.parts
    )
