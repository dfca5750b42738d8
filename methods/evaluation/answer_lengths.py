"""Answer lengths by model, in words, compared with the references (AlignMMBench, A.5, Figure 6).

    ratio = median over turns of (words of the answer / words of the reference)

`statistics/length_control.py` relates length to scores.
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
"""The model of the row for the references."""
PERCENTILES = {"low": 5, "first_quartile": 25, "median": 50, "third_quartile": 75, "high": 95}


def length_rows(items: Sequence[Item], lengths: Mapping[AnswerKey, int]) -> list[dict[str, Any]]:
    """Describe how long references and answers are, in words.

    Answers count if they are a model's, in the plain trial, to a turn that it was asked with a
    reference.

    Args:
        items: The items of the release.
        lengths: The number of words of each answer that has any.

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
