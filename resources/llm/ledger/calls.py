"""The ledger's rows: calls (stored replies), and charges (requests without a usable answer)."""

import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy import insert as insert_all

from methods.ids import canonical_json
from methods.json_text import from_json
from resources.llm.ledger.file import CALLS, CHARGES
from resources.llm.request import Completion, Failure, Outcome
from resources.stores import Store
from resources.stores.inserts import insert_missing

ANSWERED = "answered"
"""The outcome of a call with an answer. Other outcomes are UNREAD or a failure kind."""
UNREAD = "unread"
"""The outcome of an answer that could not be parsed, even after repairs. It is stored and parsed again
in each run, until parsing succeeds or a user has it requested again."""
KEPT_CHARACTERS = 10_000
"""The most characters of the reply that a charge stores."""
_WHY = {
    "truncated": "The token limit cut the answer off after {tokens} tokens: raise token_limit.tokens "
    "of the model in models.yaml.",
    "reasoning_only": "The model reasoned ({tokens} tokens) and gave no answer: if its token limit cut "
    "it off, raise token_limit.tokens of the model in models.yaml.",
}


class Call(NamedTuple):
    """One stored reply. `request` is the canonical request, `outcome` is ANSWERED,
    UNREAD or one of KEPT_KINDS.

    `endpoint` is the identity of the server, `model` the server's name of the model, `run` the run that
    paid, `via` is `live` or `batch`. `answered_as` is the model that the reply names, if it is another
    one. `claimed_tokens` is the server's token count if it is not plausible; then the counts are
    estimates. `image_tokens` is the part of `prompt_tokens` for images, if the server reports it.
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

    def as_charge(self, detail: str) -> "Charge":
        """Convert the call to a charge, which is paid for but never reused; `detail` is the reason."""
        fields = self._asdict()
        del fields["seconds"], fields["attempts"]
        return Charge(**fields, detail=detail)


def why_no_answer(outcome: str, completion_tokens: int) -> str:
    """Explain in a sentence why a stored reply of one of KEPT_KINDS is not an answer.

    Args:
        outcome: The stored outcome.
        completion_tokens: Tokens of the reply.
    """
    return _WHY[outcome].format(tokens=completion_tokens)


class Charge(NamedTuple):
    """A request without a usable answer: refused, empty, unreadable, or without any reply. Never
    reused.

    `outcome` is the kind of failure, `detail` the reason, `response` the beginning of the reply.
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


OUTCOME_COLUMNS = (
    *("key", "outcome", "response", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "cost_usd", "reasoning"),
    *("answered_as", "claimed_tokens"),
)
"""The columns of a call that determine its outcome."""


def outcome_of(row: Any, *, cached: bool) -> Outcome:
    """Convert a stored reply to the outcome of its request.

    Args:
        row: A call, a charge, or a row of calls with OUTCOME_COLUMNS.
        cached: Whether the reply was stored before the request was made.
    """
    paid = row.prompt_tokens, row.completion_tokens, row.cost_usd
    claims = row.answered_as, row.claimed_tokens
    if row.outcome in (ANSWERED, UNREAD):
        texts = row.response, row.finish_reason
        return Completion(row.key, *texts, *paid, cached, row.reasoning, *claims)
    is_charge = isinstance(row, Charge)
    detail = row.detail if is_charge else why_no_answer(row.outcome, row.completion_tokens)
    texts = row.finish_reason, row.reasoning
    return Failure(row.key, row.outcome, detail, *paid, *texts, cached, *claims)


def pack(request: Mapping[str, object]) -> bytes:
    """Compress a canonical request for storage."""
    return zlib.compress(canonical_json(request).encode())


def unpack(packed: bytes) -> dict[str, object]:
    """Decompress a canonical request."""
    request: dict[str, object] = from_json(zlib.decompress(packed))
    return request


def readable(packed: bytes) -> dict[str, object] | None:
    """Decompress a canonical request; None if it is damaged, which its checksum reveals."""
    try:
        request = unpack(packed)
    except (zlib.error, ValueError, TypeError):
        return None
    return request if isinstance(request, dict) else None


def request_of(row: Any, store: Store) -> dict[str, object]:
    """Decompress the canonical request of a row of `store`. Raises StoreError if it is damaged."""
    request = readable(row.request)
    if request is None:
        raise store.damage_error(f"the request of the row {row.key} cannot be read")
    return request


def insert(connection: Connection, calls: Sequence[Call | Charge]) -> None:
    """Insert calls and charges into their tables, inside a transaction.

    Args:
        connection: The connection of the transaction.
        calls: The calls and charges. A call whose request was answered before becomes
            a charge, as it was paid for.
    """
    answers = [_row(call) for call in calls if isinstance(call, Call)]
    new: set[str] = set()
    if answers:
        keep = insert_missing(connection.dialect.name, CALLS).returning(CALLS.c.key)
        new.update(connection.execute(keep, answers).scalars())
    charges = []
    for call in calls:
        if isinstance(call, Call):
            if call.key in new:
                new.remove(call.key)
                continue
            call = call.as_charge("The request had been answered by another process.")
        charges.append(call._replace(response=call.response[:KEPT_CHARACTERS]))
    if charges:
        connection.execute(_CHARGE, list(map(_row, charges)))


_CHARGE = insert_all(CHARGES)


def _row(call: Call | Charge) -> dict[str, object]:
    """Convert an entry to a row of its table."""
    return call._asdict() | {"request": pack(call.request)}


def current_time() -> str:
    """Return the current time in the ledger's format: UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
