"""ConvBench from its published table to scores: imported, asked in three settings, compared.

Pictures of the sample corpus with references by the careful mock model, and the published slice
where it is beside the project: its pictures and instructions, with references by the same rules.
"""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from dagster_project.results import show_results
from methods.convbench.scores import OF_TURN, WIN_RATES
from methods.evaluation.verdicts import ORDERS
from resources.files.home import REPO_ROOT
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import SAMPLE, Corpus
from tests.assets.evaluate.convbench_items import items_on, read_table, write_items
from tests.assets.evaluate.sample_dialogues import measured, pictures
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Row, World

pytestmark = pytest.mark.slow

SLICE = REPO_ROOT.parent / "shared" / "data" / "convbench_slice"
BY_SKILL = ("careful", "careless", "rambler", "refuser")
FAULTY = ("poor-perception", "poor-reasoning")
MODELS = (*BY_SKILL, *FAULTY)
N_ITEMS = 6
NINE = tuple(WIN_RATES)
JUDGES = {"judge": "offline-judge", "always-a": "offline-always-a"}


def compared(
    make_world: MakeWorld, mock_url: str, root: Path, folder: Path, settings: Row | None = None
) -> World:
    """The folder imported, asked and compared by both judges."""
    (root / "corpus").mkdir(parents=True)
    world = make_world(root, Corpus(root / "corpus"))
    world.write_models(models(mock_url))
    if settings:
        world.write_settings({"evaluate": settings})
    config = {"benchmark": "convbench", "file": str(folder)}
    assert world.run("import_release", {"release_import": {"config": config}}).success
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success
    return world


def models(mock_url: str) -> Row:
    entry = {"provider": "mock", "base_url": mock_url}
    profile = {"writer": "careful", "judges": list(JUDGES), "evaluate": list(MODELS)}
    return {
        "profiles": {"test": profile},
        "models": {
            **{name: {**entry, "model": f"offline-{name}"} for name in MODELS},
            **{name: {**entry, "model": model} for name, model in JUDGES.items()},
        },
    }


@pytest.fixture(scope="module")
def world(
    make_world: MakeWorld, mock_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    root = tmp_path_factory.mktemp("convbench")
    known = dict(list(pictures().items())[:N_ITEMS])
    folder = write_items(root / "published", items_on(list(known)), SAMPLE / "images", known)
    yield compared(make_world, mock_url, root, folder)


def scores(world: World, judge: str = "judge") -> dict[tuple[str, str], float]:
    """Values of the form `floor` by metric and model."""
    rows = world.rows(
        "SELECT metric, model, value FROM evaluate.scores "
        "WHERE form = 'floor' AND subset_label = '' AND judge = $j",
        j=judge,
    )
    return {(row["metric"], row["model"]): row["value"] for row in rows}


def assert_in_order(of: dict[tuple[str, str], float]) -> None:
    """All nine win rates, R1 and R2 in the order of the models' skill."""
    for name in (*NINE, "R1", "R2"):
        careful, careless, rambler, refuser = (of[name, model] for model in BY_SKILL)
        # The careful model's answers are the references: each comparison is a tie.
        assert careful == 50 > careless > rambler >= refuser == 0, name


def test_nine_scores_stand_in_the_order_of_skill(world: World) -> None:
    assert_in_order(scores(world))


def test_a_judge_that_always_says_a_gives_every_model_exactly_half(world: World) -> None:
    of = scores(world, "always-a")
    assert {of[name, model] for name in (*NINE, "R1", "R2") for model in BY_SKILL} == {50.0}


def test_a_planted_fault_shows_in_the_setting_that_takes_it_away(world: World) -> None:
    of = scores(world)
    gain = {
        model: {
            name: of[f"{name} - {less}", model] for name, less in (("S2^", "S2"), ("S3~", "S3^"))
        }
        for model in ("careful", *FAULTY)
    }
    assert gain["careful"] == {"S2^": 0, "S3~": 0}
    assert gain["poor-perception"]["S2^"] > 15 > abs(gain["poor-perception"]["S3~"])
    assert gain["poor-reasoning"]["S3~"] > 15 > abs(gain["poor-reasoning"]["S2^"])


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
    make_world: MakeWorld, mock_url: str, tmp_path: Path
) -> None:
    known = dict(list(pictures().items())[:2])
    folder = write_items(tmp_path / "bare", items_on(list(known)), SAMPLE / "images", known)
    (folder / "references.csv").unlink()
    world = compared(make_world, mock_url, tmp_path, folder)

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
    make_world: MakeWorld,
    mock_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = dict(list(pictures().items())[:4])
    folder = write_items(tmp_path / "gaps", items_on(list(known)), SAMPLE / "images", known)
    (folder / next(iter(known))).unlink()
    # A fourth of the turns that a model is asked have no picture.
    settings = {"answers": {"max_failed_share": 0.3}}
    world = compared(make_world, mock_url, tmp_path, folder, settings)

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
    assert {scores(world)[name, "careful"] for name in NINE} == {50}
    statuses = world.rows(
        "SELECT DISTINCT model, item_id FROM evaluate.observations WHERE status = 'no_picture'"
    )
    assert len({row["item_id"] for row in statuses}) == 1
    assert {row["model"] for row in statuses} == set(MODELS)


@pytest.mark.nightly
@pytest.mark.skipif(not SLICE.exists(), reason="the published slice is not beside the project")
def test_the_published_slice_has_nine_scores_in_the_known_order(
    make_world: MakeWorld, mock_url: str, tmp_path: Path
) -> None:
    items = read_table(SLICE / "convbench.csv")
    folder = write_items(tmp_path / "slice", items, SLICE / "images", measured(SLICE / "images"))
    world = compared(make_world, mock_url, tmp_path, folder)

    assert world.warehouse.count("release.items") == len(items) == 20
    assert_in_order(scores(world))
    always = scores(world, "always-a")
    assert {always[name, model] for name in (*NINE, "R1") for model in BY_SKILL} == {50.0}
