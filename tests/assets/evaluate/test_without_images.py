"""A model asked without its images, or with those of another item, from `models.yaml` to the report."""

import dagster as dg
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.evaluate.sample_dialogues import write_dialogues
from tests.assets.world import ANY_ASSETS, ASKING, RANKING, World, data_url_hash

pytestmark = pytest.mark.slow

BLIND, ELSEWHERE = "no-images:careful", "other-images:careful"
EVALUATED = ["careful", BLIND, ELSEWHERE, "baseline:reference"]
N_DIALOGUES, N_TURNS = 8, 2
QUALITY = dg.AssetSelection.assets(["evaluate", "score_queue"], ["evaluate", "judge_quality"])


@pytest.fixture(scope="module")
def blind(empty_world: MakeWorld) -> World:
    """Eight dialogues of two turns, evaluated."""
    world = empty_world()
    world.set_models(evaluate=EVALUATED)
    file = write_dialogues(world.root / "published", N_DIALOGUES, N_TURNS)
    assert world.import_file("mmdu", file).success
    assert world.run(ANY_ASSETS, assets=ASKING | RANKING | QUALITY).success
    return world


def test_a_model_that_looks_scores_higher_than_without_its_images(blind: World) -> None:
    scores = blind.scores("Overall Score/micro")
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
    scores = blind.scores("Overall Score/micro")
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


def test_nobody_scores_what_was_not_seen_and_it_says_nothing_of_the_judges_quality(blind):
    # Five answers of the one model.
    assert blind.warehouse.count("evaluate.score_queue") == 5
    rows = blind.rows("SELECT DISTINCT subject FROM evaluate.judge_quality WHERE subject <> ''")
    assert rows == [{"subject": "careful"}]
