"""The lines that a batch writes to its output and error files.

What belongs here: one request's answer, or the reason for having none, as a line. A request in a
batch gets the answer that a live call with the same body gets, by rule; no model is called.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass

from resources.offline import fault_injection
from resources.offline.batch_input import Item
from resources.offline.chat_completion import chat_body
from resources.offline.errors import ApiError

_UNANSWERED = {
    "batch_expired": "This request could not be executed before the completion window expired.",
    "batch_cancelled": "This request could not be executed before the batch was cancelled.",
}


@dataclass(frozen=True)
class Line:
    """One line of a batch's files, and the tokens it counts for."""

    ok: bool
    encoded: bytes
    input_tokens: int = 0
    output_tokens: int = 0


def answer_line(item: Item, fault: fault_injection.Fault | None, context: int) -> Line:
    """Answer a request, or let it fail with a fault; runs in a worker thread."""
    try:
        if fault is not None and fault.kind == fault_injection.BATCH_ITEM_STATUS:
            raise fault.error()
        body = chat_body(item.payload, fault.kind if fault else None, context)
    except ApiError as error:
        return _failed(item, error)
    except Exception as error:
        # As with a live call, a bug here fails this answer, not the batch.
        return _failed(item, ApiError(500, f"The server failed: {error!r}.", "server_error"))
    usage = body["usage"]
    assert isinstance(usage, dict)
    encoded = _encoded(item, _response(200, body), None)
    return Line(True, encoded, usage["prompt_tokens"], usage["completion_tokens"])


def unanswered_line(item: Item, code: str) -> bytes:
    """Return the line of a request that was not answered: `batch_expired` or `batch_cancelled`."""
    return _encoded(item, None, {"code": code, "message": _UNANSWERED[code]})


def _failed(item: Item, error: ApiError) -> Line:
    return Line(False, _encoded(item, _response(error.status, error.body()), None))


def _response(status: int, body: dict[str, object]) -> dict[str, object]:
    return {"status_code": status, "request_id": uuid.uuid4().hex, "body": body}


def _encoded(item: Item, response: dict[str, object] | None, error: dict[str, str] | None) -> bytes:
    line = {
        "id": f"batch_req_{uuid.uuid4().hex}",
        "custom_id": item.custom_id,
        "response": response,
        "error": error,
    }
    return json.dumps(line).encode() + b"\n"
