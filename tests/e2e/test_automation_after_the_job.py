"""What the automation sensor would do on a finished build, once somebody turns it on."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from dagster_project.definitions import build_defs
from dagster_project.job_runs import run_job
from tests.e2e.running import Run, instance_of

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::dagster.BetaWarning"),
    pytest.mark.slow,
    pytest.mark.nightly,
]

DECISIONS = ["review", "decisions"]


class Automation:
    """The sensor's evaluations one after another, and what the machine would run for them."""

    def __init__(
        self, run: Run, instance: dg.DagsterInstance, cursor: AssetDaemonCursor | None = None
    ):
        self.home, self.instance, self.cursor = run.home, instance, cursor

    def requested(self) -> set[str]:
        """The assets that this evaluation would run, with definitions as they load now."""
        result = dg.evaluate_automation_conditions(build_defs(), self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        return {
            each.key.to_user_string()
            for each in result.results
            if isinstance(each.key, dg.AssetKey) and result.get_num_requested(each.key)
        }

    def run(self, *assets: str, partition: str | None = None) -> None:
        """Run some assets, as by hand."""
        done = run_job(
            build_defs().resolve_job_def("__ASSET_JOB"),
            self.instance,
            partition=partition,
            assets=[dg.AssetKey(asset.split("/")) for asset in assets],
        )
        assert done.success

    def decided(self, state: str) -> None:
        """As the sensor reports that people are done."""
        self.instance.report_runless_asset_event(
            dg.AssetObservation(DECISIONS, tags={DATA_VERSION_TAG: state})
        )


@pytest.fixture(scope="module")
def quiet(main_job: Run) -> AssetDaemonCursor | None:
    """Where the sensor stands after its first evaluation."""
    with instance_of(main_job.home) as instance:
        automation = Automation(main_job, instance)
        assert automation.requested() == set(), "nothing is due after the main job"
        return automation.cursor


@pytest.fixture
def automation(copied: Run, quiet: AssetDaemonCursor | None) -> Iterator[Automation]:
    with instance_of(copied.home) as instance:
        yield Automation(copied, instance, quiet)


def test_rows_that_are_as_they_were_trigger_no_run(automation: Automation) -> None:
    automation.run("cluster/duplicates", "cluster/clusters")
    automation.run("ingest/pages", "ingest/entries", partition="sample-a")
    assert automation.requested() == set()


def test_decisions_reach_the_release_and_what_stands_on_it(automation: Automation) -> None:
    automation.decided("first")
    requested = automation.requested()
    assert requested >= {"review/approved", "release/releases", "release/exports"}
    assert not any(key.startswith(("ingest", "cluster", "dialogue")) for key in requested)


def test_a_changed_setting_runs_its_asset_and_what_follows_and_nothing_before(
    automation: Automation,
) -> None:
    with (automation.home / "settings.yaml").open("a") as settings:
        settings.write("cluster: {cohesion: {min_mean_similarity: 0.6}}\n")
    assert automation.requested() == {"cluster/cohesion", "cluster/pictures"}
    assert automation.requested() == set()


def test_a_new_model_is_asked_and_reaches_the_leaderboard(
    automation: Automation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = (Path("models.yaml")).read_text()
    models = models.replace("offline-rambler]", "offline-rambler, newcomer]")
    models += "\n  newcomer: {provider: openai, base_url: 'http://127.0.0.1:1/v1'}\n"
    (tmp_path / "models.yaml").write_text(models)
    monkeypatch.setenv("LOOM_MODELS", str(tmp_path / "models.yaml"))
    requested = automation.requested()
    assert requested >= {"evaluate/answers", "evaluate/scores", "evaluate/leaderboard"}
    assert {key.split("/")[0] for key in requested} <= {"evaluate"}


def test_a_blocking_check_that_failed_holds_back_what_follows_and_no_more(
    automation: Automation,
) -> None:
    automation.decided("first")
    approved = dg.AssetKey(["review", "approved"])
    automation.instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(["review", "queue"]),
            check_name="schema",
            passed=False,
            blocking=True,
            metadata={},
        )
    )
    assert approved.to_user_string() not in automation.requested()
