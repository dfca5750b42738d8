"""Steps of building that have a model of their own in the profile are asked of it, and say so."""

from collections import defaultdict

import pytest

from tests.assets.world import ANY_ASSETS, GENERATION, models_yaml

pytestmark = pytest.mark.slow


def test_each_step_asks_the_model_that_the_profile_gives_it(clustered, copied, tmp_path):
    world = copied(clustered, tmp_path)
    models = models_yaml(world.proxy.base_url)
    models["profiles"]["test"] |= {"summary": "judge", "answer": "careful", "rewrite": "careless"}
    models["models"]["careful"] = {"provider": "mock", "model": "offline-careful"}
    world.write_models(models)
    first = world.warehouse.sql(
        "FROM cluster.image_sets WHERE set_id = (SELECT min(set_id) FROM cluster.image_sets)"
    )
    world.warehouse.replace("cluster.image_sets", first)

    assert world.run(ANY_ASSETS, assets=GENERATION).success

    asked = defaultdict(set)
    for call in world.ledger:
        asked[call.stage].add(call.model)
    assert asked == {
        "dialogue.summaries": {"offline-judge"},
        "dialogue.questions": {"offline-writer"},
        "dialogue.answers": {"offline-careful"},
        "rewrite.rewrites": {"offline-careless"},
    }
    # A row names the provider of the model that was asked, which is no other step's.
    for table, provider in (("questions", "openai"), ("answers", "mock")):
        rows = world.rows(f"SELECT DISTINCT provider FROM dialogue.{table}")
        assert [row["provider"] for row in rows] == [provider]
