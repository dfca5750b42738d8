"""Convert a provider's reply to a ledger entry: a call, or a charge if it has no usable answer."""

import re
from typing import NamedTuple

from methods.model_text import says_nothing
from resources.llm.error_kinds import kind_of
from resources.llm.finish_reasons import end_of
from resources.llm.ledger import Call, Charge, current_time
from resources.llm.ledger.calls import ANSWERED
from resources.llm.model_spec import ModelSpec
from resources.llm.reply import Reply
from resources.llm.request import KEPT_KINDS, FailureKind
from resources.llm.server_errors import ServerError

_LONGEST_ERROR = 300
"""The longest text that may be an error message instead of an answer."""
_TOOL_CALL = "<tool_call>"
_VERSION = re.compile(r"(?:[-@:](?:\d[\d-]{2,}|latest))?")
"""A version that a server adds to a requested model name or leaves out: -2024-08-06, :latest."""


class LedgerRequest(NamedTuple):
    """The request behind a reply: its key, its canonical form, its stage and its run."""

    key: str
    request: dict[str, object]
    prompt_version: str
    stage: str
    run: str
    via: str


def entry_from_reply(
    reply: Reply, spec: ModelSpec, ledger_request: LedgerRequest, seconds: float, attempts: int
) -> Call | Charge:
    """Convert a reply to a ledger entry.

    Args:
        reply: The reply.
        spec: The entry of the model.
        ledger_request: The request.
        seconds: The time of the call.
        attempts: The number of attempts.

    Returns:
        A call; a charge if the request would be sent again.
    """
    kind, detail = _kind(reply)
    call = _call(reply, spec, ledger_request, kind or ANSWERED, seconds, attempts)
    return call if kind in (None, *KEPT_KINDS) else call.as_charge(detail)


def failed_entry(
    kind: FailureKind,
    detail: str,
    spec: ModelSpec,
    ledger_request: LedgerRequest,
    billed: tuple[int, int] = (0, 0),
    body: str = "",
) -> Charge:
    """Make the charge of a request whose attempts all failed, or whose reply cannot be read.

    Args:
        kind: The kind of failure.
        detail: The cause.
        spec: The entry of the model.
        ledger_request: The request.
        billed: The billed tokens of prompt and reply.
        body: The body of the response that cannot be read.
    """
    reply = Reply(body, None, "unknown", None, False, *billed)
    return _call(reply, spec, ledger_request, kind, 0.0, 0).as_charge(detail)


def _another_model(requested: str, named: str | None) -> str | None:
    """Return the model that a reply names; None if it is the requested model or a version of it."""
    short, long = sorted(
        (name.rpartition("/")[2].casefold() for name in (requested, named or requested)), key=len
    )
    same = long.startswith(short) and _VERSION.fullmatch(long, len(short))
    return None if same else named


def _call(
    reply: Reply,
    spec: ModelSpec,
    ledger_request: LedgerRequest,
    outcome: str,
    seconds: float,
    attempts: int,
) -> Call:
    return Call(
        **ledger_request._asdict(),
        provider=spec.provider,
        endpoint=spec.endpoint(),
        model=spec.model,
        outcome=outcome,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost_usd=spec.cost(reply.prompt_tokens, reply.completion_tokens, ledger_request.via),
        seconds=seconds,
        attempts=attempts,
        created_at=current_time(),
        response=reply.text,
        reasoning=reply.reasoning,
        answered_as=_another_model(spec.model, reply.model),
        claimed_tokens=reply.claimed_tokens,
        image_tokens=reply.image_tokens,
    )


def _kind(reply: Reply) -> tuple[FailureKind | None, str]:
    """Classify a reply. Returns the kind of failure and the reason; None if the reply is an answer.

    A text that the token limit cut off is not an answer: its end, which may be the only
    part that counts, is missing.
    """
    end = end_of(reply.finish_reason)
    if end == "withheld" or reply.refusal:
        return "refused", reply.refusal or "The provider's filter withheld the answer."
    if reply.called_tools or reply.text.lstrip().startswith(_TOOL_CALL):
        return "empty", "The model asked for a tool instead of answering."
    if says_nothing(reply.text):
        if reply.reasoning:
            return "reasoning_only", ""
        if end != "cut off":
            return "empty", f"Empty answer, finished by {reply.finish_reason}."
    if end == "cut off":
        return "truncated", ""
    if end == "broken":
        return _broken(reply)
    return None, ""


def _broken(reply: Reply) -> tuple[FailureKind, str]:
    """Classify a reply that an error interrupted. Its text may be the error message."""
    detail = f"The answer is not whole: it was finished by {reply.finish_reason}."
    if len(reply.text) > _LONGEST_ERROR:
        return "bad_response", detail
    detail = f"{detail} The reply says: {' '.join(reply.text.split())}"
    is_too_long = kind_of(ServerError(400, message=reply.text)) == "too_long"
    return "too_long" if is_too_long else "bad_response", detail
