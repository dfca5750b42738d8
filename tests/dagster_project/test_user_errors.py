"""An error that a person can put right reaches that person as one sentence, wherever it is raised."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

import assets
import dagster_project
import extras
import methods
import resources
import review
from assets.common.tables import table_asset
from dagster_project.resources import make_resources
from methods.errors import UserError
from resources.warehouse import Warehouse

PACKAGES = (methods, resources, assets, review, dagster_project, extras)
HANDLED_IN_CODE = {
    "methods.errors.UnfinishedStep": "the step runs again, or the gateway submits a batch",
    "methods.evaluation.published.PublishedError": "becomes a PublishedFileError",
    "methods.evaluation.item_dry_run.ItemDryRunError": "becomes a PublishedFileError",
    "methods.ingest.image_check.ImageRejected": "becomes a row of ingest.rejected",
    "methods.ingest.wit.RowError": "becomes a row of ingest.rejected",
    "methods.json_text.DuplicateKeyError": "becomes an error that names the file and line",
    "methods.json_text.NestingError": "a ValueError, as whatever is no JSON",
    "methods.mmiu.converting.UnusableSampleError": "becomes a row of choice.failed",
    "methods.mmiu.metadata.MetadataFault": "becomes a MetadataFileError",
    "methods.prompts.prompt_template.FrontMatterError": "becomes a PromptError",
    "methods.prompts.parse_error.ParseError": "the model is asked again",
    "methods.delimited.DelimitedError": "becomes a sentence of the command that reads the file",
    "resources.exports.self_contained.CannotStandAloneError": "a test finds it",
    "methods.review.faults.EditFault": "becomes a sentence at the part of the page, or a DecisionError",
    "methods.review.decisions.StaleDecision": "becomes a conflict in the import's report",
    "resources.images.bounded_buffer.BufferFull": "the image is queued again",
    "resources.wikipedia.api_client.NoService": "the page's HTML is asked for",
    "resources.llm.ledger.calls.DuplicateCallError": "the calls are inserted one by one",
    "resources.llm.circuit_breaker.ProviderDown": "becomes a Failure",
    "resources.llm.reply.BadResponse": "the request is sent again",
    "resources.llm.reply.ReplyTooLarge": "becomes a Failure",
    "resources.llm.request_body.ImagesRefused": "becomes a Failure",
    "resources.files.bounded.BoundedReadError": "becomes a rejection, or an error that names the file",
    "resources.files.parquet_pages.PageHeaderError": "becomes the error of a damaged Parquet file",
    "resources.upkeep.backup_contents.DamagedFile": "becomes a BackupError",
    "methods.yaml_text.RefusedYaml": "is a YAMLError, which names the file where it is caught",
    "resources.llm.request_body.RequestTooLarge": "becomes a Failure",
    "resources.llm.model_calls.NotInLedger": "the item is left out, as it is beyond the run's limit",
    "resources.llm.model_calls.BatchPending": "the gateway submits a batch",
    "resources.mock_server.chat_request.ApiError": "becomes an HTTP answer of the mock server",
    "resources.mock_server.chat_request.BadRequest": "becomes an HTTP answer of the mock server",
    "resources.mock_server.chat_request.UnknownModel": "becomes an HTTP answer of the mock server",
    "resources.ray_rows.neighbour_pairs.PairFolderInUse": "becomes a failure that says to wait",
    "resources.web.ssrf_guard.PrivateAddress": "becomes an ImageRejected, or a sentence of the client",
    "resources.review.locks.LockLost": "becomes status 409 of the review app",
    "resources.review.locks.DraftConflict": "the page asks which draft stays",
}
"""Every other public exception, and what handles it before a person could see it."""


class NewError(UserError):
    """An error of a capability that nothing else knows of."""


def exceptions() -> Iterator[tuple[str, type[Exception]]]:
    """The public exception classes of the code base, with their full name."""
    for package in PACKAGES:
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.endswith(("__main__", ".pod_launcher")):  # In the image alone.
                continue
            module = importlib.import_module(info.name)
            for name, each in inspect.getmembers(module, inspect.isclass):
                of_module = issubclass(each, Exception) and each.__module__ == info.name
                if of_module and not name.startswith("_"):
                    yield f"{info.name}.{name}", each


def test_an_exception_is_for_the_user_or_something_handles_it() -> None:
    found = dict(exceptions())
    for_users = {name for name, each in found.items() if issubclass(each, UserError)}
    assert found.keys() - for_users == HANDLED_IN_CODE.keys()
    assert {
        "methods.clustering.neighbours.ThresholdError",
        "methods.prompts.prompt_template.TemplateError",
        "resources.corpus.settings.CorpusError",
        "resources.llm.model_spec.RegistryError",
        "extras.label_studio.client.LabelStudioError",
    } <= for_users


def test_a_new_user_error_is_one_sentence_in_the_runs_log(tmp_path: Path) -> None:
    @table_asset("ledger.costs")
    def costs(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
        """Always fails."""
        raise NewError("The gizmo is off: switch it on.")

    given = {"warehouse": Warehouse(tmp_path / "warehouse.duckdb")}
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([costs], resources=given, instance=instance, raise_on_error=False)
        (failed,) = [event for event in result.all_events if event.is_step_failure]
        data = failed.step_failure_data
    assert data.user_failure_data.description == "The gizmo is off: switch it on."
    assert data.error.cause is None, "no traceback of the code that raised it"


def test_a_resource_that_cannot_be_made_says_so_in_the_same_way(loom_home, monkeypatch) -> None:
    monkeypatch.setenv("LOOM_IMAGES", str(loom_home / "nowhere"))
    fetcher = {"image_fetcher": make_resources()["image_fetcher"]}

    with pytest.raises(dg.DagsterError) as refused, dg.build_resources(fetcher):
        pass
    failure = refused.value.__cause__
    assert isinstance(failure, dg.Failure)
    assert re.search(r"nowhere is neither a folder .*: make the folder", failure.description or "")
