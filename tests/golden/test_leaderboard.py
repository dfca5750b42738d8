"""Golden file of the leaderboard: the order and the columns of a few fixed scores."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

from assets.common.tables import rows_to_arrow
from methods.evaluation.statistics.estimates import PSEUDO_CLUSTERS
from resources.warehouse import Warehouse

PLACES = [(name, how) for name in ("Overall Score", "Richness") for how in ("micro", "macro")]


def score(
    model: str, dimension: str, aggregation: str, form: str, value: float | None
) -> dict[str, object]:
    interval = (None, None) if value is None else (value - 0.5, value + 0.5)
    place = PLACES.index((dimension, aggregation))
    return {
        **{"benchmark": "mmdu", "release_id": "r1", "model": model, "provider": "mock"},
        **{"judge": "judge", "judge_version": "mmdu/judge@4bf65a46", "place": place},
        **{"metric": dimension, "aggregation": aggregation, "form": form},
        **{"subset_label": "", "subset_value": "", "value": value},
        **{"ci_low": interval[0], "ci_high": interval[1], "n_clusters": 2},
        **{"method": None if value is None else PSEUDO_CLUSTERS, "n_items": 2, "n_turns": 4},
        **dict.fromkeys(("n_units", "n_judged"), 0 if value is None else 3),
        **{"n_failed": 1, "n_refused": 3 if value is None else 0},
        **dict.fromkeys(("n_truncated", "n_reasoning_only", "n_empty"), 0),
    }


def test_its_rows_are_what_they_were(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    rows = [
        score(model, dimension, aggregation, form, None if model == "refuser" else value + bonus)
        for model, bonus in (("careless", 0.0), ("careful", 2.25), ("refuser", 0.0))
        for dimension, value in (("Richness", 4.0), ("Overall Score", 5.5))
        for aggregation in ("micro", "macro")
        for form in ("floor", "judged")
    ]
    warehouse.replace("evaluate.scores", rows_to_arrow("evaluate.scores", rows))

    found = warehouse.select("evaluate.leaderboard")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(found.column_names)
    writer.writerows(row.values() for row in found.to_pylist())
    golden("leaderboard.csv", text.getvalue())
