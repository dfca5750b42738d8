"""What a demo runs again in a home that was built before: each reason, and nothing without one."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing

import dagster as dg
import duckdb
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
)

from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance
from dagster_project.outdated import outdated
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from tests.e2e.running import Run
from tests.resources.review.review_queue import verdict

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200)]

STAGES = (
    *("cluster", "dialogue", "rewrite", "choice", "quality"),
    *("review", "release", "evaluate"),
)
Outdated = Callable[[str], list[str]]


@pytest.fixture
def instance(copied: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("LOOM_HOME", str(copied.home))
    with open_instance() as opened:
        yield opened


@pytest.fixture
def names(copied: Run, instance: dg.DagsterInstance) -> Outdated:
    """Names of what is out of date of a stage, by the settings and files of now."""

    def of_stage(stage: str) -> list[str]:
        graph = build_defs().get_repository_def().asset_graph
        found = outdated(instance, graph, Warehouse(copied.warehouse.path), stage)
        return [key.to_user_string() for key in found.run]

    return of_stage


def test_in_a_home_that_was_just_built_nothing_is(names: Outdated) -> None:
    assert {stage: names(stage) for stage in STAGES} == {stage: [] for stage in STAGES}


def test_rows_that_are_gone_are_made_again_with_what_is_made_of_them(
    names: Outdated, copied: Run
) -> None:
    with duckdb.connect(copied.home / "warehouse.duckdb") as connection:
        connection.execute(
            "DELETE FROM dialogue.questions WHERE question_id = "
            "(SELECT min(question_id) FROM dialogue.questions)"
        )
    found = names("dialogue")
    assert {"dialogue/questions", "dialogue/answers", "dialogue/dialogues"} <= {*found}
    assert "dialogue/summaries" not in found
    assert not names("cluster")


def test_a_cell_that_somebody_edited_runs_what_reads_it(names: Outdated, copied: Run) -> None:
    with duckdb.connect(copied.home / "warehouse.duckdb") as connection:
        connection.execute(
            "UPDATE release.turns SET question = question || '?' "
            "WHERE starts_with(release_id, 'mmiu-')"
        )
    assert "evaluate/answers" in names("evaluate")
    assert not names("dialogue")


def test_of_what_follows_changed_rows_assets_may_be_kept_but_not_of_what_follows_a_setting(
    instance: dg.DagsterInstance, copied: Run
) -> None:
    graph = build_defs().get_repository_def().asset_graph
    answers, scores = dg.AssetKey(["evaluate", "answers"]), dg.AssetKey(["evaluate", "scores"])
    read_by_people = dg.AssetKey(["evaluate", "judge_quality"])
    with duckdb.connect(copied.home / "warehouse.duckdb") as connection:
        connection.execute("UPDATE evaluate.judgments SET explanation = 'another'")
    found = outdated(instance, graph, Warehouse(copied.warehouse.path), "evaluate")
    assert answers not in found.run
    assert scores in found.run and scores in found.may_be_kept
    assert read_by_people in found.may_be_kept, "whether people decided since is asked in its turn"
    (copied.home / "settings.yaml").write_text("evaluate: {answers: {seed: 5}}\n")
    graph = build_defs().get_repository_def().asset_graph
    found = outdated(instance, graph, Warehouse(copied.warehouse.path), "evaluate")
    assert {answers, scores} <= {*found.run} and not {answers, scores} & {*found.may_be_kept}


@pytest.mark.parametrize(
    ("pattern", "stage", "asset"),
    [
        ("reports/mmiu-*.html", "evaluate", "evaluate/reports"),
        ("releases/mmiu-*/card.json", "release", "release/exports"),
        ("reports/cluster/pictures.html", "cluster", "cluster/pictures"),
    ],
)
def test_files_that_are_gone_are_written_again(
    names: Outdated, copied: Run, pattern: str, stage: str, asset: str
) -> None:
    (path,) = copied.home.glob(pattern)
    path.unlink()
    assert asset in names(stage)


def test_a_setting_runs_what_it_is_of_and_what_follows(names: Outdated, copied: Run) -> None:
    (copied.home / "settings.yaml").write_text("cluster: {clusters: {tau: 0.8}}\n")
    found = names("cluster")
    assert {"cluster/clusters", "cluster/image_sets"} <= {*found}
    assert "cluster/embeddings" not in found


def test_what_people_decide_is_read_again_and_what_follows_only_if_it_changes(
    names: Outdated, copied: Run
) -> None:
    os.utime(copied.home / "review.sqlite")
    assert not names("review")
    with closing(ReviewStore(copied.home / "review.sqlite")) as store:
        lock = store.lock_item("Ada", "annotator")
        assert lock is not None
        assert not names("review"), "nobody has decided"
        store.decide(lock.token, verdict(lock, "Ada"))
    assert "review/approved" in names("review")
    assert not names("release")


def test_a_queue_that_is_gone_from_the_review_store_is_put_there_again(
    names: Outdated, copied: Run
) -> None:
    for path in copied.home.glob("review.sqlite*"):
        path.unlink()
    assert "review/queue" in names("review")
    with closing(ReviewStore(copied.home / "review.sqlite")):
        assert "review/queue" in names("review"), "it is empty"


def test_calls_that_failed_are_asked_again(
    names: Outdated, copied: Run, instance: dg.DagsterInstance
) -> None:
    lost = {"dagster/row_count": copied.warehouse.count("choice.translations"), "failed calls": 1}
    instance.report_runless_asset_event(
        dg.AssetMaterialization(["choice", "translations"], metadata=lost)
    )
    assert "choice/translations" in names("choice")


@pytest.mark.parametrize(
    ("severity", "is_run"),
    [(dg.AssetCheckSeverity.ERROR, True), (dg.AssetCheckSeverity.WARN, False)],
)
def test_a_check_that_failed_runs_its_asset_and_a_warning_does_not(
    names: Outdated, instance: dg.DagsterInstance, severity: dg.AssetCheckSeverity, is_run: bool
) -> None:
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(["quality", "checks"]),
            check_name="whole",
            passed=False,
            metadata={},
            severity=severity,
        )
    )
    assert ("quality/checks" in names("quality")) == is_run


def test_a_check_that_a_run_which_was_cut_off_had_only_planned_runs_its_asset(
    names: Outdated, instance: dg.DagsterInstance
) -> None:
    job = build_defs().resolve_job_def("quality")
    run = instance.create_run_for_job(job)
    instance.report_dagster_event(
        dg.DagsterEvent(
            dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED.value,
            "quality",
            event_specific_data=AssetCheckEvaluationPlanned(
                asset_key=dg.AssetKey(["quality", "checks"]), check_name="whole"
            ),
        ),
        run.run_id,
    )
    assert "quality/checks" in names("quality")


def test_the_ledger_is_shown_again_once_it_has_more_calls(names: Outdated, copied: Run) -> None:
    assert "ledger/calls" not in names("ledger")
    call = next(iter(copied.ledger))
    copied.ledger.add([call._replace(key=f"{call.key[:-1]}x")])
    assert "ledger/calls" in names("ledger")
