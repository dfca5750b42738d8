"""The leaderboard: what researchers read."""

from typing import Any

import dagster as dg
import pyarrow as pa

from assets.common.automation import WHEN_READY
from assets.common.previews import preview
from assets.common.tables import report, table_asset
from assets.evaluate.comparisons import comparisons
from assets.evaluate.scores import scores
from methods.evaluation.constant_scores import CONSTANT, constant_scores_sentence
from methods.markdown import code, table
from resources.llm.registry import Profile
from resources.warehouse import Warehouse


@table_asset(
    "evaluate.leaderboard",
    deps=[scores, comparisons],
    side_tables=["evaluate.constant_judges"],
    automation_condition=WHEN_READY,
)
def leaderboard(
    warehouse: dg.ResourceParam[Warehouse], profile: dg.ResourceParam[Profile]
) -> dg.MaterializeResult:
    """One number a row: benchmark, release, model, metric, value, interval, what it rests on.

    Models of the profile without scores on a release in force are named beside it, and judges that
    give nearly all answers the same score.
    """
    rows = warehouse.select("evaluate.leaderboard")
    constant = [
        constant_scores_sentence(row)
        for row in warehouse.select("evaluate.constant_judges").to_pylist()
    ]
    shown = {**_previews(rows), **_without_scores(warehouse, profile)}
    return report(rows, {**shown, **({CONSTANT: " ".join(constant)} if constant else {})})


def _previews(rows: pa.Table) -> dict[str, Any]:
    """The best of each release: the first rows of the table are those of one release alone."""
    releases = rows["release"].to_pylist()
    return {
        f"preview of {release}": dg.MetadataValue.md(
            preview(rows.filter([name == release for name in releases]))
        )
        for release in dict.fromkeys(releases)
    }


def _without_scores(warehouse: Warehouse, profile: Profile) -> dict[str, Any]:
    """Metadata that names the profile's models without scores on releases in force, and why."""
    unscored = warehouse.read("evaluate/unscored", {"models": profile.evaluate}).to_pylist()
    if not unscored:
        return {"without scores": "none"}
    why: dict[tuple[str, str], str] = {
        (row["release_id"], row["model"]): f"{row['stage']}: {row['n_lost']} of {row['n_turns']} "
        f"turns lost ({row['why']})"
        for row in warehouse.read("evaluate/missing_in_force").to_pylist()
    }
    rows = [
        (
            code(row["release_id"]),
            code(row["model"]),
            code(why.get((row["release_id"], row["model"]), "not evaluated")),
        )
        for row in unscored
    ]
    lines = table(("release", "model", "why"), rows)
    return {"without scores": dg.MetadataValue.md("\n".join(lines))}
