"""The leaderboard: what researchers read."""

from collections import Counter, defaultdict
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
    missing = {
        (row["release_id"], row["model"]): row
        for row in warehouse.read("evaluate/missing_in_force").to_pylist()
    }
    releases: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    n_lost, n_turns = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in unscored:
        lost = missing.get((row["release_id"], row["model"]))
        reason = (row["model"], f"{lost['stage']}: {lost['why']}" if lost else "not evaluated")
        releases[reason].append(row["release_id"])
        if lost:
            n_lost[reason] += lost["n_lost"]
            n_turns[reason] += lost["n_turns"]
    rows = [
        (
            code(model),
            code(why),
            f"{n_lost[model, why]} of {n_turns[model, why]}" if n_turns[model, why] else "",
            ", ".join(map(code, ids)),
        )
        for (model, why), ids in releases.items()
    ]
    # A row for each reason, not for each release: the UI hides longer texts behind a link.
    lines = table(("model", "why", "turns lost", "releases"), rows)
    return {"without scores": dg.MetadataValue.md("\n".join(lines))}
