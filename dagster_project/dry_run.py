"""Dry run: estimates calls, tokens and cost of the main job, on a copy of the workspace and without a
request to any provider.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from assets.common.partitions import wit_shards
from assets.common.settings import SECTIONS
from dagster_project.definitions import build_defs
from dagster_project.job_runs import run_job
from dagster_project.resources import corpus_folder, image_fetcher
from dagster_project.run import limit_of_items
from resources.corpus.corpus import DOWNLOADS, WIKIPEDIA
from resources.files import home
from resources.files import object_storage as shared_files
from resources.images.index import INDEX
from resources.images.store import open_images
from resources.llm.dry_run import DryGateway, Forecast
from resources.llm.ledger import Ledger
from resources.llm.parsed_reply import MAX_REPAIRS
from resources.llm.registry import active_profile, load_registry
from resources.mock_server.process import MockServerProcess
from resources.review.rules import read_rules
from resources.review.tables import REVIEW
from resources.settings.asset_settings import read_sections
from resources.settings.prompts import check_own_prompts
from resources.stores.address import VARIABLE, database, is_there
from resources.stores.copies import copy_store
from resources.stores_of_home import bring_home_up_to_date
from resources.warehouse import lake_connection
from resources.warehouse.configured import warehouse_of_home

Run = tuple[str, str | None, list[dg.AssetKey] | None]
"""A job, its partition or None, and the assets to run (None: all)."""
ASKING = [
    dg.AssetKey(["evaluate", name])
    for name in ("answers", "judgments", "second_readings", "judge_bias_tests", "pairs")
]
"""The assets of the stage `evaluate` that call models."""
EVALUATE: Run = ("evaluate", None, ASKING)


def dry_run(job: str = "build", limit: int | None = None) -> int:
    """Print the estimate of the main job, or of the evaluation only.

    Args:
        job: `build` for everything, or `evaluate`; a profile without a writer only evaluates.
        limit: Items of each release that models are asked about; None for all.

    Returns:
        0, or 1 if a run failed.

    Raises:
        UserError: A setting cannot be used.
    """
    bring_home_up_to_date()
    # Checked before the workspace is copied, so that messages name the workspace's own files.
    read_sections(SECTIONS)
    read_rules(home.rules_path())
    check_own_prompts()
    with copied_workspace() as ledger:
        images = open_images()
        gateway = DryGateway(
            load_registry(), active_profile(), ledger, images, launcher=MockServerProcess()
        )
        corpus_folder().shards()
        image_fetcher()
        print("Dry run, on a copy that is thrown away: no provider is asked anything.\n")
        try:
            only_evaluates = job == "evaluate" or gateway.profile.writer is None
            failed = _run_all(gateway, [EVALUATE] if only_evaluates else _runs(), limit)
        finally:
            gateway.close()
        _show(gateway)
    if failed:
        print(
            f"\nThe run of {failed} failed, so the estimate lacks what comes after it.",
            file=sys.stderr,
        )
        return 1
    return 0


@contextmanager
def copied_workspace() -> Iterator[Ledger]:
    """Copy the workspace to a temporary folder, which is the workspace inside the context.

    The copy consists of files, even if the workspace uses a database server or a lake. Yields the
    ledger of the real workspace, for reading.
    """
    real = home.home()
    with tempfile.TemporaryDirectory(prefix="vlm-loom-dry-run-") as name:
        folder = Path(name)
        # These copies are snapshots, because other processes may be writing the originals.
        tables = warehouse_of_home()
        if tables.is_there():
            tables.copy_to(folder / home.warehouse_path().name)
        if is_there(home.review_path()):
            copy_store(REVIEW, home.review_path(), folder / home.review_path().name)
        # Files are only added to these folders, so the copy may share them.
        index = home.image_index_path()
        if database() is not None:
            copy_store(INDEX, index, folder / index.name)
        for shared in (home.images_path(), real / DOWNLOADS, real / WIKIPEDIA, index):
            if shared.exists() and not (folder / shared.name).exists():
                (folder / shared.name).symlink_to(shared)
        for settings in (home.settings_path(), home.rules_path(), home.corpus_record_path()):
            if settings.exists():
                shutil.copy(settings, folder)
        ledger = Ledger(home.ledger_path()) if is_there(home.ledger_path()) else None
        with workspace_at(folder):
            yield ledger or Ledger(home.ledger_path())


@contextmanager
def workspace_at(folder: Path) -> Iterator[None]:
    """Use a folder as the workspace inside the context, without shared stores."""
    shared = VARIABLE, lake_connection.VARIABLE, shared_files.VARIABLE
    before = {name: os.environ.pop(name, None) for name in ("LOOM_WORKSPACE", *shared)}
    os.environ["LOOM_WORKSPACE"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("LOOM_WORKSPACE")
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _run_all(gateway: DryGateway, runs: list[Run], limit: int | None) -> str | None:
    """Run the jobs in order. Returns the names of the failed runs, or None."""
    definitions = build_defs(resource_overrides={"llm": gateway})
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(wit_shards.name), corpus_folder().shards())
        lost = []
        for job, partition, assets in runs:
            result = run_job(
                definitions.resolve_job_def(job),
                instance,
                partition=partition,
                assets=assets,
                ops=limit_of_items(limit) if job == "evaluate" else {},
            )
            if not result.success and partition is None:
                return job
            # A shard that cannot be ingested does not stop the others.
            if not result.success:
                lost.append(f"{job} {partition}")
    return ", ".join(lost) or None


def _runs() -> list[Run]:
    before: list[Run] = []
    # Existing image sets are used unchanged, because sampling them calls no model.
    if not warehouse_of_home().count("cluster.image_sets"):
        before = [("ingest", shard, None) for shard in corpus_folder().shards()]
        before.append(("cluster", None, None))
    stages = ("dialogue", "rewrite", "choice", "quality", "review", "release")
    return [*before, *((stage, None, None) for stage in stages), EVALUATE]


def _show(gateway: DryGateway) -> None:
    """Print the table of estimates."""
    line = "{:<26} {:<18} {:>9} {:>12} {:>13} {:>13} {:>11} {:>11}"
    print()
    print(
        line.format(
            *("stage", "model", "calls", "reused", "prompt tok.", "answer tok."),
            *("likely $", "at most $"),
        )
    )
    counted = [(whose, _counts(forecast)) for whose, forecast in gateway.forecasts.items()]
    totals = [sum(row[place] for _, row in counted) for place in range(6)]
    for (stage, model), row in [*counted, (("all", ""), totals)]:
        shown = [f"{value:,.0f}" for value in row[:4]] + [f"{value:.4f}" for value in row[4:]]
        print(line.format(stage, model, *shown))
    for (stage, model), forecast in gateway.forecasts.items():
        if forecast.possible_calls:
            print(
                f"\n{stage} asks {model} up to {forecast.possible_calls:,} times more, where no rule "
                "reads the letter\nof an answer. At most has these calls."
            )
    print(
        "\nAnswers that are not there yet come from the mock server, so later stages "
        "are\nlike a real run's, not the same. An answer counts as many tokens as the mean of its "
        "stage and\nmodel in the ledger; without one, the words that are asked for, 10 where a letter "
        "is, or else\n500 tokens; a mock model's what it says. At most: every answer as long as it "
        "may be,\nand read at once. A reply that cannot be read is asked for again, up to "
        f"{MAX_REPAIRS} times."
    )


def _counts(forecast: Forecast) -> list[float]:
    usage = forecast.usage
    tokens = usage.prompt_tokens, usage.completion_tokens
    return [usage.calls, usage.cache_hits, *tokens, usage.cost_usd, forecast.at_most_usd]
