"""Requests whose reply must be read: an unreadable one is asked for again, a few times.

What belongs here: repair turns. Each is a request of its own, with its own row in the ledger; what was
read names the call it was read from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from methods.prompts.parsing import ParseError
from methods.prompts.repair import REPAIR_VERSION, repair_messages
from resources.llm.request import ChatRequest, Failure
from resources.llm.session import Session

REPAIR_TURNS = 2

V = TypeVar("V")


@dataclass(frozen=True)
class Reading(Generic[V]):
    """What came of a request: the call it ended with, and the value read or why there is none.

    One of `value` and `loss` is None; `loss` is a reason to count by and a sentence.
    """

    key: str
    prompt_version: str
    value: V | None
    loss: tuple[str, str] | None


async def complete_and_read(
    session: Session, request: ChatRequest, read: Callable[[str], V]
) -> Reading[V]:
    """The reply as `read` reads it, after at most two repair turns; `read` raises ParseError.

    A reply to the superseded version of the prompt is read where there is one; what is returned, and
    any repair turn, is then of that version.
    """
    request = asked = session.as_asked_before(request)
    for turn in range(1 + REPAIR_TURNS):
        outcome = await session.complete(asked)
        if isinstance(outcome, Failure):
            return Reading(outcome.key, asked.prompt_version, None, (outcome.kind, outcome.detail))
        try:
            return Reading(outcome.key, asked.prompt_version, read(outcome.text), None)
        except ParseError as unreadable:
            error = unreadable
        if turn < REPAIR_TURNS:
            asked = replace(
                asked,
                messages=repair_messages(asked.messages, outcome.text, error.detail),
                prompt_version=f"{request.prompt_version}+{REPAIR_VERSION}",
            )
    return Reading(outcome.key, asked.prompt_version, None, (error.reason, error.detail))
