"""Ledger entries made from a provider's reply: a call with its answer, or a charge without one.

What belongs here: deciding which of the two a reply is, the same for live and batched requests.
"""

from resources.llm.ledger import Call, Charge, now
from resources.llm.registry import ModelSpec
from resources.llm.reply import Reply
from resources.llm.request import Failure, FailureKind


def charge_from_reply(
    reply: Reply, spec: ModelSpec, *, key: str, prompt_version: str, stage: str, run: str, via: str
) -> Charge:
    """What a reply cost, whether or not it holds an answer."""
    return Charge(
        key=key,
        provider=spec.provider,
        model=spec.model,
        prompt_version=prompt_version,
        stage=stage,
        run=run,
        via=via,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost_usd=spec.cost(reply.prompt_tokens, reply.completion_tokens, via),
        created_at=now(),
    )


def call_from_reply(
    charge: Charge, reply: Reply, request: dict[str, object], seconds: float, attempts: int
) -> Call:
    """A reply that answers a canonical request."""
    return Call(
        **charge._asdict(),
        seconds=seconds,
        attempts=attempts,
        response=reply.text,
        request=request,
    )


def why_no_answer(reply: Reply) -> tuple[FailureKind, str] | None:
    """Kind and detail of the failure of a reply without an answer; None if it holds one."""
    if reply.finish_reason == "content_filter" or reply.refusal:
        return "refused", reply.refusal or "The provider's filter withheld the answer."
    if not reply.text:
        return "bad_response", f"Empty answer, finished by {reply.finish_reason}."
    return None


def paid_failure(charge: Charge, why: tuple[FailureKind, str]) -> Failure:
    """A failure that was paid for."""
    return Failure(
        charge.key, *why, charge.prompt_tokens, charge.completion_tokens, charge.cost_usd
    )
