"""Schedules and sensors, evaluated on a real instance."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.common.partitions import buckets
from dagster_project import schedules, sensors
from dagster_project.definitions import defs
from dagster_project.resources import SAMPLE_CORPUS
from methods.ids import content_id
from methods.review import Decision, QueueItem
from resources.home import REPO_ROOT, review_path
from resources.llm.ledger import Charge, Ledger
from resources.review.store import ReviewStore

ENTRIES = dg.AssetKey(["ingest", "entries"])
SCORES = dg.AssetKey(["evaluate", "scores"])
ITEMS = dg.AssetKey(["release", "releases"])
CALLS = dg.AssetKey(["ledger", "calls"])
DECISIONS = dg.AssetKey(["review", "decisions"])


@pytest.fixture
def instance(loom_home: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as temporary:
        yield temporary


def materialized(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=partition))


def weekly(instance: dg.DagsterInstance) -> list[str]:
    """Partitions that the weekly schedule asks for."""
    answer = list(schedules.ingest_weekly(dg.build_schedule_context(instance)))
    return [each.partition_key for each in answer if isinstance(each, dg.RunRequest)]


def test_the_weekly_schedule_ingests_the_next_shard_until_all_are_in(
    instance: dg.DagsterInstance,
) -> None:
    assert schedules.ingest_weekly.cron_schedule == "0 3 * * 1"
    for shard in ("sample-a", "sample-b"):
        assert weekly(instance) == [shard]
        assert shard in instance.get_dynamic_partitions("wit_shard")
        materialized(instance, ENTRIES, shard)
    assert weekly(instance) == []


def test_the_weekly_schedule_looks_again_at_what_others_may_have_changed(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpus.yaml").write_text(
        "shards: ['https://storage.example.org/far.tsv.gz']\n"
        "wikipedia: {contact: a@example.org, shards: {owls: {pages: [Owl]}}}\n"
    )
    (tmp_path / "near.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", str(tmp_path))
    assert weekly(instance) == ["far"]  # One new shard a week.
    for shard in ("far", "near", "owls"):
        materialized(instance, ENTRIES, shard)
    assert weekly(instance) == ["far", "owls"]


def test_the_nightly_schedule_evaluates_models_without_scores_on_the_release(
    instance: dg.DagsterInstance,
) -> None:
    assert schedules.evaluate_missing_models.cron_schedule == "0 2 * * *"

    def requested() -> list[str]:
        answer = list(schedules.evaluate_missing_models(dg.build_schedule_context(instance)))
        return [each.partition_key for each in answer if isinstance(each, dg.RunRequest)]

    assert requested() == []  # Nothing is released yet.
    materialized(instance, ITEMS, None)
    assert "offline-careful" in requested()
    materialized(instance, SCORES, "offline-careful")
    assert "offline-careful" not in requested()
    assert "offline-careless" in requested()
    materialized(instance, ITEMS, None)  # A newer release makes every score old.
    assert "offline-careful" in requested()


def test_the_hourly_schedule_shows_the_ledger_when_there_is_something_new(
    instance: dg.DagsterInstance, loom_home: Path
) -> None:
    schedule = schedules.mirror_ledger
    assert schedule.cron_schedule == "0 * * * *"
    assert schedule.job_name == "ledger"
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING

    def due() -> bool:
        answer = schedule(dg.build_schedule_context(instance))
        return isinstance(answer, dg.RunRequest)

    def shown(n_rows: int) -> None:
        metadata = {"dagster/row_count": n_rows}
        instance.report_runless_asset_event(dg.AssetMaterialization(CALLS, metadata=metadata))

    assert not due()
    assert not (loom_home / "ledger.sqlite").exists()  # Looking makes none.
    ledger = Ledger(loom_home / "ledger.sqlite")
    assert not due()  # Nothing was asked yet.
    charge = Charge("key", *["x"] * 5, "live", "stop", 1, 1, 0.5, "2026-01-01T00:00:00.000+00:00")
    ledger.add([charge])
    assert due()
    shown(1)
    assert not due()
    ledger.add([charge])
    assert due()
    shown(2)
    materialized(instance, CALLS, None)  # By hand, from the UI: nobody knows what it shows.
    assert due()


def test_a_new_entry_in_models_yaml_becomes_a_partition(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def added() -> list[str]:
        result = sensors.new_models(dg.build_sensor_context(instance, definitions=defs))
        if isinstance(result, dg.SkipReason):
            return []
        keys = [key for each in result.dynamic_partitions_requests for key in each.partition_keys]
        instance.add_dynamic_partitions("model", keys)
        return keys

    assert "offline-careful" in added()
    assert added() == []
    registry = (REPO_ROOT / "models.yaml").read_text()
    registry = registry.replace("offline-rambler]", "offline-rambler, my-model]")
    registry += "\n  my-model: {provider: openai, base_url: 'http://127.0.0.1:1/v1'}\n"
    (tmp_path / "models.yaml").write_text(registry)
    monkeypatch.setenv("LOOM_MODELS", str(tmp_path / "models.yaml"))
    assert added() == ["my-model"]
    (tmp_path / "models.yaml").write_text("models: [")
    assert added() == []  # A file in the middle of an edit is waited for, not an error.


def test_a_new_shard_in_the_corpus_becomes_a_partition(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    monkeypatch.setenv("LOOM_CORPUS", str(corpus))
    context = dg.build_sensor_context(instance, definitions=defs)
    assert isinstance(sensors.new_shards(context), dg.SkipReason)
    shutil.copy(SAMPLE_CORPUS / "shards" / "sample-a.tsv", corpus / "next.tsv")
    result = sensors.new_shards(context)
    assert result.dynamic_partitions_requests[0].partition_keys == ["next"]


def queued(item_id: str, bucket: str) -> QueueItem:
    content = {"original": "Where?", "rewrite": f"Where is {item_id}?"}
    return QueueItem(
        item_id=item_id,
        kind="rewrite",
        content=content,
        content_hash=content_id(content),
        image_ids=[],
        bucket=bucket,
        set_id="set",
    )


def accept(item: QueueItem, *rounds: int) -> None:
    ReviewStore(review_path()).append(
        Decision(
            item["item_id"],
            item["content_hash"],
            round,
            ("alice", "bob")[round - 1],
            "accept",
            None,
            None,
            None,
            3.0,
            "2026-01-01T00:00:00",
        )
        for round in rounds
    )


def test_a_bucket_is_reported_when_people_are_done_with_it_and_not_before(
    instance: dg.DagsterInstance,
) -> None:
    def evaluate(cursor: str | None) -> dg.SensorResult | dg.SkipReason:
        context = dg.build_sensor_context(instance, definitions=defs, cursor=cursor)
        return sensors.review_decisions(context)

    def reported(result: dg.SensorResult | dg.SkipReason) -> list[str | None]:
        assert isinstance(result, dg.SensorResult)
        assert {event.asset_key for event in result.asset_events} == {DECISIONS}
        return [event.partition for event in result.asset_events]

    assert isinstance(evaluate(None), dg.SkipReason)
    assert not review_path().exists()  # Looking makes none.
    one, two, other = queued("one", "03"), queued("two", "03"), queued("three", "07")
    ReviewStore(review_path()).update_queue([one, two, other])
    first = evaluate("41")  # The cursor of an earlier version, which counted events.
    empty = [key for key in buckets.get_partition_keys() if key not in ("03", "07")]
    assert reported(first) == empty  # Nobody is awaited where there is nothing to decide.

    accept(one, 1, 2)
    accept(two, 1)
    assert isinstance(evaluate(first.cursor), dg.SkipReason)
    accept(two, 2)
    second = evaluate(first.cursor)
    assert reported(second) == ["03"]
    assert second.asset_events[0].metadata["decisions"].value == 4
    assert isinstance(evaluate(second.cursor), dg.SkipReason)

    # What is made anew is awaited anew, and what was said of it before does not count.
    ReviewStore(review_path()).update_queue([one, two | {"content_hash": "anew"}, other])
    assert isinstance(evaluate(second.cursor), dg.SkipReason)
    ReviewStore(review_path()).update_queue([one, other])
    assert reported(evaluate(second.cursor)) == ["03"]


def test_rules_that_cannot_be_read_are_one_sentence(
    instance: dg.DagsterInstance, loom_home: Path
) -> None:
    ReviewStore(review_path()).update_queue([queued("one", "03")])
    (loom_home / "review.yaml").write_text("default: {annotators: 3}")
    skipped = sensors.review_decisions(dg.build_sensor_context(instance, definitions=defs))
    assert isinstance(skipped, dg.SkipReason)
    assert "annotators" in str(skipped.skip_message)
