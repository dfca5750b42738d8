"""A data engineer's morning in the Dagster UI, as docs/guides/a-day.md tells it.

New shard, backfill, changed prompt, new model, broken run, release, diff: with the real web server and
daemon. The guide's pictures are taken here when LOOM_PICTURES names a folder.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from resources.files.home import REPO_ROOT
from tests.e2e.running import command, demo
from tests.e2e.ui import PATIENCE, Ui, serving

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.browser,
    pytest.mark.timeout(1800),
    pytest.mark.nightly,
    pytest.mark.slow,
]

SAMPLE = REPO_ROOT / "resources" / "sample_corpus"
JUDGE = REPO_ROOT / "methods" / "mmdu" / "prompts" / "judge.md"
REPLACE_IN_TEXTS = """
paths => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    for (const [path, other] of Object.entries(paths))
      texts.currentNode.data = texts.currentNode.data.replaceAll(path, other);
}
"""
STALE = "{ assetNodes { assetKey { path } staleStatus } }"


class Day:
    """The files that the morning's work is done on, and the UI that shows it."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.corpus = folder / "corpus"
        self.prompts = folder / "prompts"
        self.models = folder / "models.yaml"
        shutil.copytree(SAMPLE, self.corpus, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        (self.corpus / "shards" / "sample-b.tsv").rename(folder / "sample-b.tsv")
        (self.prompts / "mmdu").mkdir(parents=True)
        shutil.copy(JUDGE, self.prompts / "mmdu")
        registry = (REPO_ROOT / "models.yaml").read_text()
        self.models.write_text(registry.replace(", offline-rambler]", "]"))

    @property
    def settings(self) -> dict[str, str]:
        return {
            "LOOM_CORPUS": str(self.corpus),
            "LOOM_PROMPTS": str(self.prompts),
            "LOOM_MODELS": str(self.models),
        }


@pytest.fixture
def day(tmp_path: Path) -> Day:
    """Yesterday's home: one shard, four models, a release and its leaderboard."""
    day = Day(tmp_path)
    built = demo(day.home, **day.settings)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return day


@pytest.fixture
def ui(day: Day) -> Iterator[Ui]:
    with serving(day.home, **day.settings) as served:
        yield served


def test_the_morning(day: Day, ui: Ui, page: Page, tmp_path: Path) -> None:
    releases = in_force(ui)

    # A new shard: the sensor makes it a partition, a backfill ingests it.
    shutil.copy(tmp_path / "sample-b.tsv", day.corpus / "shards")
    page.goto(f"{ui.address}/assets/ingest/wit_rows?view=partitions")
    expect(page.get_by_text("sample-b").first).to_be_visible(timeout=4 * PATIENCE)
    picture(page, "day-new-shard")
    ingest = [f"ingest/{name}" for name in ("wit_rows", "pages", "images", "entries")]
    backfill = ui.backfill(ingest, "sample-b")
    assert ui.backfilled(backfill) == "COMPLETED_SUCCESS"
    page.goto(f"{ui.address}/runs/b/{backfill}?tab=runs")
    expect(page.get_by_text("Succeeded").first).to_be_visible(timeout=PATIENCE)
    picture(page, "day-backfill")

    # What stands on it is stale, and is made again; earlier calls are not paid for twice.
    assert "cluster/embeddings" in stale(ui)
    show_why_stale(page, f"{ui.address}/assets/cluster/embeddings")
    picture(page, "day-stale")
    known = {call.key for call in ui.run.ledger}
    assert ui.ended(ui.launch("build")["run"]["runId"]) == "SUCCESS"
    assert ui.ended(ui.launch("evaluate")["run"]["runId"]) == "SUCCESS"
    assert known < {call.key for call in ui.run.ledger}
    assert in_force(ui)["mmdu"] != releases["mmdu"]

    # A changed prompt: judgments are stale, earlier scores are told from new ones by its version.
    judge = day.prompts / "mmdu" / "judge.md"
    already = stale(ui)
    judge.write_text(
        judge.read_text() + "\nDeduct a point for every claim that no image supports.\n"
    )
    # The probes ask the same judge with the same prompt, and a critic learns it.
    by_judge = {"evaluate/judgments", "evaluate/judge_probes", "evaluate/critic_pairs"}
    ui.until(lambda: stale(ui) - already == by_judge)
    show_why_stale(page, f"{ui.address}/assets/evaluate/judgments")
    picture(page, "day-prompt")
    before = versions(ui)
    assert ui.ended(ui.launch("evaluate")["run"]["runId"]) == "SUCCESS"
    assert len(versions(ui) - before) == 1

    # A new model, and one whose server is not there: the leaderboard has the one and names the other.
    registry = day.models.read_text().replace(
        "offline-refuser]", "offline-refuser, offline-rambler, gone]"
    )
    day.models.write_text(
        registry + "\n  gone: {provider: openai, base_url: 'http://127.0.0.1:9/v1', model: gone}\n"
    )
    ui.until(lambda: "evaluate/answers" in stale(ui))
    assert ui.ended(ui.launch("evaluate")["run"]["runId"]) == "SUCCESS"
    scored = {row["model"] for row in ui.run.warehouse.read("evaluate/overall").to_pylist()}
    assert "offline-rambler" in scored and "gone" not in scored
    missing = ui.run.warehouse.sql("SELECT DISTINCT model, stage FROM evaluate.missing").to_pylist()
    assert missing == [{"model": "gone", "stage": "answers"}]
    page.goto(f"{ui.address}/assets/evaluate/leaderboard")
    expect(page.get_by_text("gone").first).to_be_visible(timeout=PATIENCE)
    page.get_by_text("without scores", exact=True).first.scroll_into_view_if_needed()
    picture(page, "day-missing-model")

    # A broken run: a judge that nobody can read changes nothing, and says why.
    good = judge.read_text()
    scores = content(ui, "evaluate.scores")
    judge.write_text(good.replace("=== user ===", "=== nobody ==="))
    failed = ui.launch("evaluate")["run"]["runId"]
    assert ui.ended(failed) == "FAILURE"
    assert content(ui, "evaluate.scores") == scores
    page.goto(f"{ui.address}/runs/{failed}")
    expect(page.get_by_text("judge.md").first).to_be_visible(timeout=PATIENCE)
    picture(page, "day-broken-run", {str(tmp_path): "/srv/wit", str(REPO_ROOT): "/srv/vlm-loom"})
    judge.write_text(good)

    # Two releases, side by side; the earlier one is put in force again by its id.
    newest = in_force(ui)["mmdu"]
    told = command(day.home, "release", "diff", releases["mmdu"], newest)
    assert told.returncode == 0, told.stderr
    assert releases["mmdu"] in told.stdout and newest in told.stdout
    pinned = command(day.home, "release", "pin", releases["mmdu"])
    assert pinned.returncode == 0, pinned.stderr
    assert in_force(ui)["mmdu"] == releases["mmdu"]
    page.goto(f"{ui.address}/assets/release/releases")
    preview = page.get_by_text("preview", exact=True).first
    expect(preview).to_be_visible(timeout=PATIENCE)
    preview.evaluate("row => row.scrollIntoView({ block: 'start' })")
    picture(page, "day-releases")


def show_why_stale(page: Page, address: str) -> None:
    """The page of an asset that is out of date, with the reason that the UI tells of it."""
    page.goto(address)
    mark = page.get_by_text("Unsynced").first
    expect(mark).to_be_visible(timeout=PATIENCE)
    mark.hover()


def picture(page: Page, name: str, other_paths: Mapping[str, str] | None = None) -> None:
    """The page as it is, once it has come to rest, where pictures are wanted.

    `other_paths` are shown for paths of the machine that the picture is taken on.
    """
    folder = os.environ.get("LOOM_PICTURES")
    if folder:
        page.wait_for_timeout(4000)
        page.evaluate(REPLACE_IN_TEXTS, dict(other_paths or {}))
        page.screenshot(path=Path(folder) / f"{name}.png")


def in_force(ui: Ui) -> dict[str, str]:
    rows = ui.run.warehouse.read("release/current").to_pylist()
    return {row["name"]: row["release_id"] for row in rows}


def versions(ui: Ui) -> set[str]:
    """Versions of the judge's prompt on the leaderboard."""
    rows = ui.run.warehouse.select("evaluate.leaderboard").to_pylist()
    return {row["judge_version"] for row in rows}


def stale(ui: Ui) -> set[str]:
    return {
        "/".join(node["assetKey"]["path"])
        for node in ui.ask(STALE)["assetNodes"]
        if node["staleStatus"] == "STALE"
    }


def content(ui: Ui, table: str) -> list[dict]:
    return ui.run.warehouse.sql(f"SELECT * FROM {table} ORDER BY ALL").to_pylist()
