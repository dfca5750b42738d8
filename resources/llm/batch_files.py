"""Files of a batch API: the requests that are submitted, and the results that come back."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from methods.ids import canonical_json
from methods.json_text import from_json
from resources.images.store import ImageNotStored, ImageStore
from resources.llm.error_advice import advised
from resources.llm.error_kinds import kind_of, passes
from resources.llm.estimate import text_tokens
from resources.llm.ledger import Call
from resources.llm.ledger.batch_state import BatchItem, FailedRequest
from resources.llm.ledger_entries import LedgerRequest, entry_from_reply, failed_entry
from resources.llm.masking import mask, masked, one_line
from resources.llm.model_spec import ModelSpec
from resources.llm.reply import (
    BadResponse,
    ReplyTooLarge,
    answer_in_reasoning_field,
    exceeds_limit,
    reply_of,
)
from resources.llm.request import FailureKind
from resources.llm.request_body import RequestTooLarge, encoded_body
from resources.llm.request_keys import KeyedRequest
from resources.llm.server_errors import ServerError, read_error

if TYPE_CHECKING:
    from openai.types import Batch as RemoteBatch

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MOST_REQUESTS = 50_000
MOST_BYTES = 100_000_000
"""The most bytes of a batch file, which is held in memory. OpenAI accepts 200 MB."""
_KEY = re.compile(rb'"custom_id"\s*:\s*"([0-9a-f]{64})"')
_FULL = "token_limit_exceeded"
"""The provider's error code for a full queue. A batch that was refused with this
code may be submitted again."""


def files_of(
    wanted: Sequence[KeyedRequest], spec: ModelSpec, images: ImageStore
) -> Iterator[list[tuple[KeyedRequest, bytes | FailedRequest]]]:
    """Divide requests into files within the provider's limits: each request with its line, or with a
    FailedRequest if it cannot be sent.
    """
    file: list[tuple[KeyedRequest, bytes | FailedRequest]] = []
    n_bytes = 0
    for keyed in wanted:
        line = _line(keyed, spec, images)
        size = len(line) if isinstance(line, bytes) else 0
        if file and (len(file) == MOST_REQUESTS or n_bytes + size > MOST_BYTES):
            yield file
            file, n_bytes = [], 0
        file.append((keyed, line))
        n_bytes += size
    if file:
        yield file


def _line(keyed: KeyedRequest, spec: ModelSpec, images: ImageStore) -> bytes | FailedRequest:
    try:
        body = encoded_body(keyed.request, spec, images)
    except ImageNotStored as error:
        return FailedRequest(keyed.key, "no_image", str(error), again=False)
    except RequestTooLarge as error:
        return FailedRequest(keyed.key, "too_long", str(error), again=False)
    row = json.dumps({"custom_id": keyed.key, "method": "POST", "url": ENDPOINT})
    return b'%b, "body": %b}\n' % (row.removesuffix("}").encode(), body)


def read_results(
    lines: Sequence[bytes], waiting: Mapping[str, BatchItem], spec: ModelSpec
) -> list[Call | FailedRequest]:
    """Read the result file of a batch.

    Args:
        lines: The lines of the file.
        waiting: The requests that wait for the batch, by key.
        spec: The entry of their model.

    Returns:
        A call or a failed request for each line that belongs to one of these requests.
    """
    results: list[Call | FailedRequest] = []
    for line in lines:
        try:
            row = from_json(line, most=None)
            item = waiting[row["custom_id"]]
            results.append(_result(item, row, spec))
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
    return results


def too_large(
    line: bytes, waiting: Mapping[str, BatchItem], spec: ModelSpec
) -> list[FailedRequest]:
    """Find the request whose result exceeds the size limit of its model.

    Args:
        line: The beginning of the result line. The key is searched in it.
        waiting: The requests that wait for the batch, by key.
        spec: The entry of their model.

    Returns:
        That request as failed; an empty list if the key is not found.
    """
    keys = [match[1].decode() for match in _KEY.finditer(line)]
    # The line is untrusted. Unless it has exactly one key that is waited for, the request fails when
    # the batch ends (`lost_with_batch`).
    waiting_keys = {key for key in keys if key in waiting}
    detail = exceeds_limit(spec)
    return [
        FailedRequest(key, "bad_response", detail, again=False)
        for key in waiting_keys
        if len(waiting_keys) == 1
    ]


def lost_with_batch(remote: "RemoteBatch", spec: ModelSpec) -> FailedRequest:
    """Make the failure of the requests for which an ended batch has no result line."""
    # Servers that speak the protocol in their own way may send anything here.
    listed = getattr(remote.errors, "data", None)
    errors = listed if isinstance(listed, list) else []
    messages = [str(getattr(error, "message", None) or "") for error in errors]
    reason = "; ".join(messages) or "It says nothing of this request."
    codes = {str(getattr(error, "code", None)) for error in errors}
    # A batch that failed as a whole would fail again, unless the queue was full.
    again = remote.status != "failed" or codes == {_FULL}
    kind: FailureKind = "rate_limited" if codes == {_FULL} else "bad_request"
    detail = one_line(f"The batch ended as {remote.status}: {reason}", spec)
    return FailedRequest("", kind if remote.status == "failed" else "expired", detail, again)


def _refused(item: BatchItem, error: ServerError, spec: ModelSpec) -> FailedRequest:
    """Make the failure of a request that the server answered with an error."""
    message = one_line(error.message or f"Status {error.status}.", spec)
    return FailedRequest(item.key, kind_of(error), advised(error, spec) or message, passes(error))


def _result(item: BatchItem, row: dict[str, Any], spec: ModelSpec) -> Call | FailedRequest:
    response = row.get("response")
    if response is None:
        message = one_line(str(row["error"]["message"]), spec)
        return FailedRequest(item.key, "expired", message, True)
    status, body = int(response["status_code"]), response["body"]
    if status != 200:
        return _refused(item, read_error(status, body), spec)
    ledger_request = LedgerRequest(
        item.key, item.request, item.prompt_version, item.stage, item.run, "batch"
    )
    try:
        reply = reply_of(body, spec.name, lambda: text_tokens(canonical_json(item.request)))
        reply = masked(answer_in_reasoning_field(reply, spec), spec)
    except BadResponse as error:
        if error.billed is None and error.error is not None:
            return _refused(item, error.error, spec)
        detail = one_line(str(error), spec)
        if error.billed is None:
            again = not isinstance(error, ReplyTooLarge)
            return FailedRequest(item.key, "bad_response", detail, again)
        body = mask(error.body, spec)
        charge = failed_entry("bad_response", detail, spec, ledger_request, error.billed, body)
        return FailedRequest(item.key, "bad_response", detail, False, charge)
    entry = entry_from_reply(reply, spec, ledger_request, 0.0, item.submissions)
    if isinstance(entry, Call):
        return entry
    kind: FailureKind = entry.outcome  # type: ignore[assignment]
    return FailedRequest(item.key, kind, entry.detail, False, entry)
