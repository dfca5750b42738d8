"""A stage whose model takes batches: it stops and waits, and the sensor runs it again when they end."""

import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from dagster_project.run_tags import BUDGET
from resources.llm.ledger.batch_state import BatchState
from tests.assets.conftest import CopyWorld
from tests.assets.world import ANY_ASSETS, Row, World, models_yaml, sentence
from tests.doubles.batch_api import BatchServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """A model server that outlives the runs."""
    with BatchServer() as server:
        yield server.base_url


def in_batches(url: str, *names: str) -> Row:
    """Every model asked of the server itself, which is told the tasks; those named, in batches."""
    content = models_yaml(url)
    for name, entry in content["models"].items():
        entry["provider"] = "mock"
        entry["mode"] = "batch" if name in names else "live"
    return content


def tick(world: World) -> dg.SensorResult | dg.SkipReason:
    """One evaluation of both sensors: all that they ask for, else what the first one says."""
    with world.environment():
        repository = world.definitions.get_repository_def()
        answers = [
            repository.get_sensor_def(name)(dg.build_sensor_context(instance=world.instance))
            for name in ("model_batches", "model_batches_of_selections")
        ]
    requests = [
        request
        for answer in answers
        if isinstance(answer, dg.SensorResult)
        for request in answer.run_requests or []
    ]
    return dg.SensorResult(run_requests=requests) if requests else answers[0]


def asked_for(world: World) -> dg.RunRequest:
    """What the sensor asks for when the batch has ended, which takes a moment."""
    for _ in range(100):
        answer = tick(world)
        if isinstance(answer, dg.SensorResult):
            (request,) = answer.run_requests or []
            return request
        time.sleep(0.1)
    raise AssertionError(answer.skip_message)


def launch(world: World, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
    """What the daemon does with a run request."""
    chosen = request.asset_selection
    return world.run(
        request.job_name or ANY_ASSETS,
        request.run_config.get("ops"),
        request.partition_key,
        tags=request.tags,
        assets=dg.AssetSelection.assets(*chosen) if chosen else None,
    )


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path, provider: str) -> World:
    made_here = copied(clustered, tmp_path)
    made_here.write_models(in_batches(provider, "writer"))
    return made_here


def test_an_evaluation_runs_again_with_its_config_and_asks_nothing_twice(
    released: World, copied: CopyWorld, tmp_path: Path, provider: str
) -> None:
    world = copied(released, tmp_path)
    world.write_models(in_batches(provider, "careful"))
    config = {"evaluate__answers": {"config": {"models": ["careful", "refuser"]}}}

    generated = len(world.ledger)

    asked = {dg.AssetKey(["evaluate", name]) for name in ("answers", "judgments")}
    budget = {BUDGET: "100"}
    run = world.run("evaluate", config, assets=dg.AssetSelection.assets(*asked), tags=budget)
    assert sentence(run).startswith("evaluate.answers waits for batches")
    # Who is asked live has answered, all six turns of all four dialogues.
    live = len(world.ledger)
    assert live - generated == 24
    request = asked_for(world)
    assert asked_for(world).run_key == request.run_key == run.run_id, "one run for a key"
    assert request.job_name == "evaluate" and {*(request.asset_selection or ())} == asked
    assert request.run_config["ops"] == config
    assert budget.items() <= request.tags.items(), "it goes on within its budget"
    # A dialogue's second turn needs the answer to its first: one batch a turn, none twice.
    again = launch(world, request)
    assert sentence(again).startswith("evaluate.answers waits for batches")
    first, second = BatchState(world.ledger).batches()
    assert first.n_requests == second.n_requests == 4
    assert len(world.ledger) == live + 4


def test_a_run_that_was_also_started_by_hand_is_continued_once(world: World) -> None:
    summaries = dg.AssetSelection.assets(["dialogue", "summaries"])
    with BatchServer(batch_seconds=6) as slow:
        world.write_models(in_batches(slow.base_url, "writer"))
        assert not world.run(ANY_ASSETS, assets=summaries).success
        by_hand = world.run(ANY_ASSETS, assets=summaries)
        assert not by_hand.success, "the batch has not ended"
        slow.finish()

        request = asked_for(world)
        assert request.run_key == by_hand.run_id
        assert launch(world, request).success
        for _ in range(2):
            assert isinstance(tick(world), dg.SkipReason), "the last run did it for both"


def test_a_provider_that_is_away_is_what_the_sensor_says(world: World) -> None:
    assert not world.generate().success
    world.write_models(in_batches("http://127.0.0.1:9/v1", "writer"))

    skipped = tick(world)

    assert isinstance(skipped, dg.SkipReason)
    assert str(skipped.skip_message).startswith("A batch of writer could not be polled: ")
