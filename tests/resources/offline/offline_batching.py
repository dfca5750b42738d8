"""Steps of a batch, through the real client against the offline server, for its tests."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import openai
from openai.types import Batch

from resources.offline.process import OfflineServer

CHAT = "/v1/chat/completions"
MODEL = "offline-careful"
ENDS = ("completed", "failed", "expired", "cancelled")


class Api:
    """A server, the real client of it, and the steps of a batch."""

    def __init__(self, client: openai.OpenAI, http: httpx2.Client) -> None:
        self.client = client
        self.http = http

    def fault(self, **fault: Any) -> None:
        """Queue a fault."""
        assert self.http.post("/faults", json=fault).status_code == 200

    def stats(self) -> dict[str, Any]:
        """Return the server's counts."""
        return self.http.get("/stats").json()

    def upload(self, lines: list[Any], name: str = "input.jsonl") -> str:
        """Upload lines, some of them as they are, and return the file's id."""
        data = b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines)
        return self.client.files.create(file=(name, data), purpose="batch").id

    def create(self, file_id: str, **more: Any) -> Batch:
        """Create a batch of a file."""
        asked = {"endpoint": CHAT, "completion_window": "24h", "input_file_id": file_id, **more}
        return self.client.batches.create(**asked)

    def begin(self, lines: list[Any]) -> Batch:
        """Upload lines and create their batch."""
        return self.create(self.upload(lines))

    def end(self, batch: Batch) -> Batch:
        """Wait for a batch to end."""
        deadline = time.monotonic() + 5
        while batch.status not in ENDS and time.monotonic() < deadline:
            time.sleep(0.01)
            batch = self.client.batches.retrieve(batch.id)
        assert batch.status in ENDS
        return batch

    def run(self, lines: list[Any]) -> Batch:
        """Upload lines, create their batch and wait for its end."""
        return self.end(self.begin(lines))

    def counts(self, batch: Batch) -> dict[str, object]:
        """Return a batch's counts of requests."""
        assert batch.request_counts is not None
        return batch.request_counts.to_dict()

    def lines(self, file_id: str | None) -> dict[str, dict[str, Any]]:
        """Return a file's lines by their `custom_id`."""
        assert file_id is not None
        lines = [json.loads(x) for x in self.client.files.content(file_id).text.splitlines()]
        return {line["custom_id"]: line for line in lines}


@contextmanager
def serving(**options: Any) -> Iterator[Api]:
    """Serve with these options of the server."""
    with (
        OfflineServer(**options) as server,
        httpx2.Client(base_url=server.base_url.removesuffix("/v1"), trust_env=False) as http,
        httpx2.Client(trust_env=False) as plain,
        openai.OpenAI(
            base_url=server.base_url, api_key="none", max_retries=0, timeout=10, http_client=plain
        ) as client,
    ):
        yield Api(client, http)


def asked(name: str, question: str = "", model: str = MODEL, **more: Any) -> dict[str, Any]:
    """Return a line of a batch's input."""
    body = {"model": model, "messages": [{"role": "user", "content": question or f"Hi {name}"}]}
    return {"custom_id": name, "method": "POST", "url": CHAT, "body": body, **more}


def some(count: int) -> list[dict[str, Any]]:
    """Return lines named r0, r1 and so on."""
    return [asked(f"r{number}") for number in range(count)]
