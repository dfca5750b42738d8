"""A data engineer's day in the Dagster UI, click by click, from an empty workspace to automation.

docs/guides/a-day.md tells it. The web server and the daemon are real. The guide's pictures are taken
here when LOOM_PICTURES names a folder.
"""

import itertools
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dagster_project.jobs import BUILT
from resources.files.home import REPO_ROOT
from tests.doubles.garbling_proxy import GarblingProxy, ProxyServer
from tests.doubles.serving import serving as serving_models
from tests.e2e.running import PAGE_PATIENCE, Ui, command, executed, finished, in_order, serving

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.browser,
    pytest.mark.nightly,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]

SAMPLE = REPO_ROOT / "resources" / "sample_corpus"
PROMPTS = REPO_ROOT / "methods" / "mmdu" / "prompts"
AUTOMATION = "default_automation_condition_sensor"
REPLIES = 10
"""Requests that the new model answers before it holds the others back."""
REPLACE_IN_TEXTS = """
paths => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    for (const [path, other] of Object.entries(paths))
      texts.currentNode.data = texts.currentNode.data.replaceAll(path, other);
}
"""
STALE = "{ assetNodes { assetKey { path } staleCauses { category } } }"
TICKS = """
query ($sensor: SensorSelector!) {
  sensorOrError(sensorSelector: $sensor) { ... on Sensor { sensorState { ticks { tickId status } } } }
}
"""


class Day:
    """The files of the day: two shards of the sample, three later ones, prompts and models."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.corpus = folder / "corpus"
        self.later = folder / "later"
        self.prompts = folder / "prompts"
        self.models = folder / "models.yaml"
        shutil.copytree(SAMPLE, self.corpus, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        self.later.mkdir()
        shard = self.corpus / "shards" / "sample-a.tsv"
        header, *lines = shard.read_text().splitlines(keepends=True)
        shard.write_text(header + "".join(lines[0::4]))
        for part in (1, 2, 3):
            path = self.later / f"sample-c-{part}.tsv"
            path.write_text(header + "".join(lines[part::4]))
        (self.prompts / "mmdu").mkdir(parents=True)
        for name in ("judge", "questions"):
            shutil.copy(PROMPTS / f"{name}.md", self.prompts / "mmdu")
        shutil.copy(REPO_ROOT / "models.yaml", self.models)

    @property
    def settings(self) -> dict[str, str]:
        return {
            "LOOM_CORPUS": str(self.corpus),
            "LOOM_PROMPTS": str(self.prompts),
            "LOOM_MODELS": str(self.models),
        }


@pytest.fixture
def day(tmp_path: Path) -> Day:
    return Day(tmp_path)


@pytest.fixture
def ui(day: Day) -> Iterator[Ui]:
    """The UI on a workspace in which nothing was made."""
    with serving(day.home, **day.settings) as served:
        yield served


@pytest.fixture
def newcomer() -> Iterator[GarblingProxy]:
    """A server of a model, which counts its requests."""
    with serving_models(ProxyServer()) as server:
        yield server.proxy()


def test_the_day(day: Day, ui: Ui, page: Page, newcomer: GarblingProxy, tmp_path: Path) -> None:
    # An empty workspace: everything is made once, in the order of the data.
    page.goto(f"{ui.address}/asset-groups")
    materialize(page, "All", 2)
    finished(ui, 1)
    made = executed(ui)
    assert {asset: len(times) for asset, times in made.items()} == {
        asset: 2 if asset.startswith("ingest/") else 1 for asset in made
    }
    assert in_order(ui, made)
    assert overall(ui)[0]["model"] == "offline-careful"
    releases, known = current_releases(ui), {call.key for call in ui.run.ledger}

    # Three new shards: the sensor makes them partitions, a backfill ingests them and no other.
    for shard in sorted(day.later.iterdir()):
        shutil.move(shard, day.corpus / "shards")
    page.goto(f"{ui.address}/assets/ingest/wit_rows?view=partitions")
    expect(page.get_by_text("sample-c-3").first).to_be_visible(timeout=4 * PAGE_PATIENCE)
    picture(page, "day-new-shard")
    page.goto(f"{ui.address}/locations/vlm-loom/asset-groups/ingest/lineage")
    materialize(page, "Missing", 3)
    backfill = finished(ui, 2)
    page.goto(f"{ui.address}/runs/b/{backfill}?tab=runs")
    expect(page.get_by_text("Succeeded").first).to_be_visible()
    picture(page, "day-backfill")
    assert {len(executed(ui)[f"ingest/{name}"]) for name in ("wit_rows", "entries")} == {5}
    assert why_stale(page, ui, "cluster/embeddings") == {"DATA"}
    picture(page, "day-stale")

    # Other settings, another prompt and other models: what they change is stale by its code version.
    settings = day.home / "settings.yaml"
    settings.write_text("cluster: {clusters: {tau: 0.55}}\n")
    judge = day.prompts / "mmdu" / "judge.md"
    judge.write_text(judge.read_text() + "\nDeduct a point for every claim without an image.\n")
    day.models.write_text(
        day.models.read_text().replace("offline-rambler]", "offline-rambler, newcomer, gone]", 1)
        + f"\n  newcomer: {{provider: openai, base_url: '{newcomer.base_url}', model: offline-rambler}}"
        + "\n  gone: {provider: openai, base_url: 'http://127.0.0.1:9/v1', give_up_seconds: 20,"
        " timeouts: {whole: 10}}\n"
    )
    of_the_judge = {"evaluate/judgments", "evaluate/judge_bias_tests", "evaluate/critic_pairs"}
    of_the_models = {"evaluate/answers", "evaluate/leaderboard"}
    changed = {"cluster/clusters", *of_the_models, *of_the_judge}
    ui.until(lambda: {asset for asset, why in stale(ui).items() if "CODE" in why} == changed)
    for asset in ("cluster/clusters", "evaluate/answers", "evaluate/judgments"):
        assert "CODE" in why_stale(page, ui, asset)
    picture(page, "day-prompt")

    # A broken prompt: the run says which, and goes on from there once it is mended.
    questions = day.prompts / "mmdu" / "questions.md"
    good = questions.read_text()
    questions.write_text(good.replace("=== user ===", "=== nobody ==="))
    earlier = executed(ui)
    failed = launch(page, ui, "build")
    assert ui.ended(failed) == "FAILURE"
    page.goto(f"{ui.address}/runs/{failed}")
    expect(page.get_by_text("questions.md").first).to_be_visible()
    picture(page, "day-broken-run", {str(tmp_path): "/srv/wit", str(REPO_ROOT): "/srv/vlm-loom"})
    questions.write_text(good)
    assert ui.ended(from_failure(page, ui, failed)) == "SUCCESS"
    after = executed(ui)
    built = [asset for asset in after if asset.partition("/")[0] in BUILT]
    assert {len(after[asset]) - len(earlier[asset]) for asset in built} == {1}
    assert known < {call.key for call in ui.run.ledger}
    assert current_releases(ui)["mmdu"] != releases["mmdu"]

    # A run is terminated while the new model answers: its answers stay, and are not paid twice.
    released = hold_back(newcomer)
    terminated = launch(page, ui, "evaluate")
    ui.until(lambda: len(newcomer.requests) > REPLIES)
    terminate(page, ui, terminated)
    paid = {call.key for call in ui.run.ledger if call.endpoint == newcomer.base_url}
    in_flight = len(newcomer.requests) - REPLIES
    assert len(paid) == REPLIES
    released.set()
    assert ui.ended(from_failure(page, ui, terminated)) == "SUCCESS"
    calls = [call for call in ui.run.ledger if call.endpoint == newcomer.base_url]
    assert paid < {call.key for call in calls}
    assert len(newcomer.requests) == len(calls) + in_flight
    # The leaderboard has the new model and names the one whose server is not there.
    scored = {row["model"] for row in overall(ui)}
    assert "newcomer" in scored and "gone" not in scored
    page.goto(f"{ui.address}/assets/evaluate/leaderboard")
    expect(page.get_by_text("gone").first).to_be_visible()
    page.get_by_text("without scores", exact=True).first.scroll_into_view_if_needed()
    picture(page, "day-missing-model")

    # Two releases; the earlier one is made current again by its id.
    pinned = command(day.home, "release", "pin", releases["mmdu"])
    assert pinned.returncode == 0, pinned.stderr
    assert current_releases(ui)["mmdu"] == releases["mmdu"]
    page.goto(f"{ui.address}/assets/release/releases")
    preview = page.get_by_text("preview", exact=True).first
    expect(preview).to_be_visible()
    preview.evaluate("row => row.scrollIntoView({ block: 'start' })")
    picture(page, "day-releases")

    # All sensors and schedules are on: one run makes what is stale, and no other follows.
    before = asset_runs(ui)
    turn_on(page, ui)
    ui.until(lambda: bool(asset_runs(ui) - before))
    # The ledger is up to a schedule.
    ui.until(lambda: all(asset.startswith("ledger/") for asset in stale(ui)))
    (run,) = asset_runs(ui) - before
    assert ui.ended(run) == "SUCCESS"
    ticks = ticks_of(ui)
    ui.until(lambda: len(ticks_of(ui) - ticks) >= 3)
    assert asset_runs(ui) == before | {run}


def materialize(page: Page, partitions: str, n: int) -> None:
    """Click through the dialog that launches a backfill of all assets of the page."""
    page.get_by_role("button", name="Materialize all").first.click()
    page.get_by_role("button", name=partitions, exact=True).click()
    expect(page.get_by_text(f"{n} partitions")).to_be_visible()
    page.get_by_role("button", name="Launch backfill").click()


def launch(page: Page, ui: Ui, job: str) -> str:
    known = {run["id"] for run in ui.runs()}
    page.goto(f"{ui.address}/locations/vlm-loom/jobs/{job}/playground")
    page.get_by_role("button", name="Launch Run").click()
    return new_run(ui, known)


def from_failure(page: Page, ui: Ui, run: str) -> str:
    """Execute a run again from where it failed, by the menu of its page; the id of the new run."""
    known = {run["id"] for run in ui.runs()}
    page.goto(f"{ui.address}/runs/{run}")
    page.locator("button[class*=LaunchButton_dropdownArrow]").click()
    page.get_by_role("menuitem", name="From failure").click()
    return new_run(ui, known)


def terminate(page: Page, ui: Ui, run: str) -> None:
    page.goto(f"{ui.address}/runs/{run}")
    page.get_by_role("button", name="Terminate").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Terminate")).click()
    assert ui.ended(run) == "CANCELED"


def new_run(ui: Ui, known: set[str]) -> str:
    ui.until(lambda: bool({run["id"] for run in ui.runs()} - known))
    (run,) = {run["id"] for run in ui.runs()} - known
    return str(run)


def asset_runs(ui: Ui) -> set[str]:
    """The runs of assets that were selected by hand or by the automation."""
    return {run["id"] for run in ui.runs() if run["jobName"] == "__ASSET_JOB"}


def turn_on(page: Page, ui: Ui) -> None:
    page.goto(f"{ui.address}/automation")
    page.get_by_text("Select all").click()
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Start").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Start").click()
    expect(dialog.get_by_role("button", name="Done")).to_be_visible()


def hold_back(model: GarblingProxy) -> threading.Event:
    """Have the model answer some requests and no more until the event is set."""
    released, served = threading.Event(), itertools.count()

    def reply(text: str) -> str:
        if next(served) >= REPLIES:
            released.wait()
        return text

    model.rewrite(lambda asked: True, reply)
    return released


def why_stale(page: Page, ui: Ui, asset: str) -> set[str]:
    """Categories of the causes why an asset is stale, whose page says that it is."""
    page.goto(f"{ui.address}/assets/{asset}")
    mark = page.get_by_text("Unsynced").first
    expect(mark).to_be_visible()
    mark.hover()
    return stale(ui)[asset]


def picture(page: Page, name: str, other_paths: Mapping[str, str] | None = None) -> None:
    """The page as it is, once it has come to rest, where pictures are wanted.

    `other_paths` are shown for paths of the machine that the picture is taken on.
    """
    folder = os.environ.get("LOOM_PICTURES")
    if folder:
        page.wait_for_timeout(4000)
        page.evaluate(REPLACE_IN_TEXTS, dict(other_paths or {}))
        page.screenshot(path=Path(folder) / f"{name}.png")


def overall(ui: Ui) -> list[dict[str, Any]]:
    return ui.run.warehouse.read(
        "evaluate/overall", {"release_ids": [*current_releases(ui).values()]}
    ).to_pylist()


def current_releases(ui: Ui) -> dict[str, str]:
    rows = ui.run.warehouse.read("release/current").to_pylist()
    return {row["name"]: row["release_id"] for row in rows}


def stale(ui: Ui) -> dict[str, set[str]]:
    return {
        "/".join(node["assetKey"]["path"]): {cause["category"] for cause in node["staleCauses"]}
        for node in ui.ask(STALE)["assetNodes"]
        if node["staleCauses"]
    }


def ticks_of(ui: Ui) -> set[str]:
    """Evaluations of the automation's sensor that have ended."""
    sensor = {
        "repositoryName": "__repository__",
        "repositoryLocationName": "vlm-loom",
        "sensorName": AUTOMATION,
    }
    state = ui.ask(TICKS, sensor=sensor)["sensorOrError"]["sensorState"]
    return {tick["tickId"] for tick in state["ticks"] if tick["status"] != "STARTED"}
