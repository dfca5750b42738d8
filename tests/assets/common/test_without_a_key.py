"""Profile `openai` without OPENAI_API_KEY: what asks no model runs; what asks one says what to set."""

import dagster as dg
import pytest

from dagster_project.definitions import defs
from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, Result, World, made

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(released: World, copied: CopyWorld) -> World:
    """A home with a release, and the profile `openai` of the models.yaml that is shipped."""
    made_world = copied(released)
    gpt = {"provider": "openai", "api_key_env": "OPENAI_API_KEY"}
    made_world.write_models(
        {
            "profiles": {"openai": {"writer": "gpt-4o", "judge": "gpt-4o", "evaluate": ["gpt-4o"]}},
            "models": {"gpt-4o": {**gpt, "base_url": made_world.proxy.base_url}},
        }
    )
    made_world.settings = {"LOOM_PROFILE": "openai"}
    return made_world


def said(run: Result) -> str:
    """What the run's log says of its failure."""
    return "\n".join(
        str(event.message) + str(event.event_specific_data) for event in run.all_events
    )


@pytest.mark.parametrize("asset", ["dialogue/summaries", "quality/checks", "evaluate/answers"])
def test_a_step_that_asks_a_model_says_which_key_to_set(world: World, asset: str) -> None:
    run = world.run(ANY_ASSETS, assets=dg.AssetSelection.assets(asset.split("/")))
    assert not run.success
    assert made(run) == set()
    assert "gpt-4o needs a key: set OPENAI_API_KEY" in said(run)
    assert world.proxy.requests == []


def test_no_check_asks_a_model() -> None:
    for check in defs.asset_checks or []:
        assert "llm" not in check.required_resource_keys
