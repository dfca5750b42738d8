"""Shapes of dialogues by settings, and what a dry run foretells of them."""

import re
from pathlib import Path

import pytest

from dagster_project.definitions import build_defs
from methods.mmdu.reading import ON_ONE, ON_SEVERAL
from resources.llm.dry_run import DryGateway
from resources.llm.registry import load_registry
from resources.llm.usage import Usage
from resources.mock_server.process import MockServerProcess
from tests.assets.conftest import CopyWorld
from tests.assets.world import SMALL_SETS, WITHOUT_PICTURES, Result, World, sentence

pytestmark = pytest.mark.slow

PLACE = re.compile(r"Image(\d+): <ImageHere>")


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    return copied(clustered, tmp_path)


def made_with(world: World, questions: dict, dialogues: dict | None = None) -> Result:
    run = world.generate(
        {
            "dialogue__questions": {"config": questions},
            "dialogue__dialogues": {"config": dialogues or {}},
        }
    )
    assert run.success, sentence(run)
    return run


def test_each_kind_has_its_shape_and_questions_have_an_angle_of_their_own(world: World) -> None:
    made_with(
        world,
        {
            "per_image": {"benchmark": 2, "instruction": [0, 1]},
            "per_set": {"benchmark": {"4": 1, "6": 1, "9": 1}, "instruction": 2},
        },
    )

    rows = world.rows(
        "SELECT d.kind, q.set_id, if(len(q.positions) = 1, 'single', 'multi') AS scope, q.positions, "
        "count(*) AS n, list(angle) AS angles FROM dialogue.questions AS q "
        "JOIN dialogue.dialogues AS d USING (set_id) GROUP BY ALL"
    )
    counts = {
        (kind, scope): {row["n"] for row in rows if (row["kind"], row["scope"]) == (kind, scope)}
        for kind in ("benchmark", "instruction")
        for scope in ("single", "multi")
    }
    assert counts["benchmark", "single"] == {2} and counts["instruction", "multi"] == {2}
    assert counts["benchmark", "multi"] <= {4, 6, 9} and len(counts["benchmark", "multi"]) > 1
    assert counts["instruction", "single"] == {1}
    # Of twelve images in sets of two some have no question of their own.
    singles = [row for row in rows if (row["kind"], row["scope"]) == ("instruction", "single")]
    assert 0 < len(singles) < 12
    of_scope = {
        "single": {angle.name for angle in ON_ONE},
        "multi": {angle.name for angle in ON_SEVERAL},
    }
    for row in rows:
        assert len(set(row["angles"])) == row["n"] and set(row["angles"]) <= of_scope[row["scope"]]
    # What is after what, the writer is told.
    (asked, *_) = world.proxy.asked("questions")
    assert "- question 1: " in asked.texts[0]


def test_a_large_set_is_asked_about_in_groups_and_at_the_end_as_a_whole(world: World) -> None:
    sets_of_six = {**SMALL_SETS, "cluster__image_sets": {"config": {"benchmark_sizes": [6]}}}
    assert world.run("cluster", sets_of_six, assets=WITHOUT_PICTURES).success

    made_with(world, {"per_image": 0, "per_set": 4, "most_together": 3})

    benchmark = world.rows("SELECT * FROM dialogue.dialogues WHERE kind = 'benchmark'")
    for row in benchmark:
        entries = [PLACE.findall(turn["question"]) for turn in row["turns"]]
        # Two images, then two more with an earlier one, then the others, then the whole set.
        assert entries == [["1", "2"], ["3", "4"], ["5", "6"], []]
        for turn in row["turns"][:2]:
            assert "<image-5>" not in turn["question"] + turn["answer"]
    groups = world.rows(
        "SELECT q.positions FROM dialogue.questions AS q JOIN dialogue.dialogues AS d USING (set_id) "
        "WHERE d.kind = 'benchmark'"
    )
    sizes = sorted(len(row["positions"]) for row in groups)
    assert benchmark and sizes == sorted([2, 3, 3, 6] * len(benchmark))
    # Both are asked for with the images of the group.
    for task in ("questions", "answers"):
        assert {len(request.images) for request in world.proxy.asked(task)} == {2, 3, 6}


def test_dialogues_are_stacked_and_every_turn_is_still_somewhere(world: World) -> None:
    made_with(world, {})
    before = {row["dialogue_id"]: row for row in world.rows("FROM dialogue.dialogues")}
    stack = {"benchmark": 1, "instruction": 3}

    made_with(world, {}, {"stack": stack})

    rows = world.rows("FROM dialogue.dialogues")
    assert [row for row in rows if row["kind"] == "benchmark"] == [
        row for row in before.values() if row["kind"] == "benchmark"
    ]
    stacked = [row for row in rows if row["kind"] == "instruction"]
    # Six dialogues of two images.
    assert 2 <= len(stacked) < 6 and sum(row["n_images"] for row in stacked) == 12
    for row in stacked:
        text = " ".join(turn["question"] for turn in row["turns"])
        places = [int(number) for number in PLACE.findall(text)]
        assert places == list(range(1, row["n_images"] + 1))
        assert len(set(row["image_ids"])) == row["n_images"]
    turns_before = sorted(
        turn["question_id"]
        for row in before.values()
        if row["kind"] == "instruction"
        for turn in row["turns"]
    )
    assert sorted(turn["question_id"] for row in stacked for turn in row["turns"]) == turns_before


SHAPE = {
    "dialogue__questions": {"config": {"per_set": 7}},
    "dialogue__answers": {"config": {"n_words": 400}},
}
STAGES = {"dialogue.summaries", "dialogue.questions", "dialogue.answers", "rewrite.rewrites"}


def test_a_mock_build_uses_what_a_dry_run_foretold(world: World) -> None:
    profile = {"writer": "w", "judge": "w", "evaluate": ["w"]}
    writer = {"provider": "mock", "model": "offline-writer"}
    world.write_models({"profiles": {"test": profile}, "models": {"w": writer}})
    first = "SELECT min(set_id) FROM cluster.image_sets GROUP BY kind"
    sets = world.warehouse.sql(f"FROM cluster.image_sets WHERE set_id IN ({first})")
    world.warehouse.replace("cluster.image_sets", sets)
    registry = load_registry(world.root / "models.yaml")
    gateway = DryGateway(registry, "test", world.ledger, world.images, launcher=MockServerProcess())
    own = world.definitions
    world.definitions = build_defs(resource_overrides={"embedder": world.embedder, "llm": gateway})
    assert world.generate(SHAPE).success
    world.definitions = own
    gateway.close()
    told = {stage: forecast.usage for (stage, _), forecast in gateway.forecasts.items()}
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
