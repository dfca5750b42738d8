"""The Dagster UI as people use it: pages in a real browser, jobs and settings by the Launchpad."""

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.e2e.ui import PATIENCE, Ui

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200), pytest.mark.slow]

STAGES = [
    *("ingest", "cluster", "dialogue", "rewrite", "choice", "quality", "review", "release"),
    "evaluate",
    "ledger",
]

LAST_METADATA = """
query ($key: AssetKeyInput!) {
  assetNodeOrError(assetKey: $key) {
    ... on AssetNode {
      assetMaterializations(limit: 1) {
        metadataEntries { label ... on JsonMetadataEntry { jsonString } }
      }
    }
  }
}
"""
REEXECUTE = """
mutation ($parameters: ReexecutionParams!) {
  launchRunReexecution(reexecutionParams: $parameters) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""


@pytest.mark.browser
def test_the_asset_graph_and_an_assets_preview_with_thumbnails(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/asset-groups")
    for stage in STAGES:
        expect(page.get_by_text(stage, exact=True).first).to_be_visible(timeout=PATIENCE)

    page.goto(f"{ui.address}/assets/dialogue/dialogues")
    expect(page.get_by_text("Single- and multi-image questions combined").first).to_be_visible(
        timeout=PATIENCE
    )
    for shown in ("data-engineering", "image_ids", "VARCHAR[]", "dialogue.dialogues"):
        expect(page.get_by_text(shown, exact=True).first).to_be_visible(timeout=PATIENCE)
    page.get_by_text("[Show Markdown]").first.click()
    thumbnails = page.locator('img[src^="data:image/jpeg"]')
    expect(thumbnails.first).to_be_visible(timeout=PATIENCE)
    assert thumbnails.count() >= 4
    # An image that could not be decoded has no width of its own.
    assert thumbnails.first.evaluate("image => image.naturalWidth") > 16


@pytest.mark.browser
def test_the_jobs_page_shows_the_runs_of_the_main_job_and_of_its_stages(ui: Ui, page: Page) -> None:
    for job in ("build", "ingest", "cluster", "dialogue", "evaluate"):
        (newest, *_) = ui.runs(pipelineName=job)
        page.goto(f"{ui.address}/locations/__repository__@vlm-loom/jobs/{job}/runs")
        expect(page.get_by_text(newest["id"][:8]).first).to_be_visible(timeout=PATIENCE)


def test_the_timeline_has_every_run_of_the_main_job_and_of_its_stages(ui: Ui) -> None:
    rows = ui.timeline()
    for job in ("build", *STAGES):
        shown = rows[f"__repository__@vlm-loom {job}"]
        assert shown == {run["id"] for run in ui.runs(pipelineName=job)}, job


@pytest.mark.browser
def test_the_timeline_draws_the_runs_in_the_rows_of_their_jobs(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/overview/activity/timeline?groupBy=job")
    for job in ("build", "ingest", "cluster", "dialogue", "evaluate"):
        name = page.locator(f'a[href="/locations/vlm-loom/jobs/{job}"]')
        row = page.locator("[class*=timelineRowContainer]", has=name)
        expect(row.get_by_text(job, exact=True).first).to_be_visible(timeout=PATIENCE)
        # The runs at this place of the row are listed beside it when it is pointed at. The line of the
        # present may lie above it, so the browser is told so instead of moving a pointer.
        row.locator(".chunk-popover-target").first.dispatch_event("mouseover")
        *_, oldest = ui.runs(pipelineName=job)
        link = page.locator(f'a[href="/runs/{oldest["id"]}"]')
        expect(link).to_be_visible(timeout=PATIENCE)


def test_a_run_of_the_main_job_can_be_executed_again(ui: Ui) -> None:
    *_, oldest = ui.runs(pipelineName="ledger")
    again = ui.ask(REEXECUTE, parameters={"parentRunId": oldest["id"], "strategy": "ALL_STEPS"})
    assert ui.ended(again["launchRunReexecution"]["run"]["runId"]) == "SUCCESS"


@pytest.mark.slow
def test_settings_saved_in_the_launchpad_hold_for_every_later_run(ui: Ui) -> None:
    saved = ui.launch("settings", save({"cluster": {"cohesion": {"min_mean_similarity": 0.8}}}))
    assert ui.ended(saved["run"]["runId"]) == "SUCCESS"
    written = yaml.safe_load((ui.run.home / "settings.yaml").read_text())
    assert written == {"cluster": {"cohesion": {"min_mean_similarity": 0.8}}}

    # The button, without any config.
    plain = ui.launch("__ASSET_JOB", assets="cluster/cohesion")
    assert ui.ended(plain["run"]["runId"]) == "SUCCESS"
    assert settings_of(ui, "cluster/cohesion") == {"settings": '{"min_mean_similarity": 0.8}'}

    # Config in the Launchpad is for that run, and the materialization says so.
    config = {"ops": {"cluster__cohesion": {"config": {"min_mean_similarity": 0.6}}}}
    once = ui.launch("__ASSET_JOB", config, assets="cluster/cohesion")
    assert ui.ended(once["run"]["runId"]) == "SUCCESS"
    assert settings_of(ui, "cluster/cohesion") == {
        "settings": '{"min_mean_similarity": 0.6}',
        "settings of this run only": '{"min_mean_similarity": 0.6}',
    }
    again = ui.launch("__ASSET_JOB", assets="cluster/cohesion")
    assert ui.ended(again["run"]["runId"]) == "SUCCESS"
    assert settings_of(ui, "cluster/cohesion") == {"settings": '{"min_mean_similarity": 0.8}'}


@pytest.mark.parametrize(
    ("job", "assets", "config"),
    [
        ("__ASSET_JOB", "cluster/clusters", {"cluster__clusters": {"config": {"tau": 7}}}),
        ("settings", "", {"save_settings": {"config": {"cluster": {"clusters": {"tau": 7}}}}}),
    ],
)
def test_an_impossible_setting_is_refused_in_the_launchpad(
    ui: Ui, job: str, assets: str, config: dict
) -> None:
    before = ui.runs()
    answer = ui.launch(job, {"ops": config}, assets)
    assert answer["__typename"] == "PythonError"
    assert "cluster.clusters.tau is 7, but should be less than or equal to 1." in answer["message"]
    assert ui.runs() == before, "no run is made"


@pytest.mark.slow
def test_the_build_job_launched_from_the_ui_runs_every_stage_and_calls_nobody_twice(ui: Ui) -> None:
    known = len(ui.run.ledger)
    build = ui.launch("build")["run"]["runId"]

    assert ui.ended(build) == "SUCCESS"
    stages = ui.runs(tags=[{"key": "loom/build", "value": build}])
    # Two shards, and the stages after ingestion.
    assert [each["jobName"] for each in reversed(stages)] == [
        *("ingest", "ingest", "cluster", "dialogue", "rewrite", "choice", "quality"),
        *("review", "release"),
        "ledger",
    ]
    assert {each["status"] for each in stages} == {"SUCCESS"}
    timeline = ui.timeline()
    for each in stages:
        assert each["id"] in timeline[f"__repository__@vlm-loom {each['jobName']}"]
    assert len(ui.run.ledger) == known


def save(settings: dict) -> dict:
    return {"ops": {"save_settings": {"config": settings}}}


def settings_of(ui: Ui, asset: str) -> dict[str, str]:
    """What the last materialization says of its settings."""
    node = ui.ask(LAST_METADATA, key={"path": asset.split("/")})["assetNodeOrError"]
    (last,) = node["assetMaterializations"]
    return {
        entry["label"]: entry["jsonString"]
        for entry in last["metadataEntries"]
        if entry["label"].startswith("settings")
    }
