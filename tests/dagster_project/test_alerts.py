"""One message for a run that failed, with its sentence and its address; none for what is no failure."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.execution.backfill import (
    BULK_ACTION_TERMINAL_STATUSES,
    BulkActionStatus,
    PartitionBackfill,
)
from dagster._core.storage.tags import AUTO_RETRY_RUN_ID_TAG, BACKFILL_ID_TAG, WILL_RETRY_TAG

from assets.common.failures import plain_errors
from dagster_project import alerts, ui
from dagster_project.alerts import alert_of_failed_checks, alert_of_failed_runs
from dagster_project.job_runs import run_job
from methods.errors import UserError
from resources.llm.model_calls import WaitingForBatch
from resources.web.alerts import EMAIL, WEBHOOK, send
from resources.web.ports import ui_page
from tests.dagster_project.conftest import Typed
from tests.doubles.odd_api import OddApi, answering, with_status
from tests.doubles.serving import free_ports

SENTENCE = "The corpus has no shards: name another folder."


def job_of(name: str, error: BaseException) -> dg.JobDefinition:
    @dg.op(name="ingest")
    def step() -> None:
        with plain_errors():
            raise error

    return dg.GraphDefinition(name, node_defs=[step]).to_job()


wrong = job_of("wrong", UserError(SENTENCE))
waiting = job_of("waiting", WaitingForBatch("3 requests are in a batch."))


@dg.asset
def table() -> int:
    return 1


@dg.asset_check(asset=table)
def whole() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity.ERROR)


@dg.asset_check(asset=table)
def large() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity.WARN)


checked = dg.Definitions(
    assets=[table], asset_checks=[whole, large], jobs=[dg.define_asset_job("checked")]
).resolve_job_def("checked")


@pytest.fixture
def webhook(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OddApi]:
    with answering(with_status(200)) as server:
        monkeypatch.setenv(WEBHOOK, server.url)
        monkeypatch.setenv("LOOM_UI", "https://loom.example.org/")
        yield server


def tick(sensor: dg.SensorDefinition, instance: dg.DagsterInstance, cursor: str | None) -> Any:
    repository = dg.Definitions(sensors=[sensor]).get_repository_def()
    context = dg.build_sensor_context(instance, cursor, repository_def=repository)
    return sensor.evaluate_tick(context)


def ticks(sensor: dg.SensorDefinition, instance: dg.DagsterInstance, cursor: str | None) -> str:
    """Evaluate a sensor as the daemon does, until it has seen all; the cursor then."""
    for _ in range(5):
        cursor = tick(sensor, instance, cursor).cursor
    return str(cursor)


def skips(sensor: dg.SensorDefinition, instance: dg.DagsterInstance, cursor: str) -> str:
    """Why the next tick is skipped that comes to a run."""
    return str(tick(sensor, instance, cursor).skip_message)


def test_a_failed_run_and_a_failed_check_are_told_of_once(webhook, instance):
    cursor = ticks(alert_of_failed_runs, instance, None)
    of_checks = ticks(alert_of_failed_checks, instance, None)
    result = run_job(wrong, instance)
    cursor = ticks(alert_of_failed_runs, instance, cursor)
    address = f"https://loom.example.org/runs/{result.run_id}"
    (alert,) = webhook.received
    assert alert.json == {"text": f"vlm-loom: wrong failed\ningest: {SENTENCE}\n{address}"}
    assert run_job(checked, instance).success
    ticks(alert_of_failed_runs, instance, cursor)
    ticks(alert_of_failed_checks, instance, of_checks)
    _, told = webhook.received
    assert told.json["text"].splitlines()[:-1] == [
        "vlm-loom: checks failed in checked",
        "table whole",
    ]


def test_what_goes_on_is_not_told_of(webhook: OddApi, instance: dg.DagsterInstance) -> None:
    cursor = ticks(alert_of_failed_runs, instance, None)
    for job, tags in ((waiting, {}), (wrong, {WILL_RETRY_TAG: "true"})):
        assert not run_job(job, instance, tags=tags).success
    with pytest.raises(KeyboardInterrupt):
        run_job(job_of("stopped", KeyboardInterrupt()), instance)
    ticks(alert_of_failed_runs, instance, cursor)
    assert webhook.received == []


def backfill(name: str, status: BulkActionStatus) -> PartitionBackfill:
    return PartitionBackfill(name, status, from_failure=False, tags={}, backfill_timestamp=1.0)


def test_a_run_that_an_ended_backfill_does_not_launch_again_is_told_of(webhook, instance):
    still_open = set(BulkActionStatus) - set(BULK_ACTION_TERMINAL_STATUSES)
    assert {each.value for each in still_open} == alerts.OPEN_BACKFILLS
    cursor = ticks(alert_of_failed_runs, instance, None)
    instance.add_backfill(backfill("open", BulkActionStatus.REQUESTED))
    instance.add_backfill(backfill("ended", BulkActionStatus.FAILED))
    for name in ("open", "ended", "gone"):
        run_job(wrong, instance, tags={WILL_RETRY_TAG: "true", BACKFILL_ID_TAG: name})
        cursor = ticks(alert_of_failed_runs, instance, cursor)
    # A run that was launched again before its backfill ended.
    again = {WILL_RETRY_TAG: "true", BACKFILL_ID_TAG: "ended", AUTO_RETRY_RUN_ID_TAG: "another"}
    run_job(wrong, instance, tags=again)
    ticks(alert_of_failed_runs, instance, cursor)
    told = [alert.json["text"].splitlines()[1:-1] for alert in webhook.received]
    end = "so it is not launched again: execute it again."
    assert told == [
        [f"ingest: {SENTENCE}", f"Its backfill ended has ended (FAILED), {end}"],
        [f"ingest: {SENTENCE}", f"Its backfill gone has ended (deleted), {end}"],
    ]


def test_an_alert_that_nobody_took_is_sent_again_by_the_next_tick(webhook, instance, monkeypatch):
    webhook.answer = with_status(500)
    cursor = ticks(alert_of_failed_runs, instance, None)
    run_job(wrong, instance)
    with pytest.raises(dg.DagsterError, match="was not sent. The webhook .* status 500"):
        ticks(alert_of_failed_runs, instance, cursor)
    webhook.answer = with_status(200)
    ticks(alert_of_failed_runs, instance, cursor)
    assert len(webhook.received) == 2

    webhook.answer = with_status(500)
    monkeypatch.setattr(alerts, "RETRY_SECONDS", 0)
    skipped = skips(alert_of_failed_runs, instance, cursor)
    assert "was not sent. The webhook of LOOM_ALERT_WEBHOOK answered with status 500" in skipped


def test_an_alert_that_one_of_two_receivers_took_is_not_sent_again(webhook, instance, monkeypatch):
    monkeypatch.setenv(EMAIL, "ada@example.org")
    cursor = ticks(alert_of_failed_runs, instance, None)
    run_job(wrong, instance)
    assert f"was not sent. {EMAIL} needs" in skips(alert_of_failed_runs, instance, cursor)
    assert len(webhook.received) == 1


@pytest.mark.parametrize("command", ["ui", "exec true"])
def test_mail_addresses_with_a_line_break_are_refused_at_start(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed, command: str
) -> None:
    monkeypatch.setattr(ui, "replace_process", lambda _command: 0)
    refused = f"{EMAIL} has a line break: write the addresses in one line, separated by commas."
    for addresses in ("ada@example.org,\neva@example.org", "ada@example.org\n"):
        monkeypatch.setenv(EMAIL, addresses)
        assert refused in typed(command, code=2).err
        assert send("s", "t") == [refused]


def test_links_of_alerts_have_the_port_of_the_ui(loom_home, monkeypatch):
    pages = []
    monkeypatch.setattr(ui, "bring_home_up_to_date", lambda: None)
    monkeypatch.setattr(ui, "_prepare_instance", lambda: None)
    monkeypatch.setattr(ui, "replace_process", lambda _command: pages.append(ui_page("/runs/x")))
    monkeypatch.setattr(ui.os, "chdir", lambda _folder: None)
    monkeypatch.delenv("LOOM_UI", raising=False)
    monkeypatch.setenv("PORT", "")
    (port,) = free_ports(1)
    ui.serve(port)
    assert pages == [f"http://127.0.0.1:{port}/runs/x"]


def test_without_an_address_a_tick_is_skipped_and_says_so(webhook, instance, monkeypatch):
    monkeypatch.delenv(WEBHOOK)
    sensors = {alert_of_failed_runs: wrong, alert_of_failed_checks: checked}
    cursors = {sensor: ticks(sensor, instance, None) for sensor in sensors}
    for sensor, job in sensors.items():
        run_job(job, instance)
        reason = skips(sensor, instance, cursors[sensor])
        assert "set LOOM_ALERT_WEBHOOK or LOOM_ALERT_EMAIL" in reason
    assert webhook.received == []
