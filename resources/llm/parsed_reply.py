"""Requests whose reply is parsed. If parsing fails, the model is asked again with the reason (repair).

A repair is the first request with the parser's message at its end and a higher temperature. It does not
contain the unparseable reply, which models at temperature 0 would repeat. It has its own row in the
ledger, and the parsed value names the call that it was parsed from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from methods.prompts.parsing import REPAIR_VERSION, ParseError, repair_messages, repair_params
from resources.llm.model_calls import ModelCalls
from resources.llm.request import KEPT_KINDS, ChatRequest, Failure

MAX_REPAIRS = 2

V = TypeVar("V")


@dataclass(frozen=True)
class ParsedReply(Generic[V]):
    """The last call of a request, with the parsed value or the reason why there is none.

    Attributes:
        value: The parsed value; None after a failure.
        loss: The failure: a reason code and a sentence; None if there is a value.
    """

    key: str
    prompt_version: str
    value: V | None
    loss: tuple[str, str] | None


async def complete_and_parse(
    calls: ModelCalls, request: ChatRequest, parse: Callable[[str], V]
) -> ParsedReply[V]:
    """Send a request and parse the reply, with at most two repairs.

    The parsed reply counts as one result of the model: a model whose replies cannot be parsed is given
    up (`canary.py`).

    Args:
        calls: The model calls of the stage.
        request: The request.
        parse: Parses a reply, or raises ParseError.

    Returns:
        The parsed value, or why there is none.
    """
    async with calls.trial(request):
        parsed = await _complete_and_parse(calls, request, parse)
        calls.count_result(request, parsed.loss)
    return parsed


async def _complete_and_parse(
    calls: ModelCalls, request: ChatRequest, parse: Callable[[str], V]
) -> ParsedReply[V]:
    attempt, first = request, ""
    for repairs in range(1 + MAX_REPAIRS):
        outcome = await calls.outcome_of(attempt)
        first = first or outcome.key
        if isinstance(outcome, Failure):
            if repairs and outcome.kind in KEPT_KINDS:
                # Both replies are in the ledger. The first one is marked as unparseable, so that
                # it can be requested again.
                calls.count_reading(first, parseable=False)
            return ParsedReply(
                outcome.key, attempt.prompt_version, None, (outcome.kind, outcome.detail)
            )
        try:
            value = parse(outcome.text)
        except ParseError as unreadable:
            error = unreadable
        else:
            calls.count_reading(first, parseable=True)
            return ParsedReply(outcome.key, attempt.prompt_version, value, None)
        if repairs < MAX_REPAIRS:
            attempt = replace(
                attempt,
                messages=repair_messages(attempt.messages, error.detail),
                params=repair_params(request.params, repairs + 1),
                prompt_version=f"{request.prompt_version}+{REPAIR_VERSION}",
            )
    calls.count_reading(first, parseable=False)
    return ParsedReply(outcome.key, attempt.prompt_version, None, (error.reason, error.detail))
