"""Records of other tools' logs of samples, as predictions: lmms-eval's and inspect_ai's.

What belongs here: what of such a record is the prediction, and of which item. Opening the files is
`resources/reports/prediction_file.py`.
"""

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]
METRIC = "vlm_loom"
"""The metric of an exported task of lmms-eval, whose value names the item."""


def as_prediction(record: Record) -> Record:
    """`{item_id, prediction}` of a record of such a log; any other record as it is."""
    metric = record.get(METRIC)
    if "filtered_resps" in record and isinstance(metric, dict):
        return {
            "item_id": str(metric.get("item_id") or ""),
            "prediction": _first(record["filtered_resps"]),
        }
    return record


def of_sample(sample: Record) -> Record | None:
    """The same of a sample of inspect_ai; None for repetitions, of which the first counts."""
    if sample.get("epoch", 1) != 1:
        return None
    return {"item_id": str(sample.get("id", "")), "prediction": _said(sample.get("output"))}


def _first(value: Any) -> str:
    """The text in lists in lists, of which the first counts."""
    while isinstance(value, list):
        value = value[0] if value else ""
    return value if isinstance(value, str) else ""


def _said(output: Any) -> str:
    """What the assistant says in a sample's output, without its reasoning."""
    choices = output.get("choices") if isinstance(output, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [part for part in content if isinstance(part, dict)]
    texts = [part.get("text") for part in parts if part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))
