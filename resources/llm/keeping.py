"""What the ledger keeps of a reply: an answer, or a charge for none.

What belongs here: telling the two apart, the same for a live reply and one out of a batch.
"""

from resources.llm.ledger import Call, Charge, now
from resources.llm.registry import ModelSpec
from resources.llm.reply import Reply
from resources.llm.request import Failure, FailureKind


def charge_of(
    reply: Reply, spec: ModelSpec, *, key: str, prompt_version: str, stage: str, run: str, via: str
) -> Charge:
    """What a reply cost, whatever it says."""
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


def call_of(
    charge: Charge, reply: Reply, request: dict[str, object], seconds: float, attempts: int
) -> Call:
    """The answer a reply brought to a canonical request."""
    return Call(
        **charge._asdict(),
        seconds=seconds,
        attempts=attempts,
        response=reply.text,
        request=request,
    )


def why_no_answer(reply: Reply) -> tuple[FailureKind, str] | None:
    """The kind and the sentence of a reply that answers nothing; None when it does answer."""
    if reply.finish_reason == "content_filter" or reply.refusal:
        return "refused", reply.refusal or "The provider's filter withheld the answer."
    if not reply.text:
        return "bad_response", f"Empty answer, finished by {reply.finish_reason}."
    return None


def loss(charge: Charge, why: tuple[FailureKind, str]) -> Failure:
    """A failure that cost something."""
    return Failure(
        charge.key, *why, charge.prompt_tokens, charge.completion_tokens, charge.cost_usd
    )
