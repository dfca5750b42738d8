"""How long answers are, by model, beside the references (AlignMMBench, A.5, Figure 6).

    ratio = median over turns of (words of the answer / words of the reference)

What length has to do with scores is `statistics/length_control.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from methods.evaluation.asking import PLAIN
from methods.evaluation.candidates import is_model
from methods.evaluation.items import Item
from methods.evaluation.judge_quality import AnswerKey
from methods.words import n_words

REFERENCES = ""
"""The model of the row that the references have."""
PERCENTILES = {"low": 5, "first_quartile": 25, "median": 50, "third_quartile": 75, "high": 95}


def length_rows(items: Sequence[Item], lengths: Mapping[AnswerKey, int]) -> list[dict[str, Any]]:
    """Describe how long references and answers are, in words.

    Only answers as asked (no other trial, no baseline) to turns that have a reference count; reference
    turns do not.

    Args:
        items: The items of the release.
        lengths: The words of all answers that have any.

    Returns:
        A row for the references, then one for each model by name: number, percentiles, and ratio to the
        references. Empty if no turn has a reference.
    """
    references = {
        (item.item_id, turn.turn): n
        for item in items
        for turn in item.turns
        if turn.given is None and turn.reference is not None and (n := n_words(turn.reference))
    }
    if not references:
        return []
    of_models: dict[str, dict[tuple[str, int], int]] = {}
    for key, length in lengths.items():
        where = key.item_id, key.turn
        if key.trial == PLAIN and is_model(key.model) and where in references:
            of_models.setdefault(key.model, {})[where] = length
    rows = [_row(REFERENCES, list(references.values()), None)]
    for model, of_model in sorted(of_models.items()):
        ratios = [length / references[where] for where, length in of_model.items()]
        rows.append(_row(model, list(of_model.values()), float(np.median(ratios))))
    return rows


def _row(model: str, lengths: Sequence[int], ratio: float | None) -> dict[str, Any]:
    percentiles = np.percentile(lengths, list(PERCENTILES.values()))
    return {
        "model": model,
        "n": len(lengths),
        **dict(zip(PERCENTILES, map(float, percentiles), strict=True)),
        "ratio": ratio,
    }
