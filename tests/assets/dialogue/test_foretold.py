"""What a dry run foretells is what a build then uses: calls and tokens, stage by stage."""

from pathlib import Path

import pytest

from dagster_project.definitions import build_defs
from resources.llm.dry_run import DryGateway
from resources.llm.registry import load_registry
from resources.llm.usage import Usage
from resources.mock_server.process import MockServerProcess
from tests.assets.conftest import CopyWorld
from tests.assets.world import Row, World

pytestmark = pytest.mark.slow

SHAPE = {
    "dialogue__questions": {"config": {"per_set": 7}},
    "dialogue__answers": {"config": {"n_words": 400}},
}
STAGES = {"dialogue.summaries", "dialogue.questions", "dialogue.answers", "rewrite.rewrites"}


def models(provider: str) -> Row:
    """A writer that is the mock server's, or somebody else's of whom nothing is known."""
    elsewhere = {"base_url": "http://127.0.0.1:9/v1", "price": {"prompt": 1, "completion": 10}}
    writer = {"model": "offline-writer", **(elsewhere if provider == "openai" else {})}
    return {
        "profiles": {"test": {"writer": "w", "judge": "w", "evaluate": ["w"]}},
        "models": {"w": {"provider": provider, **writer}},
    }


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    return copied(clustered, tmp_path)


def foretold(world: World, provider: str) -> dict[str, Usage]:
    """The forecast of generation by stage."""
    world.write_models(models(provider))
    registry = load_registry(world.root / "models.yaml")
    gateway = DryGateway(registry, "test", world.ledger, world.images, launcher=MockServerProcess())
    own = world.definitions
    world.definitions = build_defs(resource_overrides={"embedder": world.embedder, "llm": gateway})
    assert world.generate(SHAPE).success
    world.definitions = own
    gateway.close()
    return {stage: forecast.usage for (stage, _), forecast in gateway.forecasts.items()}


def test_a_mock_build_uses_what_was_foretold(world: World) -> None:
    told = foretold(world, "mock")
    assert list(world.ledger) == [], "a dry run keeps nothing"

    assert world.generate(SHAPE).success

    used: dict[str, Usage] = {stage: Usage() for stage in STAGES}
    for call in world.ledger:
        of_stage = used[call.stage]
        of_stage.calls += 1
        of_stage.prompt_tokens += call.prompt_tokens
        of_stage.completion_tokens += call.completion_tokens
    assert told.keys() == STAGES
    for stage, usage in used.items():
        assert told[stage].calls == usage.calls > 0, stage
        for tokens in ("prompt_tokens", "completion_tokens"):
            share = getattr(told[stage], tokens) / getattr(usage, tokens)
            assert 0.8 <= share <= 1.2, (stage, tokens, share)
