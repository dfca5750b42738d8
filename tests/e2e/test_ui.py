"""The Dagster UI as people use it, on one home: pages in a real browser, settings by the Launchpad, and
files that change while it runs.

Each test leaves files as they were, and the UI as it is when it has noticed that.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import httpx2
import pytest
import yaml
from playwright.sync_api import Page, expect

from dagster_project.progress import why_step_failed
from dagster_project.resources import make_resources
from resources.files.home import REPO_ROOT
from resources.publishing.releases import in_force
from resources.warehouse import column_descriptions
from tests.e2e.running import Run, instance_of
from tests.e2e.ui import Ui, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200), pytest.mark.slow]

COPIED = ("assets", "dagster_project", "extras", "methods", "resources", "review", "sql")
JOBS = ("ingest", "build", "evaluate", "ledger")
"""The jobs of the main job."""
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
RESOURCES = """
{ allTopLevelResourceDetailsOrError(repositorySelector: {
    repositoryName: "__repository__", repositoryLocationName: "vlm-loom" }) {
    ... on ResourceDetailsList { results { name description resourceType } } } }
"""
CAUSES = """
{ assetNodes { assetKey { path } partitionDefinition { name }
  staleCauses { category reason dependency { path } } } }
"""
OF_PARTITIONS = """
query ($key: AssetKeyInput!, $partition: String!) {
  assetNodeOrError(assetKey: $key) {
    ... on AssetNode { staleCauses(partition: $partition) { category reason } }
  }
}
"""
LOADS = """
query { workspaceOrError { ... on Workspace { locationEntries {
  locationOrLoadError { __typename } } } } }
"""
VERSIONS = """
query ($asset: AssetKeyInput!) { assetNodeOrError(assetKey: $asset) { ... on AssetNode { opVersion } } }
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files that the UI is started from, which tests change."""
    root = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        shutil.copytree(REPO_ROOT / name, root / name)
    for name in ("models.yaml", "workspace.yaml"):
        shutil.copy(REPO_ROOT / name, root)
    return root


@pytest.fixture(scope="module")
def ui(main_job: Run, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """The UI on a copy of the main job's home."""
    home = tmp_path_factory.mktemp("ui") / "home"
    shutil.copytree(main_job.home, home)
    with serving(home, root=checkout) as served:
        assert stale(served) == {}, "after the main job everything is as it should be"
        yield served


@pytest.mark.browser
def test_the_asset_graph_and_an_assets_preview_with_thumbnails(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/asset-groups")
    for stage in STAGES:
        expect(page.get_by_text(stage, exact=True).first).to_be_visible()

    page.goto(f"{ui.address}/assets/dialogue/dialogues")
    expect(page.get_by_text("Single- and multi-image questions combined").first).to_be_visible()
    for shown in ("data-engineering", "image_ids", "VARCHAR[]", "dialogue.dialogues"):
        expect(page.get_by_text(shown, exact=True).first).to_be_visible()
    page.get_by_text("[Show Markdown]").first.click()
    thumbnails = page.locator('img[src^="data:image/jpeg"]')
    expect(thumbnails.first).to_be_visible()
    assert thumbnails.count() >= 4
    # An image that could not be decoded has no width of its own.
    assert thumbnails.first.evaluate("image => image.naturalWidth") > 16


@pytest.mark.browser
def test_the_jobs_page_shows_the_runs_of_the_main_job(ui: Ui, page: Page) -> None:
    for job in JOBS:
        (newest, *_) = ui.runs(pipelineName=job)
        page.goto(f"{ui.address}/locations/__repository__@vlm-loom/jobs/{job}/runs")
        expect(page.get_by_text(newest["id"][:8]).first).to_be_visible()


def test_the_timeline_has_every_run_of_the_main_job(ui: Ui) -> None:
    rows = ui.timeline()
    for job in JOBS:
        shown = rows[f"__repository__@vlm-loom {job}"]
        assert shown == {run["id"] for run in ui.runs(pipelineName=job)}, job


@pytest.mark.browser
def test_the_timeline_draws_the_runs_in_the_rows_of_their_jobs(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/overview/activity/timeline?groupBy=job")
    for job in JOBS:
        name = page.locator(f'a[href="/locations/vlm-loom/jobs/{job}"]')
        row = page.locator("[class*=timelineRowContainer]", has=name)
        expect(row.get_by_text(job, exact=True).first).to_be_visible()
        # The runs at this place of the row are listed beside it when it is pointed at. The line of the
        # present may lie above it, so the browser is told so instead of moving a pointer.
        row.locator(".chunk-popover-target").first.dispatch_event("mouseover")
        *_, oldest = ui.runs(pipelineName=job)
        link = page.locator(f'a[href="/runs/{oldest["id"]}"]')
        expect(link).to_be_visible()


def test_settings_saved_in_the_launchpad_hold_for_every_later_run(ui: Ui) -> None:
    before = version(ui, "cluster/cohesion")
    saved = ui.launch("settings", save({"cluster": {"cohesion": {"min_mean_similarity": 0.8}}}))
    assert ui.ended(saved["run"]["runId"]) == "SUCCESS"
    written = ui.run.home / "settings.yaml"
    assert yaml.safe_load(written.read_text()) == {
        "cluster": {"cohesion": {"min_mean_similarity": 0.8}}
    }

    # The button, without any config.
    plain = ui.launch("__ASSET_JOB", assets="cluster/cohesion")
    assert ui.ended(plain["run"]["runId"]) == "SUCCESS"
    assert settings_of(ui, "cluster/cohesion") == {"settings": '{"min_mean_similarity": 0.8}'}

    ui.until(lambda: version(ui, "cluster/cohesion") != before)
    written.unlink()
    ui.until(lambda: version(ui, "cluster/cohesion") == before)


@pytest.mark.parametrize(
    ("job", "assets", "config"),
    [
        ("__ASSET_JOB", "cluster/clusters", {"cluster__clusters": {"config": {"tau": 7}}}),
        ("settings", "", {"save_settings": {"config": {"cluster": {"clusters": {"tau": 7}}}}}),
    ],
)
def test_a_run_with_an_impossible_setting_says_so_at_its_first_step(
    ui: Ui, job: str, assets: str, config: dict
) -> None:
    run = ui.launch(job, {"ops": config}, assets)["run"]["runId"]
    assert ui.ended(run) == "FAILURE"
    with instance_of(ui.run.home) as instance:
        (failed,) = instance.all_logs(run, of_type=dg.DagsterEventType.STEP_FAILURE)
    said = why_step_failed(failed.get_dagster_event())
    assert said == "cluster.clusters.tau is 7.0, but should be less than or equal to 1."


@pytest.mark.browser
def test_the_page_of_the_leaderboard_describes_its_columns_and_previews_overall_scores(
    ui: Ui, page: Page
) -> None:
    page.goto(f"{ui.address}/assets/evaluate/leaderboard")
    for description in column_descriptions("evaluate.leaderboard").values():
        expect(page.get_by_text(str(description), exact=True).first).to_be_visible()
    rows = page.locator("tr", has=page.get_by_text(re.compile("^Overall Score/micro$")))
    overall = ui.run.warehouse.read(
        "evaluate/overall", {"release_ids": [*in_force(ui.run.warehouse).values()]}
    ).to_pylist()
    models = [row["model"] for row in overall if row["metric"] == "Overall Score/micro"]
    expect(rows.last).to_be_visible()
    shown = [row.split() for row in rows.all_inner_texts()]
    assert [words[0] for words in shown if words[0] in models] == models
    careful = next(words for words in shown if words[0] == "offline-careful")
    # Model, name and averaging of the metric, rank and ranks.
    assert careful[3:8] == ["1", "1-1", "88.0", "65.7", "98.3"]


@pytest.mark.browser
def test_a_report_opens_by_its_link_whole_in_a_home_that_has_moved(ui: Ui, page: Page) -> None:
    # The reports were made in another folder, which this home is a copy of.
    reports = ui.run.warehouse.read("evaluate/report_paths").to_pylist()
    (report,) = [each for each in reports if each["path"].startswith("reports/mmdu-")]
    page.goto(f"{ui.address}/assets/evaluate/reports")
    link = page.get_by_role("link", name=f"/loom/{report['path']}").first
    with page.context.expect_page() as opened:
        link.click()
    shown = opened.value
    expect(shown.get_by_role("heading", name="Leaderboard")).to_be_visible()
    assert shown.url == f"{ui.address}/loom/{report['path']}"
    expect(shown.get_by_text("offline-careful").first).to_be_visible()
    shown.wait_for_load_state()  # The page is shown while the rest of it arrives.
    # Five dialogues of two pictures or more.
    assert shown.evaluate("[...document.images].length") >= 10
    assert shown.evaluate("[...document.images].filter(i => !i.naturalWidth).length") == 0


@pytest.mark.browser
def test_the_page_of_the_clustering_draws_its_map(ui: Ui, page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(f"{ui.address}/loom/reports/cluster/pictures.html")
    chart = page.get_by_role("img", name="Map of 43 entries")
    expect(chart).to_be_visible()
    expect(page.get_by_role("region", name="The map")).to_be_visible()
    expect(page.locator("#map [data-n]")).to_have_count(43)
    assert errors == []


@pytest.mark.browser
def test_an_asset_that_asks_models_links_to_its_calls(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/assets/dialogue/summaries")
    link = page.get_by_role("link", name="/loom/calls?stage=dialogue.summaries").first
    with page.context.expect_page() as opened:
        link.click()
    shown = opened.value
    expect(shown.get_by_role("heading", name="Model calls")).to_be_visible()
    assert shown.url == f"{ui.address}/loom/calls?stage=dialogue.summaries"
    shown.locator("tbody a").first.click()
    expect(shown.get_by_text("dialogue.summaries", exact=True).last).to_be_visible()
    expect(
        shown.get_by_role("cell", name=re.compile("^set [0-9a-f]+, entry ")).first
    ).to_be_visible()


def test_beside_reports_and_releases_nothing_of_the_home_is_served(ui: Ui) -> None:
    (card, *_) = (ui.run.home / "releases").glob("*/card.json")
    answer = httpx2.get(f"{ui.address}/loom/releases/{card.parent.name}/card.json")
    assert answer.json()["release_id"] == card.parent.name
    for hidden in ("ledger.sqlite", "reports/..%2fledger.sqlite", "dagster/dagster.yaml"):
        assert httpx2.get(f"{ui.address}/loom/{hidden}").status_code == 404
    assert (
        httpx2.post(f"{ui.address}/loom/releases/{card.parent.name}/card.json").status_code == 405
    )


def test_resources_have_names_and_say_what_they_are(ui: Ui) -> None:
    shown = ui.ask(RESOURCES)["allTopLevelResourceDetailsOrError"]["results"]
    assert {each["name"] for each in shown} == {*make_resources()}
    assert all(each["description"] for each in shown)


def test_edits_mark_what_they_change_and_what_does_not_load_is_shown_until_the_next_edit(
    ui: Ui, checkout: Path
) -> None:
    settings = ui.run.home / "settings.yaml"
    judge = checkout / "methods" / "mmdu" / "prompts" / "judge.md"
    schema = checkout / "sql" / "dialogue" / "schema.sql"
    before, prompt, tables = stale(ui), judge.read_text(), schema.read_text()

    def marked() -> dict[str, list[str]]:
        return {asset: why for asset, why in stale(ui).items() if why != before.get(asset)}

    def loaded() -> str:
        (entry,) = ui.ask(LOADS)["workspaceOrError"]["locationEntries"]
        kind: str = entry["locationOrLoadError"]["__typename"]
        return kind

    settings.write_text("cluster: {image_sets: {seed: 7}}")
    judge.write_text(prompt + "\nBe strict.\n")
    # The training pairs of a critic have what the judge is sent.
    asking = ("evaluate/judgments", "evaluate/judge_probes", "evaluate/critic_pairs")
    ui.until(lambda: marked().keys() >= {"cluster/image_sets", *asking})
    assert marked() == dict.fromkeys(("cluster/image_sets", *asking), ["has a new code version"])

    schema.write_text("CREATE TABLE broken (")
    ui.until(lambda: loaded() == "PythonError")
    ui.until(lambda: "Definitions do not load, as the UI shows" in ui.started.printed)

    settings.unlink()
    judge.write_text(prompt)
    schema.write_text(tables)
    ui.until(lambda: loaded() == "RepositoryLocation")
    ui.until(lambda: stale(ui) == before)


def test_a_changed_shard_marks_its_partition_alone(ui: Ui, checkout: Path) -> None:
    shard = checkout / "resources" / "sample_corpus" / "shards" / "sample-a.tsv"
    lines = shard.read_text().splitlines(keepends=True)
    shard.write_text("".join(lines[:-1]))
    ui.until(lambda: bool(of_shard(ui, "sample-a")))
    assert of_shard(ui, "sample-a") == ["has a new data version"]
    assert of_shard(ui, "sample-b") == []

    # What is built next is of the corpus that it was.
    shard.write_text("".join(lines))
    ui.until(lambda: of_shard(ui, "sample-a") == [])


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


def version(ui: Ui, asset: str) -> str:
    found = ui.ask(VERSIONS, asset={"path": asset.split("/")})["assetNodeOrError"]
    text: str = found["opVersion"]
    return text


def stale(ui: Ui) -> dict[str, list[str]]:
    """Assets without partitions that are stale, and why."""
    return {
        "/".join(node["assetKey"]["path"]): [cause["reason"] for cause in node["staleCauses"]]
        for node in ui.ask(CAUSES)["assetNodes"]
        if node["staleCauses"]
    }


def of_shard(ui: Ui, shard: str) -> list[str]:
    """Why a shard's rows are stale."""
    node = ui.ask(OF_PARTITIONS, key={"path": ["ingest", "wit_rows"]}, partition=shard)
    return [cause["reason"] for cause in node["assetNodeOrError"]["staleCauses"]]
