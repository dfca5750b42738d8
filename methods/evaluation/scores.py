"""Scores of one model on one benchmark: every dimension, micro and macro, with counts.

Failures and refusals are counted beside the means, never mixed into them; how many turns were judged
stands with every score.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from methods.evaluation.benchmark import Benchmark
from methods.evaluation.clustered_mean import AGGREGATIONS, clustered_mean


def score_rows(
    benchmark: Benchmark, turns: Sequence[Mapping[str, Any]], seed: int
) -> list[dict[str, Any]]:
    """Rows of dimension, aggregation, value, interval, counts and provider.

    `turns` are all turns the model was to answer, item by item: item_id, status (answered, refused or
    failed), withheld (refused by a filter, without a text), provider, judge_provider, and `scores`
    (dimension -> grade), None where nothing was judged.
    """
    dialogues = [list(group) for _, group in groupby(turns, key=lambda turn: turn["item_id"])]
    judged = [turn for turn in turns if turn["scores"] is not None]
    providers = {turn["provider"] for turn in turns} | {turn["judge_provider"] for turn in judged}
    counts = {
        "provider": " + ".join(sorted(providers)),
        "n_items": len(dialogues),
        "n_turns": len(turns),
        "n_judged": len(judged),
        # A refusal in words is judged like any answer, so its judgment can be missing, too.
        "n_failed": sum(turn["scores"] is None and not turn["withheld"] for turn in turns),
        "n_refused": sum(turn["status"] == "refused" for turn in turns),
    }
    rows = []
    for dimension in benchmark.dimensions:
        values = [
            [
                turn["scores"][dimension] * benchmark.scale
                for turn in dialogue
                if turn["scores"] is not None
            ]
            for dialogue in dialogues
        ]
        for aggregation in AGGREGATIONS:
            estimate = clustered_mean(values, aggregation, seed=seed)
            rows.append(
                {"dimension": dimension, "aggregation": aggregation, **vars(estimate), **counts}
            )
    return rows
