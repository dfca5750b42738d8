"""What the automation sensor would do on a finished build, once somebody turns it on."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from dagster._utils.schedules import cron_string_iterator

from dagster_project.definitions import build_defs
from dagster_project.jobs import run_job
from dagster_project.resources import SAMPLE_CORPUS
from tests.dagster_project.test_sensors import Daemon
from tests.e2e.running import Run

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::dagster.BetaWarning"),
    pytest.mark.slow,
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
            dg.AssetMaterialization(DECISIONS, tags={DATA_VERSION_TAG: state})
        )


@contextmanager
def instance_of(run: Run) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance of the run's home, for definitions that are loaded meanwhile."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LOOM_HOME", str(run.home))
        monkeypatch.setenv("DAGSTER_HOME", str(run.home / "dagster"))
        with dg.DagsterInstance.from_config(str(run.home / "dagster")) as instance:
            yield instance


@pytest.fixture(scope="module")
def quiet(main_job: Run) -> AssetDaemonCursor | None:
    """Where the sensor stands after its first evaluation."""
    with instance_of(main_job) as instance:
        automation = Automation(main_job, instance)
        assert automation.requested() == set(), "nothing is due after the main job"
        return automation.cursor


@pytest.fixture
def automation(copied: Run, quiet: AssetDaemonCursor | None) -> Iterator[Automation]:
    with instance_of(copied) as instance:
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


def test_the_same_decisions_reported_again_trigger_nothing(automation: Automation) -> None:
    automation.decided("first")
    automation.requested()
    automation.run("review/approved", "release/releases")
    automation.requested()
    automation.decided("first")
    assert automation.requested() == set()


def test_a_changed_setting_runs_its_asset_and_what_follows_and_nothing_before(
    automation: Automation,
) -> None:
    (automation.home / "settings.yaml").write_text(
        "cluster: {cohesion: {min_mean_similarity: 0.6}}"
    )
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


# --- Everything turned on ----------------------------------------------------------------------------

MONDAY = datetime(2026, 11, 30, 2, tzinfo=UTC)
"""02:00: within the hour from here every schedule is due."""


def an_hour(automation: Automation) -> Counter[str]:
    """How often whatever starts runs would start some within an hour in which all of it is turned on.

    Sensors are ticked once a minute, the automation is evaluated every ten minutes, and schedules when
    they are due. What asks for a run with a key that there was starts none, as Dagster has it.
    """
    started: Counter[str] = Counter()
    keys: set[str] = set()

    def note(name: str, requests: Iterable[dg.RunRequest]) -> None:
        for request in requests:
            if request.run_key not in keys:
                keys.update([request.run_key] if request.run_key else [])
                started[name] += 1

    repository = build_defs().get_repository_def()
    daemons = {
        sensor.name: Daemon(automation.instance, sensor)
        for sensor in repository.sensor_defs
        if not isinstance(sensor, dg.AutomationConditionSensorDefinition)
    }
    ends = MONDAY + timedelta(hours=1)
    for schedule in repository.schedule_defs:
        for tick in cron_string_iterator(MONDAY.timestamp(), str(schedule.cron_schedule), "UTC"):
            if tick > ends:
                break
            started[f"{schedule.name} is due"] += 1
            with dg.build_schedule_context(
                automation.instance, scheduled_execution_time=tick, repository_def=repository
            ) as context:
                note(schedule.name, schedule.evaluate_tick(context).run_requests or [])
    for minute in range(61):
        for name, daemon in daemons.items():
            note(name, daemon.tick().run_requests or [])
        if minute % 10 == 0 and automation.requested():
            started["automation"] += 1
    return started


def test_an_hour_with_all_schedules_and_sensors_starts_nothing_but_what_is_new(
    automation: Automation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = {
        "ingest_weekly is due": 1,
        "evaluate_missing_models is due": 1,
        "mirror_ledger is due": 2,
    }
    assert an_hour(automation) == due

    corpus = tmp_path / "corpus"
    shutil.copytree(SAMPLE_CORPUS, corpus)
    shutil.copyfile(corpus / "shards" / "sample-a.tsv", corpus / "shards" / "sample-c.tsv")
    monkeypatch.setenv("LOOM_CORPUS", str(corpus))
    # A new shard is asked for once by each, however often they look: the schedule before the sensor has
    # made it a partition, the automation when it is one.
    assert an_hour(automation) == {**due, "ingest_weekly": 1, "automation": 1}
