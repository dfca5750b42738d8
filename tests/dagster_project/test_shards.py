"""A build with a bad shard: the others go on, and its end says which failed and why in words."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest

from dagster_project.definitions import build_defs
from dagster_project.job_runs import run_job
from dagster_project.jobs import DESCRIPTIONS, build_job
from dagster_project.progress import SHOW_PROGRESS
from dagster_project.run_tags import LOST_SHARDS
from dagster_project.shards import NAME_FAILED_SHARDS, only_shards_failed, why_failed

BROKEN = "a"
"""It sorts first."""


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three shards, named alone."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.tsv").touch()
    monkeypatch.setenv("LOOM_CORPUS", str(tmp_path))
    monkeypatch.setenv("LOOM_HOME", str(tmp_path / "home"))
    return tmp_path


def build_of(log: list[str], broken: str, failing_stage: str = "") -> dg.JobDefinition:
    """The job `build` with stages that do nothing but write down that they ran."""

    def stage(name: str) -> dg.JobDefinition:
        @dg.op(name=f"of_{name}")
        def step(context: dg.OpExecutionContext) -> None:
            shard = context.partition_key if context.has_partition_key else ""
            log.append(f"{name} {shard}".strip())
            if shard and shard in broken:
                raise dg.Failure(f"Shard {shard} is cut short.", allow_retries=False)
            if name == failing_stage:
                raise ValueError("no model")

        partitions = dg.DynamicPartitionsDefinition(name="wit_shard") if name == "ingest" else None

        @dg.job(name=name, partitions_def=partitions)
        def job() -> None:
            step()

        return job

    stages = {name: stage(name) for name in DESCRIPTIONS}
    # The model is not loaded ahead, as nothing is embedded.
    resources = {**build_defs().resources, "embedder": SimpleNamespace(load_ahead=lambda: None)}
    whole = build_job(lambda name: stages[name], pytest.fail)
    return dg.Definitions(
        jobs=[whole], resources=resources, executor=dg.in_process_executor
    ).resolve_job_def("build")


def build(
    instance: dg.DagsterInstance, log: list[str], broken: str, failing_stage: str = ""
) -> dg.ExecuteInProcessResult:
    return run_job(build_of(log, broken, failing_stage), instance)


REEXECUTED: list[str] = []


def mended() -> dg.JobDefinition:
    """The build once what made a stage fail is mended; the shard is as it was."""
    return build_of(REEXECUTED, broken=BROKEN)


AFTER_INGESTION = [
    *("cluster", "dialogue", "rewrite", "choice"),
    *("quality", "review", "release", "ledger"),
]


def test_a_bad_shard_that_sorts_first_stops_no_other_and_no_later_stage(
    instance: dg.DagsterInstance, corpus: Path
) -> None:
    log: list[str] = []
    run = build(instance, log, broken=BROKEN)
    assert log == ["ingest a", "ingest b", "ingest c", *AFTER_INGESTION]
    assert not run.success
    assert (
        only_shards_failed(run)
        == why_failed(run)
        == ("1 of 3 shards could not be ingested, the other 2 were: a (Shard a is cut short).")
    )


def test_a_sound_build_ends_well(instance: dg.DagsterInstance, corpus: Path) -> None:
    log: list[str] = []
    run = build(instance, log, broken="")
    assert run.success and log[3:] == AFTER_INGESTION
    assert only_shards_failed(run) is None


def test_where_every_shard_fails_nothing_is_built(
    instance: dg.DagsterInstance, corpus: Path
) -> None:
    log: list[str] = []
    run = build(instance, log, broken="abc")
    assert not run.success and log == ["ingest a", "ingest b", "ingest c"]
    assert only_shards_failed(run) is None
    assert "b (Shard b is cut short)" in why_failed(run)


def test_a_build_of_a_terminal_goes_on_from_its_failure_and_still_tells_the_lost_shard(
    instance: dg.DagsterInstance, corpus: Path
) -> None:
    """As the UI's "From failure" does, in another process."""
    log: list[str] = []
    first = build(instance, log, broken=BROKEN, failing_stage="dialogue")
    assert log[3:] == AFTER_INGESTION[:5] and not REEXECUTED
    again = dg.execute_job(
        dg.reconstructable(mended),
        instance,
        run_config=SHOW_PROGRESS,
        tags={LOST_SHARDS: instance.get_run_by_id(first.run_id).tags[LOST_SHARDS]},
        reexecution_options=dg.ReexecutionOptions.from_failure(first.run_id, instance),
    )
    assert AFTER_INGESTION[1:] == REEXECUTED, "no shard is read again, and nothing clustered"
    (failed,) = again.get_failed_step_keys()
    assert failed == NAME_FAILED_SHARDS
    told = again.failure_data_for_node(failed).user_failure_data
    assert told.description.startswith("1 of 3 shards could not be ingested")


def test_a_stage_that_fails_is_no_lost_shard_and_what_does_not_need_it_is_made(
    instance: dg.DagsterInstance, corpus: Path
) -> None:
    log: list[str] = []
    run = build(instance, log, broken=BROKEN, failing_stage="dialogue")
    assert not run.success and log[-3:] == ["rewrite", "choice", "quality"], "nothing is released"
    assert only_shards_failed(run) is None
    assert why_failed(run).startswith("The stage dialogue failed; see its run ")
