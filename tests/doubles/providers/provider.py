"""A server of models over loopback HTTP that enforces what a real one enforces: what all of them share.

What one kind of server takes, refuses and says is in a module of its own beside this one, in the
wordings of its errors as users report them. The model itself is a rule: it repeats a code word, fills a
schema, or says what pictures it sees.
"""

import asyncio
import base64
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from PIL import Image

from tests.doubles.openai_api import Api, completion_body, http_reply, serving

IMAGE_TOKENS = 85
KEY = "sk-key-of-the-double-0123456789"
THOUGHT = "The user wants an answer, so I give one."


class Refused(Exception):
    """A request that ends with an error of this status and body."""

    def __init__(self, status: int, body: object):
        super().__init__(status)
        self.status, self.body = status, body


def refusal(
    status: int, message: str, kind: str = "invalid_request_error", **fields: object
) -> Refused:
    """An error in the frame of OpenAI's."""
    framed = {"message": message, "type": kind, "param": None, "code": None, **fields}
    return Refused(status, {"error": framed})


@dataclass
class Asked:
    """A chat request as a server reads it: all text, the sizes of the pictures, the fields."""

    text: str
    pictures: list[tuple[int, int]]
    fields: dict[str, Any]

    @property
    def prompt_tokens(self) -> int:
        return len(self.text) // 4 + IMAGE_TOKENS * len(self.pictures)

    @property
    def schema(self) -> dict[str, Any] | None:
        held = self.fields.get("response_format") or {}
        found: dict[str, Any] | None = (held.get("json_schema") or {}).get("schema")
        return found


class Provider(Api):
    """A server of one model; `received` are the requests, `withholds` and `exhausted` its bad days."""

    context = 8_000
    limit_fields: tuple[str, ...] = ("max_completion_tokens", "max_tokens")
    """Fields with the limit of the answer, the one that goes before first."""

    def __init__(self, model: str, *, withholds: bool = False, exhausted: bool = False):
        super().__init__()
        self.model = model
        self.withholds, self.exhausted = withholds, exhausted
        self.received: list[dict[str, Any]] = []

    def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
        status, said = self.answer(headers, json.loads(body))
        transport.write(http_reply(status, json.dumps(said).encode()))

    def answer(self, headers: dict[str, str], request: dict[str, Any]) -> tuple[int, object]:
        """Status and body of the answer to a request."""
        self.received.append(request)
        try:
            self.admit(headers)
            asked = read(request)
            self.check(asked)
            return 200, self.completion(asked)
        except Refused as refused:
            return refused.status, refused.body

    # What a kind of server decides

    def admit(self, headers: dict[str, str]) -> None:
        """Raises Refused for a key that is not the right one. Servers of open models ask for none."""

    def check(self, asked: Asked) -> None:
        """Raises Refused for what this server does not take."""

    def completion(self, asked: Asked) -> dict[str, Any]:
        text, used, finish = self.within_limit(asked, answer(asked))
        return self.body(asked, {"role": "assistant", "content": text}, finish, used)

    # What they share

    def limit(self, asked: Asked) -> int | None:
        return next(
            (asked.fields[name] for name in self.limit_fields if name in asked.fields), None
        )

    def within_limit(self, asked: Asked, text: str, thought: str = "") -> tuple[str, int, str]:
        """An answer cut at the limit, its tokens with those of the reasoning, the finish reason."""
        limit, reasoning = self.limit(asked), tokens(thought)
        if limit is None or reasoning + tokens(text) <= limit:
            return text, reasoning + tokens(text), "stop"
        return text[: 4 * max(0, limit - reasoning)], limit, "length"

    def body(
        self, asked: Asked, message: dict[str, Any] | None, finish: str, used: int
    ) -> dict[str, Any]:
        return completion_body(message, asked.prompt_tokens, used, finish, self.model)


SomeProvider = TypeVar("SomeProvider", bound=Provider)


@contextmanager
def running(provider: SomeProvider) -> Iterator[tuple[SomeProvider, str]]:
    with serving(provider) as url:
        yield provider, url


def read(request: dict[str, Any]) -> Asked:
    """The request; Refused where its form is not that of the protocol."""
    texts: list[str] = []
    pictures: list[tuple[int, int]] = []
    for message in request["messages"]:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                texts.append(part["text"])
            else:
                kind, _, data = part["image_url"]["url"].partition(";base64,")
                if kind not in ("data:image/jpeg", "data:image/png"):
                    raise Refused(400, {"error": {"message": "invalid image input"}})
                pictures.append(Image.open(io.BytesIO(base64.b64decode(data))).size)
    fields = {name: value for name, value in request.items() if name != "messages"}
    return Asked("\n".join(texts), pictures, fields)


def answer(asked: Asked) -> str:
    if asked.schema:
        return json.dumps({name: "Fine" for name in asked.schema["properties"]})
    if word := re.search(r"code word is (\w+)", asked.text):
        return f"The code word is {word[1]}."
    if asked.pictures:
        sizes = ", ".join(f"{width} by {height}" for width, height in asked.pictures)
        return f"I see {len(asked.pictures)} pictures: {sizes}."
    return f"You said {len(asked.text)} characters."


def tokens(text: str) -> int:
    return -(-len(text) // 4)
