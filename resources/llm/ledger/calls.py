"""The ledger's rows: calls that were answered, charges for what brought no answer."""

import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection
from sqlalchemy import insert as insert_all

from methods.ids import canonical_json
from methods.json_text import from_json
from resources.llm.ledger.file import CALLS, CHARGES
from resources.llm.request import Completion, Failure, Outcome
from resources.stores.inserts import insert_missing

ANSWERED = "answered"
"""The outcome of a call that holds an answer; of the others it is UNREAD or a failure kind."""
UNREAD = "unread"
"""The outcome of an answer that its asker could not read, nor what came of asking for a repair. It is
kept, and looked at in each run, until it is read or somebody has it asked for again."""
KEPT_CHARACTERS = 10_000
"""Characters of a reply without an answer that are kept."""
_SMALLEST_WINDOW = 9
"""Of zlib, as a power of two of bytes."""
_WHY = {
    "truncated": "The token limit cut the answer off after {tokens} tokens: raise token_limit.tokens "
    "of the model in models.yaml.",
    "reasoning_only": "The model reasoned ({tokens} tokens) and gave no answer: if its token limit cut "
    "it off, raise token_limit.tokens of the model in models.yaml.",
}


class Call(NamedTuple):
    """One reply that is kept; `request` is the canonical request, `outcome` whether it is an answer.

    `endpoint` is who answered, `run` the run that paid for it, `via` is `live` or `batch`.
    `answered_as` is the model that the reply names, where that is another; `claimed_tokens` are those
    that it counts, where they are not believed. `image_tokens` are those of images among
    `prompt_tokens`, where the server reports them.
    """

    key: str
    provider: str
    endpoint: str
    model: str
    prompt_version: str
    stage: str
    run: str
    via: str
    outcome: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    seconds: float
    attempts: int
    created_at: str
    response: str
    reasoning: str | None
    request: dict[str, object]
    answered_as: str | None = None
    claimed_tokens: int | None = None
    image_tokens: int | None = None

    def as_outcome(self, *, cached: bool) -> Outcome:
        """The call as its asker sees it."""
        return outcome_of(*(getattr(self, name) for name in OUTCOME_COLUMNS), cached=cached)

    def as_charge(self, detail: str) -> "Charge":
        """The reply as one that was paid for and is never reused; `detail` says why."""
        fields = self._asdict()
        del fields["seconds"], fields["attempts"]
        return Charge(**fields, detail=detail)


OUTCOME_COLUMNS = (
    *("key", "outcome", "response", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "cost_usd", "reasoning"),
    *("answered_as", "claimed_tokens"),
)
"""Columns of a call that its outcome is made of, in the order of `outcome_of`."""


def outcome_of(
    key: str,
    outcome: str,
    response: str,
    finish_reason: str,
    prompt_tokens: int,
    completion_tokens: int,
    cost_usd: float,
    reasoning: str | None,
    answered_as: str | None,
    claimed_tokens: int | None,
    *,
    cached: bool,
) -> Outcome:
    """Convert a stored reply to an outcome.

    Args:
        key: The key of the request.
        outcome: The stored outcome: `answered`, or one of KEPT_KINDS.
        response: The text of the reply.
        finish_reason: The server's finish reason.
        prompt_tokens: Tokens of the prompt.
        completion_tokens: Tokens of the reply.
        cost_usd: The cost in US dollars.
        reasoning: The reasoning, if the server returned it.
        answered_as: The model that the reply names, if it is another one.
        claimed_tokens: Token counts of the reply that are not plausible.
        cached: Whether the reply was stored before the request was made.

    Returns:
        A completion or a failure.
    """
    paid = prompt_tokens, completion_tokens, cost_usd
    claims = answered_as, claimed_tokens
    if outcome in (ANSWERED, UNREAD):
        return Completion(key, response, finish_reason, *paid, cached, reasoning, *claims)
    why = why_no_answer(outcome, completion_tokens)
    return Failure(key, outcome, why, *paid, finish_reason, reasoning, cached, *claims)  # type: ignore[arg-type]


def why_no_answer(outcome: str, completion_tokens: int) -> str:
    """Explain why a stored reply of one of KEPT_KINDS is not an answer.

    Args:
        outcome: The stored outcome.
        completion_tokens: Tokens of the reply.

    Returns:
        A sentence.
    """
    return _WHY[outcome].format(tokens=completion_tokens)


class Charge(NamedTuple):
    """A call that brought no answer: a withheld one, an empty one, or no reply. Never reused.

    `outcome` is the kind of failure, `detail` says why, `response` is what came, cut.
    """

    key: str
    provider: str
    endpoint: str
    model: str
    prompt_version: str
    stage: str
    run: str
    via: str
    outcome: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    created_at: str
    detail: str
    response: str
    reasoning: str | None
    request: dict[str, object]
    answered_as: str | None = None
    claimed_tokens: int | None = None
    image_tokens: int | None = None


def pack(request: Mapping[str, object]) -> bytes:
    """Compress a canonical request for storage."""
    text = canonical_json(request).encode()
    # Setting up a window takes longer than packing a short text: it is no larger than the text.
    window = min(max(len(text).bit_length(), _SMALLEST_WINDOW), zlib.MAX_WBITS)
    return zlib.compress(text, wbits=window)


def unpack(packed: bytes) -> dict[str, object]:
    """The canonical request that was packed."""
    request: dict[str, object] = from_json(zlib.decompress(packed))
    return request


def readable(packed: bytes) -> dict[str, object] | None:
    """The canonical request that was packed; None where it is damaged: it ends in a checksum."""
    try:
        request = unpack(packed)
    except (zlib.error, ValueError, TypeError):
        return None
    return request if isinstance(request, dict) else None


class DuplicateCallError(Exception):
    """Some of several calls are in the ledger already: nothing of the transaction is to be kept."""


def insert(connection: Connection, calls: Sequence[Call | Charge], *, singly: bool = False) -> None:
    """Put calls and charges into their tables, inside a transaction.

    Args:
        connection: The transaction's.
        calls: A call whose request was answered before becomes a charge: it was paid for.
        singly: Insert call by call, which tells which of them are new.

    Raises:
        DuplicateCallError: Not `singly`, and some of several calls are not new.
    """
    answers = [call for call in calls if isinstance(call, Call)]
    keep = insert_missing(connection.dialect.name, CALLS)
    charges = [call for call in calls if isinstance(call, Charge)]
    if singly or len(answers) == 1:
        charges = []
        for call in calls:
            if isinstance(call, Call):
                if connection.execute(keep, _row(call)).rowcount:
                    continue
                call = call.as_charge("The request had been answered by another process.")
            charges.append(call)
    elif answers:
        n_new = connection.execute(keep, list(map(_row, answers))).rowcount
        if n_new != len(answers):
            raise DuplicateCallError
    if charges:
        cut = [call._replace(response=call.response[:KEPT_CHARACTERS]) for call in charges]
        connection.execute(_CHARGE, list(map(_row, cut)))


_CHARGE = insert_all(CHARGES)


def _row(call: Call | Charge) -> dict[str, object]:
    """A row as its table has it."""
    return call._asdict() | {"request": pack(call.request)}


def current_time() -> str:
    """The time as the ledger's rows have it: UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
