"""Real servers on loopback: llama.cpp's with two slots, and a LiteLLM proxy before it."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
import yaml

from tests.doubles.serving import free_ports
from tests.real.environment import MODEL, PROJECTOR, VENV

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


@contextmanager
def slowed(server: LlamaServer, run_seconds: float, stop_seconds: float) -> Iterator[None]:
    """Let the server run and stand still in turns, as if the machine were slower."""
    ended = threading.Event()

    def take_turns() -> None:
        assert server.process is not None
        while not ended.is_set():
            server.process.send_signal(signal.SIGSTOP)
            ended.wait(stop_seconds)
            server.process.send_signal(signal.SIGCONT)
            ended.wait(run_seconds)

    thread = threading.Thread(target=take_turns)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def litellm_proxy(folder: Path, server: LlamaServer, model: str) -> Iterator[str]:
    """The base URL of a LiteLLM proxy that knows the server's model as `model`.

    It takes its key from LITELLM_MASTER_KEY, without which it does not start.
    """
    [port] = free_ports(1)
    behind = {"model": f"openai/{model}", "api_base": f"{server.root}/v1", "api_key": "none"}
    config = folder / "litellm.yaml"
    config.write_text(
        yaml.safe_dump({"model_list": [{"model_name": model, "litellm_params": behind}]})
    )
    command = [VENV / "bin" / "litellm", "--config", config, "--port", str(port)]
    with (folder / "litellm.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1"],
            stdout=log,
            stderr=log,
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            # When it ends, it ends every process of its group.
            start_new_session=True,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health/liveliness", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until an address answers with success; the process has to go on meanwhile."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() == -signal.SIGILL:
            pytest.skip(f"{process.args[0]} is built for other processors than this machine's")
        assert process.poll() is None, f"the server of {url} ended with {process.returncode}"
        try:
            if httpx2.get(url, timeout=5).is_success:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer after {START_SECONDS} s")
