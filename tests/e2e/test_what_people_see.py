"""What people see in the UI: columns with their meaning, previews, reports that open, resources."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from dagster_project.resources import make_resources
from resources.warehouse import column_descriptions
from tests.e2e.ui import PATIENCE, Ui

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200), pytest.mark.slow]

RESOURCES = """
{ allTopLevelResourceDetailsOrError(repositorySelector: {
    repositoryName: "__repository__", repositoryLocationName: "vlm-loom" }) {
    ... on ResourceDetailsList { results { name description resourceType } } } }
"""


@pytest.mark.browser
def test_the_page_of_the_leaderboard_describes_its_columns_and_previews_overall_scores(
    ui: Ui, page: Page
) -> None:
    page.goto(f"{ui.address}/assets/evaluate/leaderboard")
    for description in column_descriptions("evaluate.leaderboard").values():
        expect(page.get_by_text(str(description), exact=True).first).to_be_visible(timeout=PATIENCE)
    rows = page.locator("tr", has=page.get_by_text(re.compile("^Overall Score/micro$")))
    overall = ui.run.warehouse.read("evaluate/overall").to_pylist()
    models = [row["model"] for row in overall if row["metric"] == "Overall Score/micro"]
    expect(rows.last).to_be_visible(timeout=PATIENCE)
    shown = [row.split() for row in rows.all_inner_texts()]
    assert [words[0] for words in shown if words[0] in models] == models
    careful = next(words for words in shown if words[0] == "offline-careful")
    # Model, name and averaging of the metric, rank and ranks.
    assert careful[3:8] == ["1", "1-1", "88.0", "87.2", "88.8"]


@pytest.mark.browser
def test_a_report_opens_by_its_link_whole_in_a_home_that_has_moved(ui: Ui, page: Page) -> None:
    # The reports were made in another folder, which this home is a copy of.
    reports = ui.run.warehouse.read("evaluate/report_paths").to_pylist()
    (report,) = [each for each in reports if each["path"].startswith("reports/mmdu-")]
    page.goto(f"{ui.address}/assets/evaluate/reports")
    link = page.get_by_role("link", name=f"/loom/{report['path']}").first
    with page.context.expect_page() as opened:
        link.click(timeout=PATIENCE)
    shown = opened.value
    expect(shown.get_by_role("heading", name="Leaderboard")).to_be_visible(timeout=PATIENCE)
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
    expect(page.locator("#map .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#sizes .main-svg").first).to_be_visible(timeout=PATIENCE)
    assert page.locator("#map .points path").count() > 40
    assert errors == []


@pytest.mark.browser
def test_an_asset_that_asks_models_links_to_its_calls(ui: Ui, page: Page) -> None:
    page.goto(f"{ui.address}/assets/dialogue/summaries")
    link = page.get_by_role("link", name="/loom/calls?stage=dialogue.summaries").first
    with page.context.expect_page() as opened:
        link.click(timeout=PATIENCE)
    shown = opened.value
    expect(shown.get_by_role("heading", name="Model calls")).to_be_visible(timeout=PATIENCE)
    assert shown.url == f"{ui.address}/loom/calls?stage=dialogue.summaries"
    shown.locator("tbody a").first.click()
    expect(shown.get_by_text("dialogue.summaries", exact=True).last).to_be_visible()
    expect(
        shown.get_by_role("cell", name=re.compile("^set [0-9a-f]+, entry ")).first
    ).to_be_visible()


def test_beside_reports_and_releases_nothing_of_the_home_is_served(ui: Ui) -> None:
    (card, *_) = (ui.run.home / "releases").glob("*/card.json")
    answer = httpx.get(f"{ui.address}/loom/releases/{card.parent.name}/card.json")
    assert answer.json()["release_id"] == card.parent.name
    for hidden in ("ledger.sqlite", "reports/..%2fledger.sqlite", "dagster/dagster.yaml"):
        assert httpx.get(f"{ui.address}/loom/{hidden}").status_code == 404
    assert httpx.post(f"{ui.address}/loom/releases/{card.parent.name}/card.json").status_code == 405


def test_resources_have_names_and_say_what_they_are(ui: Ui) -> None:
    shown = ui.ask(RESOURCES)["allTopLevelResourceDetailsOrError"]["results"]
    assert {each["name"]: each["description"] for each in shown} == {
        name: resource.description for name, resource in make_resources().items()
    }
    for each in shown:
        assert each["resourceType"] == f"dagster_project.resources.{each['name']}"
