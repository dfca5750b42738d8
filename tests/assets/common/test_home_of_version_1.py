"""A build on the first release's home: the same clusters, releases and scores, and nothing is asked."""

from pathlib import Path

import pytest

from resources.prompts import prompt
from resources.reports.release_import import import_release
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.world import Row, World, copy_of
from tests.homes.version_1 import unpack

SETS = {
    "cluster__image_sets": {
        "config": {
            "benchmark_sizes": [3],
            "instruction_sizes": [2],
            "benchmark_sets": 2,
            "instruction_sets": 1,
        }
    }
}
"""What the first release's home was clustered with."""
KEPT = {
    "clusters": "FROM cluster.clusters ORDER BY ALL",
    "communities": "FROM cluster.communities ORDER BY ALL",
    "image sets": "FROM cluster.image_sets ORDER BY ALL",
    "rewrites": "FROM rewrite.rewrites ORDER BY ALL",
    "decisions": "FROM review.decisions ORDER BY ALL",
    "releases": "FROM release.releases ORDER BY ALL",
    "current": "FROM release.current ORDER BY ALL",
    "items": "FROM release.items ORDER BY ALL",
    "turns": "FROM release.turns ORDER BY ALL",
    "references": "FROM release.references ORDER BY ALL",
    "images": "FROM release.images ORDER BY ALL",
    # An earlier version did not keep how an answer ended.
    "answers": "SELECT * EXCLUDE (finish_reason) FROM evaluate.answers ORDER BY ALL",
    "judgments": "FROM evaluate.judgments ORDER BY ALL",
    # Ranks are new, and intervals are drawn from other random numbers.
    "leaderboard": "SELECT release, model, metric, value, judged_only, n_items, n_judged, n_failed, "
    "n_refused, judge, provider FROM evaluate.leaderboard ORDER BY ALL",
    "score queue": "FROM evaluate.score_queue ORDER BY ALL",
    "agreement": "SELECT * EXCLUDE (low, high) FROM review.agreement ORDER BY ALL",
    "agreement with judges": "SELECT * EXCLUDE (low, high) FROM evaluate.judge_agreement ORDER BY ALL",
}


@pytest.fixture(scope="module")
def before(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("version_1")
    unpack(root)
    return make_world(root, Corpus(root / "corpus"))


@pytest.fixture(scope="module")
def rebuilt(
    before: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> World:
    """The same home after every job was run on it by this version."""
    root = tmp_path_factory.mktemp("rebuilt")
    copy_of(before.root, root)
    world = make_world(root, before.corpus)
    assert world.ingest().success
    assert world.run("cluster", SETS).success
    assert world.generate().success
    assert world.release("all").success
    assert world.evaluate().success
    drawn = {"evaluate__score_queue": {"config": {"n_answers": 3}}}
    assert world.leaderboard(drawn).success
    return world


def test_no_model_is_asked_anything(before: World, rebuilt: World) -> None:
    assert rebuilt.proxy.requests == []
    assert len(rebuilt.ledger) == len(before.ledger) == 79
    assert list(rebuilt.ledger) == list(before.ledger)


@pytest.mark.parametrize("what", KEPT)
def test_a_build_gives_what_was_there(what: str, before: World, rebuilt: World) -> None:
    found: list[Row] = rebuilt.rows(KEPT[what])
    assert found == before.rows(KEPT[what]) and found


def test_scores_name_the_prompt_that_the_judge_had_and_then_the_one_that_superseded_it(
    before: World, rebuilt: World
) -> None:
    judge = prompt("mmdu/judge")
    assert judge.superseded is not None
    versions = "SELECT DISTINCT judge_version AS version FROM evaluate.leaderboard"
    assert before.rows(versions) == [{"version": judge.superseded.version}]
    assert rebuilt.rows(versions) == [{"version": judge.version}]


def test_every_release_can_be_imported_into_another_home(
    rebuilt: World, make_world: MakeWorld, tmp_path: Path
) -> None:
    """Folders of releases that are not in force got the rows that the first release did not write."""
    other = make_world(tmp_path, rebuilt.corpus)
    folders = sorted((rebuilt.home / "releases").iterdir())
    assert len(folders) == 4
    for folder in folders:
        import_release(folder, other.home / "releases", other.warehouse, other.images)
    for table in ("items", "turns", "references", "images"):
        text = f"FROM release.{table} ORDER BY ALL"
        assert other.rows(text) == rebuilt.rows(text)
