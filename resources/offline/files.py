"""The files that callers upload and that batches write.

What belongs here: checking an upload, and keeping files for `/v1/files`. They are kept in memory and
are gone when the server stops: a caller that outlives the server finds them unknown. Part of the
offline stand-in; no model is called.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field

from starlette.datastructures import FormData, UploadFile

from methods.json_text import from_json
from resources.offline.errors import ApiError, BadRequest, NotFound
from resources.offline.reply_form import CONTEXT_TOKENS

PURPOSE = "batch"
_KEPT_SECONDS = 30 * 86400


@dataclass(frozen=True)
class Limits:
    """The size of the largest batch file that is accepted, and the tokens of prompt and reply together;
    by default OpenAI's limits."""

    requests: int = 50_000
    bytes: int = 200 * 1024 * 1024
    context_tokens: int = CONTEXT_TOKENS


@dataclass(frozen=True)
class StoredFile:
    """A file and what is known about it."""

    filename: str
    purpose: str
    content: bytes
    id: str = field(default_factory=lambda: f"file-{uuid.uuid4().hex}")
    created_at: int = field(default_factory=lambda: int(time.time()))

    def body(self) -> dict[str, object]:
        """Return the file object of the OpenAI protocol."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "expires_at": self.created_at + _KEPT_SECONDS,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
        }


class Files:
    """The stored files; used from the event loop only."""

    def __init__(self) -> None:
        self._files: dict[str, StoredFile] = {}

    def keep(self, file: StoredFile) -> StoredFile:
        """Keep a file until it is deleted."""
        self._files[file.id] = file
        return file

    def find(self, file_id: str) -> StoredFile | None:
        """Return a file, or None if there is none of this id."""
        return self._files.get(file_id)

    def get(self, file_id: str) -> StoredFile:
        """Return a file. Raises NotFound."""
        file = self.find(file_id)
        if file is None:
            raise NotFound(f"No such File object: {file_id}", "id")
        return file

    def delete(self, file_id: str) -> dict[str, object]:
        """Delete a file, and return the body of the response."""
        del self._files[self.get(file_id).id]
        return {"id": file_id, "object": "file", "deleted": True}


async def read_upload(form: FormData, limits: Limits) -> StoredFile:
    """Read the form of `POST /v1/files`, and return the file. Raises ApiError."""
    for name in ("file", "purpose"):
        if name not in form:
            raise BadRequest(
                f"Missing required parameter: '{name}'.", "missing_required_parameter", name
            )
    purpose, sent = form["purpose"], form["file"]
    if purpose != PURPOSE:
        message = f"Invalid value: '{purpose}'. This offline server takes '{PURPOSE}' only."
        raise BadRequest(message, "invalid_value", "purpose")
    if not isinstance(sent, UploadFile):
        raise BadRequest("The field 'file' is no file.", "invalid_value", "file")
    file = StoredFile(sent.filename or "", PURPOSE, await sent.read())
    # Looking through two hundred megabytes would hold the other callers up.
    await asyncio.to_thread(_check, file, limits)
    return file


def _check(file: StoredFile, limits: Limits) -> None:
    """Raise ApiError for a file that is too large or whose first line is no JSON object."""
    size = len(file.content)
    if size > limits.bytes:
        message = f"The batch input file is larger than the {limits.bytes} maximum; it has {size}."
        raise ApiError(413, message, "invalid_request_error", param="file")
    lines = [line for line in file.content.split(b"\n") if line.strip()]
    if not file.filename.endswith(".jsonl") or not lines or not _is_object(lines[0]):
        raise BadRequest("Invalid file format for Batch API. Must be .jsonl")
    if len(lines) > limits.requests:
        message = f"A batch may have {limits.requests} requests at most; this has {len(lines)}."
        raise BadRequest(message, param="file")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(from_json(line), dict)
    except ValueError:
        return False
