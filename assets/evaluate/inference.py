"""One model before one item: turn after turn, each over the model's own earlier answers.

What belongs here: the walk through a dialogue and what ends it. What a turn's messages are is the
benchmark's, sending them the gateway's.
"""

from typing import Any, NamedTuple

from methods.evaluation.benchmark import Benchmark, Item, is_refusal
from resources.llm.request import ChatRequest, Completion
from resources.llm.session import Session

PARAMS = {"temperature": 0.0, "max_tokens": 2048}
"""Sampling of models under evaluation and of judges: as repeatable as the provider allows."""

Row = dict[str, Any]


class AnswerRun(NamedTuple):
    """One model before one item."""

    model: str
    item: Item


async def converse_through(session: Session, benchmark: Benchmark, run: AnswerRun) -> list[Row]:
    """One dialogue with one model. A turn that fails ends it: what follows would stand on a history
    that never was, and an error's text is nobody's answer."""
    rows: list[Row] = []
    history: list[str] = []
    for turn in run.item.turns:
        here = {"turn": turn.turn, "prompt_version": benchmark.answer_version}
        if len(history) < turn.turn - 1:
            unasked = {"reason": "not_asked", "detail": f"Turn {len(history) + 1} has no answer."}
            rows.append({**here, "status": "failed", "answer": None, "call_key": None, **unasked})
            continue
        outcome = await session.complete(
            ChatRequest(
                model=run.model,
                messages=benchmark.messages(run.item, turn.turn, history),
                prompt_version=benchmark.answer_version,
                params=PARAMS,
            )
        )
        here["call_key"] = outcome.key
        if isinstance(outcome, Completion):
            status = "refused" if is_refusal(outcome.text) else "answered"
            rows.append({**here, "status": status, "answer": outcome.text})
            history.append(outcome.text)
        else:
            status = "refused" if outcome.kind == "refused" else "failed"
            why = {"reason": outcome.kind, "detail": outcome.detail}
            rows.append({**here, "status": status, "answer": None, **why})
    return rows
