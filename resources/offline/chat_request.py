"""Reading a chat request.

What belongs here: the typed form of `POST /v1/chat/completions` and reading it from JSON. Part of
the offline stand-in; no model is called.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from methods.json_text import from_json
from resources.offline.errors import BadRequest
from resources.offline.image_cache import picture_facts
from resources.offline.image_facts import Facts

_SPEAKERS = ("system", "developer", "user", "assistant")


@dataclass(frozen=True)
class Picture:
    """One picture of a message: its hash, its facts and the detail its sender asked for."""

    key: str
    facts: Facts
    detail: str


Part = str | Picture


@dataclass(frozen=True)
class Message:
    """One message: who speaks, and its text and pictures in order."""

    speaker: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All the text of the message."""
        return "\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> list[Picture]:
        """All the pictures of the message."""
        return [part for part in self.parts if isinstance(part, Picture)]


@dataclass(frozen=True)
class ChatRequest:
    """A model's name, the messages sent to it, a hash of the whole request, and the task it names.

    `task` is None where the request names none.
    """

    model: str
    messages: tuple[Message, ...]
    digest: str
    task: str | None

    @property
    def system(self) -> str:
        """The first system message's text, or nothing."""
        for message in self.messages:
            if message.speaker in ("system", "developer"):
                return message.text
        return ""

    @property
    def last_user(self) -> Message:
        """The user's last message."""
        for message in reversed(self.messages):
            if message.speaker == "user":
                return message
        raise BadRequest("The messages hold no user message.")


def read_body(body: bytes) -> dict[str, object]:
    """Return the JSON object of a request's body."""
    try:
        payload = from_json(body, most=None)
    except ValueError:
        raise BadRequest("The request body is not valid JSON.") from None
    if not isinstance(payload, dict):
        raise BadRequest("The request body must be a JSON object.")
    return payload


def model_name(payload: dict[str, object]) -> str:
    """Return the name of the model asked for."""
    model = payload.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequest("The field 'model' must be a non-empty string.")
    return model


def read_chat(payload: dict[str, object]) -> ChatRequest:
    """Read a chat request, analysing the pictures in it."""
    model = model_name(payload)
    if payload.get("stream"):
        raise BadRequest("This offline server does not stream.")
    if payload.get("n") not in (None, 1):
        raise BadRequest("This offline server gives one choice only.")
    raw = payload.get("messages")
    if not isinstance(raw, list) or not raw:
        raise BadRequest("The field 'messages' must be a non-empty list.")
    messages = tuple(_message(item) for item in raw)
    options = {name: value for name, value in payload.items() if name != "messages"}
    return ChatRequest(model, messages, _digest(messages, options), task_name(payload))


def task_name(payload: dict[str, object]) -> str | None:
    """Return the task that a request names, if it names one."""
    metadata = payload.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise BadRequest("The field 'metadata' must be an object.", param="metadata")
    task = metadata.get("task")
    if not isinstance(task, str | None):
        raise BadRequest("The field 'metadata.task' must be a string.", param="metadata.task")
    return task


def _digest(messages: tuple[Message, ...], options: dict[str, object]) -> str:
    """Hash a request, each picture by its own hash."""
    said = [
        [item.speaker, *([p.key, p.detail] if isinstance(p, Picture) else p for p in item.parts)]
        for item in messages
    ]
    return hashlib.sha256(json.dumps([said, options], sort_keys=True).encode()).hexdigest()


def _message(item: object) -> Message:
    if not isinstance(item, dict) or item.get("role") not in _SPEAKERS:
        raise BadRequest(f"Every message must be an object with a role among {_SPEAKERS}.")
    content = item.get("content")
    if isinstance(content, str):
        return Message(item["role"], (content,))
    if content is None and item["role"] == "assistant":
        return Message("assistant", ())
    if not isinstance(content, list):
        raise BadRequest("A message's content must be a string or a list of parts.")
    return Message(item["role"], tuple(_part(part) for part in content))


def _part(part: object) -> Part:
    if isinstance(part, dict):
        text = part.get("text")
        if part.get("type") == "text" and isinstance(text, str):
            return text
        image = part.get("image_url")
        if part.get("type") == "image_url" and isinstance(image, dict):
            url = image.get("url")
            if isinstance(url, str):
                return Picture(*picture_facts(url), str(image.get("detail") or "auto"))
    raise BadRequest("A part of a message must be a text or an image_url part.")
