"""A garbling proxy: the replies of the mock models, with a hand in the wire.

It is a real HTTP server on loopback that answers as the mock model server does, in this process, and
remembers what was asked. A test chooses requests by what stands in them, and has their replies
rewritten, withheld or refused.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any

from resources.files.home import REPO_ROOT
from resources.mock_server.chat_completion import chat_body
from resources.mock_server.chat_request import ApiError
from resources.settings.prompts import prompt
from tests.doubles.serving import QuietHandler

_TASKS = {
    # As far as nothing is filled in; a prompt that begins with a condition has no such line.
    opening[0]: template.task
    for template in (
        prompt(f"{path.parts[-3]}/{path.stem}")
        for path in sorted((REPO_ROOT / "methods").glob("*/prompts/*.md"))
    )
    if (opening := template.text.partition("{")[0].splitlines())
}
"""How the system message of each prompt begins -> its task."""


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    body: dict[str, Any]
    authorization: str

    @property
    def model(self) -> str:
        return self.body["model"]

    @property
    def task(self) -> str:
        """The task of the prompt whose text the system message begins with; empty for a candidate."""
        first = self.body["messages"][0]
        said = first["content"] if first["role"] == "system" else ""
        return next((task for opening, task in _TASKS.items() if said.startswith(opening)), "")

    @property
    def texts(self) -> list[str]:
        return [
            "".join(part.get("text", "") for part in _parts(message))
            for message in self.body["messages"]
        ]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def images(self) -> list[str]:
        """SHA-256 of each picture's data URL, in order."""
        return [
            hashlib.sha256(part["image_url"]["url"].encode()).hexdigest()
            for message in self.body["messages"]
            for part in _parts(message)
            if part["type"] == "image_url"
        ]

    @property
    def turn(self) -> int:
        return sum(message["role"] == "user" for message in self.body["messages"])


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


When = Callable[[Asked], bool]


@dataclass
class _Rule:
    when: When
    rewrite: Callable[[str], str | None] | None = None
    finish: str | None = None
    status: int = 200
    error: dict[str, Any] | None = None
    model: str | None = None


class GarblingProxy:
    """Answers as the mock models, except where a rule says otherwise; made by `ProxyServer`."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.requests: list[Asked] = []
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()

    def rewrite(
        self, when: When, reply: Callable[[str], str | None] | str, finish: str | None = None
    ) -> None:
        """Give the requests `when` picks another reply: this text, or the true one made over.

        `finish` is the finish reason, that of the true reply by default.
        """
        self._rules.append(_Rule(when, reply if callable(reply) else lambda _true: reply, finish))

    def name(self, when: When, model: str) -> None:
        """Have these replies name this model as the one that answered."""
        self._rules.append(_Rule(when, lambda true: true, model=model))

    def filter(self, when: When) -> None:
        """Withhold the reply as a provider's content filter does: status 200, no text."""
        self.rewrite(when, lambda _true: None, "content_filter")

    def refuse(self, when: When, status: int, message: str) -> None:
        """Answer with an error. 5xx is tried again by the gateway, with waits between."""
        error = {"message": message, "type": "test", "param": None, "code": None}
        self._rules.append(_Rule(when, status=status, error=error))

    def heal(self) -> None:
        """Answer everything untouched from now on, and forget what was asked."""
        self._rules, self.requests = [], []

    def asked(self, task: str) -> list[Asked]:
        return [request for request in self.requests if request.task == task]

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        """Status and body of the reply to a request."""
        with self._lock:
            self.requests.append(asked)
        rule = next((rule for rule in self._rules if rule.when(asked)), None)
        if rule and rule.error:
            return rule.status, json.dumps({"error": rule.error}).encode()
        # A provider reads the prompt; the mock models are told the task, only here.
        told = {"metadata": {"task": asked.task}} if asked.task else {}
        try:
            true = chat_body({**asked.body, **told})
        except ApiError as error:
            return error.status, json.dumps(error.body()).encode()
        if rule is not None:
            choice = true["choices"][0]
            assert rule.rewrite is not None
            choice["message"]["content"] = rule.rewrite(choice["message"]["content"])
            choice["finish_reason"] = rule.finish or choice["finish_reason"]
            true["model"] = rule.model or true["model"]
        return 200, json.dumps(true).encode()


class ProxyServer(ThreadingHTTPServer):
    """One server for any number of proxies; each has a path of its own."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxies: dict[str, GarblingProxy] = {}

    def proxy(self) -> GarblingProxy:
        name = str(len(self.proxies))
        base_url = f"http://127.0.0.1:{self.server_port}/{name}/v1"
        self.proxies[name] = GarblingProxy(base_url)
        return self.proxies[name]


class _Handler(QuietHandler):
    server: ProxyServer

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        asked = Asked(json.loads(sent), self.headers.get("Authorization", ""))
        status, reply = self.server.proxies[self.path.split("/")[1]].answer(asked)
        self.send(reply, status, Content_Type="application/json")
