"""Transcripts: what each model answered to each item, and what was read from the answers.

What belongs here: making transcripts of the rows of `evaluate.answers` and `evaluate.extractions`.
"""

from collections.abc import Sequence
from typing import Any

from assets.evaluate.released import item_ids
from methods.evaluation.asking import Answer, ContextPolicy, Transcript, policy_of
from resources.warehouse import Warehouse

Row = dict[str, Any]


def transcripts_of(
    warehouse: Warehouse, release_id: str, ids: Sequence[str] | None = None
) -> dict[tuple[str, str], Transcript]:
    """The transcripts on a release by model and item, models in order of name, items in their order.

    With `ids` those of these items alone: all of a large release take hundreds of megabytes.
    A reading of an answer that has been replaced is none.
    """
    wanted = item_ids(warehouse, release_id) if ids is None else list(ids)
    where = {"release_id": release_id, "item_ids": wanted}
    read = warehouse.read_rows("evaluate/{}_of", ("answers", "extractions"), where)
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
