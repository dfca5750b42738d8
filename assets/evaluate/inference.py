"""Inference: one model answers one item turn by turn, over its own earlier answers.

What belongs here: the order of the turns, and what ends a dialogue. The benchmark makes the messages of
a turn, the gateway sends them.
"""

from typing import Any, NamedTuple

from methods.evaluation.benchmark import Benchmark, Item, is_refusal
from resources.llm.model_calls import ModelCalls
from resources.llm.request import ChatRequest, Completion

PARAMS = {"temperature": 0.0, "max_tokens": 2048}
"""Sampling of models under evaluation and of judges: as repeatable as the provider allows."""

Row = dict[str, Any]


class AnswerRun(NamedTuple):
    """One model and the item that it answers."""

    model: str
    item: Item


async def answer_item(calls: ModelCalls, benchmark: Benchmark, run: AnswerRun) -> list[Row]:
    """Rows of one item, one for each turn.

    A turn that fails ends the dialogue: later turns would need its answer in their history, and the
    text of an error is not an answer. They are recorded as `not_asked`.
    """
    rows: list[Row] = []
    history: list[str] = []
    for turn in run.item.turns:
        here = {"turn": turn.turn, "prompt_version": benchmark.answer_version}
        if len(history) < turn.turn - 1:
            unasked = {"reason": "not_asked", "detail": f"Turn {len(history) + 1} has no answer."}
            rows.append({**here, "status": "failed", "answer": None, "call_key": None, **unasked})
            continue
        outcome = await calls.complete(
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
