"""Sample logs of lmms-eval and inspect_ai: converts their records to predictions."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]
NO_ANSWER = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED")
"""Beginnings of the texts that lmms-eval writes in place of an answer that it did not get."""
METRIC = "vlm_loom"
"""Key under which exported tasks store item id, trial and turns: a metric in lmms-eval, a metadata
field in inspect_ai.
"""


def as_predictions(record: Record) -> Iterator[Record]:
    """Convert a record of a sample log to `{item_id, trial, turn, prediction}` for each answer; other
    records stay unchanged. Yields them one by one: a record may have millions of turns.
    """
    metric = record.get(METRIC)
    if "filtered_resps" not in record or not isinstance(metric, dict):
        yield record
        return
    texts = _rounds(record["filtered_resps"])
    turns = metric.get("turns")
    if not isinstance(turns, list):
        yield {"item_id": _name(metric), "prediction": _answer(texts[:1])}
        return
    place = {"item_id": _name(metric), "trial": str(metric.get("trial") or "")}
    # Turns after the last round were not asked.
    for turn, text in zip(turns, texts, strict=False):
        yield {**place, "turn": str(turn), "prediction": _answer([text])}


def of_sample(sample: Record) -> Iterator[Record]:
    """Convert a sample of inspect_ai in the same way; only the first repetition (epoch) counts."""
    if sample.get("epoch", 1) != 1:
        return
    metadata = sample.get("metadata")
    of_task = metadata.get(METRIC) if isinstance(metadata, dict) else None
    if not isinstance(of_task, dict):
        yield {
            "item_id": str(sample.get("id", "")),
            "prediction": _output_text(sample.get("output")),
        }
        return
    place = {"item_id": _name(of_task), "trial": str(of_task.get("trial") or "")}
    rounds = of_task.get("said")
    for entry in rounds if isinstance(rounds, list) else []:
        if isinstance(entry, dict):
            text = _answer([entry.get("text")])
            yield {**place, "turn": str(entry.get("turn")), "prediction": text}


def _name(record: Record) -> str:
    return str(record.get("item_id") or "")


def _rounds(value: Any) -> list[Any]:
    """The answers of the rounds; of lists in lists only the first counts."""
    while isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    return value if isinstance(value, list) else [value]


def _answer(texts: list[Any]) -> str:
    """The text of an answer; empty if lmms-eval wrote a mark of a failure instead."""
    text = texts[0] if texts and isinstance(texts[0], str) else ""
    return "" if text.startswith(NO_ANSWER) else text


def _output_text(output: Any) -> str:
    """The text of the answer in a sample's output, or else its reasoning after `<think>`."""
    choices = output.get("choices") if isinstance(output, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [part for part in content if isinstance(part, dict)]
    text = _joined(part.get("text") for part in parts if part.get("type") == "text")
    thought = _joined(part.get("reasoning") for part in parts if part.get("type") == "reasoning")
    return f"<think>{thought}" if thought and not text.strip() else text


def _joined(texts: Iterable[Any]) -> str:
    return "".join(text for text in texts if isinstance(text, str))
