"""Parse a chat request of the mock server: messages, images, and the tagged sections of a prompt.
Errors have the format of the OpenAI protocol.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from methods.json_text import from_json
from resources.mock_server.image_facts import Facts, picture_facts

_SPEAKERS = ("system", "developer", "user", "assistant")
# In data within a section every "</" was rewritten as "< /", so the first closing tag ends the section.
_SECTION = re.compile(r"<([a-z]+)(?: image=\"\d+\")?>([^<]*(?:<(?!/)[^<]*)*)</\1>")
IMAGE_NAME = re.compile(r"<image-(\d+)>")
"""The token by which a text names an image."""
_LABEL_AT_END = re.compile(IMAGE_NAME.pattern + r"\s*:?\s*$")
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class ApiError(Exception):
    """An HTTP error as the response to a request: its status, and the fields of its body."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.code, self.param = status, kind, code, param

    def body(self) -> dict[str, object]:
        """Return the error in the format of OpenAI's API."""
        fields = {"type": self.kind, "param": self.param, "code": self.code}
        return {"error": {"message": str(self), **fields}}


class BadRequest(ApiError):
    """The request is invalid (status 400)."""

    def __init__(self, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(400, message, "invalid_request_error", code, param)


@dataclass(frozen=True)
class ReceivedImage:
    """One image of a message: its hash, its facts and the requested detail."""

    key: str
    facts: Facts
    detail: str


Part = str | ReceivedImage


@dataclass(frozen=True)
class ReceivedMessage:
    """One message: its role (`speaker`), and its texts and images in order."""

    speaker: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The texts of the message, joined by line breaks."""
        return "\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> list[ReceivedImage]:
        """The images of the message."""
        return [part for part in self.parts if isinstance(part, ReceivedImage)]


@dataclass(frozen=True)
class ReceivedRequest:
    """A parsed request. `digest` is a hash of the whole request; `task` is None
    if the request names no task.
    """

    model: str
    messages: tuple[ReceivedMessage, ...]
    digest: str
    task: str | None

    @property
    def system(self) -> str:
        """The text of the first system message; empty if there is none."""
        spoken = (item.text for item in self.messages if item.speaker in ("system", "developer"))
        return next(spoken, "")

    @property
    def last_user(self) -> ReceivedMessage:
        """The user's last message."""
        for message in reversed(self.messages):
            if message.speaker == "user":
                return message
        raise BadRequest("The messages hold no user message.")

    @cached_property
    def sections(self) -> list[tuple[str, str]]:
        """(tag, content) of each outermost section of the user's last message, in order."""
        matches = _SECTION.finditer(self.last_user.text)
        return [(match.group(1), match.group(2).strip()) for match in matches]

    def section(self, tag: str, default: str = "") -> str:
        """Return the content of the first section with a tag.

        Args:
            tag: The tag.
            default: The result without such a section.
        """
        return next((content for name, content in self.sections if name == tag), default)

    def every(self, tag: str) -> list[str]:
        """Return the contents of all sections with the tag."""
        return [content for name, content in self.sections if name == tag]

    @cached_property
    def labelled(self) -> dict[int, Facts]:
        """The facts of the last user message's images, by the number in the `<image-i>` label before
        each image, or else by position.
        """
        pictures: dict[int, Facts] = {}
        before = ""
        for part in self.last_user.parts:
            if isinstance(part, str):
                before = part
                continue
            label = _LABEL_AT_END.search(before)
            pictures[int(label.group(1)) if label else len(pictures) + 1] = part.facts
            before = ""
        return pictures

    def exactly(self, noun: str, default: int) -> int:
        """Return N of the phrase "exactly N <noun>" in the system message.

        Args:
            noun: The noun.
            default: The result without the phrase.
        """
        match = re.search(rf"exactly\s+(\w+)\s+{noun}", self.system, re.IGNORECASE)
        word = match.group(1).lower() if match else ""
        if word.isdigit():
            return max(1, min(50, int(word)))
        return _NUMBER_WORDS.index(word) + 1 if word in _NUMBER_WORDS else default


def read_body(body: bytes) -> dict[str, object]:
    """Decode the JSON object of a request's body. Raises BadRequest."""
    try:
        payload = from_json(body, most=None)
    except ValueError:
        raise BadRequest("The request body is not valid JSON.") from None
    if not isinstance(payload, dict):
        raise BadRequest("The request body must be a JSON object.")
    return payload


def model_name(payload: Mapping[str, object]) -> str:
    """Return the name of the requested model. Raises BadRequest if it is missing."""
    model = payload.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequest("The field 'model' must be a non-empty string.")
    return model


def task_name(payload: Mapping[str, object]) -> str | None:
    """Return the task that a request names; None if it names none."""
    metadata = payload.get("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise BadRequest("The field 'metadata' must be an object.", param="metadata")
    task = metadata.get("task")
    if not isinstance(task, str | None):
        raise BadRequest("The field 'metadata.task' must be a string.", param="metadata.task")
    return task


def read_chat(payload: Mapping[str, object]) -> ReceivedRequest:
    """Parse a chat request, and measure its images. Raises BadRequest."""
    model = model_name(payload)
    if payload.get("stream"):
        raise BadRequest("This mock server does not stream.")
    if payload.get("n") not in (None, 1):
        raise BadRequest("This mock server gives one choice only.")
    raw = payload.get("messages")
    if not isinstance(raw, list) or not raw:
        raise BadRequest("The field 'messages' must be a non-empty list.")
    messages = tuple(_message(item) for item in raw)
    options = {name: value for name, value in payload.items() if name != "messages"}
    return ReceivedRequest(model, messages, _digest(messages, options), task_name(payload))


def image_numbers(text: str) -> list[int]:
    """Return the numbers of the `<image-i>` tokens in a text, each once, in order."""
    return list(dict.fromkeys(int(number) for number in IMAGE_NAME.findall(text)))


def asked_about(question: str, pictures: dict[int, Facts]) -> list[int]:
    """Return the images that a question names; all images if it names none.

    Args:
        question: The question.
        pictures: The facts of the images.
    """
    named = [number for number in image_numbers(question) if number in pictures]
    return named or list(pictures)


def _digest(messages: tuple[ReceivedMessage, ...], options: dict[str, object]) -> str:
    """Hash a request, with each image represented by its own hash."""
    content = [
        [
            item.speaker,
            *([p.key, p.detail] if isinstance(p, ReceivedImage) else p for p in item.parts),
        ]
        for item in messages
    ]
    return hashlib.sha256(json.dumps([content, options], sort_keys=True).encode()).hexdigest()


def _message(item: object) -> ReceivedMessage:
    if not isinstance(item, dict) or item.get("role") not in _SPEAKERS:
        raise BadRequest(f"Every message must be an object with a role among {_SPEAKERS}.")
    content = item.get("content")
    if isinstance(content, str):
        return ReceivedMessage(item["role"], (content,))
    if content is None and item["role"] == "assistant":
        return ReceivedMessage("assistant", ())
    if not isinstance(content, list):
        raise BadRequest("A message's content must be a string or a list of parts.")
    return ReceivedMessage(item["role"], tuple(_part(part) for part in content))


def _part(part: object) -> Part:
    if isinstance(part, dict):
        text = part.get("text")
        if part.get("type") == "text" and isinstance(text, str):
            return text
        image = part.get("image_url")
        if part.get("type") == "image_url" and isinstance(image, dict):
            url = image.get("url")
            if isinstance(url, str):
                try:
                    return ReceivedImage(*picture_facts(url), str(image.get("detail") or "auto"))
                except ValueError as error:
                    raise BadRequest(str(error)) from None
    raise BadRequest("A part of a message must be a text or an image_url part.")
