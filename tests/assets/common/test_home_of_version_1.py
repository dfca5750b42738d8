"""Work on the first release's home: the same clusters, releases and scores, and nothing is asked.

Its benchmark and its instruction set have an image in common, so that nothing is left of the latter
when they are frozen again, before the corpus is divided: then sets are sampled anew on the side that
they were not on.

It is with the prompts that its questions and answers were written by (`LOOM_PROMPTS`); by those of
today both are asked for anew. The judge reads more than it did then, so judging anew asks it alone.
"""

from pathlib import Path

import dagster as dg
import pytest

from assets.evaluate.judge import judge_version
from methods.benchmarks import BENCHMARKS
from resources.reports.release_import import import_release
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.world import ANY_ASSETS, Row, World, copy_of, sentence
from tests.homes.version_1 import unpack

pytestmark = pytest.mark.nightly(
    sibling="tests/resources/test_migrations.py"
    "::test_every_row_of_version_1_is_there_under_its_new_name"
)

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
PROMPTS_OF_THEN = Path(__file__).parents[2] / "homes" / "prompts_of_version_1"
"""What wrote its questions and answers; other prompts of the time are today's."""
CLUSTERED = dg.AssetSelection.assets(
    *(["cluster", name] for name in ("embeddings", "duplicates", "clusters"))
)
EXPORTS = dg.AssetSelection.assets(["release", "exports"])
ANSWERS = dg.AssetSelection.assets(["evaluate", "answers"])
SUPERSEDED, THEN = "mmdu/judge@aa9bc1f9", "mmdu/judge@4bf65a46"
"""The judge's prompt that was sent, and the one as which its replies count."""
NOW = judge_version(BENCHMARKS["mmdu"], "shown")
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
    # Processors differ in the last digits of a correlation.
    "agreement": "SELECT * EXCLUDE (low, high) REPLACE (round(value, 9) AS value) "
    "FROM review.agreement ORDER BY ALL",
    "agreement with judges": "SELECT * EXCLUDE (low, high) REPLACE (round(value, 9) AS value) "
    "FROM evaluate.judge_agreement ORDER BY ALL",
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
    """The same home after this version made all on it but sides, sets, releases and judgments."""
    root = tmp_path_factory.mktemp("rebuilt")
    copy_of(before.root, root)
    world = make_world(root, before.corpus, LOOM_PROMPTS=str(PROMPTS_OF_THEN))
    drawn = {"evaluate__score_queue": {"config": {"n_answers": 3}}}
    for run in (
        world.ingest,
        lambda: world.run(ANY_ASSETS, assets=CLUSTERED),
        world.generate,
        lambda: world.run(ANY_ASSETS, assets=EXPORTS),
        lambda: world.run(ANY_ASSETS, assets=ANSWERS),
        lambda: world.leaderboard(drawn),
    ):
        result = run()
        assert result.success, sentence(result)
    return world


def test_no_model_is_asked_anything(before: World, rebuilt: World) -> None:
    assert rebuilt.proxy.requests == []
    assert len(rebuilt.ledger) == len(before.ledger) == 79
    assert list(rebuilt.ledger) == list(before.ledger)


def test_by_the_prompts_of_today_questions_and_answers_alone_are_asked_for_anew(
    before: World, rebuilt: World, make_world: MakeWorld, tmp_path: Path
) -> None:
    copy_of(rebuilt.root, tmp_path)
    world = make_world(tmp_path, rebuilt.corpus)

    assert world.generate().success

    tasks = {request.task for request in world.proxy.requests}
    assert tasks == {"questions", "answers"}
    kept = list(world.ledger)
    assert all(call in kept for call in before.ledger), "what was paid for is kept"


def test_what_two_of_its_releases_share_is_left_out_until_the_corpus_is_divided(
    rebuilt: World, make_world: MakeWorld, tmp_path: Path
) -> None:
    copy_of(rebuilt.root, tmp_path)
    world = make_world(tmp_path, rebuilt.corpus)
    names = "SELECT name FROM release.current ORDER BY ALL"
    released = world.release("all")
    assert released.success, sentence(released)
    assert world.rows(names) == [{"name": "mmdu"}]
    left_out = world.rows("SELECT name, kind FROM release.overlaps ORDER BY ALL")
    assert left_out == [{"name": "mmdu-instruct", "kind": kind} for kind in ("image", "page")]

    assert world.run("cluster", SETS).success
    assert world.generate().success
    released = world.release("none")

    assert released.success, sentence(released)
    assert world.rows(names) == [{"name": "mmdu"}, {"name": "mmdu-instruct"}]
    assert world.rows("FROM release.overlaps") == []


@pytest.mark.parametrize("what", KEPT)
def test_work_gives_what_was_there(what: str, before: World, rebuilt: World) -> None:
    found: list[Row] = rebuilt.rows(KEPT[what])
    assert found == before.rows(KEPT[what]) and found


VERSIONS = "SELECT DISTINCT judge_version AS version FROM evaluate.leaderboard ORDER BY ALL"


def test_scores_name_the_prompt_that_the_judge_had_and_then_the_one_that_superseded_it(
    before: World, rebuilt: World
) -> None:
    assert before.rows(VERSIONS) == [{"version": SUPERSEDED}]
    assert rebuilt.rows(VERSIONS) == [{"version": THEN}]


def test_judging_anew_asks_the_judge_alone_and_mixes_nothing_with_what_it_said_then(
    rebuilt: World, make_world: MakeWorld, tmp_path: Path
) -> None:
    copy_of(rebuilt.root, tmp_path)
    world = make_world(tmp_path, rebuilt.corpus)
    in_force = "release_id IN (SELECT release_id FROM release.current)"
    assert world.evaluate().success
    assert world.score().success

    (judged,) = world.rows(f"SELECT count(*) AS n FROM evaluate.judgments WHERE {in_force}")
    assert len(world.proxy.requests) == len(world.proxy.asked("judge")) == judged["n"] > 0
    # Replies that were paid for then stay in the ledger, and their scores where they are not replaced.
    kept = list(world.ledger)
    assert all(call in kept for call in rebuilt.ledger)
    others = f"FROM evaluate.judgments WHERE NOT {in_force} ORDER BY ALL"
    assert world.rows(others) == rebuilt.rows(others) != []
    scored = "release IN (SELECT release_id FROM release.current)"
    assert world.rows(f"{VERSIONS.replace('ORDER', f'WHERE {scored} ORDER')}") == [{"version": NOW}]
    assert world.rows(VERSIONS) == [{"version": THEN}, {"version": NOW}]


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
