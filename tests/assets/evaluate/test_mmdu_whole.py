"""MMDU as its authors publish it: imported, answered, judged by two judges and scored."""

import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.evaluate.sample_dialogues import write_dialogues
from tests.assets.world import ANY_ASSETS, ASKING, RANKING, Row, World, data_url_hash
from tests.doubles.garbling_proxy import When

pytestmark = pytest.mark.slow


N_DIALOGUES, N_TURNS = 8, 2
BY_SKILL = ["careful", "careless", "rambler", "always-a", "refuser"]
REFERENCE, SWAPPED, EMPTY = "baseline:reference", "baseline:swapped-reference", "baseline:empty"
BLIND, ELSEWHERE = "no-images:careful", "other-images:careful"
CONTESTANTS = [*BY_SKILL, REFERENCE, SWAPPED, EMPTY, BLIND, ELSEWHERE]
OVERALL = "Overall Score/micro"
ONE, TWO, PANEL = "judge-one", "judge-two", "panel"
CUT_OFF, WITHHELD, BROKEN, UNJUDGED = (f"dialogue-{number:03}" for number in (1, 3, 5, 6))


@pytest.fixture(scope="module")
def whole(empty_world: MakeWorld, mock_url: str) -> World:
    world = empty_world()
    # Models of which something is lost are behind the proxy.
    lossy = {"provider": "openai", "base_url": world.proxy.base_url}
    models = {name: f"offline-{name}" for name in BY_SKILL}
    models["careless"] = {**lossy, "model": "offline-careless"}
    models[ONE] = {"model": "offline-judge", "identity": "one"}
    models[TWO] = {**lossy, "model": "offline-judge", "identity": "two"}
    profile = {"writer": "careful", "judges": [ONE, TWO], "evaluate": CONTESTANTS}
    world.set_mock_models(mock_url, models, **profile)
    file = write_dialogues(world.root / "published", N_DIALOGUES, N_TURNS)
    assert world.import_file("mmdu", file).success
    lose_some(world)
    assert world.run(ANY_ASSETS, assets=ASKING | RANKING).success
    return world


def lose_some(world: World) -> None:
    """Three dialogues of a model end early, each in another way; a judge says nothing of a fourth."""
    world.proxy.rewrite(turn_of(world, CUT_OFF, 1), "It begins wi", finish="length")
    world.proxy.filter(turn_of(world, WITHHELD, 2))
    world.proxy.refuse(turn_of(world, BROKEN, 2), 400, "There is something about this request.")
    shown = images_of(world, UNJUDGED)
    world.proxy.filter(lambda asked: asked.task == "judge" and asked.images == shown)


def turn_of(world: World, item_id: str, turn: int) -> When:
    shown = images_of(world, item_id)
    return lambda asked: (asked.task, asked.turn, asked.images) == ("", turn, shown)


def images_of(world: World, item_id: str) -> list[str]:
    rows = world.rows(
        "SELECT image_id FROM release.images WHERE item_id = $i ORDER BY position", i=item_id
    )
    return [data_url_hash(world, row["image_id"]) for row in rows]


def turns(world: World, judge: str, model: str) -> list[Row]:
    """Every turn of a model: its status, and the judge's overall grade where there is one."""
    return world.rows(
        "SELECT a.item_id, a.turn, a.status, a.answer, j.scores['Overall Score'] AS grade "
        "FROM evaluate.answers AS a LEFT JOIN evaluate.judgments AS j "
        "ON j.judge = $j AND (j.model, j.item_id, j.turn) = (a.model, a.item_id, a.turn) "
        "WHERE a.model = $m",
        j=judge,
        m=model,
    )


def test_a_panel_stands_beside_both_judges(whole: World) -> None:
    # They say the same, and the panel rests on what both judged.
    panel, two = (whole.scores(OVERALL, "judged", judge=judge) for judge in (PANEL, TWO))
    assert panel == pytest.approx(two) and panel.keys() == set(CONTESTANTS)
    versions = whole.rows(
        "SELECT DISTINCT judge_version FROM evaluate.scores WHERE judge = 'panel'"
    )
    assert len(versions) == 1 and versions[0]["judge_version"].startswith(f"mean of {ONE}, {TWO}, ")


@pytest.mark.parametrize("judge", [ONE, TWO, PANEL])
def test_models_come_in_the_order_of_their_skill_between_the_baselines(whole, judge):
    scores = whole.scores(OVERALL, judge=judge)
    assert scores[REFERENCE] > scores["careless"]
    assert scores["careful"] > scores["careless"] > scores["rambler"]
    assert scores["rambler"] > scores["always-a"] == scores["refuser"] == scores[EMPTY] == 10
    # A text about other pictures is long and coherent, and some of it fits by chance: the mock judge
    # puts it above a careless answer, and far below one about the pictures that are there.
    assert scores["careful"] - scores[SWAPPED] > 25
    ranks = whole.rows(
        "SELECT model, rank FROM evaluate.ranks WHERE judge = $j AND metric = 'Overall Score' "
        "AND aggregation = 'micro'",
        j=judge,
    )
    assert {row["model"]: row["rank"] for row in ranks} == {
        **{"careful": 1, "careless": 2, "rambler": 3, "always-a": 4, "refuser": 4},
        **dict.fromkeys(CONTESTANTS[5:]),
    }


@pytest.mark.parametrize("judge", [ONE, TWO])
@pytest.mark.parametrize("model", CONTESTANTS)
def test_vlmevalkits_numbers_follow_from_the_rows_and_from_ours(whole, judge, model):
    """`valid` is the mean over judged turns, `all` counts every other turn as 0; both times 10.

    Ours has no turn that the judge failed in `floor`, and counts what the model failed as the lowest
    grade, 1. With N turns, of which the model failed F and the judge U:
    `all` = (`floor` x (N - U) - 10 F) / N; where the judge failed nothing, `floor` - 10 F / N.
    """
    rows = turns(whole, judge, model)
    grades = [row["grade"] for row in rows if row["grade"] is not None]
    valid = 10 * sum(grades) / len(grades)
    all_turns = 10 * sum(row["grade"] or 0 for row in rows) / len(rows)
    n, n_failed = len(rows), sum(row["answer"] is None for row in rows)
    n_unjudged = sum(row["answer"] is not None and row["grade"] is None for row in rows)
    assert (n, n_failed, n_unjudged) == (
        N_DIALOGUES * N_TURNS,
        4 if model == "careless" else 0,
        N_TURNS if judge == TWO else 0,
    )

    floor = whole.scores(OVERALL, judge=judge)[model]
    assert whole.scores(OVERALL, "judged", judge=judge)[model] == pytest.approx(valid)
    assert (floor * (n - n_unjudged) - 10 * n_failed) / n == pytest.approx(all_turns)
    if judge == ONE:
        assert floor - 10 * n_failed / n == pytest.approx(all_turns)
    # A number of survivors alone is never below one that counts what was lost.
    assert valid >= floor >= all_turns


def test_a_model_that_looks_scores_higher_than_without_its_images(whole: World) -> None:
    scores = whole.scores(OVERALL, judge=ONE)
    # It says that there is no picture, and what it sees elsewhere is wrong here.
    assert scores["careful"] > 80 > 60 > scores[ELSEWHERE] > scores[BLIND]
    pairs = whole.rows(
        "SELECT first, second, difference, ci_low FROM evaluate.comparisons "
        "WHERE metric = 'Overall Score' AND aggregation = 'micro' AND form = 'floor' "
        "AND judge = $judge AND first = 'careful' AND second LIKE '%-images:%' ORDER BY second",
        judge=ONE,
    )
    assert [(row["first"], row["second"]) for row in pairs] == [
        ("careful", BLIND),
        ("careful", ELSEWHERE),
    ]
    for row in pairs:
        assert row["difference"] == pytest.approx(scores["careful"] - scores[row["second"]])
        assert row["ci_low"] > 0


def test_the_judge_is_shown_the_items_own_images_and_no_name(whole: World) -> None:
    asked = whole.proxy.asked("judge")
    items = whole.rows("SELECT DISTINCT item_id FROM release.items")
    own = {tuple(images_of(whole, row["item_id"])) for row in items}
    assert {tuple(each.images) for each in asked} == own
    assert not any("careful" in each.text or "no-images" in each.text for each in asked)
