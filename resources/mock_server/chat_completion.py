"""Chat completions of the mock server, and its table of tasks.

Like OpenAI's API, it follows the request's JSON schema, token limit and context length.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from methods.json_text import from_json
from resources.mock_server.agreement import (
    answer_unseen,
    compare,
    grade,
    ground,
    mark,
    rate,
    reread,
)
from resources.mock_server.candidates import candidate, extract
from resources.mock_server.careful_answers import write_answer
from resources.mock_server.chat_request import BadRequest, ReceivedImage, ReceivedRequest, read_chat
from resources.mock_server.choice_questions import translate, write_distractors, write_item
from resources.mock_server.dialogue_texts import write_questions, write_rewrites, write_summary
from resources.mock_server.judge import judge
from resources.mock_server.open_questions import (
    write_caption,
    write_context,
    write_instruction,
    write_reference,
    write_seed,
    write_turns,
)

CONTEXT_TOKENS = 128_000
"""The context length in tokens, prompt and reply together: that of GPT-4o."""
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
_REPAIR = re.compile(r"\s*Again: your last reply could not be used\b.*\Z", re.DOTALL)
TASKS: dict[str, Callable[[ReceivedRequest], str]] = {
    "answers": write_answer,
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
_TILE = 512
_CHARACTERS_PER_TOKEN = 4
_LIMITS = ("max_completion_tokens", "max_tokens")
_LABEL = re.compile(r"[A-Z]\d+")
_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)


def chat_body(payload: Mapping[str, object], context: int = CONTEXT_TOKENS) -> dict[str, object]:
    """Read a chat request, and return the completion that answers it.

    Args:
        payload: The body of the request.
        context: The most tokens of prompt and reply together.

    Raises:
        BadRequest: The request is wrong, or too long for the context.
    """
    request = read_chat(payload)
    _require_room(payload, _prompt_tokens(request), context)
    text, finish = _cut_off(payload, _in_schema(payload, answer(request)))
    return _completion(request, text, finish)


def answer(request: ReceivedRequest) -> str:
    """Answer a request by its task, or as a model under evaluation if it names no task.

    The task is in `metadata`, so the text of a prompt cannot set it. A repair is answered like the
    original request. Raises BadRequest for an unknown task.
    """
    if request.task is None:
        return candidate(request)
    task = TASKS.get(request.task)
    if task is None:
        raise BadRequest(
            f"This mock server has no task '{request.task}': the front matter of a prompt names "
            f"one of {', '.join(TASKS)}.",
            param="metadata.task",
        )
    return task(_without_repair(request))


def _without_repair(request: ReceivedRequest) -> ReceivedRequest:
    """Remove the text that a repair adds to the end of the last message."""
    *before, last = request.messages
    parts = (_REPAIR.sub("", part) if isinstance(part, str) else part for part in last.parts)
    return replace(request, messages=(*before, replace(last, parts=tuple(parts))))


def _completion(request: ReceivedRequest, content: str, finish: str) -> dict[str, object]:
    message = {"role": "assistant", "content": content, "refusal": None}
    prompt, reply = _prompt_tokens(request), _text_tokens(content)
    return {
        "id": f"chatcmpl-offline-{request.digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "system_fingerprint": "offline",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": reply,
            "total_tokens": prompt + reply,
        },
    }


def model_list() -> dict[str, object]:
    """Return the body of the list of models."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "mock"} for name in MODELS]
    return {"object": "list", "data": data}


def _picture_tokens(picture: ReceivedImage) -> int:
    if picture.detail == "low":
        return 85
    across = math.ceil(picture.facts.width / _TILE)
    down = math.ceil(picture.facts.height / _TILE)
    return 85 + 170 * across * down


def _prompt_tokens(request: ReceivedRequest) -> int:
    return sum(
        _text_tokens(part) if isinstance(part, str) else _picture_tokens(part)
        for message in request.messages
        for part in message.parts
    )


def _text_tokens(text: str) -> int:
    """Count the tokens of a text: one for every four characters."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def _require_room(payload: Mapping[str, object], prompt: int, context: int) -> None:
    """Raise BadRequest if the prompt and the requested reply length do not fit into the context."""
    most = _most(payload) or 0
    if prompt + most <= context:
        return
    if prompt > context:
        used = f"your messages resulted in {prompt} tokens"
        shorten = "the messages"
    else:
        used = (
            f"you requested {prompt + most} tokens ({prompt} in the messages, {most} in the "
            "completion)"
        )
        shorten = "the messages or completion"
    raise BadRequest(
        f"This model's maximum context length is {context} tokens. However, {used}. Please reduce "
        f"the length of {shorten}.",
        "context_length_exceeded",
        "messages",
    )


def _cut_off(payload: Mapping[str, object], text: str) -> tuple[str, str]:
    """Cut the text at the token limit. Returns it with the finish reason."""
    most = _most(payload)
    if most is None or _text_tokens(text) <= most:
        return text, "stop"
    return text[: most * _CHARACTERS_PER_TOKEN], "length"


def _in_schema(payload: Mapping[str, object], text: str) -> str:
    """Convert the text to an object of the request's JSON schema, if it has one.

    Raises BadRequest for a schema that does not fit the task's text.
    """
    wanted = payload.get("response_format")
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
        return text
    described = wanted.get("json_schema")
    schema = described.get("schema") if isinstance(described, dict) else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties:
        raise BadRequest("The schema must be that of an object.", param="response_format")
    fields = _object(text, list(properties)) or _numbered(text, list(properties))
    if fields is None:
        raise BadRequest(
            f"This mock server fills no schema with {', '.join(properties)} by this task.",
            param="response_format",
        )
    return json.dumps(fields, ensure_ascii=False)


def _most(payload: Mapping[str, object]) -> int | None:
    """Return the request's limit for the reply in tokens; None without one."""
    for name in _LIMITS:
        most = payload.get(name)
        if most is None:
            continue
        if type(most) is not int or most < 1:
            raise BadRequest(f"Invalid '{name}': expected a positive integer.", param=name)
        return most
    return None


def _object(text: str, names: list[str]) -> dict[str, object] | None:
    """Find an object in a text. If one name is missing, its value is the text before the
    object, as in a judge's reply.
    """
    try:
        whole = from_json(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict):
        return {name: whole[name] for name in names} if set(names) <= set(whole) else None
    places = list(_OBJECT.finditer(text))
    if not places:
        return None
    try:
        value = ast.literal_eval(places[-1][0])
    except (ValueError, SyntaxError):
        return None
    lacking = [name for name in names if name not in value]
    if len(lacking) > 1:
        return None
    before = text[: places[-1].start()].strip()
    return {name: before if name in lacking else value[name] for name in names}


def _numbered(text: str, names: list[str]) -> dict[str, object] | None:
    """Return the texts after labels such as `Q1:` or `**A2**:`, if all names are such labels."""
    if not all(_LABEL.fullmatch(name) for name in names):
        return None
    label = re.compile(rf"^\W*({'|'.join(names)})\W*?:\s*", re.MULTILINE)
    pieces = label.split(text)
    fields = dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))
    return {name: fields[name] for name in names} if set(names) <= set(fields) else None
