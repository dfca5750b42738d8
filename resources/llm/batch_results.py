"""Reading what a batch brought: each line an answer or a loss, by its request's key.

What belongs here: the shape of a provider's output and error files. They are data from outside: a
line that cannot be read is skipped, and its request counts as not answered.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from methods.ids import canonical_json
from resources.llm.estimate import text_tokens
from resources.llm.keeping import call_of, charge_of, why_no_answer
from resources.llm.ledger import Call
from resources.llm.ledger.batch_state import Item, Lost
from resources.llm.masking import one_line
from resources.llm.registry import ModelSpec
from resources.llm.reply import BadResponse, reply_of
from resources.llm.request import FailureKind

if TYPE_CHECKING:
    from openai.types import Batch as RemoteBatch

_FULL = "token_limit_exceeded"
"""The provider's queue is full: a batch that is refused for it may be handed over again."""


def results(
    lines: Sequence[bytes], waiting: Mapping[str, Item], spec: ModelSpec
) -> list[Call | Lost]:
    """What the lines of a batch's file bring for the requests that wait for it."""
    read: list[Call | Lost] = []
    for line in lines:
        try:
            row = json.loads(line)
            item = waiting[row["custom_id"]]
            read.append(_result(item, row, spec))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
    return read


def loss_of_batch(remote: "RemoteBatch", spec: ModelSpec) -> Lost:
    """What becomes of the requests that an ended batch says nothing about."""
    errors = (remote.errors.data if remote.errors else None) or []
    said = "; ".join(error.message or "" for error in errors) or "It says nothing of this request."
    codes = {error.code for error in errors}
    # What was refused as a whole would be refused again.
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
    charge = charge_of(
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
    return call_of(charge, reply, item.request, 0.0, item.submissions)
