"""Reading a batch's result files: each line is an answer or a failure, under its request's key.

What belongs here: the format of a provider's output and error files. They are untrusted data: a line
that cannot be read is skipped, and its request counts as not answered.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from methods.ids import canonical_json
from resources.llm.estimate import text_tokens
from resources.llm.ledger import Call
from resources.llm.ledger.batch_state import Item, Lost
from resources.llm.ledger_entries import call_from_reply, charge_from_reply, why_no_answer
from resources.llm.masking import one_line
from resources.llm.registry import ModelSpec
from resources.llm.reply import BadResponse, reply_of
from resources.llm.request import FailureKind

if TYPE_CHECKING:
    from openai.types import Batch as RemoteBatch

_FULL = "token_limit_exceeded"
"""The code of a full queue at the provider: a batch refused for it may be submitted again."""


def read_results(
    lines: Sequence[bytes], waiting: Mapping[str, Item], spec: ModelSpec
) -> list[Call | Lost]:
    """The calls and losses in the lines of a batch's file, for the requests that wait for it."""
    read: list[Call | Lost] = []
    for line in lines:
        try:
            row = json.loads(line)
            item = waiting[row["custom_id"]]
            read.append(_result(item, row, spec))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
    return read


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
    from resources.llm.errors import is_passing, status_kind

    response = row.get("response")
    if response is None:
        said = one_line(str(row["error"]["message"]), spec)
        return Lost(item.key, "expired", said, True)
    status, body = int(response["status_code"]), response["body"]
    if status != 200:
        error = body.get("error") or {}
        code = error.get("code")
        said = one_line(str(error.get("message") or f"Status {status}."), spec)
        return Lost(item.key, status_kind(status, code), said, is_passing(status, code))
    try:
        reply = reply_of(body, lambda: text_tokens(canonical_json(item.request)))
    except BadResponse as error:
        return Lost(item.key, "bad_response", str(error), True)
    charge = charge_from_reply(
        reply,
        spec,
        key=item.key,
        prompt_version=item.prompt_version,
        stage=item.stage,
        run=item.run,
        via="batch",
    )
    why = why_no_answer(reply)
    if why:
        return Lost(item.key, *why, False, charge)
    return call_from_reply(charge, reply, item.request, 0.0, item.submissions)
