"""Transcripts: what each model answered to each item, and what was read from the answers.

What belongs here: making transcripts of the rows of `evaluate.answers` and `evaluate.extractions`.
"""

from typing import Any

from methods.evaluation.asking import Answer, ContextPolicy, Transcript, policy_of
from resources.warehouse import Warehouse

Row = dict[str, Any]


def transcripts_of(warehouse: Warehouse, release_id: str) -> dict[tuple[str, str], Transcript]:
    """The transcripts on a release by model and item, models in order of name, items in their order.

    A reading of an answer that has been replaced is none.
    """
    read = warehouse.read_rows(
        "evaluate/{}_of", ("answers", "extractions"), {"release_id": release_id}
    )
    answers: dict[tuple[str, str], dict[tuple[str, int], Answer]] = {}
    policies: dict[tuple[str, str], ContextPolicy] = {}
    for row in read["answers"]:
        of_item = answers.setdefault((row["model"], row["item_id"]), {})
        of_item[row["trial"], row["turn"]] = Answer(row["status"], row["answer"], row["call_key"])
        policies[row["model"], row["item_id"]] = policy_of(row["prompt_version"])
    readings: dict[tuple[str, str], dict[tuple[str, int], str | None]] = {}
    for row in read["extractions"]:
        readings.setdefault((row["model"], row["item_id"]), {})[row["trial"], row["turn"]] = row[
            "value"
        ]
    return {
        key: Transcript(of_item, readings.get(key, {}), policies[key])
        for key, of_item in answers.items()
    }
