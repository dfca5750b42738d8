"""Sensors on shards and on decisions, evaluated as the daemon evaluates them on a real instance."""

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from dagster._core.definitions.sensor_definition import SensorExecutionData
from dagster._core.test_utils import create_run_for_test

from dagster_project import sensors
from dagster_project.definitions import defs
from dagster_project.resources import SAMPLE_CORPUS
from dagster_project.run_tags import BUDGET, CHAIN, PARTITION, PROFILE, WAITED
from dagster_project.shards import CHECK
from methods.review import Decision, QueueItem
from resources.corpus.corpus import Corpus
from resources.files.home import ledger_path, review_path
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import BatchState
from resources.review.store import ReviewStore
from resources.warehouse.configured import warehouse_of_home
from tests.assets.filled import put
from tests.review.items_of_every_kind import item_of

pytestmark = pytest.mark.slow

SHARDS = dg.AssetKey(["ingest", "shards"])
DECISIONS = dg.AssetKey(["review", "decisions"])


class Daemon:
    """What the daemon does with one sensor: it evaluates it, keeps its cursor, does what it says."""

    def __init__(self, instance: dg.DagsterInstance, sensor: dg.SensorDefinition):
        self.instance, self.sensor = instance, sensor
        self.cursor: str | None = None

    def tick(self) -> SensorExecutionData:
        with dg.build_sensor_context(
            self.instance, cursor=self.cursor, repository_def=defs.get_repository_def()
        ) as context:
            data = self.sensor.evaluate_tick(context)
        self.cursor = data.cursor
        for request in data.dynamic_partitions_requests or []:
            self.instance.add_dynamic_partitions(
                request.partitions_def_name, list(request.partition_keys)
            )
        for event in data.asset_events:
            self.instance.report_runless_asset_event(event)
        return data


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty corpus, and as the active one."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    monkeypatch.setenv("LOOM_CORPUS", str(folder))
    return folder


@pytest.fixture
def watcher(instance: dg.DagsterInstance, corpus: Path) -> Daemon:
    return Daemon(instance, sensors.shards)


def added(data: SensorExecutionData) -> list[str]:
    return [
        key for request in data.dynamic_partitions_requests or [] for key in request.partition_keys
    ]


def observed(data: SensorExecutionData) -> dict[str | None, str]:
    """Partition -> data version that the tick reports of it."""
    events = [event for event in data.asset_events if event.asset_key == SHARDS]
    assert all(isinstance(event, dg.AssetObservation) for event in events)
    return {event.partition: event.tags[DATA_VERSION_TAG] for event in events}


def put_shard(corpus: Path, name: str, source: str = "sample-a") -> Path:
    """A shard of the sample in the corpus; the same file again is touched."""
    path = corpus / f"{name}.tsv"
    before = path.stat().st_mtime_ns if path.exists() else 0
    shutil.copyfile(SAMPLE_CORPUS / "shards" / f"{source}.tsv", path)
    os.utime(path, ns=(before + 10**9, before + 10**9))
    return path


def fingerprint(corpus: Path, name: str) -> str:
    return Corpus(corpus, corpus.parent / "home").shard(name).fetch(lambda _: None)


def test_a_new_shard_becomes_a_partition_and_its_content_its_data_version_each_time_it_changes(
    watcher: Daemon, corpus: Path
) -> None:
    watcher.tick()
    nothing = watcher.tick()
    assert (added(nothing), observed(nothing)) == ([], {})
    assert nothing.skip_message == "No shard is new or changed; the corpus has 0."

    put_shard(corpus, "next")
    found = watcher.tick()
    assert added(found) == ["next"]
    assert observed(found) == {"next": fingerprint(corpus, "next")}
    assert found.run_requests == [], "ingesting it is up to a person, the schedule or automation"
    assert found.skip_message == "new: next; changed: none", "the tick says what it did"
    record = watcher.instance.fetch_observations(SHARDS, limit=1).records[0]
    assert record.partition_key == "next"
    again = watcher.tick()
    assert (added(again), observed(again)) == ([], {})
    assert again.skip_message == "No shard is new or changed; the corpus has 1."

    put_shard(corpus, "next", "sample-b")
    changed = watcher.tick()
    assert observed(changed) == {"next": fingerprint(corpus, "next")} != observed(found)
    assert added(changed) == [] and changed.skip_message == "new: none; changed: next"

    # A folder or a file that is gone for a while is no new one.
    elsewhere = corpus.rename(corpus.with_name("elsewhere"))
    skipped = watcher.tick()
    assert str(corpus) in (skipped.skip_message or "") and not skipped.asset_events
    elsewhere.rename(corpus)
    assert observed(watcher.tick()) == {}
    aside = (corpus / "next.tsv").rename(corpus.with_name("next.tsv"))
    watcher.tick()
    aside.rename(corpus / "next.tsv")
    assert observed(watcher.tick()) == {}


def test_on_an_empty_home_the_sample_s_shards_are_found_and_nothing_is_written(
    watcher: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOOM_CORPUS")
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "no home"))
    found = watcher.tick()
    assert added(found) == ["sample-a", "sample-b"] == sorted(observed(found))
    assert not (tmp_path / "no home").exists()


def test_changed_files_about_shards_are_reported_once(watcher: Daemon, corpus: Path) -> None:
    def versions(data: SensorExecutionData) -> list[str]:
        files = dg.AssetKey(["ingest", "corpus_files"])
        events = (event for event in data.asset_events if event.asset_key == files)
        return [event.tags[DATA_VERSION_TAG] for event in events]

    put_shard(corpus, "one")
    before = versions(watcher.tick())
    assert len(before) == 1 and versions(watcher.tick()) == []
    (corpus / "corpus.yaml").write_text("languages: [en]")
    changed = watcher.tick()
    assert len(versions(changed)) == 1 and versions(changed) != before
    assert "corpus.yaml" in (changed.skip_message or "")
    assert versions(watcher.tick()) == []


def test_what_differs_from_what_was_ingested_fails_a_check_until_it_is_ingested(
    watcher: Daemon, corpus: Path, loom_home: Path
) -> None:
    def rows(**fingerprints: str) -> None:
        of_shards = [{"wit_shard": name, "fingerprint": of} for name, of in fingerprints.items()]
        put(warehouse_of_home(), {"ingest.shards": of_shards})

    def result() -> tuple[bool, str | None] | None:
        """Of the check that the tick reports, if it does."""
        for event in watcher.tick().asset_events:
            if isinstance(event, dg.AssetCheckEvaluation):
                assert event.asset_check_key == CHECK
                assert event.severity == dg.AssetCheckSeverity.WARN
                return event.passed, event.description
        return None

    put_shard(corpus, "one")
    put_shard(corpus, "two", "sample-b")
    one, two = fingerprint(corpus, "one"), fingerprint(corpus, "two")
    rows(one=one, two=two)
    assert result() is None, "nothing is wrong"
    rows(one="another", gone="removed")
    assert result() == (
        False,
        "1 shard changed after ingestion (one): run vlm-loom run ingest, or materialize these "
        f"partitions of the group ingest. 1 shard of the tables is not in the corpus {corpus} (gone), "
        "and their rows stay: first check that --corpus (LOOM_CORPUS) is the right folder; then put "
        "the file back, or remove its rows with vlm-loom workspace remove-shard gone.",
    )
    assert result() is None, "it is reported once"
    rows(one=one)
    assert result() == (True, None)


def test_the_sample_s_shards_do_not_become_partitions_of_a_workspace_with_another_corpus(
    watcher: Daemon, loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOOM_CORPUS")
    put(warehouse_of_home(), {"ingest.shards": [{"wit_shard": "mine"}]})
    tick = watcher.tick()
    assert added(tick) == [] and not tick.asset_events
    assert "another corpus (mine)" in (tick.skip_message or "")
    assert "give --corpus FOLDER (or LOOM_CORPUS)" in (tick.skip_message or "")


def queue(*items: QueueItem) -> None:
    ReviewStore(review_path()).update_queue(list(items))


def accept(item: QueueItem, *rounds: int) -> None:
    of_item = item["item_id"], item["content_hash"]
    rest = ("accept", None, None, None, 3.0, "2026-01-01T00:00:00")
    ReviewStore(review_path()).append(
        Decision(*of_item, round, ("alice", "bob")[round - 1], *rest) for round in rounds
    )


@pytest.fixture
def reviewers(instance: dg.DagsterInstance) -> Daemon:
    return Daemon(instance, sensors.review_decisions)


def reported(data: SensorExecutionData) -> list[tuple[int, int]]:
    """(items, decisions) of each observation that the tick reports."""
    assert {event.asset_key for event in data.asset_events} <= {DECISIONS}
    assert all(isinstance(event, dg.AssetObservation) for event in data.asset_events)
    return [
        (event.metadata["items"].value, event.metadata["decisions"].value)
        for event in data.asset_events
    ]


def version(data: SensorExecutionData) -> str:
    (event,) = data.asset_events
    return event.tags[DATA_VERSION_TAG]


def test_decisions_are_reported_when_nothing_awaits_people_and_not_before(reviewers, loom_home):
    assert reported(reviewers.tick()) == []
    assert not review_path().exists()  # Looking makes none.
    one, two = item_of("rewrite", "one"), item_of("rewrite", "two")
    three = item_of("dialogue", "three")
    queue(one, two, three)
    assert reviewers.tick().skip_message == (
        "3 items are open for people, and releases await none of them (require of review.approved: "
        "none)."
    )
    (loom_home / "settings.yaml").write_text("review: {approved: {require: all}}")

    accept(one, 1, 2)
    accept(two, 1, 2)
    accept(three, 1)
    waiting = reviewers.tick()
    assert reported(waiting) == [] and waiting.skip_message == (
        "1 item is open for people, and releases await them (require of review.approved: all)."
    )
    accept(three, 2)
    done = reviewers.tick()
    assert reported(done) == [(3, 6)]
    assert done.skip_message == "Reported 6 decisions on 3 items."
    (record,) = reviewers.instance.fetch_observations(DECISIONS, limit=2).records
    assert record.asset_observation
    assert record.asset_observation.tags[DATA_VERSION_TAG] == version(done)
    again = reviewers.tick()
    assert reported(again) == []
    assert again.skip_message == "No item awaits people, and nothing was decided since."


@pytest.mark.parametrize("kind", ["score", "extraction"])
def test_scores_and_letters_do_not_hold_the_decisions_up_and_are_reported_when_they_are_complete(
    reviewers: Daemon, kind: str
) -> None:
    one, score = item_of("rewrite", "one"), item_of(kind, "score")
    queue(score)
    assert reported(reviewers.tick()) == [], "scores alone make no release"
    queue(one, score)
    accept(one, 1, 2)
    without = reviewers.tick()
    assert reported(without) == [(2, 2)]

    accept(score, 1)
    assert reported(reviewers.tick()) == [], "the score awaits an expert"
    accept(score, 2)
    with_scores = reviewers.tick()
    assert reported(with_scores) == [(2, 4)]
    assert version(with_scores) != version(without)


@pytest.mark.parametrize("later", [["a"], ["b"], ["a", "b"]])
def test_a_stopped_run_is_done_when_later_runs_made_all_that_it_did_not(later, instance, loom_home):
    def stopped() -> None:
        raise dg.Failure("It waits for a batch.")

    def run_of(function: Callable[[], None], names: Sequence[str]) -> dg.DagsterRun:
        assets = [dg.asset(name=name)(function) for name in names]
        return dg.materialize(assets, instance=instance, raise_on_error=False).dagster_run

    run = run_of(stopped, ["a", "b"])
    run_of(lambda: None, later)
    state = BatchState(Ledger(ledger_path()))
    state.wait(run.run_id, ["batch"])
    is_done = sensors._is_done_by_later_runs(instance, state, run)
    assert is_done is (later == ["a", "b"])
    state.wait(instance.get_runs(limit=1)[0].run_id, ["batch"])
    assert sensors._is_done_by_later_runs(instance, state, run) is None, "the later one waits, too"


@pytest.mark.parametrize("status", ["FAILURE", "CANCELED", "SUCCESS"])
def test_a_run_that_stopped_to_wait_is_started_again_and_one_that_a_person_stopped_is_not(
    status: str, instance: dg.DagsterInstance, loom_home: Path
) -> None:
    kept = {PROFILE: "test", BUDGET: "5", PARTITION: "a"}
    tags = {**kept, CHAIN: "first", WAITED: "first", "user": "ann"}
    run = create_run_for_test(
        instance, job_name="evaluate", tags=tags, status=dg.DagsterRunStatus[status]
    )
    with closing(Ledger(ledger_path())) as ledger:
        state = BatchState(ledger)
        state.add_batch("batch", "m", [])
        state.wait(run.run_id, ["batch"])
        context = dg.build_sensor_context(instance)
        assert sensors._again(context, state, run.run_id, selected=True) is None
        request = sensors._again(context, state, run.run_id, selected=False)
        is_waiting = state.is_waiting(run.run_id)
        create_run_for_test(instance, tags={WAITED: run.run_id})
        assert sensors._again(context, state, run.run_id, selected=False) is None, "it was begun"
    assert is_waiting == (request is not None) == (status == "FAILURE")
    if request:
        assert request.job_name == "evaluate"
        chain = {CHAIN: f"first {run.run_id}", WAITED: run.run_id}
        assert request.partition_key == kept.pop(PARTITION)
        assert request.tags == {**kept, **chain}
