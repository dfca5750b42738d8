"""One batch: its request, its progress, and its object in the OpenAI protocol.

What belongs here: reading the body of `POST /v1/batches`, and the record of a batch. Part of the
offline stand-in; no model is called.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from resources.offline.batch_input import ENDPOINT
from resources.offline.batch_output import Line
from resources.offline.errors import BadRequest

CANCELLABLE = ("validating", "in_progress")
_WINDOW = "24h"
_WINDOW_SECONDS = 86400
_METADATA_PAIRS = 16
_MOVES = (
    "in_progress",
    "finalizing",
    "completed",
    "failed",
    "expired",
    "cancelling",
    "cancelled",
)


@dataclass(frozen=True)
class BatchRequest:
    """What the caller asked for."""

    input_file_id: str
    metadata: dict[str, str] | None


@dataclass
class Batch:
    """The record of a batch; `move` sets its status."""

    request: BatchRequest
    model: str | None
    errors: list[dict[str, object]]
    id: str = field(default_factory=lambda: f"batch_{uuid.uuid4().hex}")
    created_at: int = field(default_factory=lambda: int(time.time()))
    status: str = "validating"
    moved_at: dict[str, int] = field(default_factory=dict)
    total: int = 0
    completed: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    cancel_asked: asyncio.Event = field(default_factory=asyncio.Event)

    def move(self, status: str) -> None:
        """Set the status, and record the time."""
        self.status = status
        self.moved_at[status] = int(time.time())

    def count_tokens(self, lines: Iterable[Line]) -> None:
        """Add the tokens of answers to the counts."""
        for line in lines:
            self.input_tokens += line.input_tokens
            self.output_tokens += line.output_tokens

    def body(self) -> dict[str, object]:
        """Return the batch object of the OpenAI protocol."""
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": ENDPOINT,
            "model": self.model,
            "errors": {"object": "list", "data": self.errors} if self.status == "failed" else None,
            "input_file_id": self.request.input_file_id,
            "completion_window": _WINDOW,
            "status": self.status,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
            "created_at": self.created_at,
            "expires_at": self.created_at + _WINDOW_SECONDS,
            **{f"{move}_at": self.moved_at.get(move) for move in _MOVES},
            "request_counts": {
                "total": self.total,
                "completed": self.completed,
                "failed": self.failed,
            },
            "usage": {
                "input_tokens": self.input_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": self.output_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": self.input_tokens + self.output_tokens,
            },
            "metadata": self.request.metadata,
        }


def read_batch_request(payload: dict[str, object]) -> BatchRequest:
    """Read the body of `POST /v1/batches`."""
    for name, value in (("endpoint", ENDPOINT), ("completion_window", _WINDOW)):
        if _required(payload, name) != value:
            message = f"Invalid value: '{payload[name]}'. Supported values are: '{value}'."
            raise BadRequest(message, "invalid_value", name)
    return BatchRequest(_required(payload, "input_file_id"), _metadata(payload.get("metadata")))


def _required(payload: dict[str, object], name: str) -> str:
    value = payload.get(name)
    if value is None:
        message = f"Missing required parameter: '{name}'."
        raise BadRequest(message, "missing_required_parameter", name)
    if not isinstance(value, str):
        raise BadRequest(f"Invalid type for '{name}': expected a string.", "invalid_type", name)
    return value


def _metadata(value: object) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or len(value) > _METADATA_PAIRS:
        message = f"Invalid 'metadata': expected an object of {_METADATA_PAIRS} pairs at most."
        raise BadRequest(message, "invalid_value", "metadata")
    for name, text in value.items():
        if not isinstance(text, str):
            name = f"metadata.{name}"
            raise BadRequest(f"Invalid type for '{name}': expected a string.", "invalid_type", name)
    return value
