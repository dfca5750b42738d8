"""A model asked without its images, or with those of another item, from `models.yaml` to the report."""

from collections.abc import Iterator

import dagster as dg
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.evaluate.sample_dialogues import write_dialogues
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, World, data_url_hash, made, models_yaml

pytestmark = pytest.mark.slow

BLIND, ELSEWHERE = "no-images:careful", "other-images:careful"
EVALUATED = ["careful", BLIND, ELSEWHERE, "baseline:reference"]
N_DIALOGUES, N_TURNS = 8, 2


def import_dialogues(world: World, n_dialogues: int) -> None:
    file = write_dialogues(world.root / "published", n_dialogues, N_TURNS)
    config = {"benchmark": "mmdu", "file": str(file)}
    assert world.run("import_release", {"release_import": {"config": config}}).success


def with_models(world: World, evaluate: list[str]) -> World:
    models = models_yaml(world.proxy.base_url)
    models["profiles"]["test"]["evaluate"] = evaluate
    world.write_models(models)
    return world


@pytest.fixture(scope="module")
def blind(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Eight dialogues of two turns, evaluated."""
    root = tmp_path_factory.mktemp("blind")
    (root / "corpus").mkdir()
    world = with_models(make_world(root, Corpus(root / "corpus")), EVALUATED)
    import_dialogues(world, N_DIALOGUES)
    run = world.run(ANY_ASSETS, assets=dg.AssetSelection.groups("evaluate"))
    assert run.success and "evaluate/reports" in made(run)
    yield world


def overall(world: World) -> dict[str, float]:
    rows = world.rows(
        "SELECT model, value FROM evaluate.scores WHERE metric = 'Overall Score' AND form = 'floor' "
        "AND aggregation = 'micro' AND subset_label = ''"
    )
    return {row["model"]: row["value"] for row in rows}


def test_a_model_that_looks_scores_higher_than_without_its_images(blind: World) -> None:
    scores = overall(blind)
    assert scores.keys() == set(EVALUATED)
    # It says that there is no picture, and what it sees elsewhere is wrong here.
    assert scores["careful"] > 80 > 60 > scores[ELSEWHERE] > scores[BLIND]


def test_the_comparison_with_itself_says_so_and_no_rank_is_given(blind: World) -> None:
    pairs = blind.rows(
        "SELECT first, second, difference, p_holm FROM evaluate.comparisons "
        "WHERE metric = 'Overall Score' AND aggregation = 'micro' AND form = 'floor' ORDER BY second"
    )
    assert [(row["first"], row["second"]) for row in pairs] == [
        ("careful", BLIND),
        ("careful", ELSEWHERE),
    ]
    scores = overall(blind)
    for row in pairs:
        assert row["difference"] == pytest.approx(scores["careful"] - scores[row["second"]])
        assert row["p_holm"] < 0.05
    ranks = blind.rows("SELECT DISTINCT model, rank FROM evaluate.ranks")
    assert {row["model"]: row["rank"] for row in ranks} == {
        "careful": 1,
        **dict.fromkeys(EVALUATED[1:]),
    }


def test_the_judge_is_shown_the_items_own_images_and_no_name(blind: World) -> None:
    asked = blind.proxy.asked("judge")
    own = {
        tuple(data_url_hash(blind, image_id) for image_id in row["image_ids"])
        for row in blind.rows(
            "SELECT list(image_id ORDER BY position) AS image_ids FROM release.images "
            "GROUP BY item_id"
        )
    }
    assert {tuple(each.images) for each in asked} == own
    assert not any("careful" in each.text or "no-images" in each.text for each in asked)


def test_people_are_not_asked_to_score_what_was_not_seen(blind: World) -> None:
    queued = blind.rows("SELECT count(*) AS n FROM evaluate.score_queue")
    # Five answers of the one model.
    assert queued == [{"n": 5}]


def test_they_say_nothing_of_the_judges_quality(blind: World) -> None:
    rows = blind.rows("SELECT DISTINCT subject FROM evaluate.judge_quality WHERE subject <> ''")
    assert rows == [{"subject": "careful"}]


def test_on_a_release_of_one_item_what_needs_another_is_missing_and_all_others_are_asked(
    make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("alone")
    (root / "corpus").mkdir()
    swapped = "baseline:swapped-reference"
    names = [ELSEWHERE, swapped, "careful"]
    world = with_models(make_world(root, Corpus(root / "corpus")), names)
    import_dialogues(world, 1)
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success
    answered = world.rows("SELECT model, status FROM evaluate.answers")
    assert answered == N_TURNS * [{"model": "careful", "status": "answered"}]
    assert overall(world).keys() == {"careful"}
    missing = world.rows("SELECT model, n_lost, why FROM evaluate.missing ORDER BY model")
    for row in missing:
        row["why"], _, first = row["why"].partition("; ")
        assert first.startswith("no_other_") and "dialogue-000" in first
    assert missing == [
        {"model": swapped, "n_lost": 2, "why": "1 no_other_item, 1 not_asked"},
        {"model": ELSEWHERE, "n_lost": 2, "why": "1 no_other_images, 1 not_asked"},
    ]
    asked = [each.model for each in world.proxy.requests]
    assert asked.count("offline-careful") == N_TURNS
