"""Sets of pages in another language: prompts name the language, and the checks expect it."""

from pathlib import Path

import dagster as dg
import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, World, sentence

pytestmark = pytest.mark.slow

TASKS = ("summary", "questions", "answers", "rewrite", "item")
CHOICES = dg.AssetSelection.assets(["choice", "items"], ["choice", "translations"])
QUALITY = dg.AssetSelection.groups("quality")


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Clusters of pages that are in German, as far as their rows say."""
    world = copied(clustered, tmp_path)
    german = world.warehouse.sql("SELECT * REPLACE ('de' AS language) FROM ingest.entries")
    world.warehouse.replace("ingest.entries", german)
    return world


def language_faults(world: World, **settings: str) -> list[bool]:
    """Of each pair whether the check `language` finds something."""
    config = {"quality__checks": {"config": {"model_checks": False, **settings}}}
    run = world.run(ANY_ASSETS, config, assets=QUALITY)
    assert run.success, sentence(run)
    return [
        row["is_fault"]
        for row in world.rows("SELECT language IS NOT NULL AS is_fault FROM quality.checks")
    ]


def test_prompts_name_the_language_of_the_pages_and_the_checks_expect_it(world: World) -> None:
    for run in (world.generate(), world.run(ANY_ASSETS, assets=CHOICES)):
        assert run.success, sentence(run)
    for task in TASKS:
        asked = world.proxy.asked(task)
        assert asked
        assert all("Write all texts of your reply in German." in each.texts[0] for each in asked)
    # Translations are from English.
    assert world.rows("SELECT count(*) AS n FROM choice.translations") == [{"n": 0}]
    # The mock model writes English, and the setting counts more than the pages.
    assert set(language_faults(world)) == {True}
    assert set(language_faults(world, language="en")) == {False}
