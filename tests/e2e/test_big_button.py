"""Materialize all, and a selection with its downstream, on an empty and on a full home.

With the real web server and daemon: everything is run once, in the order of the data.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.running import Run
from tests.e2e.ui import PATIENCE, Ui, executed, finished, in_order, nodes, serving

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1800),
    pytest.mark.nightly,
    pytest.mark.slow,
]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Ui]:
    """The UI on a home that nothing was ever made in."""
    with serving(tmp_path / "home") as served:
        yield served


@pytest.fixture
def full(copied: Run) -> Iterator[Ui]:
    """The UI on a copy of the main job's home."""
    with serving(copied.home) as served:
        yield served


@pytest.mark.browser
def test_materialize_all_on_an_empty_home_makes_everything_once_in_the_order_of_the_data(
    empty: Ui, page: Page
) -> None:
    page.goto(f"{empty.address}/asset-groups")
    page.get_by_role("button", name="Materialize all").first.click(timeout=PATIENCE)
    # The shards of the corpus are there from the start.
    page.get_by_role("button", name="All", exact=True).click(timeout=PATIENCE)
    expect(page.get_by_text("2 partitions")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Launch backfill").click(timeout=PATIENCE)

    finished(empty)

    made = executed(empty)
    assert {asset: len(times) for asset, times in made.items()} == {
        asset: 2 if asset.startswith("ingest/") else 1 for asset in made
    }
    assert in_order(empty, made)
    best = empty.run.warehouse.read("evaluate/overall").to_pylist()[0]
    assert best["model"] == "offline-careful"


def test_a_selection_with_its_downstream_on_a_full_home_runs_each_of_them_once_more(
    full: Ui,
) -> None:
    before = executed(full)
    selected = downstream(full, "ingest/entries")
    assert {"cluster/image_sets", "dialogue/dialogues", "evaluate/answers"} <= selected
    assert "ingest/wit_rows" not in selected
    full.backfill(selected, "sample-a", "sample-b")

    finished(full)

    after = executed(full)
    new = {asset: times[len(before[asset]) :] for asset, times in after.items()}
    assert {asset: len(times) for asset, times in new.items() if times} == {
        asset: 2 if asset.startswith("ingest/") else 1 for asset in selected
    }
    assert in_order(full, {asset: times for asset, times in new.items() if times})


def downstream(ui: Ui, root: str) -> set[str]:
    """The asset and all that depend on it, by any way."""
    graph = nodes(ui)
    found, more = {root}, True
    while more:
        new = {
            asset
            for asset, node in graph.items()
            if node["isMaterializable"]
            and {"/".join(key["path"]) for key in node["dependencyKeys"]} & found
        }
        more = bool(new - found)
        found |= new
    return found
