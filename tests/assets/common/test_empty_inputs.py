"""Every asset of every later stage on an empty home: it ends well, or with one sentence."""

import dagster as dg
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import mini_corpus
from tests.assets.world import ANY_ASSETS, World, sentence

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A home in which nothing was ingested."""
    root = tmp_path_factory.mktemp("empty")
    return make_world(root, mini_corpus(root / "corpus"))


def stages(world: World) -> dict[str, list[dg.AssetKey]]:
    found: dict[str, list[dg.AssetKey]] = {}
    for key in sorted(world.definitions.resolve_asset_graph().executable_asset_keys, key=str):
        found.setdefault(key.path[0], []).append(key)
    return found


STAGES = ("cluster", "dialogue", "rewrite", "choice", "quality", "review", "release", "evaluate")


@pytest.mark.nightly
@pytest.mark.parametrize("stage", [*STAGES, "ledger"])
def test_an_empty_input_is_one_sentence_at_most(world: World, stage: str) -> None:
    for key in stages(world)[stage]:
        run = world.run(ANY_ASSETS, assets=dg.AssetSelection.assets(key))
        if run.success:
            continue
        # `sentence` fails where the step ended by anything but a sentence of its own.
        said = sentence(run)
        assert said.endswith(".") and "\n" not in said, key


def test_no_stage_is_forgotten(world: World) -> None:
    assert set(stages(world)) - {"ingest"} == {*STAGES, "ledger"}
