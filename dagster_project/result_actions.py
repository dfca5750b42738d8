"""Actions on results, model calls and the tables.

Modules that take seconds to load are imported when an action is performed.
"""

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dagster_project.action import Action, ActionResult, CommandField, File, Quoting, Release

if TYPE_CHECKING:
    from resources.corpus.corpus import Corpus
    from resources.llm.ledger import Ledger
    from resources.llm.registry import Profile
    from resources.warehouse import Warehouse


class ImportPredictions(Action):
    """Read predictions that a model made elsewhere; evaluate scores them."""

    COMMAND = "result import-predictions"
    EXAMPLE = "result import-predictions mmbench-dev-en preds.xlsx my-model"

    release: Release
    file: File = Field(
        description=".xlsx, .tsv, .csv, .jsonl, .json, .eval, or the folder of a submission to MMIU's "
        "scorer."
    )
    model: str = Field(description="Who made the predictions.")
    quoting: Quoting = "checked"

    def perform(self, warehouse: "Warehouse") -> ActionResult:
        from assets.evaluate.predictions import import_predictions

        imported = import_predictions(
            warehouse, self.release, Path(self.file), self.model, self.quoting
        )
        return ActionResult(
            f"{imported.sentences()} Run the job evaluate next, which scores them.",
            {"items without a prediction": imported.n_lacking, **imported.predictions.counts},
            "evaluate/predictions",
        )


class RemovePredictions(Action):
    """Remove imported predictions with their answers."""

    COMMAND = "result remove-predictions"
    EXAMPLE = "result remove-predictions mmbench-dev-en my-model"

    release: Release
    model: str = Field(description="Who made the predictions.")

    def perform(self, warehouse: "Warehouse") -> ActionResult:
        from assets.evaluate.predictions import remove_predictions

        release_id = remove_predictions(warehouse, self.release, self.model)
        return ActionResult(
            f"{self.model} has no predictions on {release_id} any more. Run the job evaluate "
            "next: scores and reports are made without them.",
            changed="evaluate/predictions",
        )


class ImportScores(Action):
    """Read scores of answers that people gave elsewhere; evaluate compares judges with them."""

    COMMAND = "result import-scores"
    EXAMPLE = "result import-scores alignmmbench-imported scores.csv"

    release: Release
    file: File = Field(description=".csv, .tsv, .jsonl, .json or .xlsx.")
    quoting: Quoting = "checked"

    def perform(self, warehouse: "Warehouse") -> ActionResult:
        from assets.evaluate.human_scores import import_scores

        imported = import_scores(warehouse, self.release, Path(self.file), self.quoting)
        counts = {str(reason): n for reason, n in imported.human_scores.counts.items()}
        return ActionResult(
            f"{imported.sentences()} Run the job evaluate next, which compares judges with them.",
            {"scores": len(imported.human_scores.scores), **counts},
            "evaluate/human_scores",
        )


class ArchiveResults(Action):
    """Take a model, a judge or what a run made off leaderboards, reports and exports; answers and
    judgments stay in the tables."""

    COMMAND = "result archive"
    EXAMPLE = "result archive --model gpt-4o-mini"

    model: str = Field("", description="A model with answers, and its runs without images.")
    judge: str = Field("", description="A judge; with --model, what it says of this model only.")
    run_id: Annotated[str, CommandField("run")] = Field(
        "", description="The beginning of the id of a run: what its model calls gave."
    )
    release: Annotated[str, CommandField("release", kind="release")] = Field(
        "", description="On this release only."
    )
    undo: bool = Field(False, description="Show it again, also what left the profile.")

    def perform(self, warehouse: "Warehouse", profile: "Profile") -> ActionResult:
        from assets.evaluate.archive import archive, restore
        from resources.publishing.releases import release_meant

        release_id = release_meant(warehouse, self.release) if self.release else ""
        named = self.model, self.judge, release_id, self.run_id
        if self.undo:
            text = f"Shown again: {restore(warehouse, profile, *named)}."
        else:
            text = f"Archived: {archive(warehouse, *named)}."
        return ActionResult(
            f"{text} Run the job evaluate next, which ranks the models that are shown.",
            outdated=["evaluate.observations"],
        )


class MergeFiles(Action):
    """Merge a lake's small files, end its old snapshots and remove files of neither; snapshots that
    a release was frozen in stay."""

    COMMAND = "workspace merge-files"
    EXAMPLE = "workspace merge-files --days 30"

    days: int = Field(30, description="Keep snapshots that are younger (default: 30).")

    def perform(self, warehouse: "Warehouse", say: Callable[[str], None]) -> ActionResult:
        from methods.errors import UserError
        from resources.warehouse.lake import Lake
        from resources.warehouse.lake_upkeep import keep_up

        if not isinstance(warehouse, Lake):
            raise UserError(
                "The tables are a file, which has no snapshots: this is for a lake (LOOM_WAREHOUSE)."
            )
        if self.days < 0:
            raise UserError(
                f"{self.days} is not a positive number of days. Set --days, for example --days 30."
            )
        done = keep_up(warehouse, self.days, say)
        return ActionResult(done.sentence(), done._asdict())


class RemoveShard(Action):
    """Remove the rows of a shard that was removed from the corpus; releases keep them."""

    COMMAND = "workspace remove-shard"
    EXAMPLE = "workspace remove-shard wit-2019"

    shard: str = Field(description="Its name, as the check ingested of ingest/shards says it.")

    def perform(self, warehouse: "Warehouse", corpus: "Corpus") -> ActionResult:
        from assets.ingest.removal import remove_shard
        from dagster_project.resources import SAMPLE_CORPUS

        n_entries = remove_shard(warehouse, corpus, self.shard)
        of_corpus = "" if corpus.path == SAMPLE_CORPUS else f" --corpus {quote(str(corpus.path))}"
        return ActionResult(
            f"The rows of the shard {self.shard} are removed, {n_entries} entries among them. Run "
            f"vlm-loom build{of_corpus} next, or the job build: what follows is made without them.",
            {"entries": n_entries},
            removed_shard=self.shard,
        )


class ReAsk(Action):
    """Ask a model, a stage or a prompt again when its assets are materialized next; the earlier
    answers stay in the ledger."""

    COMMAND = "model re-ask"
    EXAMPLE = "model re-ask --model judge --stage evaluate/judgments --unread"

    model: str = Field("", description="An entry of models.yaml.")
    stage: str = Field("", description="An asset that asks models, such as evaluate/answers.")
    prompt: str = Field("", description="A prompt, or one version of it: mmdu/judge@4bf65a46.")
    unread: bool = Field(False, description="Only what could not be read.")

    def perform(self, ledger: "Ledger") -> ActionResult:
        from resources.llm.re_ask import re_ask
        from resources.llm.registry import load_registry

        meant = (text or None for text in (self.model, self.stage, self.prompt))
        invalidation = re_ask(ledger, load_registry(), *meant, unread=self.unread)
        return ActionResult(
            invalidation.message, {"assets": invalidation.stages}, outdated=invalidation.stages
        )
