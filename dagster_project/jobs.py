"""Jobs: one per stage, and `build` for all stages from clusters to a release.

Only ingestion is partitioned (by shard), so it is a separate job, which runs for each shard before
`build` (docs/decisions/0020). `actions.py` has actions on releases, results and models.
"""

from typing import Any

import dagster as dg
from dagster import AssetSelection

from assets.common.automation import DECISIONS
from assets.ingest import corpus_files
from dagster_project.action_jobs import ACTION_JOBS
from dagster_project.run_tags import BUILD
from dagster_project.settings_job import settings_job
from dagster_project.shards import CHECK as INGESTED

DESCRIPTIONS = {
    "ingest": "Shards to entries.",
    "cluster": "Entries of all shards to image sets.",
    "dialogue": "Image sets to dialogues; single pictures to conversations of three turns.",
    "rewrite": "Questions of dialogues to rewrites; pictures to open questions in several wordings.",
    "choice": "Entries and metadata to multiple-choice items, and these to other languages.",
    "quality": "Question-answer pairs of dialogues through checks: pass, review first, drop.",
    "review": "Dialogues, rewrites and multiple-choice items through review; how far people agree.",
    "release": "What is approved to frozen releases and their exports.",
    "evaluate": "Models on the current releases: answers, judgments, scores; leaderboard, reports.",
    "ledger": "What model calls cost, as the ledger has it now.",
}
"""The stages, each a group of assets and a job of the same name."""


def _assets_of(*stages: str) -> AssetSelection:
    """Select the assets of stages, and for `review` also people's decisions, which it observes after it
    has filled the review queue.
    """
    selection = AssetSelection.groups(*stages)
    return selection | DECISIONS if "review" in stages else selection


STAGES = {
    stage: dg.define_asset_job(
        stage,
        # Files of the whole corpus are not observed in the run of each shard.
        _assets_of(stage)
        - AssetSelection.assets(corpus_files.key)
        - AssetSelection.checks(INGESTED),
        description=description,
    )
    for stage, description in DESCRIPTIONS.items()
}
CHECKS = dg.define_asset_job(
    "checks",
    AssetSelection.all_asset_checks(),
    description="Every check on the tables as they are now; nothing is made or asked.",
)
SITE = dg.define_asset_job(
    "site",
    AssetSelection.assets("evaluate/site", "evaluate/reports"),
    description="The static site: leaderboards and every item of every release; nothing is asked.",
)
ASK_MODELS = ("dialogue", "rewrite", "choice", "quality", "evaluate")
"""Stages that may stop to wait for a batch of model calls."""
BUILT = tuple(stage for stage in DESCRIPTIONS if stage not in ("ingest", "evaluate"))
"""The stages of the job `build`, in order."""
BUILD_JOB = dg.define_asset_job(
    "build",
    _assets_of(*BUILT),
    tags={BUILD: "yes"},
    description="From the entries of all ingested shards to frozen releases, and what that cost. "
    "Materialize the assets of the group ingest before, for the shards of the corpus.",
)


def all_jobs() -> list[Any]:
    """Return every job of the project."""
    return [*STAGES.values(), CHECKS, SITE, BUILD_JOB, settings_job(), *ACTION_JOBS]
