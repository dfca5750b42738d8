"""What a report on a planted ConvBench evaluation is made of: models with known faults."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from assets.evaluate.report_data import metric_row
from methods.convbench import Convbench
from methods.convbench.attribution import TERMS, attribution_rows
from methods.evaluation.scoring import score_rows
from tests.methods.convbench.planted import model
from tests.methods.evaluation.observed import frame
from tests.resources.reports.report_rows import JUDGE, NO_RANK, VERSION, Row

FAULTS = {"blind": (0.4, 1.0), "illogical": (1.0, 0.4)}
TASKS = {
    "perception": ("OCR", "Location Recognition", "Celebrity Recognition"),
    "reasoning": ("Meme Reasoning", "In-context Visual Scene Understanding"),
    "creation": ("Blog Writing", "Travel Plan Writing", "Poem Writing"),
}


def labels_of(n: int) -> dict[str, dict[str, str]]:
    """A task of each turn for each item."""
    draw = np.random.default_rng(0)
    return {
        f"item-{place:03}": {turn: str(draw.choice(tasks)) for turn, tasks in TASKS.items()}
        for place in range(n)
    }


@cache
def _rows(
    faults: tuple[tuple[str, tuple[float, float]], ...], n: int
) -> tuple[list[Row], list[Row]]:
    """Scores, and errors followed."""
    labels = labels_of(n)
    observed = frame(
        {
            name: model(seed, perceives=sees, reasons=thinks, n=n, labels=labels)
            for seed, (name, (sees, thinks)) in enumerate(faults)
        }
    )
    return score_rows(Convbench().metrics, observed), attribution_rows(observed)


def convbench_data(
    data: Row, faults: Mapping[str, tuple[float, float]] = FAULTS, n: int = 120
) -> dict[str, Any]:
    """`data` of a report with these models in place of its own; (sees, thinks), shares of the items."""
    scores, followed = _rows(tuple(faults.items()), n)
    judge = {"judge": JUDGE, "judge_version": VERSION}
    shown = {**judge, "provider": "openai", "settings": None, **NO_RANK}
    metrics = [metric_row(each) for each in Convbench().metrics]
    return {
        **data,
        "benchmark": {**data["benchmark"], "name": "convbench", "metrics": metrics},
        "scores": [{**shown, "label": row["model"], **row} for row in scores],
        "comparisons": [],
        "error_attribution": [{**judge, **row} for row in followed],
        "attribution_terms": TERMS,
    }
