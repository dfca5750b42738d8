"""The Dagster UI as people use it: pages in a real browser, backfills through the real daemon."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser import FLAGS
from tests.e2e.running import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(500)]

STAGES = ["ingest", "cluster", "dialogue", "rewrite", "review", "release", "evaluate", "ledger"]
PATIENCE = 30_000
"""Milliseconds a page may take on a busy machine of two cores."""

BACKFILL = """
mutation ($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""
STATUS = """
query ($id: String!) {
  partitionBackfillOrError(backfillId: $id) {
    __typename
    ... on PartitionBackfill { status runs: unfinishedRuns(limit: 1) { id } }
  }
}
"""
LAUNCH = """
mutation ($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""
RUNS = """
query ($filter: RunsFilter!) {
  runsOrError(filter: $filter) {
    ... on Runs { results { id status startTime endTime tags { key value } } }
  }
}
"""


def ask(address: str, query: str, **variables: object) -> dict:
    answer = httpx.post(
        f"{address}/graphql", json={"query": query, "variables": variables}, timeout=60
    ).json()
    assert "errors" not in answer, answer
    return answer["data"]


@pytest.fixture
def page(chromium: str, tmp_path: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path / "profile"),
            executable_path=chromium,
            args=FLAGS,
            viewport={"width": 1500, "height": 1000},
        )
        yield context.new_page()
        context.close()


@pytest.mark.browser
def test_the_asset_graph_and_an_assets_preview_with_thumbnails(
    ui: tuple[Run, str], page: Page
) -> None:
    _, address = ui
    page.goto(f"{address}/asset-groups")
    for stage in STAGES:
        expect(page.get_by_text(stage, exact=True).first).to_be_visible(timeout=PATIENCE)

    page.goto(f"{address}/assets/dialogue/dialogues")
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


@pytest.mark.slow
def test_the_build_job_launched_from_the_ui_runs_every_stage_and_calls_nobody_twice(
    ui: tuple[Run, str],
) -> None:
    run, address = ui
    known = len(run.ledger)
    job = {"repositoryName": "__repository__", "repositoryLocationName": "vlm-loom"}
    params = {"selector": {**job, "jobName": "build"}, "runConfigData": {}}
    launched = ask(address, LAUNCH, params=params)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    build = launched["run"]["runId"]

    deadline = time.monotonic() + 200
    while True:
        found = ask(address, RUNS, filter={"runIds": [build]})["runsOrError"]["results"][0]
        if found["status"] in ("SUCCESS", "FAILURE"):
            break
        assert time.monotonic() < deadline, found
        time.sleep(1)

    assert found["status"] == "SUCCESS"
    wanted = {"tags": [{"key": "loom/build", "value": build}]}
    stages = ask(address, RUNS, filter=wanted)["runsOrError"]["results"]
    assert [each["status"] for each in stages] == ["SUCCESS"] * 8  # Two shards, six stages.
    assert len(run.ledger) == known


@pytest.mark.slow
def test_backfills_of_shards_buckets_and_models_succeed_side_by_side(ui: tuple[Run, str]) -> None:
    run, address = ui
    tables = ["ingest.entries", "dialogue.dialogues", "evaluate.scores", "evaluate.judgments"]
    before = {table: content(run, table) for table in tables}
    # Without the ledger every call is made again, by several processes at once.
    (run.home / "ledger.sqlite").unlink()

    backfills = [
        launch(
            address,
            ["sample-a", "sample-b"],
            "ingest/wit_rows ingest/pages ingest/images ingest/entries",
        ),
        launch(
            address,
            ["00", "05", "10", "15"],
            "dialogue/summaries dialogue/questions dialogue/answers dialogue/dialogues "
            "rewrite/rewrites",
        ),
        launch(
            address,
            ["offline-careful", "offline-careless", "offline-refuser"],
            "evaluate/answers evaluate/judgments evaluate/scores",
        ),
    ]

    deadline = time.monotonic() + 400
    for backfill in backfills:
        while (status := state(address, backfill)) not in ("COMPLETED_SUCCESS", "COMPLETED_FAILED"):
            assert time.monotonic() < deadline, (
                f"{status}: {(run.home / 'ui.log').read_text()[-3000:]}"
            )
            time.sleep(1)
        assert status == "COMPLETED_SUCCESS", (run.home / "ui.log").read_text()[-3000:]
    runs = [each for backfill in backfills for each in runs_of(address, backfill)]
    assert len(runs) == 2 + 4 + 3
    assert {each["status"] for each in runs} == {"SUCCESS"}
    assert overlapping(runs), "no two runs went on at the same time"
    for table in tables:
        assert content(run, table) == before[table], table


def launch(address: str, partitions: list[str], assets: str) -> str:
    params = {
        "partitionNames": partitions,
        "assetSelection": [{"path": asset.split("/")} for asset in assets.split()],
        "title": f"test of {len(partitions)} partitions",
    }
    answer = ask(address, BACKFILL, params=params)["launchPartitionBackfill"]
    assert answer["__typename"] == "LaunchBackfillSuccess", answer
    return answer["backfillId"]


def state(address: str, backfill: str) -> str:
    return ask(address, STATUS, id=backfill)["partitionBackfillOrError"]["status"]


def runs_of(address: str, backfill: str) -> list[dict]:
    wanted = {"tags": [{"key": "dagster/backfill", "value": backfill}]}
    return ask(address, RUNS, filter=wanted)["runsOrError"]["results"]


def overlapping(runs: list[dict]) -> bool:
    ordered = sorted(runs, key=lambda each: each["startTime"])
    return any(
        later["startTime"] < earlier["endTime"]
        for earlier, later in zip(ordered, ordered[1:], strict=False)
    )


def content(run: Run, table: str) -> list[dict]:
    return run.warehouse.sql(f"SELECT * FROM {table} ORDER BY ALL").to_pylist()
