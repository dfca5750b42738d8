"""The home that 0.2.0 made, and an empty one.

Work on the former gives the same clusters, answers and scores of its releases. Judgments alone are
asked for once more: the judge's prompt has another version since. Dialogues are not made again, as
they have another shape by default since.
"""

import dagster as dg
import pytest

from methods.evaluation.statistics.estimates import PSEUDO_CLUSTERS
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.corpus import two_sided_corpus
from tests.assets.world import ANY_ASSETS, RANKING, WITHOUT_PICTURES, Row, World, sentence
from tests.homes.build import SETS
from tests.homes.kept import OF_0_2_0, unpack

pytestmark = pytest.mark.nightly


KEPT = {
    **dict.fromkeys(("cluster.clusters", "cluster.entry_splits", "cluster.image_sets"), "*"),
    **dict.fromkeys(("review.decisions", "release.current"), "*"),
    # Without the columns that later versions added, which the kept home has no values for.
    "cluster.communities": "* EXCLUDE (language)",
    "evaluate.answers": "* EXCLUDE (settings)",
    "evaluate.judgments": "item_id, trial, turn, model, judge, score, scores",
}
OF_INTERVALS = {"ci_low", "ci_high", "ranks", "n_clusters", "method", "seed"}
JUDGE = "offline-judge"


@pytest.fixture(scope="module")
def before(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("kept")
    unpack(root, OF_0_2_0)
    return make_world(root, two_sided_corpus(root / "corpus"))


@pytest.fixture(scope="module")
def worked_on(before: World, copied: CopyWorld) -> World:
    """The same home after this version clustered and evaluated once more."""
    world = copied(before)
    for run in (
        world.ingest,
        lambda: world.ingest("others"),
        lambda: world.run("cluster", SETS, assets=WITHOUT_PICTURES),
        world.evaluate,
        lambda: world.run(ANY_ASSETS, assets=RANKING),
    ):
        result = run()
        assert result.success, sentence(result)
    return world


def test_no_model_but_the_judge_is_asked_anything(before: World, worked_on: World) -> None:
    assert {asked.body["model"] for asked in worked_on.proxy.requests} == {JUDGE}
    kept, found = ({call.key: call for call in world.ledger} for world in (before, worked_on))
    assert kept and kept.items() <= found.items()
    assert {found[key].stage for key in found.keys() - kept.keys()} == {"evaluate.judgments"}


def test_scores_are_what_they_were_and_their_intervals_are_of_the_method_in_force(
    before: World, worked_on: World
) -> None:
    boards: list[list[Row]] = [world.table("evaluate.leaderboard") for world in (before, worked_on)]
    was, found = (
        [
            {
                name: value
                for name, value in row.items()
                if name not in OF_INTERVALS | {"judge_version", "settings"}
            }
            for row in board
        ]
        for board in boards
    )
    assert found == was and found
    assert {row["method"] for row in boards[1]} == {PSEUDO_CLUSTERS}


@pytest.mark.parametrize("table", KEPT)
def test_work_gives_what_was_there(table: str, before: World, worked_on: World) -> None:
    query = f"SELECT {KEPT[table]} FROM {table} ORDER BY ALL"
    found: list[Row] = worked_on.rows(query)
    assert found == before.rows(query) and found


def test_an_empty_input_is_one_sentence_at_most(empty_world: MakeWorld) -> None:
    world = empty_world()
    keys = world.definitions.resolve_asset_graph().executable_asset_keys
    later = sorted((key for key in keys if key.path[0] != "ingest"), key=str)
    assert {key.path[0] for key in later} >= {
        "cluster",
        "dialogue",
        "release",
        "evaluate",
        "ledger",
    }
    for key in later:
        run = world.run(ANY_ASSETS, assets=dg.AssetSelection.assets(key))
        if not run.success:
            # `sentence` fails where the step ended by anything but a sentence of its own.
            said = sentence(run)
            assert said.endswith(".") and "\n" not in said, key
