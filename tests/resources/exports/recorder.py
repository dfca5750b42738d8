"""A model server that keeps what it is asked, and answers by what was asked."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from io import BytesIO
from typing import Any

from PIL import Image

from methods.exports.conversations import Conversation, ModelAnswerSlot
from methods.prompts.messages import Text
from resources.images.store import ImageStore
from tests.doubles.serving import QuietHandler, serving

Said = tuple[str, tuple[str, ...]]
"""A role, and texts and pictures by a hash of their pixels."""


@contextmanager
def recorder(
    reply: Callable[[Sequence[Said]], str] = lambda messages: answer(len(messages)),
) -> Iterator[tuple[str, list[list[Said]]]]:
    """The base URL of the server, and the messages of each request that it got.

    `reply` makes the answer to messages; by default it is `said N` to N of them.
    """
    requests: list[list[Said]] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = [_said(message) for message in body["messages"]]
            requests.append(messages)
            message = {"role": "assistant", "content": reply(messages)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            made = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
            data = json.dumps({**made, "choices": [choice], "usage": usage}).encode()
            self.send(data, Content_Type="application/json")

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests


def answer(n_messages: int) -> str:
    """What the server says to a request of so many messages."""
    return f"said {n_messages}"


def expected(asked: Conversation, store: ImageStore) -> list[list[Said]]:
    """The requests of a conversation whose answers are those of the server."""
    requests: list[list[Said]] = []
    messages: list[Said] = []
    for each in asked.messages:
        if isinstance(each, ModelAnswerSlot):
            requests.append(list(messages))
            messages.append(("assistant", (answer(len(messages)),)))
        else:
            parts = [
                part.text if isinstance(part, Text) else pixels(store.read(part.image_id))
                for part in each.parts
            ]
            messages.append((each.role, tuple(parts)))
    return requests


def pixels(data: bytes) -> str:
    """A hash of what a picture shows."""
    with Image.open(BytesIO(data)) as image:
        shown = image.convert("RGB")
        return hashlib.sha256(repr(shown.size).encode() + shown.tobytes()).hexdigest()


def _said(message: dict[str, Any]) -> Said:
    content = message["content"]
    if isinstance(content, str):
        return message["role"], (content,)
    parts = []
    for part in content:
        if part["type"] == "text":
            parts.append(part["text"])
        else:
            parts.append(pixels(base64.b64decode(part["image_url"]["url"].partition(",")[2])))
    return message["role"], tuple(parts)
