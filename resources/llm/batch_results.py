"""Reading a batch's result files: each line is an answer or a failure, under its request's key.

What belongs here: the format of a provider's output and error files. They are untrusted data: a line
that cannot be read is skipped, and its request counts as not answered.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from methods.ids import canonical_json
from methods.json_text import from_json
from resources.llm.estimate import text_tokens
from resources.llm.ledger import Call
from resources.llm.ledger.batch_state import Item, Lost
from resources.llm.ledger_entries import Asked, entry_from_reply, failure_of, unreadable
from resources.llm.masking import mask, masked, one_line
from resources.llm.model_spec import ModelSpec
from resources.llm.reply import BadResponse, exceeds_limit, reply_of
from resources.llm.request import FailureKind
from resources.llm.server_errors import advised, kind_of, passes, read_error

if TYPE_CHECKING:
    from openai.types import Batch as RemoteBatch

_KEY = re.compile(rb'"custom_id"\s*:\s*"([0-9a-f]{64})"')
_FULL = "token_limit_exceeded"
"""The code of a full queue at the provider: a batch refused for it may be submitted again."""


def read_results(
    lines: Sequence[bytes], waiting: Mapping[str, Item], spec: ModelSpec
) -> list[Call | Lost]:
    """The calls and losses in the lines of a batch's file, for the requests that wait for it."""
    read: list[Call | Lost] = []
    for line in lines:
        try:
            row = from_json(line, most=None)
            item = waiting[row["custom_id"]]
            read.append(_result(item, row, spec))
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
    return read


def too_large(line: bytes, waiting: Mapping[str, Item], spec: ModelSpec) -> list[Lost]:
    """The loss of the request whose result is larger than its model's entry allows.

    `line` is the beginning of the result, in which the request's key is looked for.
    """
    keys = [found[1].decode() for found in _KEY.finditer(line)]
    # The line is untrusted: without one key that is waited for, the request is lost with its batch.
    known = {key for key in keys if key in waiting}
    detail = exceeds_limit(spec)
    return [Lost(key, "bad_response", detail, again=False) for key in known if len(known) == 1]


def lost_with_batch(remote: "RemoteBatch", spec: ModelSpec) -> Lost:
    """The loss of the requests that an ended batch has no line for."""
    errors = (remote.errors.data if remote.errors else None) or []
    said = "; ".join(error.message or "" for error in errors) or "It says nothing of this request."
    codes = {error.code for error in errors}
    # A batch that was refused as a whole would be refused again.
    again = remote.status != "failed" or codes == {_FULL}
    kind: FailureKind = "rate_limited" if codes == {_FULL} else "bad_request"
    detail = one_line(f"The batch ended as {remote.status}: {said}", spec)
    return Lost("", kind if remote.status == "failed" else "expired", detail, again)


def _result(item: Item, row: dict[str, Any], spec: ModelSpec) -> Call | Lost:
    response = row.get("response")
    if response is None:
        said = one_line(str(row["error"]["message"]), spec)
        return Lost(item.key, "expired", said, True)
    status, body = int(response["status_code"]), response["body"]
    if status != 200:
        error = read_error(status, body)
        said = one_line(error.message or f"Status {status}.", spec)
        return Lost(item.key, kind_of(error), advised(error, spec) or said, passes(error))
    asked = Asked(item.key, item.request, item.prompt_version, item.stage, item.run, "batch")
    try:
        reply = masked(reply_of(body, lambda: text_tokens(canonical_json(item.request))), spec)
    except BadResponse as error:
        if error.billed is None:
            return Lost(item.key, "bad_response", str(error), True)
        charge = unreadable(error.billed, mask(error.body, spec), str(error), spec, asked)
        return Lost(item.key, "bad_response", str(error), False, charge)
    entry = entry_from_reply(reply, spec, asked, 0.0, item.submissions)
    if isinstance(entry, Call):
        return entry
    failure = failure_of(entry)
    return Lost(item.key, failure.kind, failure.detail, False, entry)
