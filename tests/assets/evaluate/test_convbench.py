"""ConvBench from its published table to scores: imported, asked in three settings, compared.

Pictures of the sample corpus with references by the careful mock model.
"""

from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest

from dagster_project.results import show_results
from methods.convbench.attribution import PERCEPTION_GIVEN
from methods.convbench.scores import OF_TURN, PERFECT_PERCEPTION, WIN_RATES
from methods.evaluation.verdicts import ORDERS
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import SAMPLE
from tests.assets.evaluate.convbench_items import items_on, write_items
from tests.assets.evaluate.sample_dialogues import pictures
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Row, World

pytestmark = pytest.mark.slow

BY_SKILL = ("careful", "careless", "rambler", "refuser")
FAULTY = ("poor-perception", "poor-reasoning")
MODELS = (*BY_SKILL, *FAULTY)
N_ITEMS = 6
NINE = tuple(WIN_RATES)
ATTRIBUTION = dg.AssetSelection.assets(["evaluate", "error_attribution"])
JUDGES = {"judge": "offline-judge", "always-a": "offline-always-a"}


def compared(
    empty_world: MakeWorld,
    mock_url: str,
    folder: Path,
    settings: Row | None = None,
    models: Sequence[str] = MODELS,
) -> World:
    """The folder imported, asked and compared by both judges."""
    world = empty_world()
    profile = {"writer": "careful", "judges": list(JUDGES), "evaluate": list(models)}
    named = {name: f"offline-{name}" for name in MODELS}
    world.set_mock_models(mock_url, {**named, **JUDGES}, **profile)
    world.write_settings({"evaluate": settings or {}})
    assert world.import_file("convbench", folder).success
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING | ATTRIBUTION).success
    return world


def published(folder: Path, n_items: int) -> Path:
    """So many items on pictures of the sample corpus, as the authors publish theirs."""
    known = dict(list(pictures().items())[:n_items])
    return write_items(folder / "published", items_on(list(known)), SAMPLE / "images", known)


@pytest.fixture(scope="module")
def world(empty_world: MakeWorld, mock_url: str, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = published(tmp_path_factory.mktemp("convbench"), N_ITEMS)
    return compared(empty_world, mock_url, folder)


def test_nine_scores_stand_in_the_order_of_skill(world: World) -> None:
    """All nine win rates, R1 and R2 in the order of skill; half of each by a judge that prefers A."""
    for name in (*NINE, "R1", "R2"):
        rates = world.scores(f"{name}/micro", judge="judge")
        careful, careless, rambler, refuser = (rates[model] for model in BY_SKILL)
        # The careful model's answers are the references: each comparison is a tie.
        assert careful == 50 > careless > rambler >= refuser == 0, name
        always = world.scores(f"{name}/micro", judge="always-a")
        assert {always[model] for model in BY_SKILL} == {50.0}, name


def test_a_planted_fault_shows_in_the_setting_that_takes_it_away(world: World) -> None:
    seen, thought = (
        world.scores(f"{name}/micro", judge="judge") for name in ("S2^ - S2", "S3~ - S3^")
    )
    assert seen["careful"] == thought["careful"] == 0
    assert seen["poor-perception"] > 15 > abs(thought["poor-perception"])
    assert thought["poor-reasoning"] > 15 > abs(seen["poor-reasoning"])
    # The net of the errors that go and come is the leaderboard's difference.
    rows = world.rows(
        "SELECT * FROM evaluate.error_attribution WHERE subset_label = '' AND judge = 'judge' "
        "AND dimension = 'Reasoning' AND change = $c",
        c=PERCEPTION_GIVEN,
    )
    assert {row["model"]: row["difference"] for row in rows} == pytest.approx(seen)
    for row in rows:
        assert (row["n_items"], row["n_left_out"]) == (N_ITEMS, 0)
        assert (row["before_trial"], row["trial"]) == ("plain", PERFECT_PERCEPTION)


def test_each_turn_and_each_conversation_is_compared_in_both_orders(world: World) -> None:
    n = world.warehouse.count("release.items")
    rows = world.rows(
        "SELECT trial, turn, part, count(*) AS n FROM evaluate.judgments "
        "WHERE judge = 'judge' AND model = 'careless' GROUP BY ALL"
    )
    found = {(row["trial"], row["turn"], row["part"]): row["n"] for row in rows}
    asked = [("plain", 1), ("plain", 2), ("plain", 3)]
    asked += [("perfect-perception", 2), ("perfect-perception", 3), ("perfect-reasoning", 3)]
    orders = ("model-first", "model-second")
    assert found == {
        **{(trial, turn, order): n for trial, turn in asked for order in orders},
        **{
            (trial, 3, f"overall-{order}"): n
            for trial in ("plain", "perfect-perception", "perfect-reasoning")
            for order in orders
        },
    }


def test_people_get_pairs_of_each_model_and_not_of_whole_conversations(world: World) -> None:
    only = dg.AssetSelection.assets(["evaluate", "score_queue"])
    assert world.run("evaluate", assets=only).success
    (queued,) = world.rows("SELECT count(*) AS n, min(kind) AS kind FROM evaluate.score_queue")
    assert queued["kind"] == "pair" and len(MODELS) < queued["n"] <= 5 * len(MODELS)
    values = {"orders": list(ORDERS)}
    found = world.warehouse.read("evaluate/queued_pairs", values).to_pylist()
    assert {row["queue_id"] for row in found} == {
        row["item_id"] for row in world.rows("SELECT item_id FROM evaluate.score_queue")
    }
    assert {row["dimension"] for row in found} <= set(OF_TURN.values())
    # The references are the careful model's own answers: nobody compares a text with itself.
    assert set(MODELS) - {"careful"} == {row["model"] for row in found}


def test_requests_that_are_the_same_in_two_settings_are_asked_once(world: World) -> None:
    rows = world.rows(
        "SELECT model, count(*) AS asked, count(DISTINCT call_key) AS calls FROM evaluate.answers "
        "WHERE status <> 'given' GROUP BY model"
    )
    n = world.warehouse.count("release.items")
    of = {row["model"]: (row["asked"], row["calls"]) for row in rows}
    # The careful model's own history is that of the references.
    assert of["careful"] == (6 * n, 3 * n)
    assert of["careless"] == (6 * n, 6 * n)


def test_without_references_models_are_asked_what_can_be_asked_and_nobody_loses(
    empty_world: MakeWorld, mock_url: str, tmp_path: Path
) -> None:
    folder = published(tmp_path, 2)
    (folder / "references.csv").unlink()
    world = compared(empty_world, mock_url, folder, models=["careful"])

    assert world.rows("SELECT * FROM evaluate.missing") == []
    assert world.warehouse.count("evaluate.judgments") == 0
    statuses = world.rows(
        "SELECT trial, status, count(*) AS n FROM evaluate.answers WHERE model = 'careful' "
        "GROUP BY ALL ORDER BY trial"
    )
    assert [tuple(row.values()) for row in statuses] == [
        ("perfect-perception", "not_asked", 6),
        ("perfect-reasoning", "not_asked", 6),
        ("plain", "answered", 6),
    ]
    reasons = world.rows("SELECT DISTINCT reason, detail FROM evaluate.failed ORDER BY ALL")
    assert {row["reason"] for row in reasons} == {"no_reference"}
    assert reasons[0]["detail"].startswith("Turn 1 has no reference to give")
    assert world.warehouse.count("evaluate.scores") == 0


@pytest.mark.nightly
def test_a_picture_that_was_never_there_is_nobodys_loss(
    empty_world: MakeWorld,
    mock_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = published(tmp_path, 4)
    next(path for path in folder.iterdir() if path.suffix != ".csv").unlink()
    # A fourth of the turns that a model is asked have no picture.
    settings = {"answers": {"max_failed_share": 0.3}}
    world = compared(empty_world, mock_url, folder, settings)

    found = world.rows(
        "SELECT DISTINCT form = 'all_items' AS lost, n_items, n_failed FROM evaluate.scores "
        "WHERE subset_label = '' ORDER BY ALL"
    )
    # One turn of each setting of the item was not asked, and what stands on it was not either.
    assert found == [
        {"lost": False, "n_items": 3, "n_failed": 0},
        {"lost": True, "n_items": 4, "n_failed": 6},
    ]
    rows = world.rows(
        "SELECT metric, value FROM evaluate.scores WHERE model = 'careful' AND form = 'all_items'"
    )
    # Three ties and a loss; a difference of two settings that both lost an item has none of it.
    lost = {row["metric"]: row["value"] for row in rows}
    assert {lost[name] for name in NINE} == {37.5}
    monkeypatch.setenv("LOOM_WORKSPACE", str(world.home))
    show_results(JUDGES)
    assert "No score counts 1 of the items" in capsys.readouterr().out
    # As if the item were not there: with it as a loss the best model would have less than a tie.
    for name in NINE:
        assert world.scores(f"{name}/micro", judge="judge")["careful"] == 50
    statuses = world.rows(
        "SELECT DISTINCT model, item_id FROM evaluate.observations WHERE status = 'no_picture'"
    )
    assert len({row["item_id"] for row in statuses}) == 1
    assert {row["model"] for row in statuses} == set(MODELS)
