"""The leaderboard: one row per model, with score, interval and rank."""

from collections import defaultdict
from textwrap import shorten
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.common.previews import preview
from assets.common.tables import arrow_schema, report, rows_to_arrow, table_asset
from assets.evaluate.comparisons import comparisons
from assets.evaluate.scores import scores
from methods.evaluation.candidates import FILE
from methods.evaluation.constant_scores import CONSTANT, constant_scores_sentence
from methods.markdown import code, table
from resources.llm.registry import Profile, load_registry
from resources.warehouse import Warehouse

LONGEST_REASON = 200
"""Longest reason in the metadata, in characters: Dagster's UI folds a text of 1,000 or more."""


@table_asset(
    "evaluate.leaderboard",
    deps=[scores, comparisons],
    version="2",
    side_tables=[
        "evaluate.candidates",
        "evaluate.constant_judges",
        "evaluate.models",
        "evaluate.results",
        "evaluate.training_effects",
    ],
)
def leaderboard(
    warehouse: dg.ResourceParam[Warehouse], profile: dg.ResourceParam[Profile]
) -> dg.MaterializeResult:
    """One score per row: benchmark, release, model, metric, value and interval.

    The metadata names models of the profile without scores on a current release, and judges that give
    nearly all answers the same score. `evaluate.models` has the metadata of models.yaml.
    """
    warehouse.replace("evaluate.models", _models(warehouse))
    rows = _narrow(warehouse.select("evaluate.leaderboard"))
    constant = [
        constant_scores_sentence(row)
        for row in warehouse.select("evaluate.constant_judges").to_pylist()
    ]
    shown = {**_previews(rows), **_without_scores(warehouse, profile)}
    return report(rows, {**shown, **({CONSTANT: " ".join(constant)} if constant else {})})


def _models(warehouse: Warehouse) -> pa.Table:
    """Read the field `about` in models.yaml of every model with scores."""
    scored = warehouse.select("evaluate.scores", "model", order="model", distinct=True)
    specs = load_registry().models
    return rows_to_arrow(
        "evaluate.models",
        [
            {"model": name, "trained_on": [], **(spec.about if spec else {})}
            for name in scored["model"].to_pylist()
            for spec in [specs.get(name.removeprefix(f"{FILE}:"))]
        ],
    )


def _narrow(rows: pa.Table) -> pa.Table:
    """Reduce the rows for previews, as Dagster's UI folds wide tables: of a model only its label is
    left.
    """
    about = [name for name in arrow_schema("evaluate.models").names if name != "model"]
    place = rows.column_names.index("model")
    return rows.set_column(place, "model", rows["label"]).drop_columns(
        ["label", "settings", *about]
    )


def _previews(rows: pa.Table) -> dict[str, Any]:
    """Make a preview for each release, because the first rows of the table are all of one release."""
    releases = rows["release"].to_pylist()
    return {
        f"preview of {release}": dg.MetadataValue.md(
            preview(rows.filter([name == release for name in releases]))
        )
        for release in dict.fromkeys(releases)
    }


def _without_scores(warehouse: Warehouse, profile: Profile) -> dict[str, Any]:
    """List the profile's models without scores on current releases, with reasons, as metadata."""
    unscored = warehouse.read("evaluate/unscored", {"models": profile.evaluate}).to_pylist()
    if not unscored:
        return {"without scores": "none"}
    missing = {
        (row["release_id"], row["model"]): row
        for row in warehouse.read("evaluate/missing_current").to_pylist()
    }
    releases: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for row in unscored:
        key = (row["release_id"], row["model"])
        releases[row["model"], key in missing].append(row["release_id"])
    rows = []
    for (model, was_evaluated), ids in releases.items():
        lost = [missing[release, model] for release in ids] if was_evaluated else []
        n_lost = sum(row["n_lost"] for row in lost)
        turns = f"{n_lost} of {sum(row['n_turns'] for row in lost)}" if lost else ""
        why = f"{lost[0]['stage']}: {lost[0]['why']}" if lost else "not evaluated"
        shown = shorten(why, LONGEST_REASON, placeholder=" …")
        rows.append((code(model), turns, code(shown), ", ".join(map(code, ids))))
    lines = table(("model", "turns lost", "why", "releases"), rows)
    if missing:
        lines += ["", "Every reason: `vlm-loom sql 'FROM evaluate.missing'`"]
    return {"without scores": dg.MetadataValue.md("\n".join(lines))}
