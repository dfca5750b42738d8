"""The Dagster UI as people use it, on one home, in a real browser."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.running import Run
from tests.e2e.ui import Ui, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200), pytest.mark.slow]

STAGES = [
    *("ingest", "cluster", "dialogue", "rewrite", "choice", "quality", "review", "release"),
    "evaluate",
    "ledger",
]

CAUSES = """
{ assetNodes { assetKey { path } partitionDefinition { name }
  staleCauses { category reason dependency { path } } } }
"""


@pytest.fixture(scope="module")
def ui(main_job: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """The UI on a copy of the main job's home."""
    home = tmp_path_factory.mktemp("ui") / "home"
    shutil.copytree(main_job.home, home)
    with serving(home) as served:
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


def stale(ui: Ui) -> dict[str, list[str]]:
    """Assets without partitions that are stale, and why."""
    return {
        "/".join(node["assetKey"]["path"]): [cause["reason"] for cause in node["staleCauses"]]
        for node in ui.ask(CAUSES)["assetNodes"]
        if node["staleCauses"]
    }
