"""What a demo runs again in a home that was built before: each reason, and nothing without one."""

from collections.abc import Callable, Iterator
from contextlib import closing

import dagster as dg
import duckdb
import pytest
from dagster._core.asset_graph_view.asset_graph_view import AssetGraphView
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
)

from assets.common.dagster_internals import CachingStaleStatusResolver
from dagster_project.cli import main as loom
from dagster_project.decisions import observe_decisions
from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance
from dagster_project.job_runs import restore_signal_handlers
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
    monkeypatch.setenv("LOOM_WORKSPACE", str(copied.home))
    with open_instance() as opened:
        yield opened


@pytest.fixture
def names(copied: Run, instance: dg.DagsterInstance) -> Outdated:
    """Names of what is out of date of a stage, by the settings and files of now."""

    def of_stage(stage: str) -> list[str]:
        graph = build_defs().get_repository_def().asset_graph
        found = outdated(instance, graph, Warehouse(copied.warehouse.path), stage)
        return [key.to_user_string() for key in found]

    return of_stage


def test_in_a_home_that_was_just_built_nothing_is(names, instance):
    assert {stage: names(stage) for stage in STAGES} == {stage: [] for stage in STAGES}
    definitions = build_defs()
    assert dg.evaluate_automation_conditions(definitions, instance).total_requested == 0
    graph = definitions.resolve_asset_graph()
    view = AssetGraphView.for_test(definitions, instance)
    resolver = CachingStaleStatusResolver(instance, graph, view)
    for key in graph.materializable_asset_keys:
        assert graph.get(key).is_partitioned or not resolver.get_stale_causes(key), key


def test_rows_and_files_that_are_gone_are_made_again_with_what_is_made_of_them(names, copied):
    with duckdb.connect(copied.home / "warehouse.duckdb") as connection:
        connection.execute(
            "DELETE FROM dialogue.questions WHERE question_id = "
            "(SELECT min(question_id) FROM dialogue.questions)"
        )
    found = names("dialogue")
    assert {"dialogue/questions", "dialogue/answers", "dialogue/dialogues"} <= {*found}
    assert "dialogue/summaries" not in found
    assert not names("cluster")

    made = copied.warehouse.select("choice.mmiu_images", "image_id")["image_id"].to_pylist()
    lost = {
        "reports/mmiu-*.html": "evaluate/reports",
        "releases/mmiu-*/card.json": "release/exports",
        "reports/cluster/pictures.html": "cluster/pictures",
        # An image that was made.
        f"images/*/{made[0]}.*": "choice/mmiu_items",
    }
    for pattern, asset in lost.items():
        (path,) = copied.home.glob(pattern)
        path.unlink()
        assert asset in names(asset.split("/")[0])


def test_a_setting_runs_what_it_is_of_and_what_follows(names: Outdated, copied: Run) -> None:
    (copied.home / "settings.yaml").write_text("cluster: {clusters: {tau: 0.8}}\n")
    found = names("cluster")
    assert {"cluster/clusters", "cluster/cohesion"} <= {*found}
    assert "cluster/embeddings" not in found


def test_what_people_decide_runs_what_reads_it_and_what_follows(names, copied, instance):
    with closing(ReviewStore(copied.home / "review.sqlite")) as store:
        lock = store.lock_item("Ada", "annotator")
        assert lock is not None
        observe_decisions(instance)
        assert not names("review"), "nobody has decided"
        store.decide(lock.token, verdict(lock, "Ada"))
    observe_decisions(instance)
    assert names("review") == ["review/agreement", "review/approved", "review/effort"]
    assert {"evaluate/item_decisions", "evaluate/judge_quality"} <= {*names("evaluate")}
    assert not names("release"), "what is approved may be the same"


def test_a_queue_that_is_gone_from_the_review_store_is_put_there_again(names, copied):
    for path in copied.home.glob("review.sqlite*"):
        path.unlink()
    assert {"review/queue", "review/decisions"} <= {*names("review")}, "what it queues is observed"
    with closing(ReviewStore(copied.home / "review.sqlite")):
        assert "review/queue" in names("review"), "it is empty"


def test_calls_that_failed_are_asked_again(names, copied, instance):
    lost = {"dagster/row_count": copied.warehouse.count("choice.translations"), "failed calls": 1}
    instance.report_runless_asset_event(
        dg.AssetMaterialization(["choice", "translations"], metadata=lost)
    )
    assert "choice/translations" in names("choice")


def test_a_check_that_failed_or_was_only_planned_runs_its_asset_and_a_warning_does_not(
    names: Outdated, instance: dg.DagsterInstance
) -> None:
    def evaluate(severity: dg.AssetCheckSeverity, passed: bool) -> None:
        instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                asset_key=dg.AssetKey(["quality", "checks"]),
                check_name="whole",
                passed=passed,
                metadata={},
                severity=severity,
            )
        )

    for severity in (dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR):
        evaluate(severity, passed=False)
        is_run = severity == dg.AssetCheckSeverity.ERROR
        assert ("quality/checks" in names("quality")) == is_run
    evaluate(dg.AssetCheckSeverity.ERROR, passed=True)
    assert "quality/checks" not in names("quality")

    # A run that was cut off had planned it.
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


def test_a_release_that_a_command_pins_runs_what_reads_it(names, copied, monkeypatch):
    assert not names("cluster")
    monkeypatch.setenv("DAGSTER_HOME", "set by the command")
    with restore_signal_handlers():
        assert loom(["release", "pin", "mmiu"]) == 0
    assert {"cluster/splits", "cluster/image_sets"} <= {*names("cluster")}
