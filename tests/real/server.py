"""llama.cpp's server on loopback, and requests to it."""

import io
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from PIL import Image as Picture

from methods.prompts.messages import Image, Message, Part, Text
from resources.llm.gateway import Gateway
from resources.llm.ledger import Call
from resources.llm.model_calls import ModelCalls
from resources.llm.request import ChatRequest, Outcome
from tests.doubles.serving import free_ports
from tests.real.environment import MODEL, PROJECTOR, VENV
from tests.resources.llm.entries import gateway_of

SLOTS, CONTEXT = 2, 4096
"""Requests at the same time, and tokens of the context of each."""
GRAMMAR = 'root ::= ("A" | "B" | "C" | "D") (" " [a-z]{1,8}){1,6} "."'
"""The form of every answer that is held to no schema: the model itself rarely ends one."""
START_SECONDS = 120


@dataclass
class LlamaServer:
    """A server process that can be killed and started again on its port.

    Args:
        log: A file for everything that the server logs.
        images: Whether it gets the projector.
    """

    log: Path
    images: bool = True
    port: int = field(default_factory=lambda: free_ports(1)[0])
    process: subprocess.Popen[bytes] | None = None

    @property
    def root(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until its model is loaded."""
        options = {"-m": MODEL, "-c": SLOTS * CONTEXT, "-np": SLOTS, "--port": self.port}
        options |= {"--grammar": GRAMMAR} | ({"--mmproj": PROJECTOR} if self.images else {})
        words = [str(word) for pair in options.items() for word in pair]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [VENV / "bin" / "llama-server-vulkan", "--metrics", "--seed", "1", *words],
                stdout=log,
                stderr=log,
            )
        wait_for(f"{self.root}/health", self.process)

    def kill(self) -> None:
        """End it at once, without an answer to anybody."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def metric(self, name: str) -> int:
        """A counter of the server, since it was started."""
        page = httpx2.get(f"{self.root}/metrics").text
        found = re.search(rf"^llamacpp:{name} (\S+)", page, re.MULTILINE)
        assert found, page
        return int(float(found[1]))

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts, those that were in the cache included."""
        return self.metric("prompt_tokens_total") + self.metric("prompt_tokens_cached_total")

    def logged(self, words: str) -> int:
        """How often the log has these words."""
        return self.log.read_text(errors="replace").count(words)

    @property
    def n_worked_on(self) -> int:
        """Requests that got a slot and left it."""
        return self.logged("stop processing")

    @property
    def n_cancelled(self) -> int:
        """Requests whose client hung up before the answer."""
        return self.logged("cancel task")


@contextmanager
def llama_server(folder: Path, *, images: bool = True) -> Iterator[LlamaServer]:
    """A server, killed after the block."""
    server = LlamaServer(folder / "llama-server.log", images)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until an address answers with success; the process has to go on meanwhile."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, f"the server of {url} ended with {process.returncode}"
        try:
            if httpx2.get(url, timeout=5).is_success:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer after {START_SECONDS} s")


PARAMS = {"temperature": 0.0, "max_tokens": 64}


def gateway_to(folder: Path, base_url: str, **fields: Any) -> Gateway:
    """A gateway with default settings for a server, as the model `it`, and a ledger in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = {"base_url": base_url, "retry_wait": {"first": 0.5, "most": 30}, **fields}
    return gateway_of(folder, {"it": entry})


def request(*parts: Part) -> ChatRequest:
    """A request as a stage makes it, with a short answer."""
    return ChatRequest("it", (Message("user", parts),), "real@1", PARAMS)


def texts(n: int) -> list[ChatRequest]:
    """Requests without images."""
    return [request(Text(f"Question {number}: what is in a harbour?")) for number in range(n)]


def pictures(gateway: Gateway, n: int) -> list[ChatRequest]:
    """Requests with one image each, of different sizes."""
    requests = []
    for number in range(n):
        buffer = io.BytesIO()
        Picture.new("RGB", (90 + 60 * number, 200), (20 * number, 90, 200)).save(buffer, "PNG")
        image_id = gateway.images.put(buffer.getvalue()).image_id
        requests.append(request(Image(image_id), Text(f"What is in picture {number}?")))
    return requests


def ask(gateway: Gateway, requests: Sequence[ChatRequest]) -> Sequence[Outcome]:
    """How each request ends, in their order."""
    return gateway.map("real", requests, ModelCalls.outcome_of)[0]


def tokens_of(calls: Sequence[Call]) -> tuple[int, int]:
    """Tokens of the prompts and of the answers in a ledger."""
    return sum(call.prompt_tokens for call in calls), sum(call.completion_tokens for call in calls)
