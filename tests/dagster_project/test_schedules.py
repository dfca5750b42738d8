"""Schedules: evaluated as the daemon evaluates them, with no, one and several requests.

A tick that is repeated asks for runs under the keys that it used before: Dagster starts one run a key.
"""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.schedule_definition import ScheduleExecutionData

from dagster_project import schedules
from dagster_project.definitions import defs
from dagster_project.shards import observation
from resources.corpus.observation import ShardState
from resources.llm.ledger import Charge, Ledger
from resources.warehouse import Warehouse
from tests.assets.filled import put

pytestmark = pytest.mark.slow

ENTRIES = dg.AssetKey(["ingest", "entries"])
CALLS = dg.AssetKey(["ledger", "calls"])
MONDAY, NEXT_MONDAY = datetime(2026, 1, 5, 3, tzinfo=UTC), datetime(2026, 1, 12, 3, tzinfo=UTC)


def tick(
    instance: dg.DagsterInstance, schedule: dg.ScheduleDefinition, at: datetime = MONDAY
) -> ScheduleExecutionData:
    """One tick of a schedule, as the daemon evaluates it: it refuses requests without keys."""
    with dg.build_schedule_context(
        instance, scheduled_execution_time=at, repository_def=defs.get_repository_def()
    ) as context:
        return schedule.evaluate_tick(context)


def keys(data: ScheduleExecutionData) -> list[str | None]:
    return [request.run_key for request in data.run_requests]


def materialized(instance: dg.DagsterInstance, key: dg.AssetKey, *partitions: str | None) -> None:
    for partition in partitions:
        instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=partition))


def weekly(instance: dg.DagsterInstance, at: datetime = MONDAY) -> list[str | None]:
    requests = tick(instance, schedules.ingest_weekly, at).run_requests
    return [request.partition_key for request in requests]


@pytest.fixture
def far_and_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of one local shard and two that others may change: `far` and `owls`."""
    (tmp_path / "corpus.yaml").write_text(
        "shards: ['https://storage.example.org/far.tsv.gz']\n"
        "wikipedia: {contact: a@example.org, shards: {owls: {pages: [Owl]}}}\n"
    )
    (tmp_path / "near.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", str(tmp_path))


def test_the_weekly_schedule_ingests_all_new_shards(instance: dg.DagsterInstance) -> None:
    assert schedules.ingest_weekly.cron_schedule == "0 3 * * 1"
    assert schedules.ingest_weekly.job_name == "ingest"
    assert weekly(instance) == ["sample-a", "sample-b"]
    assert {"sample-a", "sample-b"} <= {*instance.get_dynamic_partitions("wit_shard")}
    materialized(instance, ENTRIES, "sample-a", "sample-b")
    done = tick(instance, schedules.ingest_weekly)
    assert done.run_requests == []
    assert done.skip_message == "Every shard of the corpus is ingested as it is now."


def test_the_weekly_schedule_ingests_a_shard_whose_file_has_changed(instance, tables):
    materialized(instance, ENTRIES, "sample-a", "sample-b")
    rows = [{"wit_shard": shard, "fingerprint": "as it was"} for shard in ("sample-a", "sample-b")]
    put(tables, {"ingest.shards": rows})
    for shard, fingerprint in (("sample-a", "as it was"), ("sample-b", "edited")):
        instance.report_runless_asset_event(observation(shard, ShardState("", fingerprint)))
    assert weekly(instance) == ["sample-b"]


def test_the_weekly_schedule_looks_again_at_what_others_may_have_changed(instance, far_and_near):
    assert weekly(instance) == ["far", "near", "owls"]
    materialized(instance, ENTRIES, "far", "near", "owls")
    # A partition that a person deleted is there again when it is due.
    instance.delete_dynamic_partition("wit_shard", "owls")
    assert weekly(instance) == ["far", "owls"]
    assert "owls" in instance.get_dynamic_partitions("wit_shard")


def test_the_corpus_says_how_many_shards_a_week_and_one_that_fails_keeps_none_waiting(
    instance: dg.DagsterInstance, far_and_near: None, tmp_path: Path
) -> None:
    with (tmp_path / "corpus.yaml").open("a") as settings:
        settings.write("weekly_shards: 1\n")
    assert weekly(instance) == ["far"]
    tried = {"dagster/partition": "far"}
    instance.create_run_for_job(dg.GraphDefinition("ingest").to_job(), tags=tried)
    assert weekly(instance) == ["near"]
    materialized(instance, ENTRIES, "near")
    assert weekly(instance) == ["owls"]
    materialized(instance, ENTRIES, "owls")
    assert weekly(instance) == ["far", "owls"], "what others may have changed is not counted"


def test_each_request_of_a_weekly_tick_has_a_key_of_its_own_and_keeps_it_when_it_is_repeated(
    instance: dg.DagsterInstance, far_and_near: None
) -> None:
    first = keys(tick(instance, schedules.ingest_weekly))
    assert len(set(first)) == 3 and all(first)
    assert keys(tick(instance, schedules.ingest_weekly)) == first
    # Next week the same shard is another run.
    assert not set(keys(tick(instance, schedules.ingest_weekly, NEXT_MONDAY))) & {*first}


MODELS = [f"offline-{name}" for name in ("always-a", "careful", "careless", "rambler", "refuser")]
"""Of the profile that is active without settings."""


def current_releases(tables: Warehouse, *releases: str, name: str = "mmdu") -> None:
    """Releases of a name, the last one of which is current."""
    release = {"name": name, "benchmark": name if name == "mmdu" else None}
    release |= {"kind": "benchmark", "origin": "built", "review_policy": "none"}
    rows = [{**release, "release_id": each} for each in releases]
    put(tables, {"release.releases": rows, "release.current": rows[-1:]})


def scored(tables: Warehouse, release: str, *models: str) -> None:
    score = {"release_id": release, "place": 0, "form": "floor"}
    score |= {"subset_label": "", "subset_value": "", "n_turns": 9}
    put(tables, {"evaluate.scores": [{**score, "model": model} for model in models]})


def without_scores(data: ScheduleExecutionData) -> list[str]:
    """The models that the one request of a tick is for; none without a request."""
    named = [request.tags["loom/without_scores"] for request in data.run_requests]
    return ", ".join(named).split(", ") if named else []


def test_the_nightly_schedule_runs_once_for_all_models_without_scores(instance, tables):
    schedule = schedules.evaluate_missing_models
    assert (schedule.cron_schedule, schedule.job_name) == ("0 2 * * *", "evaluate")
    # Nobody is evaluated on a release without a benchmark.
    current_releases(tables, "mmdu-45k-1", name="mmdu-45k")
    nothing = tick(instance, schedule)
    assert nothing.run_requests == []
    assert "Every model" in (nothing.skip_message or "")

    current_releases(tables, "mmdu-1")
    many = tick(instance, schedule)
    assert without_scores(many) == MODELS
    assert len(many.run_requests) == 1 and all(keys(many))
    assert keys(tick(instance, schedule)) == keys(many)
    assert keys(tick(instance, schedule, NEXT_MONDAY)) != keys(many)

    scored(tables, "mmdu-1", *MODELS[1:])
    assert without_scores(tick(instance, schedule)) == MODELS[:1]
    scored(tables, "mmdu-1", *MODELS)
    assert tick(instance, schedule).run_requests == []

    # Scores on an earlier release are none on the one current.
    current_releases(tables, "mmdu-1", "mmdu-2")
    assert without_scores(tick(instance, schedule)) == MODELS


def test_the_hourly_schedule_shows_the_ledger_when_there_is_something_new(instance, loom_home):
    schedule = schedules.mirror_ledger
    assert schedule.cron_schedule == "0 * * * *"
    assert schedule.job_name == "ledger"
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING

    def due() -> bool:
        found = tick(instance, schedule)
        assert keys(tick(instance, schedule)) == keys(found) and all(keys(found))
        return len(found.run_requests) == 1

    def shown(n_rows: int) -> None:
        metadata = {"dagster/row_count": n_rows}
        instance.report_runless_asset_event(dg.AssetMaterialization(CALLS, metadata=metadata))

    assert not due()
    assert not (loom_home / "ledger.sqlite").exists()  # Looking makes none.
    ledger = Ledger(loom_home / "ledger.sqlite")
    assert not due()  # Nothing was asked yet.
    when = "2026-01-01T00:00:00.000+00:00"
    paid = 1, 1, 0.5, when
    charge = Charge("key", *["x"] * 6, "live", "empty", "stop", *paid, "Empty.", "", None, {})
    ledger.add([charge])
    assert due()
    shown(1)
    assert not due()
    ledger.add([charge])
    assert due()
    shown(2)
    materialized(instance, CALLS, None)  # By hand, from the UI: nobody knows what it shows.
    assert due()
