"""Reports: one HTML page for each evaluated release.

What belongs here: the material of a page. The page is `resources/reports/benchmark_report.py`.
"""

from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import dagster as dg

from assets.common.tables import WHEN_READY, map_of, report, rows_to_arrow, table_asset
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.provenance import provenance
from resources.home import reports_path
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.reports.benchmark_report import render_report, write_report
from resources.warehouse import Warehouse

Row = dict[str, Any]
N_EXAMPLES = 5


@table_asset(
    "evaluate.reports",
    kinds={"html"},
    deps=[leaderboard, provenance],
    automation_condition=WHEN_READY,
)
def reports(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """One HTML page a release: leaderboard with intervals, failures, dialogues with pictures."""
    rows = []
    for release in warehouse.read("evaluate/evaluated_releases").to_pylist():
        data = _report_data(warehouse, release, llm.profile.judge)
        path = reports_path() / f"{release['release_id']}.html"
        rows.append(
            {
                "release_id": release["release_id"],
                "path": str(path),
                "sha256": write_report(path, render_report(data, image_store)),
                "n_models": len({row["model"] for row in data["scores"]}),
            }
        )
    table = rows_to_arrow("evaluate.reports", rows)
    warehouse.replace(
        "evaluate.reports", table, {"release_id": [row["release_id"] for row in rows]}
    )
    return report(table, {row["release_id"]: dg.MetadataValue.path(row["path"]) for row in rows})


def _report_data(warehouse: Warehouse, release: Row, judge: str) -> Row:
    where = {"release_id": release["release_id"]}
    shape = warehouse.read("evaluate/shape_of", where).to_pylist()
    images: dict[str, list[Row]] = {}
    for image in warehouse.read("release/images_of", where).to_pylist():
        images.setdefault(image["item_id"], []).append(image)
    answers = warehouse.read(
        "evaluate/examples_of", {**where, "judge": judge, "n_items": N_EXAMPLES}
    ).to_pylist()
    return {
        "release": release,
        "judge": judge,
        "generated": datetime.now(UTC).isoformat(timespec="seconds"),
        "scores": warehouse.read("evaluate/leaderboard_of", {**where, "judge": judge}).to_pylist(),
        "failures": warehouse.read("evaluate/failures_of", where).to_pylist(),
        "statistics": {
            "turns_per_dialogue": [row["n_turns"] for row in shape],
            "images_per_dialogue": [row["n_images"] for row in shape],
            "answer_words": [n for row in shape for n in row["answer_words"]],
        },
        "items": [
            {**_example(list(rows)), "images": images[item_id]}
            for item_id, rows in groupby(answers, key=lambda row: row["item_id"])
        ],
    }


def _example(rows: list[Row]) -> Row:
    """One dialogue of the report: its turns, each with every model's answer."""
    turns = []
    for _, group in groupby(rows, key=lambda row: row["turn"]):
        answers = list(group)
        for answer in answers:
            answer["scores"] = map_of(answer["scores"])
        turns.append({**answers[0], "answers": answers})
    return {**{key: rows[0][key] for key in ("item_id", "reviewers", "revision")}, "turns": turns}
