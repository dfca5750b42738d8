"""Scores of a release as the OpenVLM leaderboard's file: reading the rows and writing the files."""

import json
from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from methods.naming import listed
from methods.release_card import benchmark_of, card_of
from methods.results.open_vlm import BOARD_METRICS, lacking, open_vlm
from resources.publishing.result_files import ResultError, write_files
from resources.warehouse import Warehouse


def write_open_vlm(
    warehouse: Warehouse, release: Mapping[str, Any], made_at: str | None, folder: Path
) -> tuple[list[Path], list[str]]:
    """Write `openvlm.json`, with a number for each further judge or version of its judging.

    Args:
        warehouse: The tables of the scores.
        release: A row of `release.releases`.
        made_at: The time of the scores, ISO 8601; the release's time if it is not known.
        folder: Where the files are written; it is made if it does not exist.

    Returns:
        The files, and sentences on what the numbers are.

    Raises:
        ResultError: VLMEvalKit has no score of the benchmark, the metric is not stored for a model, no
            model is scored, or the folder cannot be written.
    """
    card = card_of(release)
    release_id: str = card["release_id"]
    benchmark = benchmark_of(card) or "none"
    metric = BOARD_METRICS.get(benchmark)
    if metric is None:
        raise ResultError(
            f"{release_id}: VLMEvalKit computes no score of the benchmark {benchmark}, only of "
            f"{', '.join(BOARD_METRICS)}. Write the scores with --as json."
        )
    rows = warehouse.read("evaluate/open_vlm_scores_of", {"release_id": release_id}).to_pylist()
    named = f"{metric.name}/{metric.aggregation}"
    if without := lacking(rows, metric):
        raise ResultError(
            f"{release_id}: the score {named}, which VLMEvalKit computes, is not stored for "
            f"{listed(without)}. Score the release again with vlm-loom run evaluate."
        )
    time = f"{datetime.fromisoformat(made_at or card['created_at']):%y%m%d%H%M%S}"
    files = []
    for number, (_, scores) in enumerate(
        groupby(rows, itemgetter("judge", "judge_version")), start=1
    ):
        made = open_vlm(scores, metric, card, time)
        if made["results"]:
            suffix = "" if number == 1 else f"-{number}"
            files.append((f"openvlm{suffix}.json", (json.dumps(made, indent=1) + "\n").encode()))
    if not files:
        raise ResultError(
            f"{release_id} has no scores of models yet. Score it with vlm-loom run evaluate."
        )
    told = "turns without a grade as 0" if metric.lost_are_zero else "letters read by its rules"
    return write_files(folder, files), [
        f"The numbers are {named}, as VLMEvalKit computes them ({told}); baselines are left out."
    ]
