"""Error attribution end to end: models with one planted fault each, asked and compared offline."""

from collections.abc import Iterator

import dagster as dg
import pytest

from assets.release.published import write_imported
from methods.convbench.attribution import BOTH_GIVEN, LATER_TURN, PERCEPTION_GIVEN, REASONING_GIVEN
from methods.convbench.scores import CREATION, PERFECT_PERCEPTION, REASONING
from methods.evaluation.items import Item, Turn
from methods.prompts.messages import IMAGE_HERE
from methods.release import Edition
from resources.mock_server.careful_answers import careful_answer
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import SAMPLE
from tests.assets.evaluate.sample_dialogues import pictures
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, World, made

pytestmark = pytest.mark.slow

MODELS = ("careful", "poor-perception", "poor-reasoning")
INSTRUCTIONS = (
    "What does the picture show?",
    "What follows from its light and its colours about where it was taken?",
    "Write a short text for a postcard with this picture.",
)
TASKS = ("Memes", "Charts")
N_PICTURES = 30
"""With 18 the gain of `poor-perception` in creation is not more than chance, with 30 it is."""
ATTRIBUTION = dg.AssetSelection.assets(["evaluate", "error_attribution"], ["evaluate", "reports"])


@pytest.fixture(scope="module")
def attributed(empty_world: MakeWorld, mock_url: str) -> Iterator[World]:
    """Pictures of the sample corpus with three turns each, and models with a fault each."""
    world = empty_world()
    entry = {"provider": "mock", "base_url": mock_url}
    named = {**{name: f"offline-{name}" for name in MODELS}, "judge": "offline-judge"}
    world.write_models(
        {
            "profiles": {"test": {"writer": "careful", "judge": "judge", "evaluate": list(MODELS)}},
            "models": {name: {**entry, "model": model} for name, model in named.items()},
        }
    )
    with world.environment():
        edition = Edition("convbench", None, "en", "imported")
        write_imported(world.warehouse, "convbench", edition, items(world), {"file": "x.csv"})
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING | ATTRIBUTION)
    assert run.success and "evaluate/error_attribution" in made(run)
    yield world


def items(world: World) -> list[Item]:
    found = []
    for number, (name, facts) in enumerate(list(pictures().items())[:N_PICTURES]):
        image = world.images.put((SAMPLE / "images" / name).read_bytes()).image_id
        answers = [careful_answer(text, {1: facts}, "careful") for text in INSTRUCTIONS]
        turns = (
            Turn(1, f"{IMAGE_HERE}\n{INSTRUCTIONS[0]}", (1,), {"answer": answers[0]}),
            Turn(2, INSTRUCTIONS[1], (), {"answer": answers[1]}),
            Turn(3, INSTRUCTIONS[2], (), {"answer": answers[2]}),
        )
        labels = dict.fromkeys(("perception", "reasoning", "creation"), TASKS[number % 2])
        found.append(Item(f"item-{number:03}", turns, (image,), labels=labels))
    return found


def verdicts(world: World, model: str) -> dict[tuple[str, str], str | None]:
    rows = world.rows(
        "SELECT change, dimension, verdict FROM evaluate.error_attribution "
        "WHERE model = $m AND subset_label = '' AND change <> $later",
        m=model,
        later=LATER_TURN,
    )
    return {(row["change"], row["dimension"]): row["verdict"] for row in rows}


def test_the_planted_cause_is_named_and_no_other(attributed: World) -> None:
    by_perception = (PERCEPTION_GIVEN, REASONING), (PERCEPTION_GIVEN, CREATION)
    by_reasoning = (REASONING_GIVEN, CREATION)
    blind, illogical, careful = (
        verdicts(attributed, model) for model in ("poor-perception", "poor-reasoning", "careful")
    )
    assert [blind[key] for key in by_perception] == ["gain", "gain"]
    assert blind[by_reasoning] is None
    assert [illogical[key] for key in by_perception] == [None, None]
    assert illogical[by_reasoning] == "gain"
    # Both given covers either.
    assert blind[BOTH_GIVEN, CREATION] == illogical[BOTH_GIVEN, CREATION] == "gain"
    assert set(careful.values()) == {None}


def test_the_net_is_the_leaderboards_difference_where_everything_was_judged(
    attributed: World,
) -> None:
    (row,) = attributed.rows(
        "SELECT * FROM evaluate.error_attribution WHERE model = 'poor-perception' "
        "AND subset_label = '' AND dimension = 'Reasoning' AND change = $c",
        c=PERCEPTION_GIVEN,
    )
    assert (row["n_items"], row["n_left_out"]) == (N_PICTURES, 0)
    assert (row["before_trial"], row["trial"]) == ("plain", PERFECT_PERCEPTION)
    (shown,) = attributed.rows(
        "SELECT value FROM evaluate.scores WHERE metric = 'S2^ - S2' AND form = 'floor' "
        "AND model = 'poor-perception' AND subset_label = ''"
    )
    assert row["difference"] == pytest.approx(shown["value"])
