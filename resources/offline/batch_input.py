"""Reading and checking the input file of a batch.

What belongs here: what each line of the file must be, and the error of a line that is not. Errors
have OpenAI's own codes and words where those are known. Part of the offline stand-in; no model is
called.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from methods.json_text import from_json
from resources.offline.chat_completion import MODELS

ENDPOINT = "/v1/chat/completions"
_FIELDS = {"custom_id": str, "method": str, "url": str, "body": dict}


@dataclass(frozen=True)
class Item:
    """One request of a batch: its `custom_id`, and the body of the chat call."""

    custom_id: str
    payload: dict[str, object]

    @property
    def task(self) -> str | None:
        """The task that it names; None where it names none, or not as a text."""
        metadata = self.payload.get("metadata")
        task = metadata.get("task") if isinstance(metadata, dict) else None
        return task if isinstance(task, str) else None


@dataclass(frozen=True)
class BatchInput:
    """The model and the requests of an input file, and the errors that make it unfit."""

    model: str
    items: list[Item]
    errors: list[dict[str, object]]


class _LineError(ValueError):
    """One line of an input file is wrong."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.param = param


def error_body(
    code: str, message: str, param: str | None = None, line: int | None = None
) -> dict[str, object]:
    """Return one entry of a failed batch's errors."""
    return {"code": code, "message": message, "param": param, "line": line}


def read_input(content: bytes) -> BatchInput:
    """Read an input file whole, with an error for every line that is wrong."""
    items: dict[str, Item] = {}
    errors: list[dict[str, object]] = []
    model = ""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            item = _item(line)
            if item.custom_id in items:
                raise _duplicate(item.custom_id)
            model = _model(item.payload, model)
        except _LineError as error:
            errors.append(error_body(error.code, str(error), error.param, number))
        else:
            items[item.custom_id] = item
    return BatchInput(model, _shuffled(list(items.values())), errors)


def _item(line: bytes) -> Item:
    """Read one line, without the checks that depend on other lines."""
    try:
        request = from_json(line.decode())
    except ValueError:
        request = None
    if not isinstance(request, dict):
        raise _LineError("invalid_json_line", "This line is not parseable as valid JSON.")
    for name, kind in _FIELDS.items():
        value = request.get(name)
        if value in (None, ""):
            message = f"Missing required parameter: '{name}'."
            raise _LineError("missing_required_parameter", message, name)
        if not isinstance(value, kind):
            wanted = "a string" if kind is str else "an object"
            message = f"Invalid type for '{name}': expected {wanted}."
            raise _LineError("invalid_type", message, name)
    if request["method"] != "POST":
        message = f"Invalid value: '{request['method']}'. Supported values are: 'POST'."
        raise _LineError("invalid_value", message, "method")
    if request["url"] != ENDPOINT:
        message = "The URL provided for this request does not match the batch endpoint."
        raise _LineError("invalid_url", message, "url")
    _check_body(request["body"])
    return Item(request["custom_id"], request["body"])


def _check_body(body: dict[str, object]) -> None:
    """Check the fields that every chat call needs; other errors become the request's own answer."""
    for name in ("model", "messages"):
        if not body.get(name):
            message = f"{name.capitalize()} parameter is required."
            raise _LineError("invalid_request", message, f"body.{name}")
    if body.get("stream"):
        message = "Chat Completions: Streaming is not supported in the Batch API."
        raise _LineError("streaming_unsupported", message, "body.stream")


def _model(body: dict[str, object], batch_model: str) -> str:
    """Return the model of a line, which must be the model of the lines before it, if any."""
    model = body["model"]
    if model not in MODELS:
        message = f"The provided model '{model}' is not supported by the Batch API."
        raise _LineError("model_not_found", message, "body.model")
    if batch_model and model != batch_model:
        message = (
            f"The model '{model}' for this request does not match the rest of the batch. "
            "Each batch must contain requests for a single model."
        )
        raise _LineError("mismatched_model", message, "body.model")
    return str(model)


def _duplicate(custom_id: str) -> _LineError:
    message = (
        f"The custom_id '{custom_id}' for this request is a duplicate of another request. "
        "The custom_id parameter must be unique for each request in a batch."
    )
    return _LineError("duplicate_custom_id", message, "custom_id")


def _shuffled(items: list[Item]) -> list[Item]:
    """Return the requests in a fixed order that is never the order of the input.

    The API promises no order, so a caller that goes by place and not by `custom_id` must fail.
    """
    mixed = sorted(items, key=lambda item: _digest(item.custom_id))
    return mixed[::-1] if mixed == items else mixed


def _digest(custom_id: str) -> bytes:
    return hashlib.sha256(custom_id.encode("utf-8", "surrogatepass")).digest()
